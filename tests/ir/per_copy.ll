; Frames whose pads are left to copies: room that nothing uses, wherever a pad would be due, and a
; prefetch that says where it lies; constants of 4 bytes move the stack pointer. Other frames get
; their pads from the table.
; MODE: per-copy
; RUN: -passes=szc
target triple = "x86_64-pc-linux-gnu"
declare i32 @callee(i32)
; CHECK-LABEL: define i32 @plain(
; CHECK: alloca [144 x i8], align 8
; CHECK: call void @llvm.prefetch.p0(ptr {{.*}}, i32 0, i32 2, i32 1)
; CHECK-NOT: szc_pad
; CODE-LABEL: plain:
; CODE: subq $152, %rsp
; CODE: prefetcht1 8(%rsp)
; CODE: addq $152, %rsp
define i32 @plain(i32 %x) {
  %r = call i32 @callee(i32 %x)
  %s = add i32 %r, 1
  ret i32 %s
}
; With a frame pointer the room lies behind all variables, and a store says where; also if a
; protector sorts them.
; CHECK-LABEL: define i32 @pointed(
; CHECK: alloca i32
; CHECK: [[ROOM:%.*]] = alloca { i64, i64, {{.*}} }, align 8
; CHECK: store volatile i32 2053348919, ptr [[ROOM]]
; CHECK-NOT: szc_pad
; CODE-LABEL: pointed:
; CODE: subq $176, %rsp
; CODE: %fs:40, [[GUARD:%r..]]
; CODE: movq [[GUARD]], -8(%rbp)
; CODE: movl $2053348919, -168(%rbp)
; CODE: __stack_chk_fail
declare void @fills(ptr, ptr)
define i32 @pointed(i32 %x) sspreq "frame-pointer"="all" {
  %array = alloca [8 x i8]
  %own = alloca i32
  call void @fills(ptr %array, ptr %own)
  %s = load i32, ptr %own
  ret i32 %s
}
; Without one the room lies below nothing but the guard.
; CODE-LABEL: guarded:
; CODE: movq %{{r..}}, 160(%rsp)
; CODE: prefetcht1 16(%rsp)
declare void @only_fills(ptr captures(none), ptr captures(none))
define i32 @guarded(i32 %x) ssp {
  %array = alloca [8 x i8]
  %own = alloca i32
  call void @only_fills(ptr %array, ptr %own)
  %s = load i32, ptr %own
  ret i32 %s
}
; CHECK-LABEL: define i32 @variable(
; CHECK: load i64, ptr @szc_pad_state
define i32 @variable(i32 %n) {
  %array = alloca i8, i32 %n
  store i8 0, ptr %array
  %r = call i32 @callee(i32 %n)
  %s = add i32 %r, 1
  ret i32 %s
}
; CHECK-LABEL: define i32 @by_value(
; CHECK: load i64, ptr @szc_pad_state
define i32 @by_value(ptr byval([64 x i8]) %x) {
  %v = load i32, ptr %x
  %r = call i32 @callee(i32 %v)
  %s = add i32 %r, 1
  ret i32 %s
}
; What is passed on the stack lies above the frame, at a distance of 4 bytes.
; CHECK-LABEL: define i32 @seven(
; CHECK: alloca [144 x i8], align 8
; CHECK-NOT: szc_pad
; CODE-LABEL: seven:
; CODE: movl 160(%rsp), %edi
define i32 @seven(i32 %a, i32 %b, i32 %c, i32 %d, i32 %e, i32 %f, i32 %g) {
  %r = call i32 @callee(i32 %g)
  %s = add i32 %r, 1
  ret i32 %s
}
; The variable could be the argument itself, whose address is computed.
; CHECK-LABEL: define i32 @seventh_kept(
; CHECK: load i64, ptr @szc_pad_state
define i32 @seventh_kept(i32 %a, i32 %b, i32 %c, i32 %d, i32 %e, i32 %f, i32 %g) {
  %own = alloca i32
  store i32 %g, ptr %own
  call void @fills(ptr %own, ptr %own)
  %s = load i32, ptr %own
  ret i32 %s
}
; Here whoever is called takes the arguments from the stack.
; CHECK-LABEL: define tailcc i32 @seven_taken(
; CHECK-NOT: alloca
define tailcc i32 @seven_taken(i32 %a, i32 %b, i32 %c, i32 %d, i32 %e, i32 %f, i32 %g) {
  %r = call i32 @callee(i32 %g)
  %s = add i32 %r, 1
  ret i32 %s
}
; CHECK-LABEL: define i32 @probed(
; CHECK: load i64, ptr @szc_pad_state
define i32 @probed(i32 %x) "probe-stack"="inline-asm" {
  %r = call i32 @callee(i32 %x)
  %s = add i32 %r, 1
  ret i32 %s
}
; CHECK-LABEL: define i32 @leaf(
; CHECK-NOT: alloca
; CHECK: ret i32
define i32 @leaf(i32 %x) {
  %s = add i32 %x, 1
  ret i32 %s
}
; A variable whose address escapes gets a frame pointer, so that the pad of a copy lies below it.
; CHECK-LABEL: define i32 @escaping(
; CHECK-SAME: [[KEEPS:#[0-9]+]]
; CHECK: [[ROOM:%.*]] = alloca { i64, i64, {{.*}} }, align 8
; CHECK: store volatile i32 2053348919, ptr [[ROOM]]
; CHECK-NOT: szc_pad
; CODE-LABEL: escaping:
; CODE: movq %rsp, %rbp
; CODE: subq $160, %rsp
; CODE: leaq -4(%rbp), %r
@kept = global ptr null
define i32 @escaping(i32 %x) {
  %own = alloca i32
  store ptr %own, ptr @kept
  %r = call i32 @callee(i32 %x)
  %s = load i32, ptr %own
  ret i32 %s
}
; CHECK-LABEL: define i32 @compared(
; CHECK-SAME: [[KEEPS]]
define i32 @compared(i32 %x, ptr %limit) {
  %own = alloca i32
  store volatile i32 %x, ptr %own
  %r = call i32 @callee(i32 %x)
  %below = icmp ult ptr %own, %limit
  %s = zext i1 %below to i32
  ret i32 %s
}
; One whose address nobody keeps does not.
; CHECK-LABEL: define i32 @lent(
; CHECK-NOT: #
; CHECK-SAME: {
; CHECK: alloca [144 x i8], align 8
; CODE-LABEL: lent:
; CODE-NOT: %rbp
; CODE: retq
declare void @reads(ptr captures(none))
define i32 @lent(i32 %x) {
  %own = alloca i32
  store i32 %x, ptr %own
  call void @reads(ptr %own)
  %s = load i32, ptr %own
  ret i32 %s
}
; CHECK: attributes [[KEEPS]] = { "frame-pointer"="all" }
