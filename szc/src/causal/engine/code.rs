//! Which addresses a line or a function has, in the file of a program or library.
#![forbid(unsafe_code)]

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use addr2line::Loader;
use object::elf::PF_X;
use object::{Object as _, ObjectSegment as _, ObjectSymbol as _, SegmentFlags, SymbolKind};

use super::scope::Scope;
use crate::causal::file::Location;
use crate::measure::names::readable;
use crate::profile::symbol_files::SymbolFiles;

/// What can be selected in a file.
#[derive(Clone, Debug, Default)]
pub struct Code {
    /// The places.
    pub locations: Vec<Location>,
    /// Sorted and apart, by addresses as the file has them.
    ranges: Vec<Range>,
    /// Those with code.
    segments: Vec<Segment>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    start: u64,
    end: u64,
    /// Index of its location, if that is in scope.
    location: Option<usize>,
}

#[derive(Clone, Copy, Debug)]
struct Segment {
    offset: u64,
    bytes: u64,
    address: u64,
}

/// What an address is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// One that may be selected.
    InScope(usize),
    /// One that may not.
    OutOfScope,
    /// One without a line, or without a function.
    Unknown,
}

impl Code {
    /// Of the file at `path`. Nothing if that is no program or library.
    pub fn load(path: &Path, by_function: bool, scope: &Scope) -> Option<Self> {
        let data = fs::read(path).ok()?;
        let file = object::File::parse(&*data).ok()?;
        let segments = file.segments().filter(is_executable).map(|segment| {
            let (offset, bytes) = segment.file_range();
            Segment { offset, bytes, address: segment.address() }
        });
        let segments = segments.collect();
        let files = SymbolFiles::of(path);
        let mut functions = functions(&file);
        if files.main != path
            && let Some(data) = fs::read(&files.main).ok()
            && let Ok(file) = object::File::parse(&*data)
        {
            functions.extend(self::functions(&file));
        }
        let functions = apart(functions);
        let mut code = Self { segments, ..Self::default() };
        if by_function {
            let places = functions.into_iter().map(|(start, end, function)| {
                let is_in_scope = scope.has_function(&function);
                (start, end, Location::Function { function }, is_in_scope)
            });
            code.put(places);
        } else if let Ok(loader) = Loader::new_with_sup(&files.main, files.shared.as_ref()) {
            let is_excluded = |address| {
                let behind = functions.partition_point(|(start, ..)| *start <= address);
                let last = behind.checked_sub(1).map(|at| &functions[at]);
                last.is_some_and(|(_, end, name)| address < *end && !scope.has_function(name))
            };
            code.put_lines(&loader, scope, is_excluded);
        }
        Some(code)
    }

    fn put_lines(&mut self, loader: &Loader, scope: &Scope, is_excluded: impl Fn(u64) -> bool) {
        let Ok(found) = loader.find_location_range(0, u64::MAX) else { return };
        let mut is_source_in_scope = HashMap::new();
        let places = found.filter_map(|(start, bytes, location)| {
            let file = location.file?;
            // Line 0 is none: the compiler says that it belongs to no line.
            let line = location.line.filter(|&line| line != 0)?;
            let is_in = *is_source_in_scope
                .entry(file.to_owned())
                .or_insert_with(|| scope.has_source(file));
            let is_in_scope = is_in && !is_excluded(start);
            let location = Location::Line { file: file.to_owned(), line };
            Some((start, start.saturating_add(bytes), location, is_in_scope))
        });
        self.put(places);
    }

    fn put(&mut self, places: impl Iterator<Item = (u64, u64, Location, bool)>) {
        let mut known: HashMap<Location, usize> = HashMap::new();
        for (start, end, location, is_in_scope) in places {
            let location = is_in_scope.then(|| {
                let next = known.len();
                *known.entry(location).or_insert_with_key(|location| {
                    self.locations.push(location.clone());
                    next
                })
            });
            if start < end {
                self.ranges.push(Range { start, end, location });
            }
        }
        self.ranges.sort_by_key(|range| (range.start, range.end));
        let mut end = 0;
        self.ranges.retain_mut(|range| {
            range.start = range.start.max(end);
            let is_left = range.start < range.end;
            end = end.max(range.end);
            is_left
        });
    }

    /// What is at an address.
    pub fn place(&self, address: u64) -> Place {
        let behind = self.ranges.partition_point(|range| range.start <= address);
        let range = behind.checked_sub(1).map(|at| self.ranges[at]);
        match range.filter(|range| address < range.end) {
            None => Place::Unknown,
            Some(range) => range.location.map_or(Place::OutOfScope, Place::InScope),
        }
    }

    /// Where a place is, or all places that may be selected.
    pub fn ranges(&self, location: Option<usize>) -> Vec<(u64, u64)> {
        let is_meant = |range: &&Range| {
            location.map_or(range.location.is_some(), |_| range.location == location)
        };
        let mut merged: Vec<(u64, u64)> = Vec::new();
        for range in self.ranges.iter().filter(is_meant) {
            match merged.last_mut() {
                Some((_, end)) if *end == range.start => *end = range.end,
                _ => merged.push((range.start, range.end)),
            }
        }
        merged
    }

