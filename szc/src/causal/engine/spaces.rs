//! Address spaces of processes: which code lies where in them.
#![forbid(unsafe_code)]

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

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
        let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
        let mut space = Space::default();
        let mut in_scope = Vec::new();
        for (start, end, offset, path) in maps.lines().filter_map(parse_map) {
            if !self.scope.has_binary(path, program.as_deref()) {
                continue;
            }
            let load = || Code::load(Path::new(path), self.by_function, &self.scope).map(Rc::new);
            let code = self.code.entry(path.into()).or_insert_with(load);
            let Some(code) = code.clone() else { continue };
            let Some(bias) = code.bias(start, offset) else { continue };
            let mapping = Mapping { start, end, bias, code };
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
        let maps = fs::read_to_string(format!("/proc/{pid}/maps")).ok()?;
        let mut placed = maps.lines().filter_map(parse_map).filter_map(|(start, end, at, path)| {
            let is_it = Path::new(path) == program;
            let address = code.bias(start, at).filter(|_| is_it)?.wrapping_add(first);
            (start..end).contains(&address).then_some(address)
        });
        placed.next()
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

/// A line of /proc/PID/maps, if that memory is executable and of a file: bounds, offset and path.
fn parse_map(line: &str) -> Option<(u64, u64, u64, &str)> {
    let mut fields = line.splitn(6, ' ');
    let (range, rights, offset) = (fields.next()?, fields.next()?, fields.next()?);
    let path = fields.nth(2)?.trim_start();
    let number = |text| u64::from_str_radix(text, 16).ok();
    let (start, end) = range.split_once('-')?;
    let is_meant = rights.contains('x') && path.starts_with('/');
    is_meant.then_some((number(start)?, number(end)?, number(offset)?, path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use szc_abi::causal::Ranges;

    #[test]
    fn a_line_of_maps_is_read_if_its_memory_is_executable_and_of_a_file() {
        let text = "55d0-65d0 r-xp 00001000 fe:00 1234                 /usr/bin/a b";
        assert_eq!(parse_map(text), Some((0x55d0, 0x65d0, 0x1000, "/usr/bin/a b")));
        assert_eq!(parse_map(&text.replace("r-xp", "rw-p")), None);
        assert_eq!(parse_map("55d0-65d0 r-xp 00000000 00:00 0    [vdso]"), None);
    }

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
