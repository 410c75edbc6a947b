; Code that may become part of a library learns the distance from its image; 0 is none.
; RUN: -passes=szc
target triple = "x86_64-pc-linux-gnu"
declare i32 @callee(i32)
; CHECK: @szc_pad_state_offset = linkonce hidden global [8 x i8] zeroinitializer, comdat, align 8
; CHECK-NOT: @szc_pad_state =
; CHECK: load i64, ptr @szc_pad_state_offset
; CHECK: icmp ne i64 {{.*}}, 0
; CHECK: inttoptr i64 {{.*}} to ptr addrspace(257)
; CODE-NOT: __tls_get_addr
; CODE-NOT: GOTTPOFF
define i32 @caller(i32 %x) {
  %r = call i32 @callee(i32 %x)
  %s = add i32 %r, 1
  ret i32 %s
}
!llvm.module.flags = !{!0}
!0 = !{i32 8, !"PIC Level", i32 2}
