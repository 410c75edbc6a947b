; Each block tells the runtime that it is executed, behind what starts it; none in naked functions.
;
; RUN: -passes=szc
; MODE: paths

target triple = "x86_64-unknown-linux-gnu"

; CHECK: @szc_path_countdown = external hidden thread_local(localexec) global i64, align 8

; CHECK-LABEL: define i32 @sum(
; CHECK: %variable = alloca i32
; CHECK: load i64, ptr @szc_path_countdown
; CHECK: br i1 {{.*}}, label %{{.*}}, label %szc.tell, !prof
; CHECK: szc.tell:
; CHECK-NEXT: call preserve_mostcc void @szc_rt_path_block() #[[APART:[0-9]+]]
; CHECK: loop:
; CHECK-NEXT: %i = phi i32
; CHECK-NEXT: load i64, ptr @szc_path_countdown
; CHECK-COUNT-2: call preserve_mostcc void @szc_rt_path_block
; CHECK-NOT: call preserve_mostcc
; CHECK: ret i32 %next
define i32 @sum(i32 %n) {
entry:
  %variable = alloca i32
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %next = add i32 %i, 1
  store i32 %next, ptr %variable
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end

end:
  ret i32 %next
}

; CHECK-LABEL: define void @bare(
; CHECK-NOT: szc_path_countdown
; CHECK: unreachable
define void @bare() naked {
  call void asm sideeffect "ret", ""()
  unreachable
}

; CHECK: declare hidden preserve_mostcc void @szc_rt_path_block()
; CHECK: attributes #[[APART]] = { nomerge }

; CODE-LABEL: sum:
; CODE: decq %fs:szc_path_countdown@TPOFF
; CODE-NEXT: je
; CODE: callq szc_rt_path_block
