//! Memory that is given back when its owner goes: mappings, arrays in them, and values that several
//! owners share.

use super::{Errno, File, map_anonymous, map_file, null, unmap};
use core::mem::ManuallyDrop;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;
use core::sync::atomic::{AtomicUsize, Ordering, fence};

/// A range of mapped pages.
#[derive(Debug)]
pub struct Mapping {
    start: *mut u8,
    bytes: usize,
}

// SAFETY: memory is that of all threads; who reads and writes it says how.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Nothing.
    pub const NONE: Self = Self { start: null(), bytes: 0 };

    /// Private zeroed memory that takes space only where it is touched.
    pub fn anonymous(bytes: usize) -> Result<Self, Errno> {
        if bytes == 0 {
            return Ok(Self::NONE);
        }
        map_anonymous(bytes).map(|start| Self { start, bytes })
    }

    /// A part of a file, readable and private.
    pub fn of_file(file: &File, bytes: usize, offset: usize) -> Result<Self, Errno> {
        map_file(file, bytes, offset).map(|start| Self { start, bytes })
    }

    /// Takes charge of pages.
    ///
    /// # Safety
    /// They must be mapped, and nobody else may give them back.
    #[must_use]
    pub unsafe fn from_raw(start: *mut u8, bytes: usize) -> Self {
        Self { start, bytes }
    }

    /// The pages, which nobody gives back from now on.
    #[must_use]
    pub fn into_raw(self) -> (*mut u8, usize) {
        let this = ManuallyDrop::new(self);
        (this.start, this.bytes)
    }

    /// The first byte.
    #[must_use]
    pub fn start(&self) -> *mut u8 {
        self.start
    }

    /// Bytes from there on.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        if self.bytes > 0 {
            // SAFETY: the owner goes, and with it all that refers to its memory.
            unsafe { unmap(self.start, self.bytes) };
        }
    }
}

/// An array in a mapping of its own. Its elements are not dropped.
pub struct Array<T> {
    mapping: Mapping,
    count: usize,
    elements: core::marker::PhantomData<T>,
}

impl<T> Array<T> {
    /// So many elements, of which all bytes are 0.
    ///
    /// # Safety
    /// Such a value must be one of `T`.
    pub unsafe fn zeroed(count: usize) -> Result<Self, Errno> {
        let bytes = count.checked_mul(size_of::<T>()).ok_or(super::EINVAL)?;
        let mapping = Mapping::anonymous(bytes)?;
        Ok(Self { mapping, count, elements: core::marker::PhantomData })
    }

    fn first(&self) -> *mut T {
        if self.count == 0 { NonNull::dangling().as_ptr() } else { self.mapping.start.cast() }
    }
}

impl<T> Deref for Array<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: as many elements, which were valid from the start.
        unsafe { core::slice::from_raw_parts(self.first(), self.count) }
    }
}

impl<T> DerefMut for Array<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as `deref`; this is the only reference.
        unsafe { core::slice::from_raw_parts_mut(self.first(), self.count) }
    }
}

/// A value that goes with the last of its owners.
pub struct Shared<T>(NonNull<Counted<T>>);

struct Counted<T> {
    owners: AtomicUsize,
    value: T,
}

// SAFETY: owners on any thread get references to the value, and the last one drops it.
unsafe impl<T: Send + Sync> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// Distance of the value from the address of an owner.
    pub const VALUE_AT: usize = core::mem::offset_of!(Counted<T>, value);

    /// The first owner of a value. Without memory for it the value goes.
    pub fn new(value: T) -> Result<Self, Errno> {
        let (start, _) = Mapping::anonymous(size_of::<Counted<T>>())?.into_raw();
        let counted: *mut Counted<T> = start.cast();
        // SAFETY: memory of a moment ago, of that size, on a page.
        unsafe { counted.write(Counted { owners: AtomicUsize::new(1), value }) };
        NonNull::new(counted).map(Self).ok_or(super::EINVAL)
    }

    /// The owner as an address.
    #[must_use]
    pub fn into_raw(self) -> *mut () {
        ManuallyDrop::new(self).0.as_ptr().cast()
    }

    /// An owner that was made an address.
    ///
    /// # Safety
    /// The address must be of [`Self::into_raw`], and be made an owner once.
    #[must_use]
    pub unsafe fn from_raw(address: *mut ()) -> Option<Self> {
        NonNull::new(address.cast()).map(Self)
    }

    /// The value of an owner that is an address now.
    ///
    /// # Safety
    /// The address must be of [`Self::into_raw`], and be no owner again while the value is used.
    #[inline]
    #[must_use]
    pub unsafe fn value_at<'a>(address: *mut ()) -> Option<&'a T> {
        // SAFETY: the caller's promise.
        unsafe { address.cast::<Counted<T>>().as_ref().map(|counted| &counted.value) }
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        // Relaxed: this owner keeps the value.
        // SAFETY: the value is there as long as an owner is.
        unsafe { self.0.as_ref() }.owners.fetch_add(1, Ordering::Relaxed);
        Self(self.0)
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: as `clone`.
        unsafe { &self.0.as_ref().value }
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        // Release: pairs with the fence of the last owner; what this one did is done.
        // SAFETY: as `clone`.
        if unsafe { self.0.as_ref() }.owners.fetch_sub(1, Ordering::Release) == 1 {
            fence(Ordering::Acquire);
            // SAFETY: no owner is left; the memory is that of `new`.
            unsafe {
                self.0.drop_in_place();
                unmap(self.0.as_ptr().cast(), size_of::<Counted<T>>());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    /// So large that there are addresses for few at a time.
    const LARGE_BYTES: usize = 16 << 40;

    #[test]
    fn an_array_is_zero_and_goes_with_its_owner() {
        // SAFETY: numbers.
        let mut array = unsafe { Array::<u64>::zeroed(1000) }.unwrap();
        assert!(array.len() == 1000 && array.iter().all(|&number| number == 0));
        array[999] = 7;
        assert_eq!(array[999], 7);
        for _ in 0..20 {
            // SAFETY: as above.
            assert_eq!(unsafe { Array::<u8>::zeroed(LARGE_BYTES) }.unwrap()[LARGE_BYTES - 1], 0);
            // SAFETY: as above.
            assert!(unsafe { Array::<u64>::zeroed(0) }.unwrap().is_empty());
        }
    }

    #[test]
    fn a_shared_value_goes_with_its_last_owner() {
        static GONE: AtomicBool = AtomicBool::new(false);
        struct Value(u32);
        impl Drop for Value {
            fn drop(&mut self) {
                GONE.store(true, Ordering::Relaxed);
            }
        }
        let first = Shared::new(Value(5)).unwrap();
        let second = first.clone();
        drop(first);
        let address = second.into_raw();
        // SAFETY: of a moment ago.
        assert_eq!(unsafe { Shared::<Value>::value_at(address) }.map(|value| value.0), Some(5));
        assert!(!GONE.load(Ordering::Relaxed));
        // SAFETY: as above.
        drop(unsafe { Shared::<Value>::from_raw(address) });
        assert!(GONE.load(Ordering::Relaxed));
    }
}
