//! All heaps of a process, and how threads come by one.
//!
//! A thread takes a heap when it first allocates and leaves it to the next thread when it ends.
//! Heaps are never unmapped: blocks of theirs may be in use anywhere.

use super::ThreadHeap;
use crate::base::AnyBase;
use crate::config::Config;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use szc_sys::os::{self, Lock};

/// The heaps of this process.
pub static HEAPS: Heaps = Heaps::new();

/// All heaps of a process.
pub struct Heaps {
    lock: Lock,
    /// The newest heap. Written under the lock.
    newest: AtomicPtr<ThreadHeap>,
    /// Heaps without a thread. Read and written under the lock.
    idle: AtomicPtr<ThreadHeap>,
    /// Threads that got a heap. Read and written under the lock.
    threads: AtomicU64,
}

/// Sums over all heaps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Blocks handed out.
    pub allocations: u64,
    /// Blocks given back.
    pub frees: u64,
    /// Size classes in use.
    pub classes: u64,
    /// Blocks that were mapped on their own.
    pub large: u64,
}

impl Heaps {
    /// None yet.
    pub const fn new() -> Self {
        Self {
            lock: Lock::new(),
            newest: AtomicPtr::new(os::null()),
            idle: AtomicPtr::new(os::null()),
            threads: AtomicU64::new(0),
        }
    }

    /// A heap for the calling thread, until it gives it back.
    pub fn acquire(&self, config: Config) -> Option<*mut ThreadHeap> {
        self.lock.with(|| {
            let number = self.threads.load(Ordering::Relaxed);
            let idle = self.idle.load(Ordering::Relaxed);
            let heap = if idle.is_null() {
                let heap = ThreadHeap::create(config, number)?;
                // SAFETY: nobody else knows the heap.
                unsafe { (*heap).older = self.newest.load(Ordering::Relaxed) };
                // Release: pairs with the acquire in `sums`.
                self.newest.store(heap, Ordering::Release);
                heap
            } else {
                // SAFETY: idle heaps are nobody's but the lock's holder's.
                unsafe {
                    self.idle.store((*idle).next_idle.get(), Ordering::Relaxed);
                    (*idle).random.set(ThreadHeap::stream(config, number));
                    (*idle).draw_apart(number);
                }
                idle
            };
            self.threads.store(number + 1, Ordering::Relaxed);
            Some(heap)
        })
    }

    /// A heap for one operation of a thread that has ended as far as libc is concerned.
    pub fn borrow(&self, config: Config) -> Option<*mut ThreadHeap> {
        let idle = self.lock.with(|| {
            let idle = self.idle.load(Ordering::Relaxed);
            if !idle.is_null() {
                // SAFETY: idle heaps are nobody's but the lock's holder's.
                self.idle.store(unsafe { (*idle).next_idle.get() }, Ordering::Relaxed);
            }
            idle
        });
        if idle.is_null() { self.acquire(config) } else { Some(idle) }
    }

    /// Takes a heap back from a thread.
    ///
    /// # Safety
    /// The heap must be the calling thread's, which does not use it any more.
    pub unsafe fn release(&self, heap: *mut ThreadHeap) {
        self.lock.with(|| {
            // SAFETY: the caller's promise.
            unsafe { (*heap).next_idle.set(self.idle.load(Ordering::Relaxed)) };
            self.idle.store(heap, Ordering::Relaxed);
        });
    }

    /// Lets the heap that has been idle longest take back what other threads freed, so that its
    /// memory goes back to the kernel while another heap grows.
    pub fn tidy_one(&self) {
        if self.idle.load(Ordering::Relaxed).is_null() {
            return;
        }
        self.lock.with(|| {
            // SAFETY: idle heaps are nobody's but the lock's holder's; so are their links.
            unsafe {
                let newest = self.idle.load(Ordering::Relaxed);
                if newest.is_null() {
                    return;
                }
                let (mut before, mut last) = (os::null::<ThreadHeap>(), newest);
                while !(*last).next_idle.get().is_null() {
                    (before, last) = (last, (*last).next_idle.get());
                }
                (*last).base.tidy();
                if !before.is_null() {
                    // To the front: the next time it is another's turn.
                    (*before).next_idle.set(os::null());
                    (*last).next_idle.set(newest);
                    self.idle.store(last, Ordering::Relaxed);
                }
            }
        });
    }

    /// Sums over all heaps, without a lock: exact if no other thread runs.
    pub fn sums(&self) -> Sums {
        let (mut allocations, mut held, mut classes, mut large, mut large_frees) =
            (0, 0u64, 0u64, 0, 0);
        let mut heap = self.newest.load(Ordering::Acquire);
        while !heap.is_null() {
            // SAFETY: heaps are never unmapped, and what is read here is atomic: the sum is off by
            // what is in flight.
            unsafe {
                for (class, shuffle) in (*heap).classes.iter().enumerate() {
                    let of_class = shuffle.allocations();
                    allocations += of_class;
                    held = held.wrapping_add(shuffle.held());
                    classes |= u64::from(of_class > 0) << class;
                }
                large += (*heap).large.load(Ordering::Relaxed);
                large_frees += (*heap).large_frees.load(Ordering::Relaxed);
                heap = (*heap).older;
            }
        }
        let small_frees = allocations.saturating_sub(held.cast_signed().max(0).cast_unsigned());
        Sums {
            allocations: allocations + large,
            frees: small_frees + large_frees,
            classes: u64::from(classes.count_ones()),
            large,
        }
    }

    /// Blocks of a class that were handed out, or of those that are mapped on their own.
    pub fn allocations_of(&self, unit: usize) -> u64 {
        let mut allocations = 0;
        let mut heap = self.newest.load(Ordering::Acquire);
        while !heap.is_null() {
            // SAFETY: as in `sums`.
            unsafe {
                let shuffle = (*heap).classes.get(unit);
                allocations += match shuffle {
                    Some(shuffle) => shuffle.allocations(),
                    None => (*heap).large.load(Ordering::Relaxed),
                };
                heap = (*heap).older;
            }
        }
        allocations
    }

    /// Before a fork: nobody is inside a lock of the heap's.
    pub fn lock_all(&self) {
        self.lock.acquire();
        self.each_base(|base| {
            // SAFETY: bases are never unmapped.
            unsafe { base.lock(true) };
        });
    }

    /// After a fork, in parent and child. In the child the heaps of other threads stay as they are,
    /// perhaps in the middle of an operation, and nobody gets them: their free blocks are lost to
    /// it, and nothing else.
    pub fn unlock_all(&self) {
        self.each_base(|base| {
            // SAFETY: bases are never unmapped.
            unsafe { base.lock(false) };
        });
        self.lock.release();
    }

    fn each_base(&self, action: impl Fn(AnyBase)) {
        let mut heap = self.newest.load(Ordering::Acquire);
        while !heap.is_null() {
            // SAFETY: heaps are never unmapped; a heap's base never changes.
            unsafe {
                action((&raw const (*heap).base).read());
                heap = (*heap).older;
            }
        }
    }
}
