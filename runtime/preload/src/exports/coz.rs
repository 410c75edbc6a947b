//! What coz.h, the crate `coz` and others of their kind look for with dlsym(3).

use core::ffi::{CStr, c_char, c_int};
use core::hint::spin_loop;
use core::ptr::null_mut;
use core::sync::atomic::{
    AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

use szc_abi::causal::{ARRIVAL, AT_POINTS, BEGIN, CLAIMED, FREE, NAME_BYTES, NAMED, Point};

use crate::arrival::arrive;
use crate::delay::{credit_here, memory, now_with, pay, pay_here};
use crate::thread::current;

/// The counter of a progress point, which the program adds to; null if it is not measured.
///
/// # Safety
/// The name must be a string that ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _coz_get_counter(kind: c_int, name: *const c_char) -> *mut AtomicU64 {
    let Some(memory) = memory() else { return null_mut() };
    // SAFETY: the caller's promise.
    let name = words(unsafe { CStr::from_ptr(name) }.to_bytes());
    let point = memory.points.iter().find(|point| is_it(point, kind.cast_unsigned(), &name));
    point.map_or(null_mut(), |point| (&raw const point.visits).cast_mut())
}

/// A visit of a point of szc's coz.h, which has its time.
///
/// # Safety
/// The counter must be one of [`_coz_get_counter`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _szc_coz_visit(counter: *mut AtomicU64) {
    // SAFETY: a point begins with its counter, and is in memory that stays.
    let point = unsafe { &*counter.cast::<Point>() };
    let Some(memory) = memory() else { return };
    let thread = current();
    let is_arrival = matches!(point.kind.load(Relaxed), BEGIN | ARRIVAL);
    if is_arrival && memory.arrivals.counted.load(Relaxed) == AT_POINTS {
        arrive(memory, thread);
    }
    // What is due is older than the visit, whose time is that without delays.
    pay(memory, thread);
    let (now, paid) = now_with(&thread.paid_ns);
    point.visit(now.wrapping_sub(paid));
}

/// Pays what the thread is behind.
#[unsafe(no_mangle)]
pub extern "C" fn _coz_add_delays() {
    pay_here();
}

/// The same, by another name.
#[unsafe(no_mangle)]
pub extern "C" fn _coz_catch_up() {
    pay_here();
}

/// Before the program waits in a way of its own.
#[unsafe(no_mangle)]
pub extern "C" fn _coz_pre_block() {
    pay_here();
}

/// Behind that; `is_woken` if another thread ended it.
#[unsafe(no_mangle)]
pub extern "C" fn _coz_post_block(is_woken: c_int) {
    // Callers pass a bool or an int.
    if is_woken & 0xff != 0 {
        credit_here();
    }
}

type Name = [u64; NAME_BYTES / 8];

fn words(name: &[u8]) -> Name {
    let mut bytes = [0; NAME_BYTES];
    for (to, from) in bytes[..NAME_BYTES - 1].iter_mut().zip(name) {
        *to = *from;
    }
    let mut words = [0; NAME_BYTES / 8];
    for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
        *word = bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    }
    words
}

/// Whether a point is that of this name, which it becomes if it is free.
fn is_it(point: &Point, kind: u32, name: &Name) -> bool {
    if point.state.compare_exchange(FREE, CLAIMED, AcqRel, Acquire).is_ok() {
        point.kind.store(kind, Relaxed);
        for (to, from) in point.name.iter().zip(name) {
            to.store(*from, Relaxed);
        }
        // Others, and szc, acquire it before they read the name.
        point.state.store(NAMED, Release);
        return true;
    }
    while point.state.load(Acquire) == CLAIMED {
        spin_loop();
    }
    let is_same = |(a, b): (&AtomicU64, &u64)| a.load(Relaxed) == *b;
    point.kind.load(Relaxed) == kind && point.name.iter().zip(name).all(is_same)
}
