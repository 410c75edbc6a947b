; What link-time optimization will still inline is left alone.
; RUN: -passes=thinlto-pre-link<O2>
; RUN: -passes=lto-pre-link<O2>

target triple = "x86_64-pc-linux-gnu"
declare i32 @callee(i32)
; CHECK: define {{.*}}i32 @caller(
; CHECK-NOT: stacksave
; CHECK-NOT: pcsections
define i32 @caller(i32 %x) {
  %r = call i32 @callee(i32 %x)
  %s = add i32 %r, 1
  ret i32 %s
}
