; Functions that compare where the stack is with something from elsewhere.
; MODE: records
; RUN: -passes=szc
target triple = "x86_64-pc-linux-gnu"
@base = global ptr null
declare ptr @llvm.frameaddress.p0(i32)
declare ptr @other(ptr)
declare i64 @read(ptr)

; PLAN: distance: {{.*}}; bounds its stack by addresses
define i1 @distance() {
  %here = alloca i8
  %kept = load ptr, ptr @base
  %from = ptrtoint ptr %kept to i64
  %to = ptrtoint ptr %here to i64
  %apart = sub i64 %from, %to
  %found = icmp sgt i64 %apart, 262144
  ret i1 %found
}

; A variable at -O0.
; PLAN: in_memory: {{.*}}; bounds its stack by addresses
define i1 @in_memory(ptr %limit) {
  %here = alloca i8
  %kept = alloca ptr
  store ptr %limit, ptr %kept
  %again = load ptr, ptr %kept
  %found = icmp ult ptr %here, %again
  ret i1 %found
}

; PLAN: field: {{.*}}; bounds its stack by addresses
define i1 @field(ptr %machine) {
  %at = getelementptr i8, ptr %machine, i64 8
  %limit = load ptr, ptr %at
  %here = call ptr @llvm.frameaddress.p0(i32 0)
  %found = icmp ugt ptr %limit, %here
  ret i1 %found
}

; PLAN: assembly: {{.*}}; bounds its stack by addresses
define i1 @assembly(i64 %limit) {
  %here = call i64 asm "movq %rsp, $0", "=r"()
  %found = icmp ult i64 %here, %limit
  ret i1 %found
}

; PLAN: told: {{.*}}; bounds its stack by addresses
define ptr @told() {
  %here = call ptr @llvm.frameaddress.p0(i32 0)
  ret ptr %here
}

; An array that is walked through, and one of which a library function finds the end.
; PLAN: walked:
; PLAN-NOT: bounds
; PLAN-SAME: {{$}}
define i64 @walked() {
  %all = alloca [64 x i8]
  %end = getelementptr i8, ptr %all, i64 64
  %got = call i64 @read(ptr %all)
  %behind = getelementptr i8, ptr %all, i64 %got
  %is_full = icmp uge ptr %behind, %end
  %found = call ptr @other(ptr %all)
  %is_early = icmp ult ptr %found, %end
  %both = and i1 %is_full, %is_early
  %result = zext i1 %both to i64
  ret i64 %result
}

; PLAN: equal:
; PLAN-NOT: bounds
; PLAN-SAME: {{$}}
define i1 @equal(ptr %it) {
  %own = alloca i8
  %same = icmp eq ptr %own, %it
  ret i1 %same
}
