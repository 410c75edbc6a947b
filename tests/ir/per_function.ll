; The paper's scheme: a table and an index of each function, in its group of common code.
; MODE: per-function
; RUN: -passes=szc
target triple = "x86_64-pc-linux-gnu"
declare i32 @callee(i32)
$common = comdat any
; CHECK-DAG: @szc_pad_table.one = private global [256 x i8] zeroinitializer, section "szc_pad_tables", align 64
; CHECK-DAG: @szc_pad_index.one = private global [1 x i8] zeroinitializer, align 1
; CHECK-DAG: @szc_pad_table.common = private global [256 x i8] zeroinitializer, section "szc_pad_tables", comdat($common), align 64
; CHECK-NOT: @szc_pad_table =
; CHECK-LABEL: define i32 @one(
; CHECK: load atomic i8, ptr @szc_pad_index.one unordered
; CHECK: store atomic i8 {{.*}}, ptr @szc_pad_index.one unordered
define i32 @one(i32 %x) {
  %r = call i32 @callee(i32 %x)
  %s = add i32 %r, 1
  ret i32 %s
}
define linkonce_odr i32 @common(i32 %x) comdat {
  %r = call i32 @callee(i32 %x)
  %s = add i32 %r, 1
  ret i32 %s
}
