//! What szc links into every shared library: a note by which a program's runtime finds the library,
//! and a call of that runtime before the library's constructors and behind its destructors.
//!
//! The runtime itself is the program's. Its two entries are weak references: in a program that szc
//! did not build they are null, and the library runs as it was linked and says so in the log.
//!
//! Sources: System V ABI, chapter 5 (initialization and termination functions, note sections).
#![cfg_attr(not(test), no_std)]

mod log;
mod system;

use core::arch::global_asm;
use szc_abi::library::{LibraryNote, NOTE_DESCRIPTOR_AT, NOTE_TYPE};

const _: () = assert!(NOTE_DESCRIPTOR_AT == 16 && LibraryNote::IMAGE_AT == 8);

// The note. The digest is filled in when the table is made.
global_asm!(
    ".section .note.szc, \"a\", @note",
    ".p2align 2",
    ".long 4",             // bytes of the name
    ".long {descriptor}",  // bytes of the descriptor
    ".long {note_type}",
    ".asciz \"szc\"",
    ".quad 0",             // table_digest
    ".long szc_library_image - .",
    ".long {version}",
    //
    // The bounds of the sections that the compiler pass fills; null in a library without them.
    ".section .data.rel.ro.szc_library_image, \"aw\", @progbits",
    ".p2align 3",
    ".globl szc_library_image",
    ".hidden szc_library_image",
    ".type szc_library_image, @object",
    ".size szc_library_image, 40",
    ".weak __start_szc_functions",
    ".hidden __start_szc_functions",
    ".weak __stop_szc_functions",
    ".hidden __stop_szc_functions",
    ".weak __start_szc_pad_tables",
    ".hidden __start_szc_pad_tables",
    ".weak __stop_szc_pad_tables",
    ".hidden __stop_szc_pad_tables",
    ".weak szc_pad_state_offset",
    ".hidden szc_pad_state_offset",
    "szc_library_image:",
    ".quad __start_szc_functions",
    ".quad __stop_szc_functions",
    ".quad __start_szc_pad_tables",
    ".quad __stop_szc_pad_tables",
    ".quad szc_pad_state_offset",
    //
    // Both calls are jumps, so that nothing of the library is on the stack while its entries
    // change. The symbols have neither type nor size: what is no function to the link step cannot
    // move.
    ".section .text.szc_library, \"ax\", @progbits",
    ".weak szc_rt_adopt",
    ".weak szc_rt_release",
    ".p2align 4",
    "szc_library_opened:",
    ".cfi_startproc",
    "endbr64",
    "lea rdi, [rip + szc_library_image]",
    "mov rax, [rip + szc_rt_adopt@GOTPCREL]",
    "test rax, rax",
    "jz {alone}",
    "jmp rax",
    ".p2align 4",
    "szc_library_closed:",
    "endbr64",
    "lea rdi, [rip + szc_library_image]",
    "mov rax, [rip + szc_rt_release@GOTPCREL]",
    "test rax, rax",
    "jz 2f",
    "jmp rax",
    "2:",
    "ret",
    ".cfi_endproc",
    //
    // Constructors run from the lowest priority on, destructors from the highest: the first comes
    // before all others and the second behind them.
    ".section .init_array.0, \"aw\", @init_array",
    ".p2align 3",
    ".quad szc_library_opened",
    ".section .fini_array.0, \"aw\", @fini_array",
    ".p2align 3",
    ".quad szc_library_closed",
    ".text",
    alone = sym szc_library_alone,
    descriptor = const LibraryNote::BYTES,
    note_type = const NOTE_TYPE,
    version = const szc_abi::ABI_VERSION,
);

/// There is no runtime.
extern "C" fn szc_library_alone() {
    log::write();
}

/// Nothing here can panic.
#[cfg(not(test))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
