//! The third-party code scan: looks for code that switches stacks where the link step could not, in
//! libraries that szc did not build, and in images without a table.
//!
//! A stack that such code has left refers to layouts that nobody sees. So no cycle ends before all
//! code that was mapped after its begin has been read once. Some of it is read in each interval, so
//! that little is asked of the caches at a time; and from the files, because pages of a mapping
//! that are read become memory of the program.

use super::blocked::Blocked;
use crate::state::CODE;
use core::ffi::CStr;
use szc_sys::arch::{SWITCH_BYTES_BEHIND, switches_stacks};
use szc_sys::os::mappings::{self, CodeMapping};
use szc_sys::os::{self, Array, File, tasks};

/// Most mappings of code that are looked at.
const MAX_MAPPINGS: usize = 1024;

/// Bytes that are read in an interval.
const BYTES_AT_A_TIME: usize = 1 << 20;

/// How file names begin of what comes with the C library and the compiler. Their functions that set
/// the stack pointer go back to an older frame of the same stack, or the runtime knows of their
/// stacks (`makecontext`).
const KNOWN: [&[u8]; 7] =
    [b"ld-linux", b"ld-2.", b"libc.so.", b"libc-2.", b"libpthread", b"libgcc_s", b"libunwind.so"];

/// Longest path, with the NUL behind it, that is kept.
const PATH_BYTES: usize = 256;

/// One mapping.
#[derive(Clone, Copy)]
struct Seen {
    range: (usize, usize),
    /// As in [`CodeMapping`].
    file: [u64; 3],
    /// Filled up with NUL; empty if the path was too long.
    path: [u8; PATH_BYTES],
    /// Up to here it has been read.
    read_to: usize,
    /// It was there when the last list was made.
    listed: u32,
}

/// What is known about the code of others.
pub struct ThirdPartyCode {
    seen: Array<Seen>,
    count: usize,
}

impl ThirdPartyCode {
    /// Nothing yet. Nothing at all if there is not enough memory.
    pub fn new() -> Option<Self> {
        // SAFETY: records of numbers.
        Some(Self { seen: unsafe { Array::zeroed(MAX_MAPPINGS) }.ok()?, count: 0 })
    }

    /// Makes the list of all code that is mapped now. `buffer` is scratch memory.
    ///
    /// # Errors
    /// Some of it cannot be looked at.
    pub fn list(&mut self, buffer: &mut [u8]) -> Result<(), Blocked> {
        for seen in &mut self.seen[..self.count] {
            seen.listed = 0;
        }
        let mut noted = Ok(());
        mappings::for_each_code(buffer, |mapping| noted = noted.and(self.note(mapping)))
            .map_err(|_| Blocked::Hidden)?;
        let mut index = 0;
        while index < self.count {
            if self.seen[index].listed == 0 {
                // Something else may be mapped there next time.
                self.count -= 1;
                self.seen[index] = self.seen[self.count];
            } else {
                index += 1;
            }
        }
        noted
    }

    fn note(&mut self, mapping: &CodeMapping<'_>) -> Result<(), Blocked> {
        let (range, file) = (mapping.range, mapping.file);
        let name = mapping.path.rsplit(|&byte| byte == b'/').next().unwrap_or(&[]);
        if KNOWN.iter().any(|known| name.starts_with(known))
            || CODE.with(|images| images.has_table_at(range.0))
        {
            return Ok(());
        }
        let mut all = self.seen[..self.count].iter_mut();
        if let Some(seen) = all.find(|seen| seen.range == range && seen.file == file) {
            seen.listed = 1;
            return Ok(());
        }
        let new = self.seen.get_mut(self.count).filter(|_| mapping.readable);
        let new = new.ok_or(Blocked::ThirdPartySwitches)?;
        let mut path = [0; PATH_BYTES];
        if let Some(kept) = path[..PATH_BYTES - 1].get_mut(..mapping.path.len()) {
            kept.copy_from_slice(mapping.path);
        }
        *new = Seen { range, file, path, read_to: range.0, listed: 1 };
        self.count += 1;
        Ok(())
    }

