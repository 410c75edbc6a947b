; Blocks stand twice, and those of the second copy tell the runtime that they are executed; which one
; runs is decided at the entry and at each loop. Nothing of that in naked functions.
;
; RUN: -passes=szc
; MODE: paths

target triple = "x86_64-unknown-linux-gnu"

; CHECK: @szc_path_countdown = external hidden thread_local(localexec) global i64, align 8
; CHECK: @szc.labels = private constant [2 x [2 x ptr]]
; CHECK-SAME: blockaddress(@jumps, %a), ptr blockaddress(@jumps, %a.szc)

; CHECK-LABEL: define i32 @sum(
; CHECK: %variable = alloca i32
; CHECK-NEXT: load i64, ptr @szc_path_countdown
; CHECK-NEXT: sub i64
; CHECK-NEXT: store i64
; CHECK: br i1 {{.*}}, label %{{.*}}, label %szc.check{{.*}}, !prof
; CHECK: loop:
; CHECK-NEXT: %i = phi i32 [ 0, %{{.*}} ], [ %next, %{{.*}} ], [ 0, %{{.*}} ], [ %{{.*}}, %{{.*}} ]
; CHECK-NEXT: load i64, ptr @szc_path_countdown
; CHECK-NEXT: sub i64
; CHECK: call preserve_mostcc void @szc_rt_path_check() #[[APART:[0-9]+]]
; CHECK-COUNT-3: call preserve_mostcc void @szc_rt_path_block() #[[APART]]
; CHECK-NOT: call preserve_mostcc
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

; What can meet no check looks at the countdown, without a second copy of its one block.
; CHECK-LABEL: define i32 @leaf(
; CHECK-NEXT: load i64, ptr @szc_path_countdown
; CHECK-NOT: store
; CHECK: call preserve_mostcc void @szc_rt_path_block()
define i32 @leaf(i32 %n) {
  %more = add i32 %n, 1
  ret i32 %more
}

declare i32 @elsewhere(i32)

; Behind calls a block looks at the countdown before it goes on, and not before it returns.
; CHECK-LABEL: define i32 @calls(
; CHECK: call i32 @elsewhere
; CHECK-NEXT: icmp
; CHECK-NEXT: load i64, ptr @szc_path_countdown
; CHECK-NEXT: icmp sge i64
; CHECK: ret i32
define i32 @calls(i32 %n) {
  %first = call i32 @elsewhere(i32 %n)
  %again = icmp eq i32 %first, 0
  br i1 %again, label %more, label %end

more:
  %second = call i32 @elsewhere(i32 %first)
  ret i32 %second

end:
  ret i32 %first
}

; The second copy of a computed jump looks for the labels of its own.
; CHECK-LABEL: define void @jumps(
; CHECK: szc.label:
; CHECK: indirectbr ptr %{{.*}}, [label %{{.*}}, label %{{.*}}]
define void @jumps(ptr %table, ptr %code) {
entry:
  br label %dispatch

dispatch:
  %at = phi ptr [ %code, %entry ], [ %next, %a ]
  %op = load i8, ptr %at
  %next = getelementptr i8, ptr %at, i64 1
  %entry.of = getelementptr ptr, ptr %table, i8 %op
  %target = load ptr, ptr %entry.of
  indirectbr ptr %target, [label %a, label %b]

a:
  store i8 0, ptr %at
  br label %dispatch

b:
  ret void
}

; CHECK-LABEL: define void @bare(
; CHECK-NOT: szc_path_countdown
; CHECK: unreachable
define void @bare() naked {
  call void asm sideeffect "ret", ""()
  unreachable
}

; CHECK: attributes #[[APART]] = { nomerge }

; CODE-LABEL: sum:
; CODE: decq %fs:szc_path_countdown@TPOFF
; CODE-NEXT: js
; CODE: callq szc_rt_path_block
