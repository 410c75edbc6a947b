//! Backtraces that a program takes of itself: where a frame belongs to a copy, the program is told
//! the address in the original, which has a name and lines for whoever looks it up, in the
//! program's files or by `dladdr`.
//!
//! Only what a walk shows is told so. A personality routine asks for the same things by the same
//! functions, but finds a handler by them that lies in the copy: to it, addresses are what they
//! are.
//!
//! Sources: Linux Standard Base, "Interfaces for libgcc_s"; backtrace(3).

use super::OfUnwinder;
use crate::arch;
use crate::state::LOCATORS;
use core::ffi::{c_int, c_void};

/// `_Unwind_Reason_Code`
type Reason = c_int;
const NO_REASON: Reason = 0;
const FATAL_ERROR: Reason = 3;
const NORMAL_STOP: Reason = 4;

/// `struct _Unwind_Context`, known to the unwinder alone.
type Context = c_void;

/// `_Unwind_Trace_Fn`
type Visit = unsafe extern "C" fn(*mut Context, *mut c_void) -> Reason;
type Walk = unsafe extern "C" fn(Visit, *mut c_void) -> Reason;

static WALK: OfUnwinder = OfUnwinder::new(c"_Unwind_Backtrace");
static GET_IP: OfUnwinder = OfUnwinder::new(c"_Unwind_GetIP");
static GET_IP_INFO: OfUnwinder = OfUnwinder::new(c"_Unwind_GetIPInfo");
static GET_REGION_START: OfUnwinder = OfUnwinder::new(c"_Unwind_GetRegionStart");
static FIND_ENCLOSING: OfUnwinder = OfUnwinder::new(c"_Unwind_FindEnclosingFunction");

/// Finds the unwinder's functions, if it is there.
pub(super) fn find() {
    if WALK.get().is_some() {
        for function in [&GET_IP, &GET_IP_INFO, &GET_REGION_START, &FIND_ENCLOSING] {
            let _ = function.get();
        }
    }
}

/// The address that a program is told for a frame whose execution goes on at `address`.
///
/// Behind a call that never returns, that address may lie behind its function. So the call itself
/// is looked up, but in front of a function's first instruction there is none: a signal came there.
pub fn told(address: usize) -> usize {
    let Some(call) = address.checked_sub(1).and_then(|call| LOCATORS.origin(call)) else {
        return LOCATORS.origin(address).map_or(address, |origin| origin.original);
    };
    match LOCATORS.origin(address) {
        Some(origin) if origin.original == call.original => origin.original,
        _ => call.original + 1,
    }
}

/// A function's return address, as the function is told it that asks for it
/// (`__builtin_return_address`). Any address may be asked about, on any thread.
#[unsafe(no_mangle)]
extern "C" fn szc_rt_original_address(address: usize) -> usize {
    told(address)
}

/// What a walk shows, and to whom.
struct Shown {
    visit: Visit,
    argument: *mut c_void,
    /// Whether the frame of the walk's own function is behind us.
    begun: bool,
}

/// _Unwind_Backtrace
///
/// # Safety
/// `visit` must be callable with a context and `argument`.
#[unsafe(no_mangle)]
unsafe extern "C" fn szc_rt_shared_walks__Unwind_Backtrace(
    visit: Visit,
    argument: *mut c_void,
) -> Reason {
    let Some(walk) = WALK.get() else { return FATAL_ERROR };
    let mut shown = Shown { visit, argument, begun: false };
    // SAFETY: the symbol of that name has this type; what is shown outlives the walk.
    unsafe {
        let walk: Walk = core::mem::transmute::<usize, Walk>(walk);
        walk(show, (&raw mut shown).cast())
    }
}

/// Shows one frame to the program.
unsafe extern "C" fn show(context: *mut Context, shown: *mut c_void) -> Reason {
    // SAFETY: the argument is that of the walk above, which is under way.
    let shown = unsafe { &mut *shown.cast::<Shown>() };
    if !shown.begun {
        shown.begun = true;
        return NO_REASON;
    }
    let before = arch::shown_context();
    arch::set_shown_context(context as usize);
    // SAFETY: the promise of who walks.
    let reason = unsafe { (shown.visit)(context, shown.argument) };
    arch::set_shown_context(before);
    reason
}

