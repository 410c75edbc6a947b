//! Functions by which threads wait for what comes from outside: connections and requests.
//!
//! Not read(2): what is read from a file is there, and a thread that reads one makes its work.

use core::ffi::c_int;

use crate::arrival::{begin_wait, end_wait};
use crate::next::Next;

/// An argument: a pointer, or a number that is passed as one is.
type Word = usize;

/// Functions that return more than 0 if something came.
macro_rules! outside {
    ($($name:ident $text:literal ($($argument:ident),*);)*) => { $(
        #[doc = concat!("`", stringify!($name), "`")]
        ///
        /// # Safety
        /// As that.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name($($argument: Word),*) -> isize {
            static NEXT: Next = Next::new($text);
            type Function = unsafe extern "C-unwind" fn($(outside!(@ $argument)),*) -> isize;
            let begin = begin_wait();
            // SAFETY: libc's function gets what this one got, in the same registers. Of those that
            // return an int nobody looks at the rest of the register.
            let result = unsafe {
                core::mem::transmute::<usize, Function>(NEXT.address())($($argument),*)
            };
            if let Some(begin) = begin {
                end_wait(begin, result as c_int > 0);
            }
            result
        }
    )* };
    (@ $argument:ident) => { Word };
}

outside! {
    epoll_wait c"epoll_wait" (epoll, events, count, time);
    epoll_pwait c"epoll_pwait" (epoll, events, count, time, mask);
    poll c"poll" (descriptors, count, time);
    ppoll c"ppoll" (descriptors, count, time, mask);
    select c"select" (count, reading, writing, others, time);
    pselect c"pselect" (count, reading, writing, others, time, mask);
    accept c"accept" (socket, address, length);
    accept4 c"accept4" (socket, address, length, flags);
    recv c"recv" (socket, bytes, count, flags);
    recvfrom c"recvfrom" (socket, bytes, count, flags, address, length);
    recvmsg c"recvmsg" (socket, message, flags);
}
