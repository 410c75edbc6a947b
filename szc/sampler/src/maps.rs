//! What the kernel tells of processes that are there: what they have mapped, and their children.
#![forbid(unsafe_code)]

use std::fs;
use std::io;

use crate::event::Map;

/// What a process has mapped to execute, as if it were reported at a time.
///
/// # Errors
/// There is no such process, or its mappings cannot be read.
pub fn mapped(pid: u32, time: u64) -> io::Result<Vec<Map>> {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps"))?;
    Ok(maps.lines().filter_map(|line| parse_map(line, pid, time)).collect())
}

/// A process and those that have come from it, as far as their parents are there.
#[must_use]
pub fn family(pid: u32) -> Vec<u32> {
    let (mut found, mut next) = (vec![pid], 0);
    while let Some(&parent) = found.get(next) {
        // Children belong to the thread that made them.
        let tasks = fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten();
        for task in tasks {
            let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            let children = children.split_whitespace();
            found.extend(children.filter_map(|child| child.parse::<u32>().ok()));
        }
        next += 1;
    }
    found
}

/// A line of /proc/PID/maps, if that memory is executable.
fn parse_map(line: &str, pid: u32, time: u64) -> Option<Map> {
    let mut rest = line;
    let mut field = || {
        let (field, behind) = rest.trim_start().split_once(' ').unwrap_or((rest.trim_start(), ""));
        rest = behind;
        field
    };
    let (range, rights, offset) = (field(), field(), field());
    let (_device, _inode) = (field(), field());
    let number = |text| u64::from_str_radix(text, 16).ok();
    let (start, end) = range.split_once('-')?;
    let (start, end) = (number(start)?, number(end)?);
    let path = match rest.trim_start() {
        "" => "//anon",
        path => path,
    };
    rights.contains('x').then_some(Map {
        pid,
        time,
        start,
        bytes: end.checked_sub(start)?,
        offset: number(offset)?,
        path: path.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};
    use std::sync::mpsc;
    use std::thread;

    #[test]
    fn the_child_of_another_thread_belongs_to_the_family() {
        let (tell, told) = mpsc::channel();
        let (found_it, is_found) = mpsc::channel();
        let other = thread::spawn(move || {
            let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
            tell.send(child.id()).unwrap();
            // Its parent thread is there until it has been found.
            is_found.recv().unwrap();
            child.kill().unwrap();
            child.wait().unwrap();
        });
        let child = told.recv().unwrap();
        let found = family(std::process::id());
        found_it.send(()).unwrap();
        other.join().unwrap();
        assert_eq!(found.first(), Some(&std::process::id()));
        assert!(found.contains(&child), "{child} of {found:?}");
    }

    #[test]
    fn a_line_of_maps_is_read_if_its_memory_is_executable() {
        let text = "55d0-65d0 r-xp 00001000 fe:00 1234                 /usr/bin/a b";
        let map = Map {
            pid: 3,
            time: 9,
            start: 0x55d0,
            bytes: 0x1000,
            offset: 0x1000,
            path: "/usr/bin/a b".into(),
        };
        assert_eq!(parse_map(text, 3, 9), Some(map));
        assert_eq!(parse_map(&text.replace("r-xp", "rw-p"), 3, 9), None);
        let anonymous = parse_map("55d0-65d0 rwxp 00000000 00:00 0 ", 3, 9).unwrap();
        assert_eq!(anonymous.path, "//anon");
    }
}
