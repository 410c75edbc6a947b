//! The processes that are followed: which they are, and where their copies of code are.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::clock::now;
use crate::copies::{Copies, Original};
use crate::event::{Event, Map};

/// Processes by number.
#[derive(Default)]
pub struct Followed {
    processes: BTreeMap<u32, Process>,
}

#[derive(Clone, Default)]
struct Process {
    /// What was reported before is not its own.
    since: u64,
    copies: Option<Copies>,
}

impl Followed {
    /// Follows a process that is there: its name and its maps, as if they were reported now.
    ///
    /// # Errors
    /// There is no such process.
    pub fn add(&mut self, pid: u32) -> io::Result<Vec<Event>> {
        let time = now();
        self.processes.insert(pid, Process { since: time, copies: None });
        let name = fs::read_to_string(format!("/proc/{pid}/comm"))?.trim_end().to_owned();
        let maps = fs::read_to_string(format!("/proc/{pid}/maps"))?;
        let name = Event::Name { pid, tid: pid, time, name, is_exec: true };
        let mut events = vec![name];
        events.extend(maps.lines().filter_map(|line| parse_map(line, pid, time)).map(Event::Map));
        for event in &events {
            self.note(event);
        }
        Ok(events)
    }

    /// Notes what an event says, and whether it is of a process that is followed.
    pub fn note(&mut self, event: &Event) -> bool {
        match event {
            Event::Fork { pid, parent, time, .. } if pid != parent => {
                if self.processes.get(pid).is_some_and(|process| process.since > *time) {
                    // It was followed when that was known already.
                    return false;
                }
                let parent = self.processes.get(parent).filter(|parent| parent.since <= *time);
                let Some(parent) = parent.cloned() else {
                    // The number of a process that is gone.
                    self.processes.remove(pid);
                    return false;
                };
                self.processes.insert(*pid, Process { since: *time, ..parent });
                true
            }
            Event::Name { pid, is_exec, time, .. } => self.of(*pid, *time).is_some_and(|process| {
                if *is_exec {
                    process.copies = None;
                }
                true
            }),
            Event::Map(map) => self.of(map.pid, map.time).is_some_and(|process| {
                if process.copies.is_none() && is_program(map) {
                    process.copies = Copies::of(Path::new(&map.path), map.start, map.offset);
                }
                true
            }),
            Event::Fork { pid, time, .. } | Event::Exit { pid, time, .. } => {
                self.of(*pid, *time).is_some()
            }
            Event::Switch { pid, time, .. } => self.of(*pid, *time).is_some(),
            Event::Sample(sample) | Event::Left(sample) => {
                self.of(sample.pid, sample.time).is_some()
            }
            Event::Lost(_) => true,
        }
    }

    fn of(&mut self, pid: u32, time: u64) -> Option<&mut Process> {
        self.processes.get_mut(&pid).filter(|process| process.since <= time)
    }

    /// Where an address in a copy of a process's code comes from.
    pub fn original(&mut self, pid: u32, address: u64) -> Option<Original> {
        self.processes.get_mut(&pid)?.copies.as_mut()?.original(pid, address)
    }
}

/// Whether a file is the program of its process; also if that is no longer known.
fn is_program(map: &Map) -> bool {
    let program: Option<PathBuf> = fs::read_link(format!("/proc/{}/exe", map.pid)).ok();
    program.is_none_or(|program| program == Path::new(&map.path))
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
    use crate::event::Sample;

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

    #[test]
    fn children_of_a_followed_process_are_followed_and_nobody_else() {
        let mut followed = Followed::default();
        let own = std::process::id();
        let events = followed.add(own).unwrap();
        assert!(matches!(&events[0], Event::Name { is_exec: true, .. }));
        assert!(events.iter().any(|event| matches!(event, Event::Map(_))));
        let time = now();
        let fork = |pid, parent| Event::Fork { pid, tid: pid, parent, time };
        let sample = |pid, time| Event::Sample(Sample { pid, time, ..Sample::default() });
        assert!(followed.note(&fork(1_000_001, own)) && followed.note(&fork(1_000_002, 1_000_001)));
        assert!(!followed.note(&fork(1_000_003, 1)));
        assert!(followed.note(&sample(1_000_002, time)));
        assert!(!followed.note(&sample(1_000_003, time)));
        // What was reported before it was followed was not it.
        assert!(!followed.note(&sample(1_000_002, time - 1)));
        // What made a process is reported after it is followed.
        assert!(!followed.note(&Event::Fork { pid: own, tid: own, parent: 1, time: 0 }));
        assert!(followed.note(&sample(own, now())));
        // The number is used again.
        assert!(!followed.note(&fork(1_000_002, 1)));
        assert!(!followed.note(&sample(1_000_002, time)));
    }
}
