//! The processes that are followed: which they are, and where their copies of code are.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::clock::now;
use crate::copies::{Copies, Original, Rules};
use crate::event::{Event, Map, Sample};
use crate::heights::process::{Heights, Known, Leaf};
use crate::heights::training::{Seen, Training};
use crate::heights::{Inferred, Missing};
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
    heights: Heights,
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
                let heights = Heights::default();
                self.processes.insert(*pid, Process { since: *time, heights, ..parent });
                true
            }
            Event::Name { pid, is_exec, time, .. } => self.of(*pid, *time).is_some_and(|process| {
                if *is_exec {
                    process.copies = None;
                    process.mappings = Mappings::default();
                    process.heights = Heights::default();
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
                process.heights.mapped();
                true
            }),
            Event::Exit { pid, tid, time } => self.of(*pid, *time).is_some_and(|process| {
                process.heights.forget(*tid);
                true
            }),
            Event::Fork { pid, time, .. } => self.of(*pid, *time).is_some(),
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

    /// Adds a stack that was followed to a path map; nothing if it cannot be.
    pub fn train(
        &mut self,
        sample: &Sample,
        (stack, chain): (&Stack, &Chain),
        unwinder: &mut Unwinder,
        training: &mut Training,
    ) -> Option<()> {
        training.unusable += 1;
        let process = self.processes.get_mut(&sample.pid)?;
        let mappings = &process.mappings;
        let rules = rules(process.copies.as_mut(), sample.pid, sample.ip)?;
        let at = unwinder.at(sample.pid, mappings, rules.0.address)?;
        let cfa = unwinder.cfa(sample.pid, mappings, &rules.1, stack);
        let first = *chain.stack_pointers.first().filter(|_| chain.cut.is_none())?;
        let depth = if cfa.is_none() { Some(first.checked_sub(stack.sp())?) } else { None };
        let mut callers = Vec::new();
        for (&caller, &sp) in chain.callers.iter().zip(&chain.stack_pointers) {
            let mut at = unwinder.at(sample.pid, mappings, caller - 1)?;
            at.address += 1;
            callers.push((at, sp));
        }
        let base = process.heights.base(sample.pid, sample.tid, stack.sp())?;
        training.unusable -= 1;
        training.note(&Seen { at, depth, callers, base })
    }

    /// The callers of a thread of a process as its two registers say, in originals. With the true
    /// ones it is said whether they are right.
    pub fn infer(
        &mut self,
        sample: &Sample,
        (stack, truth): (&Stack, Option<&Chain>),
        unwinder: &mut Unwinder,
        known: &Known,
    ) -> (Vec<u64>, Inferred) {
        let missing = |missing| (Vec::new(), Inferred::none(missing));
        let (pid, ip) = (sample.pid, sample.ip);
        let Some(process) = self.processes.get_mut(&pid) else { return missing(Missing::Base) };
        let Some(base) = process.heights.base(pid, sample.tid, stack.sp()) else {
            return missing(Missing::Base);
        };
        let mappings = &process.mappings;
        let Some((here, rules)) = rules(process.copies.as_mut(), pid, ip) else {
            return missing(Missing::Layouts);
        };
        let Some(at) = unwinder.at(pid, mappings, here.address) else {
            return missing(Missing::Function);
        };
        let copies = process.copies.as_mut();
        let pads = || copies.map(|copies| copies.pads(pid)).unwrap_or_default();
        process.heights.look_at_layouts(sample.time, pads);
        let cfa = unwinder.cfa(pid, mappings, &rules, stack).or_else(|| {
            let (depth, has_pad) = known.depth(&at)?;
            let start = here.address - (at.address - at.function);
            if has_pad && process.heights.is_padded_by_activation(start) {
                return None;
            }
            let copies = process.copies.as_mut().filter(|_| has_pad);
            let pad = copies.map_or(0, |copies| copies.pad_at(pid, ip));
            Some(stack.sp() + u64::from(depth) + u64::from(pad))
        });
        let Some(cfa) = cfa else { return missing(Missing::Depth) };
        let offset = process.copies.as_ref().and_then(Copies::pad_state_offset);
        let is_within_reserve = offset.is_some_and(|offset| {
            process.heights.is_within_reserve((pid, sample.tid), stack.sp(), offset)
        });
        let leaf = Leaf { at: &at, cfa, base, epoch: here.epoch, is_within_reserve };
        let (callers, mut inferred, paths) =
            process.heights.infer(known, &leaf, (mappings, unwinder));
        let truth = truth.filter(|truth| truth.cut.is_none() && !paths.is_empty());
        let is_right = truth.map(|truth| {
            let mut function =
                |caller: &u64| known.function(&unwinder.at(pid, mappings, caller - 1)?);
            let functions: Vec<_> = truth.callers.iter().map(&mut function).collect();
            known.have(&paths, &functions)
        });
        // It may be one of those that cannot be told.
        inferred.is_right = is_right.filter(|is_right| *is_right || inferred.paths == 1);
        (callers, inferred)
    }
}

/// The original of an instruction.
struct Here {
    address: u64,
    /// Of the layout of a copy of the program's own.
    epoch: Option<u64>,
}

/// Where an instruction comes from, and how its frame is laid out; nothing if its process is gone.
fn rules(copies: Option<&mut Copies>, pid: u32, ip: u64) -> Option<(Here, Rules)> {
    match copies.and_then(|copies| Some((copies.rules(pid, ip)?, copies.programs_image()))) {
        None => Some((Here { address: ip, epoch: None }, Rules::Original(ip))),
        Some(((original, rules), programs)) => {
            let epoch = (programs == Some(original.image)).then_some(original.epoch);
            Some((Here { address: original.address, epoch }, rules?))
        }
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
