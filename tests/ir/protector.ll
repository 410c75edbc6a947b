; A pad is no reason for a stack protector, and takes none away.
; RUN: -passes=szc
target triple = "x86_64-pc-linux-gnu"
declare void @fills(ptr)
declare i32 @callee(i32)
; CODE-LABEL: unguarded:
; CODE-NOT: __stack_chk_fail
; CODE: retq
define i32 @unguarded(i32 %x) sspstrong {
  %r = call i32 @callee(i32 %x)
  %s = add i32 %r, 1
  ret i32 %s
}
; CODE-LABEL: guarded:
; CODE: __stack_chk_fail
define i32 @guarded(i32 %x) sspstrong {
  %a = alloca [64 x i8]
  call void @fills(ptr %a)
  %r = call i32 @callee(i32 %x)
  ret i32 %r
}
; CODE-LABEL: always:
; CODE: __stack_chk_fail
define i32 @always(i32 %x) sspreq {
  %r = call i32 @callee(i32 %x)
  %s = add i32 %r, 1
  ret i32 %s
}
