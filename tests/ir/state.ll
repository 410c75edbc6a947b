; In programs the thread's state is at a known distance; the variables stand in common groups.
; RUN: -passes=szc
; RUN: -passes=szc,szc
target triple = "x86_64-pc-linux-gnu"
declare i32 @callee(i32)
; CHECK-DAG: @szc_pad_state = linkonce hidden thread_local(localexec) global [32 x i8] zeroinitializer, comdat, align 8
; CHECK-DAG: @szc_pad_table = linkonce hidden global [256 x i8] zeroinitializer, section "szc_pad_tables", comdat, align 64
; CODE: subq %fs:szc_pad_state@TPOFF, [[D:%r..]]
; CODE-NEXT: cmpq %fs:szc_pad_state@TPOFF+8, [[D]]
; CODE-NEXT: jae
; CODE: movzbl %fs:szc_pad_state@TPOFF+16,
; CODE-NOT: callq {{.*}}tls
define i32 @caller(i32 %x) {
  %r = call i32 @callee(i32 %x)
  %s = add i32 %r, 1
  ret i32 %s
}
; CHECK: !{!"szc_functions", ![[WORD:[0-9]+]]}
; CHECK: ![[WORD]] = !{i32 1}
