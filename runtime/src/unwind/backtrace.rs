//! Backtraces that a program takes of itself: where a frame belongs to a copy, PC translation gives
//! the address in the original, which has a name and lines for whoever looks it up, in the
//! program's files or by `dladdr`.
//!
//! Only what a walk shows is translated. A personality routine asks for the same things by the same
//! functions, but finds a handler by them that lies in the copy: to it, addresses are what they
//! are.
//!
//! Sources: Linux Standard Base, "Interfaces for libgcc_s"; backtrace(3).

use super::of_unwinder::OfUnwinder;
use crate::pc_map::PC_MAP;
use core::ffi::{c_int, c_void};
use szc_sys::arch;
use szc_sys::next::BACKTRACE as NEXT;

/// `_Unwind_Reason_Code`
pub type Reason = c_int;
const NO_REASON: Reason = 0;
const FATAL_ERROR: Reason = 3;
const NORMAL_STOP: Reason = 4;

/// `struct _Unwind_Context`, known to the unwinder alone.
pub type Context = c_void;

/// `_Unwind_Trace_Fn`
pub type Visit = unsafe extern "C" fn(*mut Context, *mut c_void) -> Reason;

type Get = unsafe extern "C" fn(*mut Context) -> usize;

// SAFETY: each has that type (Linux Standard Base).
static WALK: OfUnwinder<unsafe extern "C" fn(Visit, *mut c_void) -> Reason> =
    unsafe { OfUnwinder::new(c"_Unwind_Backtrace") };
// SAFETY: as above.
static GET_IP: OfUnwinder<Get> = unsafe { OfUnwinder::new(c"_Unwind_GetIP") };
// SAFETY: as above.
static GET_IP_INFO: OfUnwinder<unsafe extern "C" fn(*mut Context, *mut c_int) -> usize> =
    unsafe { OfUnwinder::new(c"_Unwind_GetIPInfo") };
// SAFETY: as above.
static GET_REGION_START: OfUnwinder<Get> = unsafe { OfUnwinder::new(c"_Unwind_GetRegionStart") };
// SAFETY: as above.
static FIND_ENCLOSING: OfUnwinder<unsafe extern "C" fn(*mut c_void) -> *mut c_void> =
    unsafe { OfUnwinder::new(c"_Unwind_FindEnclosingFunction") };

/// Finds the unwinder's functions, if it is there.
pub(super) fn find() {
    if WALK.get().is_some() {
        let _ = (GET_IP.get(), GET_IP_INFO.get(), GET_REGION_START.get(), FIND_ENCLOSING.get());
    }
}

/// The PC translation of an address at which the execution of a frame goes on.
///
/// Behind a call that never returns, that address may lie behind its function. So the call itself
/// is looked up, but in front of a function's first instruction there is none: a signal came there.
pub fn translate_return(address: usize) -> usize {
    let Some(call) = address.checked_sub(1).and_then(|call| PC_MAP.translate(call)) else {
        return PC_MAP.translate(address).unwrap_or(address);
    };
    match PC_MAP.translate(address) {
        Some(original) if original == call => original,
        _ => call + 1,
    }
}

/// A walk that shows translated addresses, and to whom.
struct Translated {
    visit: Visit,
    argument: *mut c_void,
    /// Whether the frame of the walk's own function is behind us.
    begun: bool,
}

/// _Unwind_Backtrace. (The walk leaves out one frame, that of the function that this is a part of.)
///
/// # Safety
/// `visit` must be callable with a context and `argument`.
#[inline(always)]
pub unsafe fn walk(visit: Visit, argument: *mut c_void) -> Reason {
    let Some(walk) = WALK.get() else { return FATAL_ERROR };
    let mut translated = Translated { visit, argument, begun: false };
    // SAFETY: what is visited outlives the walk.
    unsafe { walk(visit_frame, (&raw mut translated).cast()) }
}

/// Shows one frame to the program.
unsafe extern "C" fn visit_frame(context: *mut Context, translated: *mut c_void) -> Reason {
    // SAFETY: the argument is that of the walk above, which is under way.
    let translated = unsafe { &mut *translated.cast::<Translated>() };
    if !translated.begun {
        translated.begun = true;
        return NO_REASON;
    }
    let before = arch::shown_context();
    arch::set_shown_context(context as usize);
    // SAFETY: the promise of who walks.
    let reason = unsafe { (translated.visit)(context, translated.argument) };
    arch::set_shown_context(before);
    reason
}

