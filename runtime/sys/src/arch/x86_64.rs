//! x86-64 on Linux: system calls, machine code templates, the raw task's birth.
//!
//! Rules of this file: no libc, no allocation, no thread-local storage.
//! Sources: System V ABI AMD64 supplement; Intel SDM volume 2; Linux `arch/x86/include/uapi/asm`.

mod heap;
pub mod number;
pub mod pads;
pub mod prologue;
mod stack_switch;
mod symbol;
mod thread_word;
mod weak;

use core::arch::{asm, global_asm};
use core::ffi::c_void;
pub use heap::{copy_words, prefetch, zero_grains};
pub use stack_switch::{SWITCH_BYTES_BEHIND, switches_stacks};
pub use symbol::symbol_of;
pub use thread_word::{
    errno_before_fork, heap_slot, mask_before_fork, path_countdown, paths_slot,
    set_errno_before_fork, set_heap_slot, set_mask_before_fork, set_path_countdown, set_paths_slot,
    set_shown_context, shown_context,
};
pub use weak::{
    Dlerror, Dlopen, IterateImages, StreamsCall, VisitImage, WeakSymbol, call_for_streams,
    keeps_code, weak_dlerror, weak_dlopen, weak_find_fde, weak_iterate_images, weak_main,
    weak_steps, weak_symbol,
};

/// Numbers of the system calls the runtime makes (`arch/x86/entry/syscalls/syscall_64.tbl`).
#[allow(missing_docs, reason = "the kernel's names say what they are")]
pub mod nr {
    pub const WRITE: usize = 1;
    pub const OPEN: usize = 2;
    pub const CLOSE: usize = 3;
    pub const FSTAT: usize = 5;
    pub const MMAP: usize = 9;
    pub const MPROTECT: usize = 10;
    pub const MUNMAP: usize = 11;
    pub const MREMAP: usize = 25;
    pub const MADVISE: usize = 28;
    pub const MINCORE: usize = 27;
    pub const SIGALTSTACK: usize = 131;
    pub const MLOCKALL: usize = 151;
    pub const RT_SIGACTION: usize = 13;
    pub const RT_SIGPROCMASK: usize = 14;
    pub const RT_SIGTIMEDWAIT: usize = 128;
    pub const PREAD64: usize = 17;
    pub const PWRITE64: usize = 18;
    pub const GETPID: usize = 39;
    pub const SYSINFO: usize = 99;
    pub const GETEUID: usize = 107;
    pub const EXIT: usize = 60;
    pub const FTRUNCATE: usize = 77;
    pub const LINK: usize = 86;
    pub const UNLINK: usize = 87;
    pub const READLINK: usize = 89;
    pub const GETCWD: usize = 79;
    pub const CHDIR: usize = 80;
    pub const PRCTL: usize = 157;
    pub const GETTID: usize = 186;
    pub const TKILL: usize = 200;
    pub const WAITID: usize = 247;
    pub const READ: usize = 0;
    pub const BRK: usize = 12;
    pub const FUTEX: usize = 202;
    pub const SCHED_SETAFFINITY: usize = 203;
    pub const SCHED_GETAFFINITY: usize = 204;
    pub const TGKILL: usize = 234;
    pub const GETDENTS64: usize = 217;
    pub const GET_ROBUST_LIST: usize = 274;
    pub const PROCESS_VM_READV: usize = 310;
    pub const CLOCK_NANOSLEEP: usize = 230;
    pub const EXIT_GROUP: usize = 231;
    pub const CLOCK_GETTIME: usize = 228;
    pub const PRLIMIT64: usize = 302;
    pub const GETRANDOM: usize = 318;
    pub const MEMFD_CREATE: usize = 319;
    pub const MEMBARRIER: usize = 324;
    pub const CLOSE_RANGE: usize = 436;
}

