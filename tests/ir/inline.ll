; What code generation copies or fills by instructions of its own, and what it calls a function for.
; RUN: -passes=szc
target triple = "x86_64-pc-linux-gnu"
; PLAN: inline.ll: memset_256: not padded: calls nothing that needs a frame
; CODE-LABEL: memset_256:
; CODE-NOT: callq
; CODE: retq
define i32 @memset_256(ptr %to, ptr %from) "target-cpu"="x86-64" {
  call void @llvm.memset.p0.i64(ptr %to, i8 0, i64 256, i1 false)
  ret i32 0
}
; PLAN: inline.ll: memset_257: padded at entry
; CODE-LABEL: memset_257:
; CODE: callq memset
define i32 @memset_257(ptr %to, ptr %from) "target-cpu"="x86-64" {
  call void @llvm.memset.p0.i64(ptr %to, i8 0, i64 257, i1 false)
  ret i32 0
}
; PLAN: inline.ll: memset_128_small: not padded: calls nothing that needs a frame
; CODE-LABEL: memset_128_small:
; CODE-NOT: callq
; CODE: retq
define i32 @memset_128_small(ptr %to, ptr %from) optsize "target-cpu"="x86-64" {
  call void @llvm.memset.p0.i64(ptr %to, i8 0, i64 128, i1 false)
  ret i32 0
}
; PLAN: inline.ll: memset_129_small: padded at entry
; CODE-LABEL: memset_129_small:
; CODE: callq memset
define i32 @memset_129_small(ptr %to, ptr %from) optsize "target-cpu"="x86-64" {
  call void @llvm.memset.p0.i64(ptr %to, i8 0, i64 129, i1 false)
  ret i32 0
}
; PLAN: inline.ll: memcpy_128: not padded: calls nothing that needs a frame
; CODE-LABEL: memcpy_128:
; CODE-NOT: callq
; CODE: retq
define i32 @memcpy_128(ptr %to, ptr %from) "target-cpu"="x86-64" {
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 128, i1 false)
  ret i32 0
}
; PLAN: inline.ll: memcpy_129: padded at entry
; CODE-LABEL: memcpy_129:
; CODE: callq memcpy
define i32 @memcpy_129(ptr %to, ptr %from) "target-cpu"="x86-64" {
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 129, i1 false)
  ret i32 0
}
; PLAN: inline.ll: memcpy_64_small: not padded: calls nothing that needs a frame
; CODE-LABEL: memcpy_64_small:
; CODE-NOT: callq
; CODE: retq
define i32 @memcpy_64_small(ptr %to, ptr %from) optsize "target-cpu"="x86-64" {
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 64, i1 false)
  ret i32 0
}
; PLAN: inline.ll: memcpy_65_small: padded at entry
; CODE-LABEL: memcpy_65_small:
; CODE: callq memcpy
define i32 @memcpy_65_small(ptr %to, ptr %from) optsize "target-cpu"="x86-64" {
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 65, i1 false)
  ret i32 0
}
; PLAN: inline.ll: memmove_128: not padded: calls nothing that needs a frame
; CODE-LABEL: memmove_128:
; CODE-NOT: callq
; CODE: retq
define i32 @memmove_128(ptr %to, ptr %from) "target-cpu"="x86-64" {
  call void @llvm.memmove.p0.p0.i64(ptr %to, ptr %from, i64 128, i1 false)
  ret i32 0
}
; PLAN: inline.ll: memmove_129: padded at entry
; CODE-LABEL: memmove_129:
; CODE: callq memmove
define i32 @memmove_129(ptr %to, ptr %from) "target-cpu"="x86-64" {
  call void @llvm.memmove.p0.p0.i64(ptr %to, ptr %from, i64 129, i1 false)
  ret i32 0
}
; PLAN: inline.ll: memmove_64_small: not padded: calls nothing that needs a frame
; CODE-LABEL: memmove_64_small:
; CODE-NOT: callq
; CODE: retq
define i32 @memmove_64_small(ptr %to, ptr %from) optsize "target-cpu"="x86-64" {
  call void @llvm.memmove.p0.p0.i64(ptr %to, ptr %from, i64 64, i1 false)
  ret i32 0
}
; PLAN: inline.ll: memmove_65_small: padded at entry
; CODE-LABEL: memmove_65_small:
; CODE: callq memmove
define i32 @memmove_65_small(ptr %to, ptr %from) optsize "target-cpu"="x86-64" {
  call void @llvm.memmove.p0.p0.i64(ptr %to, ptr %from, i64 65, i1 false)
  ret i32 0
}
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)
