//! Functions of C by their addresses.

/// A pointer to a function with the C calling convention.
pub trait Function: Copy {
    /// The function at an address.
    ///
    /// # Safety
    /// There must be one, of this type.
    unsafe fn at(address: usize) -> Self;
}

macro_rules! functions {
    ($(($($argument:ident)*))*) => {$(
        impl<R, $($argument),*> Function for unsafe extern "C" fn($($argument),*) -> R {
            #[inline]
            unsafe fn at(address: usize) -> Self {
                // SAFETY: the caller's promise; a pointer to a function is an address.
                unsafe { core::mem::transmute::<usize, Self>(address) }
            }
        }
    )*};
}

functions! { () (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) (A B C D E F G) }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_function_at_an_address_is_called() {
        unsafe extern "C" fn sum(a: u32, b: u64) -> u64 {
            u64::from(a) + b
        }
        type Sum = unsafe extern "C" fn(u32, u64) -> u64;
        // SAFETY: that is its type.
        assert_eq!(unsafe { Sum::at(sum as *const () as usize)(2, 3) }, 5);
    }
}
