//! Address spaces of processes: which code lies where in them.
#![forbid(unsafe_code)]

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use szc_sampler::event::Map;
use szc_sampler::maps::mapped;

use super::code::{Code, Place};
use super::memory::{Selected, Shared};
use super::scope::Scope;
use crate::causal::file::Location;

/// All that were seen in a run.
pub struct Spaces {
    scope: Scope,
    by_function: bool,
    code: HashMap<PathBuf, Option<Rc<Code>>>,
    spaces: HashMap<u64, Space>,
}

#[derive(Default)]
struct Space {
    mappings: Vec<Mapping>,
    /// Ranges that were handed to programs, by index of the mapping and of the location.
    kept: HashMap<(usize, usize), Selected>,
}

struct Mapping {
    start: u64,
    end: u64,
    bias: u64,
    code: Rc<Code>,
}

/// Something that was found in an address space, and may be selected there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    space: u64,
    mapping: usize,
    location: usize,
}

/// What an address in a space is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Address {
    /// Something that may be selected.
    InScope(Found),
    /// Code of files in which nothing else may be selected, or that is excluded.
    OutOfScope,
    /// Code in scope of which no line or function is known.
    Unknown,
}

impl Spaces {
    /// None yet.
    pub fn new(scope: Scope, by_function: bool) -> Self {
        Self { scope, by_function, code: HashMap::new(), spaces: HashMap::new() }
    }

    /// Forgets the spaces, and keeps what is known of files.
    pub fn clear(&mut self) {
        self.spaces.clear();
    }

    /// Learns what a process, which waits for that, has mapped. Returns the ranges in scope.
    pub fn learn(&mut self, number: u64, pid: u32, shared: &mut Shared) -> (u64, u64) {
        let program = fs::read_link(format!("/proc/{pid}/exe")).ok();
        let mut space = Space::default();
        let mut in_scope = Vec::new();
        for map in files_mapped(pid) {
            // Patterns are text, so they match no other names.
            let Some(path) = map.path.to_str() else { continue };
            if !self.scope.has_binary(path, program.as_deref()) {
                continue;
            }
            let load = || Code::load(Path::new(path), self.by_function, &self.scope).map(Rc::new);
            let code = self.code.entry(path.into()).or_insert_with(load);
            let Some(code) = code.clone() else { continue };
            let Some(bias) = code.bias(map.start, map.offset) else { continue };
            let mapping = Mapping { start: map.start, end: map.start + map.bytes, bias, code };
            in_scope.extend(mapping.ranges(None));
            space.mappings.push(mapping);
        }
        in_scope.sort_unstable();
        self.spaces.insert(number, space);
        shared.keep(&in_scope)
    }

    /// Where a function, or a line as FILE:LINE, of a process's program begins in it.
    pub fn entry(pid: u32, name: &str) -> Option<u64> {
        let program = fs::read_link(format!("/proc/{pid}/exe")).ok()?;
        let is_line = name.rsplit_once(':').is_some_and(|(_, line)| line.parse::<u32>().is_ok());
        let code = Code::load(&program, !is_line, &Scope::default())?;
        let location = code.named(name)?;
        let (first, _) = code.ranges(Some(location)).first().copied()?;
        files_mapped(pid).find_map(|map| {
            let is_it = Path::new(&map.path) == program;
            let bias = code.bias(map.start, map.offset).filter(|_| is_it)?;
            let address = bias.wrapping_add(first);
            (map.start..map.start + map.bytes).contains(&address).then_some(address)
        })
    }

    /// Whether anything at all may be selected.
    pub fn is_empty(&self) -> bool {
        self.code.values().flatten().all(|code| code.locations.is_empty())
    }

    /// Whether any file was looked at.
    pub fn has_files(&self) -> bool {
        self.code.values().flatten().next().is_some()
    }

    /// What an address is.
    pub fn address(&self, space: u64, address: u64) -> Address {
        let Some(known) = self.spaces.get(&space) else { return Address::OutOfScope };
        let holds = |mapping: &Mapping| (mapping.start..mapping.end).contains(&address);
        let Some(index) = known.mappings.iter().position(holds) else { return Address::OutOfScope };
        let mapping = &known.mappings[index];
        match mapping.code.place(address.wrapping_sub(mapping.bias)) {
            Place::InScope(location) => Address::InScope(Found { space, mapping: index, location }),
            Place::OutOfScope => Address::OutOfScope,
            Place::Unknown => Address::Unknown,
        }
    }

    /// The place with this name, in any space.
    pub fn named(&self, name: &str) -> Option<Found> {
        self.spaces.iter().find_map(|(&space, known)| {
            known.mappings.iter().enumerate().find_map(|(mapping, holding)| {
                let location = holding.code.named(name)?;
                Some(Found { space, mapping, location })
            })
        })
    }

    /// What was found, by name.
    pub fn location(&self, found: Found) -> Location {
        self.spaces[&found.space].mappings[found.mapping].code.locations[found.location].clone()
    }

    /// What was found, as programs are told of it.
    pub fn selected(&mut self, found: Found, shared: &mut Shared) -> Selected {
        let space = self.spaces.entry(found.space).or_default();
        let mappings = &space.mappings;
        *space.kept.entry((found.mapping, found.location)).or_insert_with(|| {
            // A file is mapped in several pieces, if its code is.
            let code = &mappings[found.mapping].code;
            let same = mappings.iter().filter(|mapping| Rc::ptr_eq(&mapping.code, code));
            let mut ranges: Vec<_> =
                same.flat_map(|mapping| mapping.ranges(Some(found.location))).collect();
            ranges.sort_unstable();
            let (first, words) = shared.keep(&ranges);
            Selected { space: found.space, first, words }
        })
    }
}

impl Mapping {
    fn ranges(&self, location: Option<usize>) -> Vec<(u64, u64)> {
        let ranges = self.code.ranges(location).into_iter();
        let placed = ranges.map(|(start, end)| {
            let place = |address: u64| address.wrapping_add(self.bias);
            (place(start).max(self.start), place(end).min(self.end))
        });
        placed.filter(|(start, end)| start < end).collect()
    }
}

/// What a process executes of files; nothing if it is gone.
fn files_mapped(pid: u32) -> impl Iterator<Item = Map> {
    // What is of no file is called `//anon`, or has a name in brackets.
    let is_file = |map: &Map| {
        let path = map.path.as_encoded_bytes();
        path.starts_with(b"/") && !path.starts_with(b"//")
    };
    mapped(pid, 0).unwrap_or_default().into_iter().filter(is_file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use szc_abi::causal::Ranges;

    #[test]
    fn functions_of_a_process_are_found_at_their_addresses() {
        let mut spaces = Spaces::new(Scope::default(), true);
        let mut shared = Shared::new(1_000_000, 1).unwrap();
        let (first, words) = spaces.learn(1, std::process::id(), &mut shared);
        let address = functions_of_a_process_are_found_at_their_addresses as *const () as u64;
        let scope = Ranges { first: first.into(), words: words.into() };
        assert!(shared.memory().contains(&scope, address));
        let Address::InScope(found) = spaces.address(1, address) else { panic!() };
        let Location::Function { function } = spaces.location(found) else { panic!() };
        assert!(function.contains("functions_of_a_process"), "{function}");
        assert_eq!(spaces.named(&function), Some(found));
        let selected = spaces.selected(found, &mut shared);
        assert_eq!(selected, spaces.selected(found, &mut shared));
        assert_eq!(spaces.address(1, 8), Address::OutOfScope);
    }
}
