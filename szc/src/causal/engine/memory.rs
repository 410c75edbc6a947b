//! The memory that is shared with programs.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::ptr::null_mut;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use nix::libc;
use nix::sys::memfd::{MFdFlags, memfd_create};
use szc_abi::causal::{MEMORY_MAGIC, Memory, RANGE_WORDS, Ranges, Record};
use szc_sampler::clock::now;

/// The memory, and what of it is used up.
pub struct Shared {
    file: File,
    memory: &'static Memory,
    used_words: usize,
}

/// What is sped up in an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selected {
    /// The address space.
    pub space: u64,
    /// First word of the ranges.
    pub first: u64,
    /// Number of words.
    pub words: u64,
}

impl Shared {
    /// New memory for a run.
    ///
    /// # Errors
    /// What memfd_create(2) and mmap(2) report.
    pub fn new(period_ns: u64, seed: u64) -> io::Result<Self> {
        let file: OwnedFd = memfd_create(c"szc-causal", MFdFlags::MFD_CLOEXEC)?;
        let file = File::from(file);
        let bytes = size_of::<Memory>();
        file.set_len(bytes as u64)?;
        let memory = map(&file, bytes)?;
        memory.period_ns.store(period_ns, Relaxed);
        memory.seed.store(seed, Relaxed);
        memory.owner.store(std::process::id(), Relaxed);
        memory.magic.store(MEMORY_MAGIC, Relaxed);
        Ok(Self { file, memory, used_words: 0 })
    }

    /// Where programs find the file.
    pub fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd())
    }

    /// What is in it.
    pub fn memory(&self) -> &'static Memory {
        self.memory
    }

    /// Says that szc is there.
    pub fn keep_alive(&self) {
        self.memory.alive_ns.store(now(), Relaxed);
    }

    /// Keeps ranges of code, sorted and apart; an empty one if there is no room left.
    pub fn keep(&mut self, ranges: &[(u64, u64)]) -> (u64, u64) {
        let first = self.used_words;
        if 2 * ranges.len() > RANGE_WORDS - first {
            return (0, 0);
        }
        for (start, end) in ranges {
            self.memory.ranges[self.used_words].store(*start, Relaxed);
            self.memory.ranges[self.used_words + 1].store(*end, Relaxed);
            self.used_words += 2;
        }
        (first as u64, (self.used_words - first) as u64)
    }

    /// Begins an experiment, the next one, in which a sample delays others by `step_ns`.
    pub fn begin(&self, selected: Selected, step_ns: u64) -> &'static Record {
        let number = (self.memory.state.load(Relaxed) >> 1) + 1;
        let record = &self.memory.records[usize::try_from(number).unwrap_or_default() % RECORDS];
        set(&record.selected, selected.first, selected.words);
        record.space.store(selected.space, Relaxed);
        record.step_ns.store(step_ns, Relaxed);
        record.base_ns.store(self.memory.delay_ns.load(Relaxed), Relaxed);
        record.samples.store(0, Relaxed);
        record.selected_samples.store(0, Relaxed);
        // Programs acquire both before they read the rest.
        record.number.store(number, Release);
        self.memory.state.store(number << 1 | 1, Release);
        record
    }

    /// Ends it. Delays that are due are still paid.
    pub fn end(&self) {
        let state = self.memory.state.load(Acquire);
        self.memory.state.store(state & !1, Release);
    }
}

const RECORDS: usize = szc_abi::causal::RECORDS;

/// Sets ranges.
pub fn set(ranges: &Ranges, first: u64, words: u64) {
    ranges.first.store(first, Relaxed);
    ranges.words.store(words, Relaxed);
}

fn map(file: &File, bytes: usize) -> io::Result<&'static Memory> {
    // SAFETY: a new mapping of a file as long as `Memory`, which consists of atomics and of words
    // that are not used, and begins as zeros; it is never unmapped.
    unsafe {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let (flags, descriptor) = (libc::MAP_SHARED, file.as_raw_fd());
        let address = libc::mmap(null_mut(), bytes, protection, flags, descriptor, 0);
        if address == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(&*address.cast::<Memory>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_experiment_begins_at_the_delay_that_there_is_and_ends_without_a_new_number() {
        let mut shared = Shared::new(1_000_000, 1).unwrap();
        let memory = shared.memory();
        memory.delay_ns.store(70, Relaxed);
        let (first, words) = shared.keep(&[(10, 20), (30, 40)]);
        let record = shared.begin(Selected { space: 1, first, words }, 5);
        assert_eq!(memory.state.load(Relaxed), 3);
        assert_eq!(record.base_ns.load(Relaxed), 70);
        assert!(memory.contains(&record.selected, 35) && !memory.contains(&record.selected, 25));
        shared.end();
        assert_eq!(memory.state.load(Relaxed), 2);
        assert!(memory.record(1).is_some() && memory.record(2).is_none());
    }

    #[test]
    fn ranges_that_find_no_room_are_none() {
        let mut shared = Shared::new(1_000_000, 1).unwrap();
        let all = vec![(0, 1); RANGE_WORDS / 2 - 1];
        assert_eq!(shared.keep(&all).1, RANGE_WORDS as u64 - 2);
        assert_eq!(shared.keep(&[(0, 1), (2, 3)]), (0, 0));
        assert_eq!(shared.keep(&[(0, 1)]).1, 2);
    }
}