/// Makes a system call with up to six arguments; a negative result is an error number.
///
/// # Safety
/// As the system call itself: pointers must be valid for what the kernel does with them.
#[inline]
pub unsafe fn syscall(number: usize, arguments: [usize; 6]) -> isize {
    let result: isize;
    // SAFETY: the kernel clobbers rax, rcx and r11 only; memory effects are the caller's promise.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number => result,
            in("rdi") arguments[0],
            in("rsi") arguments[1],
            in("rdx") arguments[2],
            in("r10") arguments[3],
            in("r8") arguments[4],
            in("r9") arguments[5],
            out("rcx") _,
            out("r11") _,
            options(nostack),
        );
    }
    result
}

/// Copies bytes without calling `memcpy`, which belongs to the program.
///
/// # Safety
/// Both ranges must be valid for `count` bytes and must not overlap.
#[inline]
pub unsafe fn copy_bytes(to: *mut u8, from: *const u8, count: usize) {
    // SAFETY: the caller's promise is exactly what `rep movsb` needs; the ABI keeps DF clear.
    unsafe {
        asm!(
            "rep movsb",
            inout("rdi") to => _,
            inout("rsi") from => _,
            inout("rcx") count => _,
            options(nostack, preserves_flags),
        );
    }
}

/// Fills bytes without calling `memset`, which belongs to the program.
///
/// # Safety
/// The range must be valid for writing `count` bytes.
#[inline]
pub unsafe fn fill_bytes(to: *mut u8, value: u8, count: usize) {
    // SAFETY: the caller's promise is exactly what `rep stosb` needs; the ABI keeps DF clear.
    unsafe {
        asm!(
            "rep stosb",
            inout("rdi") to => _,
            inout("rcx") count => _,
            in("al") value,
            options(nostack, preserves_flags),
        );
    }
}

/// Address of the image's first byte, its ELF header.
#[must_use]
pub fn image_base() -> usize {
    let base: usize;
    // SAFETY: takes the address of a symbol that the linker defines; reads no memory.
    unsafe {
        asm!(
            "lea {}, [rip + __ehdr_start]",
            out(reg) base,
            options(nomem, nostack, preserves_flags),
        );
    }
    base
}

/// Whether valgrind runs the program: it knows fewer forms of clone(2), and ends a program that
/// uses another.
///
/// The request is four rotations that together do nothing, and an exchange of a register with
/// itself (valgrind.h, `VALGRIND_DO_CLIENT_REQUEST`).
#[must_use]
pub fn is_simulated() -> bool {
    let request: [usize; 6] = [0x1001, 0, 0, 0, 0, 0]; // VG_USERREQ__RUNNING_ON_VALGRIND
    let answer: usize;
    // SAFETY: rdi and rbx keep their values; valgrind reads the request and writes rdx.
    unsafe {
        asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") request.as_ptr(),
            inlateout("rdx") 0usize => answer,
            inout("rdi") 0usize => _,
            options(nostack),
        );
    }
    answer != 0
}

/// Whether the processor keeps a second stack of return addresses (CET), which the resolver's last
/// instruction would contradict. Linkers mark a program for it only if each of its objects is
/// marked, and the runtime's is not.
#[must_use]
pub fn has_shadow_stack() -> bool {
    let pointer: usize;
    // SAFETY: where there is no shadow stack the instruction is a nop and rax stays 0.
    unsafe {
        asm!(
            ".byte 0xf3, 0x48, 0x0f, 0x1e, 0xc8", // rdsspq rax
            inlateout("rax") 0usize => pointer,
            options(nomem, nostack, preserves_flags),
        );
    }
    pointer != 0
}

/// Tells the processor that this is a waiting loop.
#[inline]
pub fn relax() {
    core::hint::spin_loop();
}

