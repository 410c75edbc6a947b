//! A process and all that it started, to be ended together.
//!
//! Who started whom is read from `/proc/PID/stat` (proc(5)). Those found are stopped first, so that
//! none starts another one while the others are looked for. A descendant whose parent has ended
//! belongs to nobody we know: services that a program leaves behind stay.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::fs;
use std::str::FromStr;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Looks until nobody new is found. A process that is stopped starts no other, so few are needed.
const MAX_LOOKS: usize = 16;

/// Kills a child of ours and its descendants. The child must not have been reaped.
pub(super) fn kill_all(child: i32) {
    let mut found = BTreeSet::from([child]);
    stop(child);
    for _ in 0..MAX_LOOKS {
        let new: Vec<i32> = processes()
            .filter(|process| found.contains(&process.parent) && !found.contains(&process.number))
            .map(|process| process.number)
            .collect();
        if new.is_empty() {
            break;
        }
        new.iter().copied().for_each(stop);
        found.extend(new);
    }
    for number in found {
        // It may have ended; a number is not given again so soon.
        let _ = kill(Pid::from_raw(number), Signal::SIGKILL);
    }
}

fn stop(number: i32) {
    // It may have ended.
    let _ = kill(Pid::from_raw(number), Signal::SIGSTOP);
}

struct Process {
    number: i32,
    parent: i32,
}

fn processes() -> impl Iterator<Item = Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let number = entry.file_name().to_str()?.parse().ok()?;
        let parent = parent_in(&fs::read_to_string(entry.path().join("stat")).ok()?)?;
        Some(Process { number, parent })
    })
}

/// When a process began, in clock ticks since the system did; `None` if there is none.
pub(super) fn start_time(number: i32) -> Option<u64> {
    field(&fs::read_to_string(format!("/proc/{number}/stat")).ok()?, 20)
}

/// Whether a process goes on: it is there, and has not ended without having been waited for.
#[must_use]
pub fn goes_on(number: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
    field(&stat, 1).is_some_and(|state: char| !matches!(state, 'Z' | 'X'))
}

/// The parent's number in a line of `/proc/PID/stat`.
fn parent_in(stat: &str) -> Option<i32> {
    field(stat, 2)
}

/// A field of `/proc/PID/stat`, the state being the first. The name before it may hold anything,
/// parentheses too.
fn field<T: FromStr>(stat: &str, number: usize) -> Option<T> {
    let (_, behind_name) = stat.rsplit_once(')')?;
    behind_name.split_whitespace().nth(number - 1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    #[test]
    fn the_parent_is_found_behind_any_name() {
        assert_eq!(parent_in("12 (sleep) S 7 12 12 0 -1"), Some(7));
        assert_eq!(parent_in("12 (a) S 9) R 7 12 12 0 -1"), Some(7));
        assert_eq!(parent_in("12 (cut off"), None);
        assert_eq!(parent_in(""), None);
    }

    #[test]
    fn children_of_children_end_too() {
        // Nobody else sleeps for so long.
        const SECONDS: &str = "98765.25";
        let sleeps = || {
            let command = |pid: i32| fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            processes()
                .filter(|process| command(process.number).starts_with(b"sleep\098765.25"))
                .count()
        };
        let script = format!("sh -c 'sleep {SECONDS}; true' & sleep {SECONDS}; true");
        let mut child =
            Command::new("/bin/sh").args(["-c", &script]).stdout(Stdio::null()).spawn().unwrap();
        let begun = Instant::now();
        while sleeps() < 2 && begun.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(sleeps(), 2);
        kill_all(i32::try_from(child.id()).unwrap());
        child.wait().unwrap();
        while sleeps() > 0 && begun.elapsed() < Duration::from_secs(40) {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(sleeps(), 0);
    }
}
