//! The processes that are followed: which they are, and where their copies of code are.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::clock::now;
use crate::copies::{Copies, Original};
use crate::event::{Event, Map};
use crate::mappings::{Mapping, Mappings};
use crate::maps::mapped;
use crate::stack::Stack;
use crate::unwind::{Chain, Unwinder};

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
    mappings: Mappings,
}

impl Followed {
    /// Follows a process that is there: its name and its maps, as if they were reported now.
    ///
    /// # Errors
    /// There is no such process.
    pub fn add(&mut self, pid: u32) -> io::Result<Vec<Event>> {
        let time = now();
        self.processes.insert(pid, Process { since: time, ..Process::default() });
        let name = fs::read_to_string(format!("/proc/{pid}/comm"))?.trim_end().to_owned();
        let maps = mapped(pid, time)?;
        let name = Event::Name { pid, tid: pid, time, name, is_exec: true };
        let mut events = vec![name];
        events.extend(maps.into_iter().map(Event::Map));
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
                    process.mappings = Mappings::default();
                }
                true
            }),
            Event::Map(map) => self.of(map.pid, map.time).is_some_and(|process| {
                if process.copies.is_none() && is_program(map) {
                    process.copies = Copies::of(Path::new(&map.path), map.start, map.offset);
                }
                let Map { start, bytes, offset, .. } = *map;
                let path = map.path.to_string_lossy().into();
                process.mappings.map(start, Mapping { bytes, offset, path });
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

    /// The callers of a thread of a process, in originals.
    pub fn chain(&mut self, pid: u32, stack: &Stack, unwinder: &mut Unwinder) -> Chain {
        let Some(process) = self.processes.get_mut(&pid) else { return Chain::default() };
        unwinder.chain(pid, stack, &process.mappings, process.copies.as_mut())
    }
}

/// Whether a file is the program of its process; also if that is no longer known.
fn is_program(map: &Map) -> bool {
    let program: Option<PathBuf> = fs::read_link(format!("/proc/{}/exe", map.pid)).ok();
    program.is_none_or(|program| program == Path::new(&map.path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Sample;

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