// A function that is entered by the kernel when a handler returns. libgcc's unwinder and debuggers
// know a signal frame by exactly these bytes (x86_64_fallback_frame_state); others, such as LLVM's,
// by an FDE (with an `S` in its CIE) that says where the kernel has put the registers. Like
// those of libc they begin one byte early: a return address belongs to the call in front of it.
global_asm!(
    ".text",
    ".globl szc_rt_restorer",
    ".hidden szc_rt_restorer",
    ".type szc_rt_restorer, @function",
    // DW_CFA_expression: DW_OP_breg7 with an offset of two bytes
    ".macro saved register, offset",
    ".cfi_escape 0x10, \\register, 3, 0x77, (\\offset & 0x7f) | 0x80, \\offset >> 7",
    ".endm",
    ".p2align 4",
    ".cfi_startproc",
    ".cfi_signal_frame",
    // DW_CFA_def_cfa_expression: the saved stack pointer
    ".cfi_escape 0x0f, 4, 0x77, 0xa0, 0x01, 0x06",
    "saved 8, 40",   // r8
    "saved 9, 48",   // r9
    "saved 10, 56",  // r10
    "saved 11, 64",  // r11
    "saved 12, 72",  // r12
    "saved 13, 80",  // r13
    "saved 14, 88",  // r14
    "saved 15, 96",  // r15
    "saved 5, 104",  // rdi
    "saved 4, 112",  // rsi
    "saved 6, 120",  // rbp
    "saved 3, 128",  // rbx
    "saved 1, 136",  // rdx
    "saved 0, 144",  // rax
    "saved 2, 152",  // rcx
    "saved 7, 160",  // rsp
    "saved 16, 168", // rip
    "nop",
    "szc_rt_restorer:",
    "mov rax, 15", // rt_sigreturn
    "syscall",
    ".cfi_endproc",
    ".size szc_rt_restorer, . - szc_rt_restorer",
    ".purgem saved",
);

// szc_rt_clone(flags, stack_top, entry, tls): clone(2) whose child calls `entry` on its own stack.
global_asm!(
    ".text",
    ".globl szc_rt_clone",
    ".hidden szc_rt_clone",
    ".type szc_rt_clone, @function",
    ".p2align 4",
    "szc_rt_clone:",
    ".cfi_startproc",
    "mov r9, rdx",    // entry, kept by the kernel in the child
    "mov r8, rcx",    // tls
    "xor edx, edx",   // parent_tid
    "xor r10d, r10d", // child_tid
    "mov eax, 56",    // clone
    "syscall",
    "test eax, eax",
    "jz 2f",
    "ret",
    "2:",
    // The task begins here.
    ".cfi_undefined rip",
    "xor ebp, ebp",
    "and rsp, -16",
    "call r9",
    "ud2",
    ".cfi_endproc",
    ".size szc_rt_clone, . - szc_rt_clone",
);

unsafe extern "C" {
    fn szc_rt_restorer();
    fn szc_rt_clone(
        flags: usize,
        stack_top: *mut c_void,
        entry: extern "C" fn() -> !,
        tls: *mut c_void,
    ) -> isize;
}

/// Address of the code that a handler returns to.
#[must_use]
pub fn restorer() -> usize {
    szc_rt_restorer as *const () as usize
}

/// Starts a task that libc does not know.
///
/// # Safety
/// `stack_top` must be the end of a stack that nobody else uses, `tls` a block whose first word is
/// its own address, and `flags` must make the task share this address space.
pub unsafe fn clone_task(
    flags: usize,
    stack_top: *mut c_void,
    entry: extern "C" fn() -> !,
    tls: *mut c_void,
) -> isize {
    // SAFETY: the caller's promise.
    unsafe { szc_rt_clone(flags, stack_top, entry, tls) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copying_and_filling_touch_exactly_the_bytes_asked_for() {
        let mut bytes = [1u8, 2, 3, 4, 5, 6];
        let source = [9u8, 8];
        // SAFETY: both ranges lie inside their arrays.
        unsafe {
            copy_bytes(bytes.as_mut_ptr().add(1), source.as_ptr(), 2);
            fill_bytes(bytes.as_mut_ptr().add(4), 7, 1);
        }
        assert_eq!(bytes, [1, 9, 8, 4, 7, 6]);
    }
}
