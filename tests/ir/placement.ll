; Pads are where calls become due, and nowhere else.
; RUN: -passes=szc
target triple = "x86_64-pc-linux-gnu"

declare i32 @callee(i32)
declare void @fatal() noreturn
declare i32 @constant(i32) memory(none)

; PLAN: early: padded in block 2
; CHECK-LABEL: define i32 @early(
; CHECK: br i1 %small, label %fast, label %slow
; CHECK: fast:
; CHECK-NEXT: ret i32
; CHECK: slow:
; CHECK: call ptr @llvm.stacksave
define i32 @early(i32 %x) {
  %small = icmp slt i32 %x, 10
  br i1 %small, label %fast, label %slow
fast:
  ret i32 %x
slow:
  %r = call i32 @callee(i32 %x)
  ret i32 %r
}

; PLAN: straight: padded at entry
; CHECK-LABEL: define i32 @straight(
; CHECK: load i64, ptr @szc_pad_state
; CHECK: icmp ult i64
; CHECK: br i1 {{.*}}, label %szc.pad, label {{.*}}, !prof
; CHECK: szc.pad:
; CHECK: load atomic i8, ptr {{.*}} unordered
; CHECK: shl i64 {{.*}}, 4
; CHECK-NEXT: alloca i8, i64 {{.*}}, align 16
; CHECK-NEXT: call void asm sideeffect "", "r"
define i32 @straight(i32 %x) {
  %r = call i32 @callee(i32 %x)
  %s = add i32 %r, 1
  ret i32 %s
}

; PLAN: looping: padded between blocks
; CHECK-LABEL: define i32 @looping(
; CHECK-COUNT-1: call ptr @llvm.stacksave
; CHECK: body:
; CHECK-NOT: stacksave
; CHECK: }
define i32 @looping(i32 %n) {
entry:
  %some = icmp sgt i32 %n, 0
  br i1 %some, label %body, label %out
body:
  %i = phi i32 [ 0, %entry ], [ %j, %body ]
  %j = add i32 %i, 1
  %r = call i32 @callee(i32 %i)
  %more = icmp slt i32 %j, %n
  br i1 %more, label %body, label %out
out:
  ret i32 0
}

; PLAN: checked: not padded: calls nothing that needs a frame
define i32 @checked(i32 %x) {
  %bad = icmp slt i32 %x, 0
  br i1 %bad, label %fail, label %fine
fail:
  call void @fatal()
  unreachable
fine:
  ret i32 %x
}

; A function that never returns is padded all the same.
; PLAN: ending: padded at entry
define void @ending(i32 %x) noreturn {
  %r = call i32 @callee(i32 %x)
  call void @fatal()
  unreachable
}

; PLAN: leaf: not padded: calls nothing that needs a frame
define i32 @leaf(i32 %x) {
  %p = alloca [8 x i8]
  call void @llvm.lifetime.start.p0(ptr %p)
  call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 8, i1 false)
  %r = call i32 @constant(i32 %x)
  ret i32 %r
}

; PLAN: library: padded at entry
define void @library(ptr %p, i64 %n) {
  call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 %n, i1 false)
  ret void
}

; PLAN: jumps: not padded: calls nothing that needs a frame
define i32 @jumps(i32 %x) {
  %r = tail call i32 @callee(i32 %x)
  ret i32 %r
}

; PLAN: wide: padded at entry
define i128 @wide(i128 %a, i128 %b) {
  %r = udiv i128 %a, %b
  ret i128 %r
}

; Local variables stay in the entry, in front of the pad.
; PLAN: locals: padded at entry
; CHECK-LABEL: define i32 @locals(
; CHECK: %a = alloca i32
; CHECK: %b = alloca i32
; CHECK: call ptr @llvm.stacksave
define i32 @locals(i32 %x) {
  %a = alloca i32
  store i32 %x, ptr %a
  %b = alloca i32
  store i32 %x, ptr %b
  %v = load i32, ptr %a
  %r = call i32 @callee(i32 %v)
  ret i32 %r
}

declare void @llvm.lifetime.start.p0(ptr)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
