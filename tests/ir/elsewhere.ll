; Modules for other machines are left as they are.
; RUN: -passes=szc
target triple = "aarch64-unknown-linux-gnu"
declare i32 @callee(i32)
; CHECK: define i32 @caller(i32 %x) {
; CHECK-NEXT: call i32 @callee
; CHECK-NOT: pcsections
define i32 @caller(i32 %x) {
  %r = call i32 @callee(i32 %x)
  %s = add i32 %r, 1
  ret i32 %s
}
