//! The stack-bounds check: notices threads that call something on a stack that is not their own.
//!
//! The first call of any function goes through the resolver, so a stack that a program has made for
//! itself is noticed there before there are frames of copies on it that are worth anything. Runs in
//! the resolver, under the lock.

use super::blocked::{Blocked, block};
use super::{signal_stacks, stacks};
use core::ops::Range;
use core::sync::atomic::{AtomicUsize, Ordering};
use szc_sys::arch::pads::{stack_pointer, thread_pointer};
use szc_sys::arch::{nr, syscall};
use szc_sys::os;

/// Deepest stack of a thread.
const MAX_STACK_BYTES: usize = 1 << 30;

/// Threads whose stacks are remembered; others share entries with them.
const ENTRIES: usize = 256;

/// From where on a thread's stack is known to be in one piece.
struct Bounds {
    thread: AtomicUsize,
    low: AtomicUsize,
}

/// Read and written under the lock.
static KNOWN: [Bounds; ENTRIES] =
    [const { Bounds { thread: AtomicUsize::new(0), low: AtomicUsize::new(0) } }; ENTRIES];

/// Ends reclaiming if the calling thread is on a stack that is neither its own nor a signal stack.
pub fn check() {
    let (thread, pointer) = (thread_pointer(), stack_pointer());
    let known = known(thread);
    if !known.contains(&pointer) {
        find(entry(thread), thread, pointer, known.start.min(known.end));
    }
}

/// The word at an address of the calling thread's stack, if that is known to be in one piece there.
pub fn word_at(address: usize) -> Option<usize> {
    let known = known(thread_pointer());
    let is_word = known.contains(&address) && known.end - address >= size_of::<usize>();
    // SAFETY: readable, and the thread that could write it is here.
    is_word.then(|| unsafe { (address as *const usize).read_unaligned() })
}

/// Where a thread's stack is known to be in one piece.
fn known(thread: usize) -> Range<usize> {
    let (end, known) = (stacks::end_of_thread(thread), entry(thread));
    let is_known = known.thread.load(Ordering::Relaxed) == thread;
    (if is_known { known.low.load(Ordering::Relaxed) } else { end })..end
}

fn entry(thread: usize) -> &'static Bounds {
    &KNOWN[(thread >> 12) % ENTRIES]
}

/// `low`: from where on the stack is known.
#[cold]
#[inline(never)]
fn find(known: &Bounds, thread: usize, pointer: usize, low: usize) {
    let page = pointer & !(os::PAGE_BYTES - 1);
    if pointer < low
        && low - pointer < MAX_STACK_BYTES
        && os::is_readable(page, low.next_multiple_of(os::PAGE_BYTES) - page)
    {
        known.thread.store(0, Ordering::Relaxed);
        // Release: a child that is forked in between finds no thread with the stack of another.
        known.low.store(page, Ordering::Release);
        known.thread.store(thread, Ordering::Release);
    } else if !is_on_signal_stack() && !signal_stacks::contain(pointer) {
        // (Within a handler the kernel knows nothing of a stack that was set with `SS_AUTODISARM`.)
        block(Blocked::OtherStack);
    }
}

/// Whether the calling thread is on its signal stack, by the kernel's account (sigaltstack(2)).
fn is_on_signal_stack() -> bool {
    let on_stack = 1;
    let mut now = [0u64; 3]; // stack_t: address, flags, bytes
    let arguments = [0, now.as_mut_ptr() as usize, 0, 0, 0, 0];
    // SAFETY: the buffer is a stack_t.
    let result = unsafe { syscall(nr::SIGALTSTACK, arguments) };
    result == 0 && now[1] & on_stack != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_within_bounds_on_its_own_stack() {
        std::thread::spawn(|| {
            check();
            let known = entry(thread_pointer());
            assert_eq!(known.thread.load(Ordering::Relaxed), thread_pointer());
            let low = known.low.load(Ordering::Relaxed);
            assert!((low..thread_pointer()).contains(&stack_pointer()));
            let word = std::hint::black_box(0x5eed_usize);
            assert_eq!(word_at(&raw const word as usize), Some(0x5eed));
            let elsewhere = Box::new(0x5eed_usize);
            assert_eq!(word_at(&raw const *elsewhere as usize), None);
        })
        .join()
        .unwrap();
    }
}
