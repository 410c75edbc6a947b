//! Children with memory of their own that are made by others than libc's `fork`, announced as its
//! children are: by `_Fork`, by `clone`, and by system calls through `syscall`.
//!
//! All of this may run in a handler of a signal, on a thread that holds any lock of the program's
//! or of libc's. The lock of the copies it cannot hold: whoever has that has blocked all signals.
//!
//! Sources: clone(2), syscall(2); glibc manual, "Creating a Process".

use super::fork::{announce, go_on_in_child, go_on_in_parent, mark};
use crate::exports::entries::clone_child;
use crate::exports::own;
use crate::next;
use crate::os::tasks;
use crate::reclaim::blocked::{self, Blocked};
use crate::stack::pad_range::{self, PadRange};
use core::ffi::c_int;

/// Calls that make children, and the flag of one that shares the memory (`linux/sched.h`).
const CLONE: usize = 56;
const FORK: usize = 57;
const CLONE3: usize = 435;
const CLONE_VM: usize = 0x100;
const CLONE_PARENT: usize = 0x8000;

/// Words of the first version of `struct clone_args`, and where its flags and its stack are.
const CLONE_ARGS_WORDS: usize = 8;
const FLAGS_AT: usize = 0;
const STACK_AT: usize = 5;

/// Whether a child is to be told of that has memory of its own. Otherwise there is nothing that the
/// two would share.
pub fn are_wanted() -> bool {
    mark().is_some()
}

/// Whether a call of syscall(2) makes a child with memory of its own that goes on where the parent
/// is.
pub fn makes_child(number: usize, first: usize, second: usize) -> bool {
    let forks = match number {
        FORK => true,
        CLONE => first & CLONE_VM == 0 && second == 0,
        CLONE3 => {
            let mut arguments = [0; CLONE_ARGS_WORDS];
            let read = second >= size_of_val(&arguments)
                && tasks::read_memory(first, &mut arguments) == Ok(size_of_val(&arguments));
            read && arguments[FLAGS_AT] as usize & CLONE_VM == 0 && arguments[STACK_AT] == 0
        }
        _ => false,
    };
    forks && are_wanted()
}

/// Such a call, announced as those of libc's `fork` are.
pub extern "C" fn announced_syscall(
    number: usize,
    first: usize,
    second: usize,
    third: usize,
    fourth: usize,
    fifth: usize,
) -> isize {
    let next = next::SYSCALL.get().unwrap_or(own::own_syscall());
    let is_sibling = match number {
        CLONE => first & CLONE_PARENT != 0,
        // Its flags are read by the kernel.
        CLONE3 => true,
        _ => false,
    };
    // SAFETY: the program's call; those that make children take at most five arguments.
    announced(is_sibling, || unsafe { next(number, first, second, third, fourth, fifth) })
}

/// Makes a child that goes on here as well, by something that returns what fork(2) does.
/// `is_sibling`: it may not be this process's child, but its parent's.
pub fn announced(is_sibling: bool, make: impl FnOnce() -> isize) -> isize {
    let before = announce(is_sibling);
    let result = make();
    if result == 0 {
        go_on_in_child(before);
    } else {
        go_on_in_parent(before, result > 0);
    }
    result
}

/// What a child of clone(2) is to do. It stands at the end of the child's stack, where libc puts
/// some, too.
#[repr(C)]
struct Record {
    start: usize,
    argument: usize,
    /// The signals that its parent had blocked.
    mask: u64,
    stack_end: usize,
}

/// Whether clone(2) with these arguments makes a child with memory of its own.
pub fn is_separate(start: usize, stack_end: usize, flags: usize) -> bool {
    start != 0 && stack_end != 0 && flags & CLONE_VM == 0 && are_wanted()
}

/// libc's clone(2), or one like it.
pub fn next_clone() -> own::Clone {
    next::CLONE.get().unwrap_or_else(own::own_clone)
}

/// clone(2) of a child with memory of its own.
///
/// # Safety
/// As the function it stands for; a start routine and a stack are given.
pub unsafe extern "C" fn announced_clone(
    start: usize,
    stack_end: usize,
    flags: c_int,
    argument: usize,
    parent_id: usize,
    tls: usize,
    child_id: usize,
) -> c_int {
    let record = ((stack_end & !15) - size_of::<Record>()) as *mut Record;
    let next = next_clone();
    // What is no memory faults here, where the program's handler learns of it.
    // SAFETY: the caller's promise: the end of a stack that nobody uses yet.
    unsafe { record.write(Record { start, argument, mask: 0, stack_end }) };
    let mask = announce(flags as usize & CLONE_PARENT != 0);
    // SAFETY: as above.
    let result = unsafe {
        (*record).mask = mask;
        let at = record as usize;
        next(clone_child(), at, flags, at, parent_id, tls, child_id)
    };
    go_on_in_parent(mask, result > 0);
    result
}

/// What a function is called with.
#[repr(C)]
pub struct Call {
    function: usize,
    argument: usize,
}

/// In the child of [`announced_clone`]: what it is to do.
///
/// # Safety
/// Called there alone, with what that wrote.
pub unsafe extern "C" fn enter_child(record: *const core::ffi::c_void) -> Call {
    // SAFETY: the caller's promise.
    let Record { start, argument, mask, stack_end } = unsafe { record.cast::<Record>().read() };
    // The stack may lie inside the one of the thread that made the child, whose end alone is known.
    blocked::block(Blocked::OtherStack);
    let low = crate::arch::pads::stack_pointer().min(stack_end);
    pad_range::exclude(PadRange { low, end: stack_end });
    go_on_in_child(mask);
    Call { function: start, argument }
}
