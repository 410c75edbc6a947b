//! x86-64: the code that stubs call. It saves a call's registers while the resolver finds where the
//! call goes.

use crate::resolver::resolve;
use core::arch::global_asm;
use szc_layout::arch::patch::{RED_ZONE_BYTES, RESOLVER_STACK_BYTES};

// szc_rt_stub is the pattern of all stubs: each slot of a region has one, and is known by its
// address. szc_rt_resolve is entered from stubs alone: [rsp] is an address in the stub, and behind
// the red zone lies what the program called with. To the program this is an instruction that
// changes nothing: all registers and flags are kept, because compilers know which ones a function
// of their own leaves alone (gcc's -fipa-ra). The upper parts of vector registers are kept because
// no code of the runtime has instructions that write them.
global_asm!(
    ".text",
    ".globl szc_rt_stub",
    ".hidden szc_rt_stub",
    ".type szc_rt_stub, @function",
    ".p2align 4",
    "szc_rt_stub:",
    ".cfi_startproc",
    "lea rsp, [rsp - {red_zone}]",
    ".cfi_adjust_cfa_offset {red_zone}",
    // Through a pointer within reach: a library may lie far from the program, whose part this is.
    "call qword ptr [rip + szc_rt_stub]",
    ".cfi_endproc",
    ".p2align 4, 0xcc",
    ".size szc_rt_stub, . - szc_rt_stub",
    //
    ".globl szc_rt_resolve",
    ".hidden szc_rt_resolve",
    ".type szc_rt_resolve, @function",
    ".p2align 4",
    "szc_rt_resolve:",
    ".cfi_startproc",
    // To unwinders the program called this: its return address lies above stub and red zone.
    ".cfi_def_cfa_offset {entry_cfa}",
    "push rbp",
    ".cfi_adjust_cfa_offset 8",
    ".cfi_rel_offset rbp, 0",
    "mov rbp, rsp",
    ".cfi_def_cfa_register rbp",
    "pushfq",
    // Flags as the kernel starts a program with: forwards, no alignment checks, and no single
    // steps, whose signal would find itself blocked.
    "push 2",
    "popfq",
    "push rax", // number of vector registers of a variadic call
    "push rcx",
    "push rdx",
    "push rsi",
    "push rdi",
    "push r8",
    "push r9",
    "push r10", // static chain
    "push r11",
    "lea rsp, [rsp - 256]",
    "and rsp, -16",
    "movaps [rsp], xmm0",
    "movaps [rsp + 16], xmm1",
    "movaps [rsp + 32], xmm2",
    "movaps [rsp + 48], xmm3",
    "movaps [rsp + 64], xmm4",
    "movaps [rsp + 80], xmm5",
    "movaps [rsp + 96], xmm6",
    "movaps [rsp + 112], xmm7",
    "movaps [rsp + 128], xmm8",
    "movaps [rsp + 144], xmm9",
    "movaps [rsp + 160], xmm10",
    "movaps [rsp + 176], xmm11",
    "movaps [rsp + 192], xmm12",
    "movaps [rsp + 208], xmm13",
    "movaps [rsp + 224], xmm14",
    "movaps [rsp + 240], xmm15",
    "lea rsp, [rsp - {stack}]",
    "mov al, [rsp]",
    "lea rsp, [rsp + {stack}]",
    "mov rdi, [rbp + 8]",
    "lea rsi, [rbp + 8]",
    "call szc_rt_resolve_call",
    "mov [rbp + 8], rax",
    "movaps xmm0, [rsp]",
    "movaps xmm1, [rsp + 16]",
    "movaps xmm2, [rsp + 32]",
    "movaps xmm3, [rsp + 48]",
    "movaps xmm4, [rsp + 64]",
    "movaps xmm5, [rsp + 80]",
    "movaps xmm6, [rsp + 96]",
    "movaps xmm7, [rsp + 112]",
    "movaps xmm8, [rsp + 128]",
    "movaps xmm9, [rsp + 144]",
    "movaps xmm10, [rsp + 160]",
    "movaps xmm11, [rsp + 176]",
    "movaps xmm12, [rsp + 192]",
    "movaps xmm13, [rsp + 208]",
    "movaps xmm14, [rsp + 224]",
    "movaps xmm15, [rsp + 240]",
    "lea rsp, [rbp - 80]",
    "pop r11",
    "pop r10",
    "pop r9",
    "pop r8",
    "pop rdi",
    "pop rsi",
    "pop rdx",
    "pop rcx",
    "pop rax",
    "popfq",
    "pop rbp",
    ".cfi_def_cfa rsp, {entry_cfa}",
    ".cfi_restore rbp",
    // To the target, and back above the red zone, in one instruction: a signal in between would
    // find either all of it done or nothing.
    "ret {red_zone}",
    ".cfi_endproc",
    ".size szc_rt_resolve, . - szc_rt_resolve",
    red_zone = const RED_ZONE_BYTES,
    entry_cfa = const RED_ZONE_BYTES + 16,
    stack = const RESOLVER_STACK_BYTES,
);

/// What the resolver's entry calls.
///
/// # Safety
/// The word must be on the caller's stack.
#[unsafe(no_mangle)]
unsafe extern "C" fn szc_rt_resolve_call(address: usize, goes_on_at: *mut usize) -> usize {
    // SAFETY: the caller's promise.
    unsafe { resolve(address, goes_on_at) }
}

#[cfg(test)]
mod tests {
    use crate::exports::entries::stub_pattern;
    use szc_layout::arch::patch::{STUB_BYTES, stub};

    #[test]
    fn a_stub_has_the_bytes_of_the_pattern_for_which_there_are_unwind_rules() {
        // SAFETY: text of this program, as long as a stub.
        let pattern = unsafe { (stub_pattern() as *const [u8; STUB_BYTES]).read() };
        assert_eq!(Some(pattern), stub(stub_pattern(), stub_pattern()));
    }
}
