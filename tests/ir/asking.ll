; What looks at its return address must be called and not jumped to, so that the link step sees by
; whom.
; MODE: records
; RUN: -passes=szc
target triple = "x86_64-pc-linux-gnu"
declare ptr @dlsym(ptr, ptr)
declare ptr @dlopen(ptr, i32)
declare ptr @other(ptr)

; CHECK: notail call ptr @dlsym
; CODE-LABEL: next_symbol:
; CODE: callq dlsym
define ptr @next_symbol(ptr %name) {
  %found = tail call ptr @dlsym(ptr inttoptr (i64 -1 to ptr), ptr %name)
  ret ptr %found
}

; CHECK: notail call ptr @dlopen
; CODE-LABEL: open:
; CODE: callq dlopen
define ptr @open(ptr %name) {
  %found = tail call ptr @dlopen(ptr %name, i32 2)
  ret ptr %found
}

; CHECK: musttail call ptr @dlsym
define ptr @forced(ptr %handle, ptr %name) {
  %found = musttail call ptr @dlsym(ptr %handle, ptr %name)
  ret ptr %found
}

; CODE-LABEL: elsewhere:
; CODE: jmp other
; CHECK: tail call ptr @other
define ptr @elsewhere(ptr %name) {
  %found = tail call ptr @other(ptr %name)
  ret ptr %found
}
