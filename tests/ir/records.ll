; Every function that is emitted leaves a record beside itself, and nothing keeps it alive.
; MODE: records
; RUN: -passes=szc
; RUN: -passes=szc,szc
target triple = "x86_64-pc-linux-gnu"
declare i32 @callee(i32)
$common = comdat any

; CHECK-NOT: szc_pad_table
; CHECK-NOT: llvm.compiler.used
; CHECK: define i32 @plain(i32 %x) !pcsections ![[PLAIN:[0-9]+]]
; PLAN: plain: not padded: no pads were asked for
; CODE-LABEL: plain:
; CODE: .section szc_functions,"awo",@progbits,.text
; CODE: .long .Lfunc_begin0-
; CODE-NEXT: .long .Lfunc_end0-.Lfunc_begin0
; CODE-NEXT: .long 0
define i32 @plain(i32 %x) {
  %r = call i32 @callee(i32 %x)
  %s = add i32 %r, 1
  ret i32 %s
}

; CODE-LABEL: common:
; CODE: .section szc_functions,"awoG",@progbits,.text.common,common,comdat
define linkonce_odr i32 @common(i32 %x) comdat {
  ret i32 %x
}

; CHECK: define available_externally i32 @elsewhere(i32 %x) {
define available_externally i32 @elsewhere(i32 %x) {
  ret i32 %x
}

; PLAN: bare: {{.*}}; pinned: naked
; CHECK: define void @bare() {{.*}} !pcsections ![[NAKED:[0-9]+]]
define void @bare() naked {
  call void asm sideeffect "ret", ""()
  unreachable
}

; PLAN: entry: {{.*}}; pinned: its entry is prepared for patching
define void @entry() "patchable-function-entry"="2" {
  ret void
}
; PLAN: prefix: {{.*}}; pinned: its entry is prepared for patching
define void @prefix() "patchable-function"="prologue-short-redirect" {
  ret void
}
; PLAN: xray: {{.*}}; pinned: its entry is prepared for patching
define void @xray() "function-instrument"="xray-always" {
  ret void
}
; PLAN: never: not padded: no pads were asked for{{$}}
define void @never() "xray-instruction-threshold"="1" "function-instrument"="xray-never" {
  ret void
}
; PLAN: counted: {{.*}}; pinned: its entry is prepared for patching
define void @counted() "fentry-call"="true" "mrecord-mcount" {
  ret void
}
; PLAN: hardware: {{.*}}; pinned: entered by the hardware
define x86_intrcc void @hardware(ptr byval(i64) %frame) {
  ret void
}
; PLAN: outward: {{.*}}; pinned: inline assembly switches sections or defines symbols
define void @outward() {
  call void asm sideeffect ".pushsection .discard\0A.popsection", ""()
  ret void
}
; PLAN: inward: not padded: no pads were asked for{{$}}
define void @inward() {
  call void asm sideeffect "1: jmp 1b", ""()
  ret void
}
; CHECK-DAG: ![[PLAIN]] = !{!"szc_functions", ![[NOTHING:[0-9]+]]}
; CHECK-DAG: ![[NOTHING]] = !{i32 0}
; CHECK-DAG: ![[NAKED]] = !{!"szc_functions", ![[STAYS:[0-9]+]]}
; CHECK-DAG: ![[STAYS]] = !{i32 65536}
