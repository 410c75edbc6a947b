//! The scan of all memory of the process: what refers to copies where stacks may lie anywhere?
//!
//! Read is what the program can have written: pages of private mappings that are its own, whatever
//! their protection is now, and pages in memory of shared mappings that can be written. Pages that
//! nobody has touched are not made by looking. Nobody may run meanwhile, so that no mapping changes
//! and nothing is moved past the scan.

use super::stack_scan::Copies;
use core::ops::Range;
use szc_sys::os::mappings::{self, Area};
use szc_sys::os::pages::{self, PageMap};
use szc_sys::os::{Array, File, OPEN_READ, PAGE_BYTES, tasks};

/// Most bytes that are read, since threads wait meanwhile.
const MAX_BYTES: usize = 256 << 20;

/// Most addresses that are looked at, touched or not.
const MAX_ADDRESSES: usize = 16 << 30;

/// Pages that are asked about at a time.
const PAGES_AT_A_TIME: usize = 4096;

/// Room for lines about mappings.
const LINES_BYTES: usize = 32 << 10;

/// How a scan ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scanned {
    /// All has been read.
    Whole,
    /// There is too much of it.
    TooMuch,
    /// The kernel does not say where there is memory, or some cannot be read.
    Unreadable,
}

/// What a scan works with.
pub struct MemoryScan {
    page_words: Array<u64>,
    page_bytes: Array<u8>,
    lines: Array<u8>,
}

/// Highest halves of addresses that may be those of stored labels.
#[derive(Clone, Copy, Debug, Default)]
pub struct Labels {
    halves: [u32; 8],
    count: usize,
}

impl Labels {
    /// Adds those of a range. Whether there is room.
    pub fn add(&mut self, range: &Range<usize>) -> bool {
        for half in (range.start >> 32) as u32..=(range.end >> 32) as u32 {
            if self.halves[..self.count].contains(&half) {
                continue;
            }
            let Some(free) = self.halves.get_mut(self.count) else { return false };
            (*free, self.count) = (half, self.count + 1);
        }
        true
    }

    /// Calls `visit` with whatever may be a label that begins in a word of a range, or in the one
    /// before it, not at its start, and ends in the next one.
    fn for_each_between(&self, before: u64, words: &[u64], mut visit: impl FnMut(usize)) {
        const BITS: [u32; 7] = [8, 16, 24, 32, 40, 48, 56];
        let address = |(word, next): (u64, u64), bits| next << (64 - bits) | word >> bits;
        for &half in &self.halves[..self.count] {
            let mut word = before;
            for &next in words {
                let is_label = |bits| (address((word, next), bits) >> 32) as u32 == half;
                // All are compared, which is faster than a branch for each.
                if BITS.iter().fold(false, |any, &bits| any | is_label(bits)) {
                    for &bits in BITS.iter().filter(|&&bits| is_label(bits)) {
                        visit(address((word, next), bits) as usize);
                    }
                }
                word = next;
            }
        }
    }
}

/// A scan that is under way.
struct UnderWay<'a, F> {
    copies: &'a Copies<'a>,
    labels: Labels,
    /// Up to where the last range was read, and its last word.
    last: (usize, u64),
    map: PageMap,
    /// Reads what the program may not read now.
    memory: File,
    words: &'a mut [u64],
    report: F,
    bytes_left: usize,
    addresses_left: usize,
}

impl MemoryScan {
    /// Nothing if there is not enough memory.
    pub fn new() -> Option<Self> {
        // SAFETY: numbers.
        unsafe {
            Some(Self {
                page_words: Array::zeroed(PAGES_AT_A_TIME).ok()?,
                page_bytes: Array::zeroed(PAGES_AT_A_TIME).ok()?,
                lines: Array::zeroed(LINES_BYTES).ok()?,
            })
        }
    }

