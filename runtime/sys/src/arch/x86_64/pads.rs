//! x86-64: the pad state of a thread, and the sections that the compiler pass fills.
//!
//! Sources: System V ABI AMD64 supplement; Drepper, "ELF handling for thread-local storage"
//! (local-exec model); `szc_abi::stack`.

use core::arch::{asm, global_asm};
use szc_abi::stack::PadState;

// The state that padded code reads: `#[thread_local]` is not stable in Rust, so it is defined here.
// Code that cannot use the local-exec model finds it by its offset from the thread pointer.
global_asm!(
    ".section .tdata, \"awT\", @progbits",
    ".p2align 3",
    ".globl szc_pad_state",
    ".hidden szc_pad_state",
    ".type szc_pad_state, @object",
    ".size szc_pad_state, {bytes}",
    "szc_pad_state:",
    ".zero {floor_at}",
    ".quad {no_floor}",
    ".section .rodata.szc_pad_state_offset, \"a\", @progbits",
    ".p2align 3",
    ".globl szc_pad_state_offset",
    ".hidden szc_pad_state_offset",
    ".type szc_pad_state_offset, @object",
    ".size szc_pad_state_offset, 8",
    "szc_pad_state_offset:",
    // Thread-local storage of an executable lies below the thread pointer: the upper half of the
    // distance is all ones. (GNU gold has no relocation for all of it.)
    ".long szc_pad_state@tpoff",
    ".long -1",
    ".text",
    bytes = const size_of::<PadState>(),
    floor_at = const PadState::FLOOR_AT,
    no_floor = const PadState::NO_FLOOR,
);

const _: () = assert!(PadState::FLOOR_AT as usize + size_of::<u64>() == size_of::<PadState>());

// The bounds of the sections; both null in a program without the section.
global_asm!(
    ".section .data.rel.ro.szc_rt_sections, \"aw\", @progbits",
    ".p2align 3",
    ".type szc_rt_pad_sections, @object",
    ".globl szc_rt_pad_sections",
    ".hidden szc_rt_pad_sections",
    ".weak __start_szc_functions",
    ".hidden __start_szc_functions",
    ".weak __stop_szc_functions",
    ".hidden __stop_szc_functions",
    ".weak __start_szc_pad_tables",
    ".hidden __start_szc_pad_tables",
    ".weak __stop_szc_pad_tables",
    ".hidden __stop_szc_pad_tables",
    "szc_rt_pad_sections:",
    ".quad __start_szc_functions",
    ".quad __stop_szc_functions",
    ".quad __start_szc_pad_tables",
    ".quad __stop_szc_pad_tables",
    ".text",
);

unsafe extern "C" {
    static szc_rt_pad_sections: Sections;
}

/// Bounds of the sections that the compiler pass fills.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Sections {
    /// First function record.
    pub functions: *const u8,
    /// Behind the last function record.
    pub functions_end: *const u8,
    /// First pad table.
    pub tables: *mut u8,
    /// Behind the last pad table.
    pub tables_end: *mut u8,
}

/// The bounds of the program's sections.
#[must_use]
pub fn sections() -> Sections {
    // SAFETY: a constant that the loader filled in before any code of the image ran.
    unsafe { szc_rt_pad_sections }
}

/// Address of the calling thread's pad state.
#[must_use]
pub fn pad_state() -> *mut PadState {
    let state: *mut PadState;
    // SAFETY: the word at the thread pointer is the thread pointer (the ABI's), and reading it has
    // no effect; the state lies at a constant distance in the image of the program.
    unsafe {
        asm!(
            "mov {0}, qword ptr fs:[0]",
            "lea {0}, [{0} + szc_pad_state@tpoff]",
            out(reg) state,
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    state
}

/// Distance of a thread's pad state from its thread pointer, in bytes: the same for all threads.
#[must_use]
pub fn state_offset() -> i32 {
    let offset: usize;
    // SAFETY: computes a constant of the link.
    unsafe {
        asm!(
            "mov {}, offset szc_pad_state@tpoff",
            out(reg) offset,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    offset as i32
}

/// Address of the calling thread's block, which glibc also takes for its name.
#[must_use]
pub fn thread_pointer() -> usize {
    let pointer: usize;
    // SAFETY: reads the word at the thread pointer, which is the thread pointer.
    unsafe {
        asm!(
            "mov {}, qword ptr fs:[0]",
            out(reg) pointer,
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    pointer
}

/// The stack pointer of the caller.
#[inline]
#[must_use]
pub fn stack_pointer() -> usize {
    let pointer: usize;
    // SAFETY: reads a register.
    unsafe { asm!("mov {}, rsp", out(reg) pointer, options(nomem, nostack, preserves_flags)) };
    pointer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thread_has_a_state_of_its_own_that_gives_no_pads_at_first() {
        let here = pad_state();
        // SAFETY: the test's own thread's state.
        assert_eq!(unsafe { here.read() }, PadState::NO_PADS);
        let there = std::thread::spawn(|| pad_state() as usize).join().unwrap();
        assert_ne!(here as usize, there);
        assert_eq!(here as usize % 8, 0);
        let offset = state_offset() as isize;
        assert_eq!(thread_pointer().wrapping_add_signed(offset), here as usize);
    }
}
