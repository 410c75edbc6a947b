//! The one instance of everything, the locks that guard it, and what all parts of the runtime must
//! know of each other.

use crate::images::Images;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use szc_sys::os::Lock;

/// Code randomization and its lock. In one page: a forked child writes there.
#[repr(align(512))]
pub struct Guarded {
    lock: Lock,
    images: UnsafeCell<Images>,
}

// SAFETY: the images are reached through `with` alone, under the lock.
unsafe impl Sync for Guarded {}

impl Guarded {
    const fn new() -> Self {
        Self { lock: Lock::new(), images: UnsafeCell::new(Images::new()) }
    }

    /// Runs `action` on all images under the lock. All signals must be blocked: a handler that
    /// calls something for the first time on the same thread would wait for itself.
    pub fn with<T>(&self, action: impl FnOnce(&mut Images) -> T) -> T {
        // SAFETY: the lock makes this the only reference.
        self.lock.with(|| unsafe { action(&mut *self.images.get()) })
    }

    /// The lock itself, for a forked child.
    pub fn lock(&self) -> &Lock {
        &self.lock
    }
}

const _: () = assert!(size_of::<Guarded>() <= align_of::<Guarded>());

/// Code randomization.
pub static CODE: Guarded = Guarded::new();

/// Held while libraries are attached or detached, and from the plan of an epoch to its publication.
/// Taken before the lock of [`CODE`], with all signals blocked, and never by the resolver.
pub static CHANGES: Lock = Lock::new();

/// Code is frozen, because the program may have installed a system call filter.
static FROZEN: AtomicBool = AtomicBool::new(false);

/// Whether code is frozen for good: all functions are copied, and the kernel may answer what the
/// runtime asks by a signal.
pub fn is_frozen() -> bool {
    // Acquire: pairs with the release in `set_frozen`; all copies are made.
    FROZEN.load(Ordering::Acquire)
}

/// Code is frozen from now on; the calling thread has made all copies.
pub fn set_frozen() {
    FROZEN.store(true, Ordering::Release);
}

/// The number of the layout: 0 if nothing that moves was found.
static LAYOUT: AtomicU64 = AtomicU64::new(0);

/// Number of the current layout, from 1 on; 0 in a program without one. It grows when all images
/// that move have a new one.
pub fn layout() -> u64 {
    // Acquire: pairs with the release in `count_layout`; whoever knows the number calls into it.
    LAYOUT.load(Ordering::Acquire)
}

/// There is a first layout, if there was none.
pub fn has_layout() {
    let _ = LAYOUT.compare_exchange(0, 1, Ordering::Relaxed, Ordering::Relaxed);
}

/// All that moves has a new layout.
pub fn count_layout() {
    LAYOUT.fetch_add(1, Ordering::Release);
}

/// Rounds of epochs that are over: one of each image. A number by itself: no order needed.
static ROUNDS: AtomicU64 = AtomicU64::new(0);

/// How many rounds are over.
pub fn rounds_over() -> u64 {
    ROUNDS.load(Ordering::Relaxed)
}

/// A round is over.
pub fn count_round() {
    ROUNDS.fetch_add(1, Ordering::Relaxed);
}