    /// Reports each address inside `copies` that an aligned word of memory holds, but for the pages
    /// of the ranges `without`. Programs pack labels into streams of other bytes: where there may
    /// be `labels`, the words need not be aligned. `words` is scratch memory with pages of its own,
    /// and not scanned.
    pub fn scan(
        &mut self,
        without: &[Range<usize>],
        (copies, labels): (&Copies<'_>, Labels),
        words: &mut [u64],
        report: impl FnMut(usize),
    ) -> Scanned {
        let own = words.as_ptr_range();
        let own = own.start as usize..own.end as usize;
        let files = PageMap::open().and_then(|map| {
            File::open(c"/proc/thread-self/mem", OPEN_READ).map(|memory| (map, memory))
        });
        let Ok((map, memory)) = files else { return Scanned::Unreadable };
        let mut under_way = UnderWay {
            copies,
            labels,
            last: (0, 0),
            map,
            memory,
            words,
            report,
            bytes_left: MAX_BYTES,
            addresses_left: MAX_ADDRESSES,
        };
        let Self { page_words, page_bytes, lines } = self;
        let mut result = Ok(());
        let listed = mappings::for_each(lines, |area| {
            if result.is_ok() && !area.is_of_kernel() {
                let all = without.iter().chain(core::iter::once(&own));
                result = for_each_part(area, &all, |part| {
                    if area.is_shared() {
                        under_way.shared(part, page_bytes)
                    } else {
                        under_way.private(part, page_words)
                    }
                });
            }
        });
        match (listed, result) {
            (Ok(()), Ok(())) => Scanned::Whole,
            (Ok(()), Err(reason)) => reason,
            (Err(_), _) => Scanned::Unreadable,
        }
    }
}

/// Calls `visit` with the parts of an area that lie in none of the ranges `without`, which are of
/// whole pages. Nothing of a shared area that nobody can write to.
fn for_each_part<'a>(
    area: &Area<'_>,
    without: &(impl Iterator<Item = &'a Range<usize>> + Clone),
    mut visit: impl FnMut(Range<usize>) -> Result<(), Scanned>,
) -> Result<(), Scanned> {
    let (mut at, end) = area.range;
    if area.is_shared() && !area.is_writable() {
        return Ok(());
    }
    while at < end {
        if let Some(around) = without.clone().find(|range| range.contains(&at)) {
            at = around.end.next_multiple_of(PAGE_BYTES);
            continue;
        }
        let next = without.clone().map(|range| range.start & !(PAGE_BYTES - 1));
        let next = next.filter(|&start| start > at).fold(end, usize::min);
        visit(at..next)?;
        at = next;
    }
    Ok(())
}

impl<F: FnMut(usize)> UnderWay<'_, F> {
    fn count_addresses(&mut self, range: &Range<usize>) -> Result<(), Scanned> {
        let left = self.addresses_left.checked_sub(range.len());
        self.addresses_left = left.ok_or(Scanned::TooMuch)?;
        Ok(())
    }

    /// Reads the pages of a private mapping that are the process's own.
    fn private(&mut self, range: Range<usize>, buffer: &mut [u64]) -> Result<(), Scanned> {
        self.count_addresses(&range)?;
        let mut at = range.start;
        while at < range.end {
            let count = buffer.len().min((range.end - at) / PAGE_BYTES);
            let read = self.map.read(at, &mut buffer[..count]);
            let count = read.ok().filter(|&count| count > 0).ok_or(Scanned::Unreadable)?;
            self.runs(at, count, |page| PageMap::is_private(buffer[page]))?;
            at += count * PAGE_BYTES;
        }
        Ok(())
    }

    /// Reads the pages of a shared mapping that are in memory.
    fn shared(&mut self, range: Range<usize>, buffer: &mut [u8]) -> Result<(), Scanned> {
        self.count_addresses(&range)?;
        let mut at = range.start;
        while at < range.end {
            let count = buffer.len().min((range.end - at) / PAGE_BYTES);
            let buffer = &mut buffer[..count];
            pages::resident(at, buffer).map_err(|_| Scanned::Unreadable)?;
            let is_here = |page: usize| buffer[page] & 1 != 0;
            // The kernel does not tell what was never written from what is elsewhere.
            if !(0..count).all(is_here) && pages::is_swap_in_use() {
                return Err(Scanned::Unreadable);
            }
            self.runs(at, count, is_here)?;
            at += count * PAGE_BYTES;
        }
        Ok(())
    }

