//! Functions of libc that make children in other ways than fork(3), of which libc tells by itself.

use super::fail;
use crate::arch::pads::stack_pointer;
use crate::os::Errno;
use crate::reclaim::blocked::{self, Blocked};
use crate::{announced, next};
use core::ffi::c_int;
use szc_stack::pad_range::{self, PadRange};

/// Function not implemented.
const ENOSYS: Errno = Errno(38);

/// _Fork(3): announced as fork(3) is, which does not come here.
///
/// # Safety
/// As the function it stands for.
#[unsafe(no_mangle)]
unsafe extern "C" fn szc_rt_shared_frames__Fork() -> c_int {
    let Some(next) = next::FORK.get() else { return fail(ENOSYS) };
    // SAFETY: as in C.
    let make = || unsafe { next() };
    if announced::are_wanted() {
        announced::announced(false, || make() as isize) as c_int
    } else {
        make()
    }
}

/// Before clone(2): a child that shares the memory may run on a stack inside this thread's own, of
/// which only the end is known, with this thread's pad state. Where to go on.
pub extern "C" fn before_clone(start: usize, stack_end: usize, flags: usize) -> usize {
    if announced::is_separate(start, stack_end, flags) {
        return announced::announced_clone as *const () as usize;
    }
    blocked::block(Blocked::Child);
    pad_range::exclude(PadRange { low: stack_pointer().min(stack_end), end: stack_end });
    announced::next_clone() as usize
}
