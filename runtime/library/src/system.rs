//! What the log needs of the system: two functions of libc that may be missing, and three system
//! calls.

use core::arch::{asm, global_asm};
use core::ffi::{CStr, c_char, c_int, c_void};

/// Bytes of a path or a line, on the stack of whoever opens the library.
pub const BUFFER_BYTES: usize = 1536;

// Weak references, which Rust cannot express.
global_asm!(
    ".section .data.rel.ro.szc_library_weak, \"aw\", @progbits",
    ".p2align 3",
    ".weak secure_getenv",
    ".weak dladdr",
    ".globl szc_library_weak",
    ".hidden szc_library_weak",
    "szc_library_weak:",
    ".quad secure_getenv",
    ".quad dladdr",
    ".text",
);

unsafe extern "C" {
    static szc_library_weak: [usize; 2];
}

/// The value of an environment variable. Nothing in a program that has more rights than its caller.
pub fn variable(name: &CStr) -> Option<&'static CStr> {
    // SAFETY: the loader filled the word in: 0 or the address of secure_getenv(3).
    unsafe {
        let function = szc_library_weak[0];
        if function == 0 {
            return None;
        }
        let get: unsafe extern "C" fn(*const c_char) -> *const c_char =
            core::mem::transmute(function);
        let value = get(name.as_ptr());
        if value.is_null() { None } else { Some(CStr::from_ptr(value)) }
    }
}

/// `Dl_info`.
#[repr(C)]
struct ImageInfo {
    path: *const c_char,
    base: *mut c_void,
    symbol: *const c_char,
    address: *mut c_void,
}

/// The path that this library was loaded from.
pub fn own_path() -> Option<&'static CStr> {
    // SAFETY: as in `variable`, of dladdr(3); the path stays as long as the library.
    unsafe {
        let function = szc_library_weak[1];
        if function == 0 {
            return None;
        }
        let find: unsafe extern "C" fn(*const c_void, *mut ImageInfo) -> c_int =
            core::mem::transmute(function);
        let mut info = ImageInfo {
            path: core::ptr::null(),
            base: core::ptr::null_mut(),
            symbol: core::ptr::null(),
            address: core::ptr::null_mut(),
        };
        let own = (&raw const szc_library_weak).cast();
        if find(own, &raw mut info) == 0 || info.path.is_null() {
            return None;
        }
        Some(CStr::from_ptr(info.path))
    }
}

const WRITE: usize = 1;
const OPEN: usize = 2;
const CLOSE: usize = 3;
const GETPID: usize = 39;

/// `O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC`.
const APPEND: usize = 0o2_002_101;

/// # Safety
/// As the system call itself.
unsafe fn syscall(number: usize, arguments: [usize; 3]) -> isize {
    let result: isize;
    // SAFETY: the kernel clobbers rax, rcx and r11 only; memory effects are the caller's promise.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number => result,
            in("rdi") arguments[0],
            in("rsi") arguments[1],
            in("rdx") arguments[2],
            out("rcx") _,
            out("r11") _,
            options(nostack),
        );
    }
    result
}

/// Process number.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "process numbers are positive ints"
)]
pub fn process_id() -> u32 {
    // SAFETY: no memory is involved.
    unsafe { syscall(GETPID, [0; 3]) as u32 }
}

/// Appends bytes to a file in one write, or does not.
pub fn append(path: &CStr, bytes: &[u8]) {
    // SAFETY: path and bytes are valid for the calls; the descriptor is this function's own.
    unsafe {
        let file = syscall(OPEN, [path.as_ptr() as usize, APPEND, 0o666]);
        if let Ok(file) = usize::try_from(file) {
            syscall(WRITE, [file, bytes.as_ptr() as usize, bytes.len()]);
            syscall(CLOSE, [file, 0, 0]);
        }
    }
}
