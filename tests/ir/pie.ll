; Position-independent programs are programs.
; RUN: -passes=szc
target triple = "x86_64-pc-linux-gnu"
declare i32 @callee(i32)
; CHECK: @szc_pad_state =
; CHECK-NOT: szc_pad_state_offset
define i32 @caller(i32 %x) {
  %r = call i32 @callee(i32 %x)
  %s = add i32 %r, 1
  ret i32 %s
}
!llvm.module.flags = !{!0, !1}
!0 = !{i32 8, !"PIC Level", i32 2}
!1 = !{i32 7, !"PIE Level", i32 2}
