//! Goes through the lines of a profile: which memory a process had mapped at a sample, and what its
//! threads were called.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;

use szc_sampler::mappings::{Mapping, Mappings};

use super::file::Line;

/// Processes and threads, up to a line.
#[derive(Default)]
pub struct Replay {
    maps: BTreeMap<u32, Mappings>,
    /// Names by thread.
    names: BTreeMap<u32, String>,
}

impl Replay {
    /// Takes notice of a line.
    pub fn note(&mut self, line: &Line) {
        match line {
            Line::Map { pid, start, bytes, offset, path, .. } => {
                let path = path.as_str().into();
                let mapping = Mapping { bytes: *bytes, offset: *offset, path };
                self.maps.entry(*pid).or_default().map(*start, mapping);
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

    /// The file that an address of a process belongs to, and the offset in it.
    #[must_use]
    pub fn locate(&self, pid: u32, address: u64) -> Option<(&str, u64)> {
        self.maps.get(&pid)?.locate(address)
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
