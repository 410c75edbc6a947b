; Calls that become jumps without a pad become jumps with one.
; RUN: -passes=szc
target triple = "x86_64-pc-linux-gnu"
declare i32 @callee(i32)
; CODE-LABEL: behind:
; CODE: callq callee
; CODE: jmp callee
; CODE-NOT: callq
; CODE: .Lfunc_end
define i32 @behind(i32 %x) {
  %a = call i32 @callee(i32 %x)
  %r = tail call i32 @callee(i32 %a)
  ret i32 %r
}

; So do calls between the conventions that keep the same registers: such functions have no frame to
; pad. (Optimization gives functions that one file alone calls the fast convention, and the pointers
; that they call the one of C.)
; PLAN: jumps.ll: c_to_c: not padded: calls nothing that needs a frame
; CODE-LABEL: c_to_c:
; CODE-NOT: callq
; CODE-NOT: rsp
; CODE: jmpq
define i32 @c_to_c(ptr %to, i32 %x) {
  %r = tail call i32 %to(i32 %x)
  ret i32 %r
}
; PLAN: jumps.ll: c_to_fast: not padded: calls nothing that needs a frame
; CODE-LABEL: c_to_fast:
; CODE-NOT: callq
; CODE-NOT: rsp
; CODE: jmpq
define i32 @c_to_fast(ptr %to, i32 %x) {
  %r = tail call fastcc i32 %to(i32 %x)
  ret i32 %r
}
; PLAN: jumps.ll: c_to_sysv: not padded: calls nothing that needs a frame
; CODE-LABEL: c_to_sysv:
; CODE-NOT: callq
; CODE-NOT: rsp
; CODE: jmpq
define i32 @c_to_sysv(ptr %to, i32 %x) {
  %r = tail call x86_64_sysvcc i32 %to(i32 %x)
  ret i32 %r
}
; PLAN: jumps.ll: fast_to_c: not padded: calls nothing that needs a frame
; CODE-LABEL: fast_to_c:
; CODE-NOT: callq
; CODE-NOT: rsp
; CODE: jmpq
define fastcc i32 @fast_to_c(ptr %to, i32 %x) {
  %r = tail call i32 %to(i32 %x)
  ret i32 %r
}
; PLAN: jumps.ll: fast_to_fast: not padded: calls nothing that needs a frame
; CODE-LABEL: fast_to_fast:
; CODE-NOT: callq
; CODE-NOT: rsp
; CODE: jmpq
define fastcc i32 @fast_to_fast(ptr %to, i32 %x) {
  %r = tail call fastcc i32 %to(i32 %x)
  ret i32 %r
}
; PLAN: jumps.ll: fast_to_sysv: not padded: calls nothing that needs a frame
; CODE-LABEL: fast_to_sysv:
; CODE-NOT: callq
; CODE-NOT: rsp
; CODE: jmpq
define fastcc i32 @fast_to_sysv(ptr %to, i32 %x) {
  %r = tail call x86_64_sysvcc i32 %to(i32 %x)
  ret i32 %r
}
; PLAN: jumps.ll: sysv_to_c: not padded: calls nothing that needs a frame
; CODE-LABEL: sysv_to_c:
; CODE-NOT: callq
; CODE-NOT: rsp
; CODE: jmpq
define x86_64_sysvcc i32 @sysv_to_c(ptr %to, i32 %x) {
  %r = tail call i32 %to(i32 %x)
  ret i32 %r
}
; PLAN: jumps.ll: sysv_to_fast: not padded: calls nothing that needs a frame
; CODE-LABEL: sysv_to_fast:
; CODE-NOT: callq
; CODE-NOT: rsp
; CODE: jmpq
define x86_64_sysvcc i32 @sysv_to_fast(ptr %to, i32 %x) {
  %r = tail call fastcc i32 %to(i32 %x)
  ret i32 %r
}
; PLAN: jumps.ll: sysv_to_sysv: not padded: calls nothing that needs a frame
; CODE-LABEL: sysv_to_sysv:
; CODE-NOT: callq
; CODE-NOT: rsp
; CODE: jmpq
define x86_64_sysvcc i32 @sysv_to_sysv(ptr %to, i32 %x) {
  %r = tail call x86_64_sysvcc i32 %to(i32 %x)
  ret i32 %r
}

; Others stay calls.
; PLAN: jumps.ll: c_to_cold: padded at entry
; CODE-LABEL: c_to_cold:
; CODE: callq *
define i32 @c_to_cold(ptr %to, i32 %x) {
  %r = tail call coldcc i32 %to(i32 %x)
  ret i32 %r
}
; PLAN: jumps.ll: cold_to_cold: padded at entry
; CODE-LABEL: cold_to_cold:
; CODE: callq *
define coldcc i32 @cold_to_cold(ptr %to, i32 %x) {
  %r = tail call coldcc i32 %to(i32 %x)
  ret i32 %r
}
; PLAN: jumps.ll: cold_to_c: padded at entry
; CODE-LABEL: cold_to_c:
; CODE: callq *
define coldcc i32 @cold_to_c(ptr %to, i32 %x) {
  %r = tail call i32 %to(i32 %x)
  ret i32 %r
}
; PLAN: jumps.ll: c_to_most: padded at entry
; CODE-LABEL: c_to_most:
; CODE: callq *
define i32 @c_to_most(ptr %to, i32 %x) {
  %r = tail call preserve_mostcc i32 %to(i32 %x)
  ret i32 %r
}
; PLAN: jumps.ll: most_to_c: padded at entry
; CODE-LABEL: most_to_c:
; CODE: callq *
define preserve_mostcc i32 @most_to_c(ptr %to, i32 %x) {
  %r = tail call i32 %to(i32 %x)
  ret i32 %r
}
; PLAN: jumps.ll: most_to_most: padded at entry
; CODE-LABEL: most_to_most:
; CODE: callq *
define preserve_mostcc i32 @most_to_most(ptr %to, i32 %x) {
  %r = tail call preserve_mostcc i32 %to(i32 %x)
  ret i32 %r
}
