; Functions in which a pad could be wrong, each with its reason.
; RUN: -passes=szc
; RUN: -passes=szc,szc
target triple = "x86_64-pc-linux-gnu"

declare i32 @callee(i32)
declare void @llvm.localescape(...)
declare void @llvm.eh.sjlj.setup.dispatch()
declare ptr @llvm.coro.begin(token, ptr)

; PLAN: bare: not padded: naked; pinned: naked
define void @bare() naked {
  call void asm sideeffect "ret", ""()
  unreachable
}

; PLAN: must: not padded: has a call that must become a jump
define i32 @must(i32 %x) {
  %a = call i32 @callee(i32 %x)
  %r = musttail call i32 @callee(i32 %a)
  ret i32 %r
}

; PLAN: coroutine: not padded: a coroutine that is not split yet
define void @coroutine() presplitcoroutine {
  %a = call i32 @callee(i32 1)
  ret void
}

; PLAN: swift: not padded: a calling convention that may use the frame pointer
define swiftcc i32 @swift(i32 %x) {
  %a = call i32 @callee(i32 %x)
  %b = add i32 %a, 1
  ret i32 %b
}

; PLAN: ghc: not padded: a calling convention that may use the frame pointer
declare ghccc void @haskell()
define void @ghc() {
  call ghccc void @haskell()
  ret void
}

; PLAN: saves_all: not padded: an unusual set of saved registers
define i32 @saves_all(i32 %x) "no_caller_saved_registers" {
  %a = call i32 @callee(i32 %x)
  %b = add i32 %a, 1
  ret i32 %b
}

; PLAN: escaped: not padded: its exception handlers are functions of their own
define void @escaped() {
  %a = alloca i32
  call void (...) @llvm.localescape(ptr %a)
  %b = call i32 @callee(i32 1)
  ret void
}

; PLAN: collected: not padded: a garbage collector knows its frames
define void @collected() gc "statepoint-example" {
  %b = call i32 @callee(i32 1)
  ret void
}

; PLAN: safe: not padded: uses a second or a split stack
define void @safe() safestack {
  %b = call i32 @callee(i32 1)
  ret void
}

; PLAN: split: not padded: uses a second or a split stack
define void @split() "split-stack" {
  %b = call i32 @callee(i32 1)
  ret void
}

; PLAN: probed: not padded: probes the stack by a function
define void @probed() "probe-stack"="__probe" {
  %b = call i32 @callee(i32 1)
  ret void
}

; PLAN: frame: not padded: inline assembly names the stack or frame pointer
define void @frame() {
  call void asm sideeffect "nop", "~{rbp}"()
  %b = call i32 @callee(i32 1)
  ret void
}

; PLAN: base: not padded: inline assembly needs too many registers
define void @base() {
  %a = alloca i32, align 64
  call void asm sideeffect "cpuid", "~{rbx}"()
  %b = call i32 @callee(i32 1)
  ret void
}

; PLAN: unused_intrinsic: padded at entry
define void @unused_intrinsic() {
  call void asm sideeffect "pushfq; popfq", "~{memory}"()
  %b = call i32 @callee(i32 1)
  ret void
}

declare void @takes_wide(<8 x i32>)
declare void @takes_aligned(ptr byval(i64) align 32)

; PLAN: wide: not padded: passes arguments of more than the stack's alignment
define void @wide(<8 x i32> %x) {
  call void @takes_wide(<8 x i32> %x)
  %a = call i32 @callee(i32 1)
  ret void
}

; PLAN: aligned: not padded: passes arguments of more than the stack's alignment
define void @aligned(ptr %x) {
  call void @takes_aligned(ptr byval(i64) align 32 %x)
  %a = call i32 @callee(i32 1)
  ret void
}

declare void @keeps(ptr)
declare i64 @llvm.read_register.i64(metadata)

; PLAN: grows: not padded: the address of an array of variable length escapes
define void @grows(i32 %n) {
  %array = alloca i8, i32 %n
  call void @keeps(ptr %array)
  %a = call i32 @callee(i32 1)
  ret void
}

; PLAN: reads: not padded: reads the stack pointer
define i64 @reads(i32 %x) {
  %a = call i32 @callee(i32 1)
  %sp = call i64 @llvm.read_register.i64(metadata !0)
  ret i64 %sp
}
!0 = !{!"rsp"}