/// An address that the unwinder gave for a context, as the one who asks is to see it.
fn seen(context: *mut Context, address: usize) -> usize {
    if arch::shown_context() == context as usize { translate_return(address) } else { address }
}

/// _Unwind_GetIP
///
/// # Safety
/// As the unwinder's own: `context` is one that it gave.
pub unsafe fn ip(context: *mut Context) -> usize {
    // SAFETY: the caller's promise.
    seen(context, unsafe { own_ip(context) })
}

unsafe fn own_ip(context: *mut Context) -> usize {
    // SAFETY: the caller's promise.
    GET_IP.get().map_or(0, |get| unsafe { get(context) })
}

/// _Unwind_GetIPInfo
///
/// # Safety
/// As the unwinder's own: `context` is one that it gave, `before` can be written to.
pub unsafe fn ip_info(context: *mut Context, before: *mut c_int) -> usize {
    // SAFETY: the caller's promise.
    GET_IP_INFO.get().map_or(0, |get| seen(context, unsafe { get(context, before) }))
}

/// _Unwind_GetRegionStart
///
/// # Safety
/// As the unwinder's own: `context` is one that it gave.
pub unsafe fn region_start(context: *mut Context) -> usize {
    // SAFETY: the caller's promise.
    GET_REGION_START.get().map_or(0, |get| seen(context, unsafe { get(context) }))
}

/// _Unwind_FindEnclosingFunction: the original's entry, which is what the function's name stands
/// for.
///
/// # Safety
/// As the unwinder's own: any address.
pub unsafe fn enclosing_function(address: *mut c_void) -> *mut c_void {
    let Some(find) = FIND_ENCLOSING.get() else { return core::ptr::null_mut() };
    // SAFETY: the caller's promise.
    unsafe { find(translate_return(address as usize) as *mut c_void) }
}

/// Where the addresses of a backtrace go.
struct Taken {
    addresses: *mut *mut c_void,
    room: usize,
    count: usize,
    /// Whether the frame of `backtrace` itself is behind us.
    begun: bool,
}

/// backtrace(3). (It leaves out one frame, that of the function that this is a part of.)
///
/// libc's own finds the unwinder past the functions above.
///
/// # Safety
/// `addresses` must have room for `room` of them.
#[inline(always)]
pub unsafe fn backtrace(addresses: *mut *mut c_void, room: c_int) -> c_int {
    let Some(next) = NEXT.get() else { return 0 };
    if WALK.get().is_none() {
        // It brings the unwinder into C programs.
        let mut first = core::ptr::null_mut();
        // SAFETY: there is room for one address.
        unsafe { next(&raw mut first, 1) };
    }
    let Some(walk) = WALK.get().filter(|_| GET_IP.get().is_some()) else {
        // SAFETY: the caller's promise.
        return unsafe { next(addresses, room) };
    };
    let Ok(room) = usize::try_from(room) else { return 0 };
    let mut taken = Taken { addresses, room, count: 0, begun: false };
    if room > 0 {
        // SAFETY: what is taken outlives the walk.
        unsafe { walk(take, (&raw mut taken).cast()) };
    }
    taken.count as c_int
}

/// Takes the address of one frame.
unsafe extern "C" fn take(context: *mut Context, taken: *mut c_void) -> Reason {
    // SAFETY: the argument is that of the walk above, which is under way.
    let taken = unsafe { &mut *taken.cast::<Taken>() };
    if !taken.begun {
        taken.begun = true;
        return NO_REASON;
    }
    // SAFETY: the context is the unwinder's; fewer addresses were taken than there is room for.
    unsafe {
        let address = own_ip(context);
        if address == 0 {
            // The outermost frame says so by a return address of 0.
            return NORMAL_STOP;
        }
        *taken.addresses.add(taken.count) = translate_return(address) as *mut c_void;
    }
    taken.count += 1;
    if taken.count == taken.room { NORMAL_STOP } else { NO_REASON }
}
