//! Where the stack was when each function of an image was first called, if anyone wants to know.

use core::sync::atomic::{AtomicUsize, Ordering};
use szc_sys::os::{Array, Errno};

/// The addresses, by function. Written by the holder of the lock.
pub struct FirstCalls {
    stacks: Array<AtomicUsize>,
}

impl FirstCalls {
    /// Of so many functions; with none nothing is noted.
    pub fn of(count: usize) -> Result<Self, Errno> {
        // SAFETY: numbers.
        let stacks = unsafe { Array::zeroed(count) }?;
        Ok(Self { stacks })
    }

    /// Notes where the stack is at a call of a function, unless there was one before.
    pub(crate) fn note(&self, function: u32, stack: usize) {
        if let Some(noted) = self.stacks.get(function as usize)
            && noted.load(Ordering::Relaxed) == 0
        {
            noted.store(stack, Ordering::Relaxed);
        }
    }

    /// Where the stack was at the first call of a function: its end in the caller's frame, in front
    /// of the return address.
    pub fn stack(&self, function: u32) -> Option<usize> {
        let noted = self.stacks.get(function as usize)?.load(Ordering::Relaxed);
        (noted != 0).then_some(noted)
    }
}
