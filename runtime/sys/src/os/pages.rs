//! Which pages of this process hold something: the page map of proc(5).
//!
//! Sources: Linux `Documentation/admin-guide/mm/pagemap.rst`, `mincore(2)`, `sysinfo(2)`.

use super::errno::{Errno, check};
use super::{File, OPEN_READ, PAGE_BYTES};
use crate::arch::{nr, syscall};

/// The page map of this process.
pub struct PageMap(File);

/// A page is in memory.
const PRESENT: u64 = 1 << 63;
/// It is swapped out, or on its way elsewhere.
const SWAPPED: u64 = 1 << 62;
/// It is a page of a file, or shared.
const OF_FILE: u64 = 1 << 61;
/// It is a guard that cannot be read (`MADV_GUARD_INSTALL`).
const GUARD: u64 = 1 << 58;

impl PageMap {
    /// Opens it.
    ///
    /// # Errors
    /// The kernel does not tell.
    pub fn open() -> Result<Self, Errno> {
        File::open(c"/proc/thread-self/pagemap", OPEN_READ).map(Self)
    }

    /// Reads the words of the pages from an address on. Returns how many.
    ///
    /// # Errors
    /// The kernel does not tell.
    pub fn read(&self, address: usize, words: &mut [u64]) -> Result<usize, Errno> {
        self.0.read_at(words, address / PAGE_BYTES * 8).map(|bytes| bytes / 8)
    }

    /// Whether the word is of a page that a process has written to in a private mapping.
    #[must_use]
    pub fn is_private(word: u64) -> bool {
        word & GUARD == 0 && (word & SWAPPED != 0 || word & (PRESENT | OF_FILE) == PRESENT)
    }
}

/// Says of each page of a shared mapping from an address on whether it is in memory, by the lowest
/// bit of its byte.
///
/// # Errors
/// The range is not mapped.
pub fn resident(address: usize, pages: &mut [u8]) -> Result<(), Errno> {
    let arguments = [address, pages.len() * PAGE_BYTES, pages.as_mut_ptr() as usize, 0, 0, 0];
    // SAFETY: the kernel writes a byte for each page.
    check(unsafe { syscall(nr::MINCORE, arguments) }).map(drop)
}

/// Whether something is swapped out on this machine, or the kernel does not tell.
#[must_use]
pub fn is_swap_in_use() -> bool {
    // struct sysinfo: seconds since the start, three loads, then bytes of memory in all, free,
    // shared and of buffers, then swap in all and free.
    let mut info = [0u64; 14];
    // SAFETY: struct sysinfo has 112 bytes.
    let result = unsafe { syscall(nr::SYSINFO, [info.as_mut_ptr() as usize, 0, 0, 0, 0, 0]) };
    result != 0 || info[8] != info[9]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::{map_anonymous, map_shared, unmap};

    #[test]
    fn pages_that_were_written_are_told_from_others() {
        let map = PageMap::open().unwrap();
        let pages = 4;
        let memory = map_anonymous(pages * PAGE_BYTES).unwrap();
        // SAFETY: memory of a moment ago.
        unsafe { memory.add(2 * PAGE_BYTES).write(1) };
        let mut words = [0; 4];
        assert_eq!(map.read(memory as usize, &mut words), Ok(4));
        assert_eq!(words.map(PageMap::is_private), [false, false, true, false]);
        let text = PageMap::open as *const () as usize;
        assert_eq!(map.read(text, &mut words[..1]), Ok(1));
        assert!(!PageMap::is_private(words[0]));
        // SAFETY: as above.
        unsafe { unmap(memory, pages * PAGE_BYTES) };
    }

    #[test]
    fn shared_pages_that_were_written_are_resident() {
        let memory = map_shared(4 * PAGE_BYTES).unwrap();
        // SAFETY: memory of a moment ago.
        unsafe { memory.add(PAGE_BYTES).write(1) };
        let mut pages = [0; 4];
        resident(memory as usize, &mut pages).unwrap();
        assert_eq!(pages.map(|page| page & 1), [0, 1, 0, 0]);
        // SAFETY: as above.
        unsafe { unmap(memory, 4 * PAGE_BYTES) };
        assert!(resident(8, &mut pages).is_err());
        let _ = is_swap_in_use();
    }
}
