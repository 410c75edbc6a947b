//! The one instance of everything, and the lock that guards it.

use crate::code::images::Images;
use crate::code::origin::Locators;
use crate::os::Lock;
use core::cell::UnsafeCell;

/// Code randomization and its lock.
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

/// Code randomization.
pub static CODE: Guarded = Guarded::new();

/// Origins of copies, found without the lock.
pub static LOCATORS: Locators = Locators::new();
