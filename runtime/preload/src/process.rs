//! This process's entry in the memory that is szc's.

use core::ptr::null_mut;
use core::sync::atomic::{
    AtomicPtr,
    Ordering::{Acquire, Release},
};

use szc_abi::causal::Process;

static PROCESS: AtomicPtr<Process> = AtomicPtr::new(null_mut());

/// This process's entry, once it has joined.
pub fn process() -> Option<&'static Process> {
    // SAFETY: what was set is in memory that is mapped for good. Pairs with `set_process`.
    unsafe { PROCESS.load(Acquire).as_ref() }
}

/// Notes the entry of this process, which has joined.
pub fn set_process(own: &'static Process) {
    PROCESS.store(core::ptr::from_ref(own).cast_mut(), Release);
}