    /// Reads some of what has not been read. `words` is scratch memory.
    ///
    /// # Errors
    /// There is an instruction that may switch stacks.
    pub fn read_on(&mut self, words: &mut [u64]) -> Result<(), Blocked> {
        let mut left = BYTES_AT_A_TIME;
        let unread = |seen: &&mut Seen| seen.read_to < seen.range.1;
        for seen in self.seen[..self.count].iter_mut().filter(unread) {
            if left == 0 {
                break;
            }
            let file = seen.open();
            while seen.read_to < seen.range.1 && left > 0 {
                let rest = seen.range.1 - seen.read_to;
                let count = words.len().min(rest.div_ceil(8));
                let bytes = match seen.read(file.as_ref(), &mut words[..count]) {
                    Ok(bytes) => bytes.min(rest),
                    // It is gone, or its file has become shorter.
                    Err(_) => 0,
                };
                // SAFETY: words are bytes.
                let code = unsafe { core::slice::from_raw_parts(words.as_ptr().cast(), bytes) };
                if switches_stacks(code) {
                    return Err(Blocked::ThirdPartySwitches);
                }
                // The last bytes again, in front of what follows them.
                seen.read_to +=
                    if bytes < rest { bytes.saturating_sub(SWITCH_BYTES_BEHIND) } else { rest };
                if bytes <= SWITCH_BYTES_BEHIND {
                    seen.read_to = seen.range.1;
                }
                left = left.saturating_sub(bytes);
            }
        }
        Ok(())
    }

    /// Whether everything on the list has been read.
    pub fn is_read(&self) -> bool {
        self.seen[..self.count].iter().all(|seen| seen.read_to >= seen.range.1)
    }
}

impl Seen {
    /// The file, if it is still found by its path.
    fn open(&self) -> Option<File> {
        let path = CStr::from_bytes_until_nul(&self.path).ok()?;
        let file = File::open(path, os::OPEN_READ).ok()?;
        (file.inode() == Ok(self.file[2])).then_some(file)
    }

    /// Reads on, in the file or else in memory. Returns how many bytes.
    fn read(&self, file: Option<&File>, words: &mut [u64]) -> Result<usize, os::Errno> {
        match file {
            Some(file) => {
                let inside = self.read_to - self.range.0;
                file.read_at(words, self.file[0] as usize + inside)
            }
            None => tasks::read_memory(self.read_to, words),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_that_switches_stacks_is_found_in_a_mapping_of_a_file() {
        // mov %rdi, %rsp; ret, across the end of the first reading.
        let mut code = vec![0x90u8; 3 * 4096];
        let words = &mut [0u64; 512];
        let at = words.len() * 8 - 2;
        let switch = [0x48, 0x89, 0xfc, 0xc3];
        let read = |code: &[u8], words: &mut [u64]| {
            let mut third_party = ThirdPartyCode::new().unwrap();
            let start = code.as_ptr() as usize;
            let range = (start, start + code.len());
            let mapping = CodeMapping { range, file: [0; 3], readable: true, path: b"/a.so" };
            assert_eq!((third_party.note(&mapping), third_party.note(&mapping)), (Ok(()), Ok(())));
            assert_eq!(third_party.count, 1);
            let found = third_party.read_on(words);
            assert_eq!(third_party.is_read(), found.is_ok());
            found
        };
        assert_eq!(read(&code, words), Ok(()));
        code[at..at + switch.len()].copy_from_slice(&switch);
        assert_eq!(read(&code, words), Err(Blocked::ThirdPartySwitches));
    }

    #[test]
    fn the_code_of_this_test_is_on_the_list_and_the_c_library_is_not() {
        let mut third_party = ThirdPartyCode::new().unwrap();
        assert_eq!(third_party.list(&mut vec![0; 1 << 16]), Ok(()));
        let listed = |third_party: &ThirdPartyCode, address: usize| {
            let mut ranges = third_party.seen[..third_party.count].iter().map(|seen| seen.range);
            ranges.any(|(start, end)| (start..end).contains(&address))
        };
        unsafe extern "C" {
            fn getpid() -> i32;
        }
        assert!(listed(&third_party, ThirdPartyCode::new as *const () as usize));
        assert!(!listed(&third_party, getpid as *const () as usize));
        let count = third_party.count;
        assert_eq!(third_party.list(&mut vec![0; 1 << 16]), Ok(()));
        assert_eq!(third_party.count, count);
    }
}
