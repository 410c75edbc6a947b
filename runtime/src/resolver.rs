//! The resolver: what a call runs through whose target has no copy in the current epoch yet, or no
//! body without a pad where one is needed.
//!
//! It runs on the stack of any thread of the program, in place of the first instruction of the
//! function that is called. Rules of this file, and of whatever it calls: no libc, no allocation,
//! no thread-local storage, `errno` untouched, at most [`patch::RESOLVER_STACK_BYTES`]
//! of stack, no instruction that writes the upper parts of vector registers.

use crate::reclaim::{safepoint, stack_bounds};
use crate::state::CODE;
use crate::{fork, maintenance, os, report};
use szc_code::resolver::Caller;
use szc_layout::arch::patch;
use szc_stack::pad_range;

/// Finds where the call goes that came through the stub of the address, and puts it into the word
/// from which the entry code goes on.
///
/// All signals are blocked meanwhile: a handler that called something for the first time would wait
/// for the lock that its own thread holds. A handler that runs before that resolves its own calls.
///
/// # Safety
/// The word must be on the caller's stack.
#[inline]
pub unsafe fn resolve(address: usize, goes_on_at: *mut usize) -> usize {
    let before = os::signal_mask(2, Some(u64::MAX));
    fork::take_over_unannounced_child();
    maintenance::look_whether_due();
    safepoint::pass();
    let target = CODE.with(|images| {
        stack_bounds::check();
        let stack_pointer = patch::stack_pointer_at_stub(goes_on_at as usize);
        let target = images.resolve(address, &CallerAt(stack_pointer));
        if let Some(target) = target {
            // On the stack before the lock is given up, where whoever frees copies looks for
            // references, and in a word of the entry code's: a local variable may lose its place to
            // another one. SAFETY: the caller's promise.
            unsafe { goes_on_at.write_volatile(target) };
        }
        target
    });
    if let Ok(before) = before {
        let _ = os::signal_mask(2, Some(before));
    }
    target.unwrap_or_else(|| lost())
}

/// The calling thread, whose stack pointer this is at the call.
struct CallerAt(usize);

impl Caller for CallerAt {
    fn has_pad_reserve(&self) -> bool {
        pad_range::current().contains(self.0)
    }

    fn return_address(&self) -> Option<usize> {
        stack_bounds::word_at(self.0)
    }

    fn frame(&self) -> usize {
        self.0 + size_of::<usize>()
    }
}

#[cold]
#[inline(never)]
fn lost() -> ! {
    report::internal_error("a call came from no stub", (file!(), line!()))
}
