; What a function asks of its return address is the one in the original of the calling function,
; where a runtime knows it.
; RUN: -passes=szc
target triple = "x86_64-pc-linux-gnu"
declare ptr @llvm.returnaddress(i32)
declare ptr @llvm.eh.dwarf.cfa(i32)
declare void @takes(ptr, ptr)

; CHECK-LABEL: define ptr @caller(
; CHECK: [[HERE:%[a-z0-9]+]] = call ptr @llvm.returnaddress(i32 0)
; CHECK: [[THERE:%[0-9]+]] = icmp ne ptr @szc_rt_original_address, null
; CHECK: br i1 [[THERE]], label %[[ASK:.*]], label %[[TAIL:.*]], !prof
; CHECK: [[ASK]]:
; CHECK: [[TOLD:%[0-9]+]] = call ptr @szc_rt_original_address(ptr [[HERE]])
; CHECK: phi ptr [ [[HERE]], {{.*}} ], [ [[TOLD]], {{.*}} ]
; CODE-LABEL: caller:
; CODE: szc_rt_original_address
define ptr @caller() {
  %address = call ptr @llvm.returnaddress(i32 0)
  ret ptr %address
}

; An unwinder looks up rules by it.
; CHECK-LABEL: define void @unwinder(
; CHECK-NOT: szc_rt_original_address
define void @unwinder() {
  %frame = call ptr @llvm.eh.dwarf.cfa(i32 0)
  %address = call ptr @llvm.returnaddress(i32 0)
  call void @takes(ptr %frame, ptr %address)
  ret void
}

; CHECK-LABEL: define void @naked(
; CHECK-NOT: szc_rt_original_address
define void @naked() naked {
  %address = call ptr @llvm.returnaddress(i32 0)
  unreachable
}

; CHECK: declare extern_weak ptr @szc_rt_original_address(ptr)
