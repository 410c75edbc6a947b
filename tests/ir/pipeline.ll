; Behind all other passes, also without optimization; in front of link-time optimization not yet.
; RUN: -passes=default<O0>
; RUN: -passes=default<O2>
; RUN: -passes=thinlto<O2>
; RUN: -passes=lto<O2>
target triple = "x86_64-pc-linux-gnu"
declare i32 @callee(i32)
; CHECK: define {{.*}}i32 @caller(
; CHECK: stacksave
define i32 @caller(i32 %x) {
  %r = call i32 @callee(i32 %x)
  %s = add i32 %r, 1
  ret i32 %s
}