    /// Reads the pages from `start` on of which `is_here` holds.
    fn runs(
        &mut self,
        start: usize,
        count: usize,
        is_here: impl Fn(usize) -> bool,
    ) -> Result<(), Scanned> {
        let mut page = 0;
        while page < count {
            let first = page;
            while page < count && is_here(page) {
                page += 1;
            }
            if first < page {
                self.read(start + first * PAGE_BYTES..start + page * PAGE_BYTES)?;
            } else {
                page += 1;
            }
        }
        Ok(())
    }

    fn read(&mut self, range: Range<usize>) -> Result<(), Scanned> {
        let left = self.bytes_left.checked_sub(range.len());
        self.bytes_left = left.ok_or(Scanned::TooMuch)?;
        let mut at = range.start;
        while at < range.end {
            let count = self.words.len().min((range.end - at) / 8);
            let words = &mut self.words[..count];
            let read = match tasks::read_memory(at, words) {
                Ok(bytes @ 8..) => bytes,
                _ => self.memory.read_at(words, at).map_err(|_| Scanned::Unreadable)?,
            };
            if read < 8 {
                return Err(Scanned::Unreadable);
            }
            let words = &words[..read / 8];
            for &word in words {
                if self.copies.contains(word as usize) {
                    (self.report)(word as usize);
                }
            }
            if self.labels.count > 0 {
                let before = if self.last.0 == at { self.last.1 } else { 0 };
                self.labels.for_each_between(before, words, |address| {
                    if self.copies.contains(address) {
                        (self.report)(address);
                    }
                });
                self.last = (at + words.len() * 8, words.last().copied().unwrap_or(0));
            }
            at += read / 8 * 8;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use szc_sys::os::{PROT_NONE, map_anonymous, map_shared, protect, unmap};

    const COPIES: Range<usize> = 0x5b5b_0000_0000..0x5b5b_0001_0000;

    /// The complements of what a scan finds, without some memory.
    fn found(without: &[Range<usize>], labels: Labels) -> Vec<usize> {
        let extents = [COPIES];
        let (copies, mut words) = (Copies::of(&extents), vec![0; 8192]);
        // What is found is not to be found a second time where it is noted.
        let mut found = Vec::with_capacity(1000);
        let mut scan = MemoryScan::new().unwrap();
        // Other tests may change mappings meanwhile.
        let mut again = 0..100;
        let with = (&copies, labels);
        while scan.scan(without, with, &mut words, |address| found.push(!address)) != Scanned::Whole
        {
            assert!(again.next().is_some());
        }
        found
    }

    #[test]
    fn references_are_found_wherever_they_are() {
        let places = [map_anonymous(8 << 20).unwrap(), map_shared(1 << 20).unwrap()];
        let protected = map_anonymous(8192).unwrap();
        let word = |place: *mut u8, offset: usize| place.wrapping_add(offset).cast::<usize>();
        let hidden = |number: usize| std::hint::black_box(!COPIES.start) ^ number;
        // SAFETY: memory of a moment ago.
        unsafe {
            word(places[0], 5 << 20).write(!hidden(0x10));
            word(places[1], 8200).write(!hidden(0x20));
            word(protected, 4096).write(!hidden(0x30));
            word(protected, 4108).write_unaligned(!hidden(0x40));
            protect(protected, 8192, PROT_NONE).unwrap();
        }
        let all = found(&[], Labels::default());
        for number in [0x10, 0x20, 0x30] {
            assert!(all.contains(&hidden(number)), "{number:x}");
        }
        assert!(!all.contains(&hidden(0x40)), "no aligned word");
        let mut labels = Labels::default();
        assert!(labels.add(&COPIES));
        assert!(found(&[], labels).contains(&hidden(0x40)), "a label needs none");
        let start = places[0] as usize + (5 << 20);
        let rest = found(
            &[start..start + 8, places[1] as usize..places[1] as usize + (1 << 20)],
            Labels::default(),
        );
        assert!(!rest.contains(&hidden(0x10)) && !rest.contains(&hidden(0x20)));
        assert!(rest.contains(&hidden(0x30)));
        for (place, bytes) in [(places[0], 8 << 20), (places[1], 1 << 20), (protected, 8192)] {
            // SAFETY: as above.
            unsafe { unmap(place, bytes) };
        }
    }
}
