//! The conservative stack scan of one thread: is it quiescent, and what does its stack refer to?

use super::blocked::{Blocked, block};
use super::{signal_stacks, stacks};
use core::ops::Range;
use szc_sys::os::tasks::{self, Doing, EFAULT, Wait};

/// What the scan of a thread found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// All references from its stack have been reported, or it has ended.
    Seen,
    /// Nothing: it runs, or it waits in a way that tells nothing.
    None,
}

/// The addresses of all copies.
pub struct Copies<'a> {
    extents: &'a [Range<usize>],
    /// Which parts of the address space have some, by a number of the part: most words of memory
    /// lie elsewhere, those on either side of the copies of the program and of libraries included.
    parts: [u64; PARTS / 64],
}

/// Bytes of a part of the address space, a power of two, and how many numbers parts have.
const PART_BITS: u32 = 26;
const PARTS: usize = 4096;

impl<'a> Copies<'a> {
    /// In these extents.
    pub fn of(extents: &'a [Range<usize>]) -> Self {
        let mut parts = [0; PARTS / 64];
        for extent in extents.iter().filter(|extent| !extent.is_empty()) {
            for part in extent.start >> PART_BITS..=(extent.end - 1) >> PART_BITS {
                parts[part % PARTS / 64] |= 1 << (part % 64);
            }
        }
        Self { extents, parts }
    }

    /// Whether an address is in one of them.
    #[inline]
    pub fn contains(&self, address: usize) -> bool {
        let part = address >> PART_BITS;
        self.parts[part % PARTS / 64] >> (part % 64) & 1 != 0
            && self.extents.iter().any(|extent| extent.contains(&address))
    }
}

/// System calls in which a thread may wait for a child that shares its memory and its stack: clone,
/// vfork, clone3.
const SHARING_CALLS: [usize; 3] = [56, 58, 435];

/// Whether a thread may wait for a child that shares its memory, and runs on.
pub fn waits_for_child(wait: &Wait) -> bool {
    SHARING_CALLS.contains(&wait.call)
}

/// Deepest stack that is read.
const MAX_STACK_BYTES: usize = 1 << 30;

/// Scans a thread's stack, and reports each address inside `copies` that its stack holds. `words`
/// is scratch memory.
///
/// What is reported without [`Evidence::Seen`] may be wrong, and does no harm.
pub fn scan(
    thread: u32,
    copies: &Copies<'_>,
    words: &mut [u64],
    mut report: impl FnMut(usize),
) -> Evidence {
    let wait = match tasks::look_at(thread) {
        Doing::Waits(wait) => wait,
        Doing::Runs => return Evidence::None,
        Doing::Ended => return Evidence::Seen,
        Doing::Hidden => return hidden(),
    };
    if waits_for_child(&wait) {
        return Evidence::None;
    }
    // A thread that libc does not know, or has not made known yet, has no descriptor.
    let Ok(descriptor @ 1..) = tasks::robust_list(thread) else { return Evidence::None };
    let scanned = scan_from(&wait, stacks::end_of_stack(descriptor), copies, words, &mut report);
    if !tasks::has_waited_since(thread, &wait) {
        return Evidence::None;
    }
    match scanned {
        Scanned::Whole => Evidence::Seen,
        Scanned::OtherStack => {
            if !signal_stacks::contain(wait.stack_pointer) {
                block(Blocked::OtherStack);
            }
            Evidence::None
        }
        Scanned::Refused => hidden(),
    }
}

fn hidden() -> Evidence {
    block(Blocked::Hidden);
    Evidence::None
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scanned {
    /// From the stack pointer to the end.
    Whole,
    /// The stack pointer is not on the stack that has this end.
    OtherStack,
    /// The kernel does not allow it.
    Refused,
}

fn scan_from(
    wait: &Wait,
    end: usize,
    copies: &Copies<'_>,
    words: &mut [u64],
    report: &mut impl FnMut(usize),
) -> Scanned {
    let mut scan = |address: usize| {
        if copies.contains(address) {
            report(address);
        }
    };
    scan(wait.program_counter);
    let end = end & !7;
    let mut at = wait.stack_pointer & !7;
    if wait.stack_pointer >= end || end - at > MAX_STACK_BYTES {
        return Scanned::OtherStack;
    }
    while at < end {
        let count = words.len().min((end - at) / 8);
        match tasks::read_memory(at, &mut words[..count]) {
            // A part: the next reading finds out why.
            Ok(bytes @ 8..) => {
                for &word in &words[..bytes / 8] {
                    scan(word as usize);
                }
                at += bytes / 8 * 8;
            }
            Ok(_) | Err(EFAULT) => return Scanned::OtherStack,
            Err(_) => return Scanned::Refused,
        }
    }
    Scanned::Whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn every_reference_on_a_waiting_threads_stack_is_reported() {
        const START: usize = 0x5a5a_0000_0000;
        const END: usize = START + 0x1_0000;
        let (sender, receiver) = channel();
        let (end, ended) = channel::<()>();
        let inside = START + 0x1234;
        let thread = std::thread::spawn(move || {
            let reference = core::hint::black_box([inside, 1, END]);
            sender.send(tasks::thread_id()).unwrap();
            let _ = ended.recv();
            core::hint::black_box(reference[0])
        });
        let id = receiver.recv().unwrap();
        let extents = [END + 0x1000..END + 0x2000, START..END];
        let copies = Copies::of(&extents);
        let mut words = vec![0; 512];
        let mut found = Vec::new();
        while scan(id, &copies, &mut words, |address| found.push(address)) == Evidence::None {
            std::thread::yield_now();
        }
        assert!(found.contains(&inside) && !found.contains(&END), "{found:x?}");
        end.send(()).unwrap();
        thread.join().unwrap();
        found.clear();
        while scan(id, &copies, &mut words, |address| found.push(address)) == Evidence::None {
            std::thread::yield_now();
        }
        assert_eq!(found, []);
    }

    #[test]
    fn a_stack_pointer_above_the_end_or_below_a_gap_is_on_another_stack() {
        let wait = |stack_pointer| Wait { call: 0, stack_pointer, program_counter: 0, stops: 0 };
        let stack = [7u64; 64];
        let start = stack.as_ptr() as usize;
        let scan = |pointer, end| {
            scan_from(&wait(pointer), end, &Copies::of(&[]), &mut [0; 16], &mut |_| {})
        };
        assert_eq!(scan(start + 200, start + 512), Scanned::Whole);
        assert_eq!(scan(start + 512, start + 512), Scanned::OtherStack);
        assert_eq!(scan(4096, 8192), Scanned::OtherStack);
        assert_eq!(scan(4096, start), Scanned::OtherStack);
    }
}
