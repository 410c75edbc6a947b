; Exceptions: the pad is in front of the call that may throw, and the frame pointer describes the
; frame.
; RUN: -passes=szc
target triple = "x86_64-pc-linux-gnu"
declare void @throws()
declare void @cleans()
declare i32 @__gxx_personality_v0(...)
; CHECK-LABEL: define void @caller(
; CHECK: call ptr @llvm.stacksave
; CHECK: invoke void @throws()
; CODE-LABEL: caller:
; CODE: .cfi_def_cfa_register %rbp
; CODE: callq throws
define void @caller() personality ptr @__gxx_personality_v0 {
  invoke void @throws() to label %fine unwind label %bad
fine:
  ret void
bad:
  %pad = landingpad { ptr, i32 } cleanup
  call void @cleans()
  resume { ptr, i32 } %pad
}