/// An address that the unwinder gave for a context, as the one who asks is to see it.
fn seen(context: *mut Context, address: usize) -> usize {
    if arch::shown_context() == context as usize { told(address) } else { address }
}

/// _Unwind_GetIP
///
/// # Safety
/// As the unwinder's own: `context` is one that it gave.
#[unsafe(no_mangle)]
unsafe extern "C" fn szc_rt_shared_walks__Unwind_GetIP(context: *mut Context) -> usize {
    // SAFETY: the caller's promise.
    seen(context, unsafe { ip(context) })
}

unsafe fn ip(context: *mut Context) -> usize {
    let Some(get) = GET_IP.get() else { return 0 };
    // SAFETY: the symbol of that name has this type; the caller's promise.
    unsafe {
        let get: unsafe extern "C" fn(*mut Context) -> usize = core::mem::transmute(get);
        get(context)
    }
}

/// _Unwind_GetIPInfo
///
/// # Safety
/// As the unwinder's own: `context` is one that it gave, `before` can be written to.
#[unsafe(no_mangle)]
unsafe extern "C" fn szc_rt_shared_walks__Unwind_GetIPInfo(
    context: *mut Context,
    before: *mut c_int,
) -> usize {
    let Some(get) = GET_IP_INFO.get() else { return 0 };
    // SAFETY: the symbol of that name has this type; the caller's promise.
    let address = unsafe {
        let get: unsafe extern "C" fn(*mut Context, *mut c_int) -> usize =
            core::mem::transmute(get);
        get(context, before)
    };
    seen(context, address)
}

/// _Unwind_GetRegionStart
///
/// # Safety
/// As the unwinder's own: `context` is one that it gave.
#[unsafe(no_mangle)]
unsafe extern "C" fn szc_rt_shared_walks__Unwind_GetRegionStart(context: *mut Context) -> usize {
    let Some(get) = GET_REGION_START.get() else { return 0 };
    // SAFETY: the symbol of that name has this type; the caller's promise.
    let start = unsafe {
        let get: unsafe extern "C" fn(*mut Context) -> usize = core::mem::transmute(get);
        get(context)
    };
    seen(context, start)
}

/// _Unwind_FindEnclosingFunction: the original's entry, which is what the function's name stands
/// for.
///
/// # Safety
/// As the unwinder's own: any address.
#[unsafe(no_mangle)]
unsafe extern "C" fn szc_rt_shared_walks__Unwind_FindEnclosingFunction(
    address: *mut c_void,
) -> *mut c_void {
    let Some(find) = FIND_ENCLOSING.get() else { return core::ptr::null_mut() };
    // SAFETY: the symbol of that name has this type; the caller's promise.
    unsafe {
        let find: unsafe extern "C" fn(*mut c_void) -> *mut c_void = core::mem::transmute(find);
        find(told(address as usize) as *mut c_void)
    }
}

/// Where the addresses of a backtrace go.
struct Taken {
    addresses: *mut *mut c_void,
    room: usize,
    count: usize,
    /// Whether the frame of `backtrace` itself is behind us.
    begun: bool,
}

/// backtrace(3)
///
/// libc's own finds the unwinder past the functions above.
///
/// # Safety
/// `addresses` must have room for `room` of them.
#[unsafe(no_mangle)]
unsafe extern "C" fn szc_rt_shared_walks_backtrace(
    addresses: *mut *mut c_void,
    room: c_int,
) -> c_int {
    use crate::next::BACKTRACE as NEXT;
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
        // SAFETY: the symbol of that name has this type; what is taken outlives the walk.
        unsafe {
            let walk: Walk = core::mem::transmute::<usize, Walk>(walk);
            walk(take, (&raw mut taken).cast());
        }
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
        let address = ip(context);
        if address == 0 {
            // The outermost frame says so by a return address of 0.
            return NORMAL_STOP;
        }
        *taken.addresses.add(taken.count) = told(address) as *mut c_void;
    }
    taken.count += 1;
    if taken.count == taken.room { NORMAL_STOP } else { NO_REASON }
}
