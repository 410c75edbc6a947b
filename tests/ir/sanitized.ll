; A sanitizer anywhere in the module leaves all of it unpadded, but not without records.
; RUN: -passes=szc
target triple = "x86_64-pc-linux-gnu"
declare i32 @callee(i32)
; PLAN: checked: not padded: a sanitizer keeps account of the stack
; PLAN: unchecked: not padded: a sanitizer keeps account of the stack
; CHECK: define i32 @checked(i32 %x) {{.*}}!pcsections
; CHECK-NOT: stacksave
define i32 @checked(i32 %x) sanitize_address {
  %r = call i32 @callee(i32 %x)
  %s = add i32 %r, 1
  ret i32 %s
}
define i32 @unchecked(i32 %x) {
  %r = call i32 @callee(i32 %x)
  %s = add i32 %r, 1
  ret i32 %s
}