    /// The place with this name: a line as `FILE:LINE`, whose file may be the end of a path, or a
    /// function.
    pub fn named(&self, name: &str) -> Option<usize> {
        let is_it = |location: &Location| match location {
            Location::Function { function } => {
                function == name || function.split('(').next() == Some(name)
            }
            Location::Line { file, line } => name.rsplit_once(':').is_some_and(|(end, number)| {
                number.parse() == Ok(*line) && Path::new(file).ends_with(end)
            }),
        };
        self.locations.iter().position(is_it)
    }

    /// What has to be added to an address of the file, if `offset` of it is mapped at `start`.
    pub fn bias(&self, start: u64, offset: u64) -> Option<u64> {
        // A mapping begins at a page, which may be before its segment and have the end of another.
        let is_in = |segment: &&Segment| {
            (segment.offset & !(PAGE_BYTES - 1)..segment.offset + segment.bytes).contains(&offset)
        };
        let segment = self.segments.iter().find(is_in)?;
        let address = segment.address.wrapping_add(offset).wrapping_sub(segment.offset);
        Some(start.wrapping_sub(address))
    }
}

const PAGE_BYTES: u64 = 4096;

fn is_executable(segment: &object::Segment<'_, '_>) -> bool {
    matches!(segment.flags(), SegmentFlags::Elf { p_flags, .. } if p_flags.contains(PF_X))
}

/// The functions that a file has symbols for.
fn functions(file: &object::File<'_>) -> Vec<(u64, u64, String)> {
    let all = file.symbols().chain(file.dynamic_symbols());
    let functions = all.filter(|symbol| {
        symbol.is_definition() && symbol.kind() == SymbolKind::Text && symbol.size() != 0
    });
    let function = |symbol: object::Symbol<'_, '_>| {
        let name = symbol.name().ok().filter(|name| !name.is_empty())?;
        let end = symbol.address().checked_add(symbol.size())?;
        Some((symbol.address(), end, readable(name)))
    };
    functions.filter_map(function).collect()
}

/// Of several names of a function the shortest one.
fn apart(mut functions: Vec<(u64, u64, String)>) -> Vec<(u64, u64, String)> {
    functions.sort_by(|a, b| (a.0, a.2.len(), &a.2).cmp(&(b.0, b.2.len(), &b.2)));
    functions.dedup_by_key(|function| function.0);
    functions
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(line: u32) -> Location {
        Location::Line { file: "/src/a.c".into(), line }
    }

    fn code() -> Code {
        let mut code = Code::default();
        let places = [
            (30, 40, line(2), true),
            (10, 20, line(1), true),
            (20, 30, line(2), true),
            (50, 60, line(3), false),
            (60, 70, line(1), true),
        ];
        code.put(places.into_iter());
        code
    }

    #[test]
    fn a_line_has_all_its_addresses_and_neighbours_are_joined() {
        let code = code();
        assert_eq!(code.place(25), code.place(35));
        let Place::InScope(second) = code.place(25) else { panic!() };
        assert_eq!(code.ranges(Some(second)), [(20, 40)]);
        let Place::InScope(first) = code.place(65) else { panic!() };
        assert_eq!(code.ranges(Some(first)), [(10, 20), (60, 70)]);
    }

    #[test]
    fn what_is_out_of_scope_is_known_but_cannot_be_selected() {
        let code = code();
        assert_eq!((code.place(55), code.place(45)), (Place::OutOfScope, Place::Unknown));
        assert_eq!(code.ranges(None), [(10, 40), (60, 70)]);
    }

    #[test]
    fn a_line_is_named_by_the_end_of_its_path_and_a_function_without_its_arguments() {
        let code = code();
        assert_eq!(code.named("a.c:1"), code.named("/src/a.c:1"));
        assert!(code.named("a.c:1").is_some() && code.named("b.c:1").is_none());
        assert!(code.named("a.c:3").is_none() && code.named("a.c").is_none());
        let mut code = Code::default();
        let function = Location::Function { function: "n::f(int)".into() };
        code.put([(1, 2, function, true)].into_iter());
        assert_eq!((code.named("n::f"), code.named("f")), (Some(0), None));
    }

    #[test]
    fn a_mapping_belongs_to_the_segment_with_code_that_begins_in_its_first_page() {
        let segments = vec![Segment { offset: 0x6ac0, bytes: 0x1000, address: 0x7ac0 }];
        let code = Code { segments, ..Code::default() };
        assert_eq!(code.bias(0x5_7000, 0x6000), Some(0x5_0000));
        assert_eq!((code.bias(0x5_7000, 0x5000), code.bias(0x5_7000, 0x8000)), (None, None));
    }

    #[test]
    fn the_own_program_has_this_function_with_its_lines() {
        let path = std::env::current_exe().unwrap();
        let code = Code::load(&path, true, &Scope::default()).unwrap();
        let is_own = |location: &Location| match location {
            Location::Function { function } => function.contains("code::tests"),
            Location::Line { .. } => false,
        };
        assert!(code.locations.iter().any(is_own));
    }
}
