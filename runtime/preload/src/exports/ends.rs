//! Functions that end the process at once, for which others may wait.

use core::ffi::c_int;

use crate::attach::end;
use crate::next::Next;

macro_rules! ends {
    ($($name:ident $text:literal;)*) => { $(
        #[doc = concat!("`", stringify!($name), "`")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(code: c_int) -> ! {
            static NEXT: Next = Next::new($text);
            type Function = unsafe extern "C" fn(c_int) -> !;
            end();
            // SAFETY: the type is that of stdlib.h and unistd.h.
            unsafe { core::mem::transmute::<usize, Function>(NEXT.address())(code) }
        }
    )* };
}

ends! {
    _exit c"_exit";
    _Exit c"_Exit";
}
