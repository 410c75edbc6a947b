; Calls that become jumps without a pad become jumps with one.
; RUN: -passes=szc
target triple = "x86_64-pc-linux-gnu"
declare i32 @callee(i32)
; CODE-LABEL: behind:
; CODE: callq callee
; CODE: jmp callee
; CODE-NOT: callq
; CODE: .Lfunc_end
define i32 @behind(i32 %x) {
  %a = call i32 @callee(i32 %x)
  %r = tail call i32 @callee(i32 %a)
  ret i32 %r
}
