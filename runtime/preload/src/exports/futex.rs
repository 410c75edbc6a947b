//! syscall(2), by which Rust's std, parking_lot and others wait for futexes and wake them.

use core::arch::naked_asm;
use core::ffi::c_long;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use libc::{
    FUTEX_CMP_REQUEUE, FUTEX_CMP_REQUEUE_PI, FUTEX_LOCK_PI, FUTEX_REQUEUE, FUTEX_UNLOCK_PI,
    FUTEX_WAIT, FUTEX_WAIT_BITSET, FUTEX_WAIT_REQUEUE_PI, FUTEX_WAKE, FUTEX_WAKE_BITSET,
    FUTEX_WAKE_OP,
};

use crate::delay::{credit_here, pay_here};
use crate::next::Next;

static NEXT: Next = Next::new(c"syscall");
/// The same, for code that makes no frame; 0 until it is known.
static ADDRESS: AtomicUsize = AtomicUsize::new(0);

const FUTEX_LOCK_PI2: i32 = 13;
const COMMAND: c_long = 0x7f;

/// `syscall`. Most calls go on to libc's as they came: some return twice, and must not find
/// another's frame then.
///
/// # Safety
/// As that.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn syscall() {
    naked_asm!(
        "cmp edi, {futex}",
        "je {waits_or_wakes}",
        "cmp edi, {futex_waitv}",
        "je {waits_or_wakes}",
        "mov rax, qword ptr [rip + {address}]",
        "test rax, rax",
        "jz {first}",
        "jmp rax",
        futex = const libc::SYS_futex,
        futex_waitv = const libc::SYS_futex_waitv,
        waits_or_wakes = sym waits_or_wakes,
        first = sym first,
        address = sym ADDRESS,
    )
}

type Arguments =
    unsafe extern "C-unwind" fn(c_long, c_long, c_long, c_long, c_long, c_long, c_long) -> c_long;

/// The first call that is not for a futex.
unsafe extern "C-unwind" fn first(
    number: c_long,
    a: c_long,
    b: c_long,
    c: c_long,
    d: c_long,
    e: c_long,
    f: c_long,
) -> c_long {
    let address = NEXT.address();
    ADDRESS.store(address, Relaxed);
    // SAFETY: libc's function gets what this one got. What the caller has not given is never used.
    unsafe { core::mem::transmute::<usize, Arguments>(address)(number, a, b, c, d, e, f) }
}

unsafe extern "C-unwind" fn waits_or_wakes(
    number: c_long,
    a: c_long,
    operation: c_long,
    c: c_long,
    d: c_long,
    e: c_long,
    f: c_long,
) -> c_long {
    let is_one = number == libc::SYS_futex;
    // At most 127.
    let command = (operation & COMMAND) as i32;
    let waits = !is_one
        || matches!(
            command,
            FUTEX_WAIT | FUTEX_WAIT_BITSET | FUTEX_LOCK_PI | FUTEX_LOCK_PI2 | FUTEX_WAIT_REQUEUE_PI
        );
    let wakes = matches!(
        command,
        FUTEX_WAKE
            | FUTEX_WAKE_BITSET
            | FUTEX_WAKE_OP
            | FUTEX_REQUEUE
            | FUTEX_CMP_REQUEUE
            | FUTEX_CMP_REQUEUE_PI
            | FUTEX_UNLOCK_PI
    );
    if waits || wakes {
        pay_here();
    }
    // SAFETY: as in `first`.
    let result = unsafe {
        core::mem::transmute::<usize, Arguments>(NEXT.address())(number, a, operation, c, d, e, f)
    };
    if waits && result >= 0 {
        credit_here();
    }
    result
}
