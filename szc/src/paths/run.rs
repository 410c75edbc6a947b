//! Runs the program, and reads what its processes leave.
#![forbid(unsafe_code)]

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use szc_paths::{FileHeader, Mode, Shape, View, has_begun, words_of};
use szc_sampler::maps::family;

use super::interim::Interim;
use super::live;
use super::merge::Merged;
use super::options::How;
use crate::lab::failure::Failure;
use crate::measure::stop::stop_on_signals;

/// Time between two looks at the program.
const WAIT: Duration = Duration::from_millis(5);
/// How long a program may go on that was asked to stop.
const GRACE: Duration = Duration::from_secs(2);

/// How the program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Returned(i32),
    Killed(i32),
    /// This signal asked us to stop.
    Asked(i32),
}

impl How {
    /// Whether the memory suffices.
    pub fn fits(self) -> bool {
        let mode = match self.spacing {
            0 => Mode::Exact,
            spacing => Mode::Sampled { spacing },
        };
        let words = words_of(self.memory_kib);
        Shape { words, length: self.max_length, mode }.fits()
    }
}

/// Runs a program, whose processes leave their profiles in a folder. While it runs, `look` is
/// called at the times of `interim`, with its number and how long it has run.
///
/// # Errors
/// It cannot be run, or what is known cannot be shown.
pub(super) fn run(
    command: &[String],
    folder: &Path,
    how: How,
    interim: &mut Interim,
    mut look: impl FnMut(u32, Duration) -> Result<()>,
) -> Result<Ending, Failure> {
    let stop = stop_on_signals().context("cannot handle signals")?;
    let (program, arguments) =
        command.split_first().ok_or_else(|| Failure::Usage(anyhow!("a program is needed")))?;
    let mut child = Command::new(program)
        .args(arguments)
        .env("SZC_PATHS", folder.join("%p"))
        .env("SZC_PATHS_MEMORY_KIB", how.memory_kib.to_string())
        .env("SZC_PATHS_MAX_LENGTH", how.max_length.to_string())
        .env("SZC_PATHS_SPACING", how.spacing.to_string())
        .spawn()
        .map_err(|error| Failure::Usage(anyhow!("cannot run {program}: {error}")))?;
    let mut asked: Option<(i32, Instant)> = None;
    loop {
        if let Some(status) = child.try_wait().context("cannot wait for the program")? {
            let ending = match (status.code(), status.signal()) {
                (Some(code), _) => Ending::Returned(code),
                (None, signal) => Ending::Killed(signal.unwrap_or_default()),
            };
            return Ok(asked.map_or(ending, |(signal, _)| Ending::Asked(signal)));
        }
        match (stop.signal(), asked) {
            (Some(signal), None) => {
                // Ctrl-C reaches the program by itself.
                if signal != Signal::SIGINT as i32 {
                    let pid = Pid::from_raw(child.id().cast_signed());
                    let _ = kill(pid, Signal::try_from(signal).ok());
                }
                asked = Some((signal, Instant::now()));
            }
            (_, Some((_, since))) if since.elapsed() > GRACE => {
                child.kill().context("cannot end the program")?;
            }
            _ => {}
        }
        if let Some(after) = interim.is_due()
            && let Err(error) = look(child.id(), after)
        {
            // It is ours and not reaped.
            let _ = child.kill();
            let _ = child.wait();
            return Err(error.into());
        }
        std::thread::sleep(WAIT);
    }
}

/// Reads what the processes left.
///
/// # Errors
/// Something is no profile, or not whole.
pub(super) fn read(folder: &Path) -> Result<Merged> {
    let files: Vec<Vec<u32>> = files(folder)?.into_iter().map(|(_, file)| file).collect();
    join(&files)
}

/// Reads what the processes have left that have ended, and what those know that still run: that of
/// this number and its descendants, whose profiles have so many words each.
///
/// # Errors
/// The folder cannot be read.
pub(super) fn read_now(folder: &Path, pid: u32, words: usize) -> Result<Merged> {
    let is_whole = |file: &(u32, Vec<u32>)| FileHeader::read(&file.1).is_some();
    // Others are being written.
    let mut found: Vec<(u32, Vec<u32>)> = files(folder)?.into_iter().filter(is_whole).collect();
    for pid in family(pid) {
        if found.iter().all(|(process, _)| *process != pid) {
            found.extend(live::read(pid, words).map(|file| (pid, file)));
        }
    }
    let merged = join(&found.into_iter().map(|(_, file)| file).collect::<Vec<_>>())?;
    Ok(Merged { unread: merged.abandoned, abandoned: 0, ..merged })
}

/// The files of a folder, with the numbers of their processes.
fn files(folder: &Path) -> Result<Vec<(u32, Vec<u32>)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).context("cannot read the profiles")? {
        let path = entry.context("cannot read the profiles")?.path();
        let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let words = bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word));
        let process = path.file_name().and_then(|name| name.to_str()?.parse().ok());
        files.push((process.unwrap_or_default(), words.collect()));
    }
    Ok(files)
}

/// What several processes have left, as one.
pub(super) fn join(files: &[Vec<u32>]) -> Result<Merged> {
    let mut programs: Vec<String> = Vec::new();
    let mut profiles = Vec::new();
    let (mut unprofiled, mut abandoned) = (0, 0);
    // A file is made when its process begins.
    for file in files.iter().filter(|file| !file.is_empty()) {
        let Some((header, path, words)) = FileHeader::read(file) else {
            return Err(anyhow!(
                "a process left a profile that is not whole: is there room for temporary files?"
            ));
        };
        let bytes: Vec<u8> = path.iter().flat_map(|word| word.to_le_bytes()).collect();
        let name = String::from_utf8_lossy(&bytes[..header.path_bytes as usize]);
        let known = programs.iter().position(|program| *program == name);
        let program = known.unwrap_or(programs.len());
        if known.is_none() {
            programs.push(name.into_owned());
        }
        unprofiled += u64::from(header.unprofiled);
        abandoned += u64::from(header.abandoned);
        // Of a thread of the parent a forked child has the memory, wiped.
        let begun = words.chunks(header.words.max(1) as usize).filter(|w| has_begun(w));
        profiles.extend(begun.filter_map(View::of).map(|view| (program, view)));
    }
    let merged = Merged::of(programs, &profiles);
    Ok(Merged { unprofiled, abandoned, ..merged })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_processes_are_joined_and_one_that_was_cut_is_an_error() {
        let profile = super::super::merge::tests::thread(100_000, 128);
        let header = FileHeader {
            process: 1,
            profiles: 2,
            words: u32::try_from(profile.len()).unwrap(),
            unprofiled: 3,
            abandoned: 0,
            path_bytes: 2,
        };
        let mut file = header.words().to_vec();
        file.push(u32::from_le_bytes(*b"/p\0\0"));
        file.extend(&profile);
        file.extend(vec![0; profile.len()]);
        let merged = join(&[file.clone(), Vec::new(), file.clone()]).unwrap();
        assert_eq!(merged.programs, ["/p"]);
        assert_eq!((merged.threads, merged.unprofiled), (2, 6));
        file.pop();
        assert!(join(&[file]).is_err());
        assert!(join(&[]).unwrap().programs.is_empty());
    }
}
