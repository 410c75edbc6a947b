//! Profiles of processes that still run, read from outside of them.
#![forbid(unsafe_code)]

use std::fs;
use std::path::Path;
use std::time::Duration;

use szc_paths::live::{DIRECTORY_MAGIC, MAX_THREADS, PROFILES_WORD, WORDS_AT};
use szc_paths::{FileHeader, MAX_PATH_BYTES, has_begun};
use szc_sampler::directory::distance;
use szc_sampler::maps::mapped;
use szc_sampler::memory::{Memory, OfProcess};

/// How often a profile is read at most that its thread is just writing to.
const MAX_TRIES: u32 = 200;

/// Time between two of these.
const WAIT: Duration = Duration::from_micros(50);

/// What a process would leave if it ended now, in the form of its file. Nothing if it has no
/// profiles or cannot be read.
pub(super) fn read(pid: u32, words: usize) -> Option<Vec<u32>> {
    let program = fs::read_link(format!("/proc/{pid}/exe")).ok()?;
    let (start, offset) = text(pid, &program)?;
    let directory = start.wrapping_add(distance(&program, offset, DIRECTORY_MAGIC)?);
    read_memory(&OfProcess(pid), directory, words, pid, program.to_str()?.as_bytes())
}

/// Where the text of a program begins in its process, and in its file.
fn text(pid: u32, program: &Path) -> Option<(u64, u64)> {
    let text = mapped(pid, 0).ok()?.into_iter().find(|map| Path::new(&map.path) == program)?;
    Some((text.start, text.offset))
}

fn read_memory(
    memory: &impl Memory,
    directory: u64,
    words: usize,
    process: u32,
    program: &[u8],
) -> Option<Vec<u32>> {
    let profiles = memory.word(directory + 8 * PROFILES_WORD as u64).filter(|at| *at != 0)?;
    let mut header = FileHeader {
        process,
        words: u32::try_from(words).ok()?,
        path_bytes: u32::try_from(program.len())
            .ok()
            .filter(|_| program.len() <= MAX_PATH_BYTES)?,
        ..FileHeader::default()
    };
    let mut all = Vec::new();
    for thread in 0..MAX_THREADS as u64 {
        let Some(profile) = memory.word(profiles + 8 * thread).filter(|at| *at != 0) else { break };
        match read_whole(memory, profile, words) {
            Some(found) if has_begun(&found) => {
                header.profiles += 1;
                all.extend(found);
            }
            // Of a thread of the parent a forked child has the memory, wiped.
            Some(_) => {}
            None => header.abandoned += 1,
        }
    }
    let mut file = header.words().to_vec();
    file.extend(program.chunks(4).map(|chunk| {
        let mut bytes = [0; 4];
        bytes[..chunk.len()].copy_from_slice(chunk);
        u32::from_le_bytes(bytes)
    }));
    file.extend(all);
    Some(file)
}

/// The words of a profile, all of one moment.
fn read_whole(memory: &impl Memory, profile: u64, words: usize) -> Option<Vec<u32>> {
    let writes = || memory.numbers(profile, 1).map(|number| number[0]);
    for _ in 0..MAX_TRIES {
        let before = writes()?;
        let found = memory.numbers(profile + WORDS_AT as u64, words)?;
        if before.is_multiple_of(2) && writes()? == before {
            return Some(found);
        }
        std::thread::sleep(WAIT);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::merge::tests::thread;
    use super::super::run::join;
    use super::*;
    use std::cell::Cell;

    /// A process with profiles at 0x1000, 0x11000, …, whose second is written to while it is read
    /// for the first so many times.
    struct Process {
        profiles: Vec<Vec<u32>>,
        busy: Cell<u32>,
    }

    impl Memory for Process {
        fn read(&self, address: u64, bytes: &mut [u8]) -> Option<()> {
            let mut page = vec![0u8; 0x1000];
            page[16..24].copy_from_slice(&0x100_u64.to_le_bytes());
            for (at, _) in self.profiles.iter().enumerate() {
                let place = 0x1000 + 0x10000 * at as u64;
                page[0x100 + 8 * at..][..8].copy_from_slice(&place.to_le_bytes());
            }
            for (at, profile) in self.profiles.iter().enumerate() {
                page.resize(0x1000 + 0x10000 * at, 0);
                let busy = self.busy.get();
                let writes = if at == 1 { busy % 2 } else { 6 };
                if at == 1 && bytes.len() == 4 && address == 0x11000 {
                    self.busy.set(busy.saturating_sub(1));
                }
                page.extend(writes.to_le_bytes());
                page.resize(page.len() + WORDS_AT - 4, 0);
                page.extend(profile.iter().flat_map(|word| word.to_le_bytes()));
            }
            let start = usize::try_from(address).ok()?;
            bytes.copy_from_slice(page.get(start..start + bytes.len())?);
            Some(())
        }
    }

    fn file(busy: u32) -> Vec<u32> {
        let profile = thread(100_000, 128);
        let words = profile.len();
        let profiles = vec![profile.clone(), profile, vec![0; words]];
        let process = Process { profiles, busy: Cell::new(busy) };
        read_memory(&process, 0, words, 7, b"/a/b").unwrap()
    }

    #[test]
    fn what_is_read_while_it_runs_is_what_a_file_would_have() {
        let merged = join(&[file(5)]).unwrap();
        assert_eq!((merged.threads, merged.abandoned), (2, 0));
        assert_eq!(merged.programs, ["/a/b"]);
        assert!(merged.blocks > 150_000);
    }

    #[test]
    fn a_thread_that_never_stops_writing_is_left_out_and_counted() {
        let merged = join(&[file(u32::MAX)]).unwrap();
        assert_eq!((merged.threads, merged.abandoned), (1, 1));
    }

    #[test]
    fn a_process_without_profiles_has_none() {
        assert_eq!(read(std::process::id(), 1024), None);
        assert!(text(std::process::id(), &std::env::current_exe().unwrap()).is_some());
    }
}
