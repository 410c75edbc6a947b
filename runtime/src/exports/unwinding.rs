//! What unwinders ask, and functions by which programs look at their own stacks.
//!
//! The driver gives the latter their real names, in programs whose code moves and whose unwinder is
//! the shared one (`szc_abi::SHARED_WALKS_EXPORT_PREFIX`, `SHARED_OBJECTS_EXPORT_PREFIX`). Sources:
//! Linux Standard Base, "Interfaces for libgcc_s"; backtrace(3), dladdr(3); glibc manual, "Dynamic
//! Linker Introspection".

use crate::next::{DLADDR, DLADDR1};
use crate::unwind::backtrace::{self, Context, Reason, Visit};
use crate::unwind::find_fde::{Bases, find_fde};
use crate::unwind::find_object::{FoundObject, find_object};
use crate::unwind::names::named;
use core::ffi::{c_int, c_void};

/// Stands in for `_Unwind_Find_FDE`.
///
/// # Safety
/// As the function it stands in for: called by the unwinder with a valid `bases`.
#[unsafe(no_mangle)]
unsafe extern "C" fn szc_rt_find_fde(pc: *mut c_void, bases: *mut Bases) -> *const c_void {
    // SAFETY: the caller's promise.
    unsafe { find_fde(pc, bases) }
}

/// Address of that.
pub fn find_fde_address() -> usize {
    szc_rt_find_fde as *const () as usize
}

/// _dl_find_object(3)
///
/// # Safety
/// As libc's: `found` can be written to.
#[unsafe(no_mangle)]
unsafe extern "C" fn szc_rt_shared_objects__dl_find_object(
    address: *mut c_void,
    found: *mut FoundObject,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { find_object(address, found) }
}

/// A function's return address, as the function that asks for it gets it
/// (`__builtin_return_address`). Any address may be asked about, on any thread.
#[unsafe(no_mangle)]
extern "C" fn szc_rt_original_address(address: usize) -> usize {
    backtrace::translate_return(address)
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
    // SAFETY: the caller's promise.
    unsafe { backtrace::walk(visit, argument) }
}

/// _Unwind_GetIP
///
/// # Safety
/// As the unwinder's own: `context` is one that it gave.
#[unsafe(no_mangle)]
unsafe extern "C" fn szc_rt_shared_walks__Unwind_GetIP(context: *mut Context) -> usize {
    // SAFETY: the caller's promise.
    unsafe { backtrace::ip(context) }
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
    // SAFETY: the caller's promise.
    unsafe { backtrace::ip_info(context, before) }
}

/// _Unwind_GetRegionStart
///
/// # Safety
/// As the unwinder's own: `context` is one that it gave.
#[unsafe(no_mangle)]
unsafe extern "C" fn szc_rt_shared_walks__Unwind_GetRegionStart(context: *mut Context) -> usize {
    // SAFETY: the caller's promise.
    unsafe { backtrace::region_start(context) }
}

/// _Unwind_FindEnclosingFunction
///
/// # Safety
/// As the unwinder's own: any address.
#[unsafe(no_mangle)]
unsafe extern "C" fn szc_rt_shared_walks__Unwind_FindEnclosingFunction(
    address: *mut c_void,
) -> *mut c_void {
    // SAFETY: the caller's promise.
    unsafe { backtrace::enclosing_function(address) }
}

/// backtrace(3)
///
/// # Safety
/// `addresses` must have room for `room` of them.
#[unsafe(no_mangle)]
unsafe extern "C" fn szc_rt_shared_walks_backtrace(
    addresses: *mut *mut c_void,
    room: c_int,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { backtrace::backtrace(addresses, room) }
}

/// dladdr(3)
///
/// # Safety
/// As libc's: `info` can be written to.
#[unsafe(no_mangle)]
unsafe extern "C" fn szc_rt_shared_walks_dladdr(
    address: *const c_void,
    info: *mut c_void,
) -> c_int {
    let Some(next) = DLADDR.get() else { return 0 };
    // SAFETY: the caller's promise.
    unsafe { next(named(address), info) }
}

/// dladdr1(3)
///
/// # Safety
/// As libc's: `info` and `extra` can be written to.
#[unsafe(no_mangle)]
unsafe extern "C" fn szc_rt_shared_walks_dladdr1(
    address: *const c_void,
    info: *mut c_void,
    extra: *mut *mut c_void,
    flags: c_int,
) -> c_int {
    let Some(next) = DLADDR1.get() else { return 0 };
    // SAFETY: the caller's promise.
    unsafe { next(named(address), info, extra, flags) }
}
