; A function that others leave a record of too keeps theirs, in the shape that code generation reads.
;
; RUN: -passes=szc
; MODE: records

target triple = "x86_64-unknown-linux-gnu"

; CHECK: define i32 @counted(i32 %x) !pcsections ![[ALL:[0-9]+]]
define i32 @counted(i32 %x) !pcsections !0 {
  ret i32 %x
}

!0 = !{!"counters", !1, !"names!C", !2}
!1 = !{i64 3}
!2 = !{i64 5, i32 7}

; CHECK: ![[ALL]] = !{!"counters", ![[THREE:[0-9]+]], !"names!C", ![[TWO:[0-9]+]], !"szc_functions", ![[WORD:[0-9]+]]}
; CHECK: ![[THREE]] = !{i64 3}
; CHECK: ![[TWO]] = !{i64 5, i32 7}
; CHECK: ![[WORD]] = !{i32 0}

; CODE: .section counters
; CODE: .quad 3
; CODE: .section names
; CODE: .section szc_functions
