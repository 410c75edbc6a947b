//! Goes through the lines of a profile: which memory a process had mapped at a sample, and what its
//! threads were called.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;

use super::file::Line;

/// Processes and threads, up to a line.
#[derive(Default)]
pub struct Replay {
    maps: BTreeMap<u32, BTreeMap<u64, Mapped>>,
    /// Names by thread.
    names: BTreeMap<u32, String>,
}

/// A mapping of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapped {
    bytes: u64,
    offset: u64,
    path: String,
}

impl Replay {
    /// Takes notice of a line.
    pub fn note(&mut self, line: &Line) {
        match line {
            Line::Map { pid, start, bytes, offset, path, .. } => {
                let mapped = Mapped { bytes: *bytes, offset: *offset, path: path.clone() };
                self.map(*pid, *start, mapped);
            }
            Line::Name { pid, tid, name, exec, .. } => {
                if *exec {
                    self.maps.remove(pid);
                }
                self.names.insert(*tid, name.clone());
            }
            Line::Fork { pid, tid, parent, .. } => {
                if pid != parent {
                    let maps = self.maps.get(parent).cloned().unwrap_or_default();
                    self.maps.insert(*pid, maps);
                }
                // It has its maker's name until it gets another one.
                if let Some(name) = self.names.get(parent).cloned() {
                    self.names.insert(*tid, name);
                }
            }
            Line::Sample(_)
            | Line::Waited(_)
            | Line::Elsewhere { .. }
            | Line::Exit { .. }
            | Line::End(_) => {}
        }
    }

    /// What is mapped over something goes in its place.
    fn map(&mut self, pid: u32, start: u64, new: Mapped) {
        let maps = self.maps.entry(pid).or_default();
        let end = start.saturating_add(new.bytes);
        let overlapping: Vec<u64> = maps
            .range(..end)
            .filter(|(old, mapped)| *old + mapped.bytes > start)
            .map(|(&old, _)| old)
            .collect();
        for old_start in overlapping {
            let Some(old) = maps.remove(&old_start) else { continue };
            let old_end = old_start + old.bytes;
            if old_start < start {
                maps.insert(old_start, Mapped { bytes: start - old_start, ..old.clone() });
            }
            if end < old_end {
                let offset = old.offset + (end - old_start);
                maps.insert(end, Mapped { bytes: old_end - end, offset, ..old });
            }
        }
        maps.insert(start, new);
    }

    /// The file that an address of a process belongs to, and the offset in it.
    #[must_use]
    pub fn locate(&self, pid: u32, address: u64) -> Option<(&str, u64)> {
        let (start, mapped) = self.maps.get(&pid)?.range(..=address).next_back()?;
        let inside = address - start;
        (inside < mapped.bytes).then_some((mapped.path.as_str(), mapped.offset + inside))
    }

    /// What a thread is called.
    #[must_use]
    pub fn name(&self, tid: u32) -> &str {
        self.names.get(&tid).map_or("", String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pid: u32, start: u64, bytes: u64, path: &str) -> Line {
        Line::Map { pid, time: 0, start, bytes, offset: 0x1000, path: path.into() }
    }

    #[test]
    fn an_address_belongs_to_what_was_mapped_there_last() {
        let mut replay = Replay::default();
        replay.note(&map(1, 0x10, 0x30, "a"));
        replay.note(&map(1, 0x20, 0x10, "b"));
        let found: Vec<_> =
            [0xf, 0x10, 0x1f, 0x20, 0x2f, 0x30, 0x3f, 0x40].map(|at| replay.locate(1, at)).into();
        let a = |inside: u64| Some(("a", 0x1000 + inside));
        let b = |inside: u64| Some(("b", 0x1000 + inside));
        assert_eq!(found, [None, a(0), a(0xf), b(0), b(0xf), a(0x20), a(0x2f), None]);
    }

    #[test]
    fn a_child_has_its_parents_maps_until_it_begins_another_program() {
        let mut replay = Replay::default();
        replay.note(&Line::Name { pid: 1, tid: 1, time: 0, name: "sh".into(), exec: true });
        replay.note(&map(1, 0x10, 0x10, "sh"));
        replay.note(&Line::Fork { pid: 2, tid: 2, parent: 1, time: 0 });
        assert_eq!((replay.locate(2, 0x10), replay.name(2)), (Some(("sh", 0x1000)), "sh"));
        replay.note(&Line::Name { pid: 2, tid: 2, time: 0, name: "ls".into(), exec: true });
        assert_eq!((replay.locate(2, 0x10), replay.name(2)), (None, "ls"));
        assert_eq!((replay.locate(1, 0x10), replay.name(1)), (Some(("sh", 0x1000)), "sh"));
    }
}
