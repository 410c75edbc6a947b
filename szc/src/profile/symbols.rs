//! From an offset in a program or library to functions and lines: symbols of the file, DWARF 2 to 5
//! with inlined functions, in the file or beside it.
#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs;
use std::path::Path;

use addr2line::Loader;
use object::{Object as _, ObjectSegment as _, ObjectSymbol as _, SymbolKind};

use super::symbol_files::SymbolFiles;
use crate::measure::names::readable;

/// A function that a thread was in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Frame {
    /// Its name, readable; of what has none that of the file in brackets.
    pub function: String,
    /// The source file, where lines are known.
    pub file: Option<String>,
    /// The line in it.
    pub line: Option<u32>,
    /// The compiler has put it into the next frame.
    pub is_inlined: bool,
    /// Name of the program or library.
    pub library: String,
    /// Distance from the beginning of the function, or of the file if there is no symbol.
    pub offset: u64,
}

impl Frame {
    /// One that is known by name only.
    #[must_use]
    pub fn named(function: &str, library: &str) -> Self {
        Self { function: function.into(), library: library.into(), ..Self::default() }
    }
}

/// What is known of programs and libraries, by path.
#[derive(Default)]
pub struct Symbols {
    images: HashMap<String, Option<Image>>,
}

struct Image {
    segments: Vec<Segment>,
    symbols: Vec<Symbol>,
    lines: Option<Loader>,
}

struct Segment {
    offset: u64,
    bytes: u64,
    address: u64,
}

struct Symbol {
    address: u64,
    bytes: u64,
    name: String,
}

impl Symbols {
    /// The functions at an offset of a file, inlined ones first. At least one.
    pub fn frames(&mut self, path: &str, offset: u64) -> Vec<Frame> {
        let library =
            Path::new(path).file_name().map_or(path.into(), |name| name.to_string_lossy());
        let image = self.images.entry(path.to_owned()).or_insert_with(|| Image::load(path));
        let found = image.as_ref().and_then(|image| image.frames(offset, &library));
        let unnamed = || {
            let bare = library.trim_matches(['[', ']']);
            vec![Frame { offset, ..Frame::named(&format!("[{bare}]"), bare) }]
        };
        found.unwrap_or_else(unnamed)
    }

    /// Where in a file lies what is loaded at a distance from the lowest loaded address.
    pub fn offset_of(&mut self, path: &str, distance: u64) -> Option<u64> {
        let image = self.images.entry(path.to_owned()).or_insert_with(|| Image::load(path));
        let segments = &image.as_ref()?.segments;
        let address = segments.iter().map(|segment| segment.address).min()? + distance;
        let holds = |segment: &&Segment| address.wrapping_sub(segment.address) < segment.bytes;
        let segment = segments.iter().find(holds)?;
        Some(segment.offset + (address - segment.address))
    }

    /// The functions of a file with the lines of the source that are in each, as `FILE:LINE`.
    pub fn lines_of_functions(&mut self, path: &str) -> Vec<(String, Vec<String>)> {
        let image = self.images.entry(path.to_owned()).or_insert_with(|| Image::load(path));
        image.as_ref().map(Image::lines_of_functions).unwrap_or_default()
    }

    /// Names of the functions of a file.
    pub fn functions(&mut self, path: &str) -> Vec<String> {
        let image = self.images.entry(path.to_owned()).or_insert_with(|| Image::load(path));
        let symbols = image.iter().flat_map(|image| &image.symbols);
        let name = |symbol: &Symbol| readable(&symbol.name);
        symbols.map(name).collect()
    }

    /// Files that were asked about and cannot be read; not what never was a file.
    pub fn unreadable(&self) -> impl Iterator<Item = &str> {
        let unknown = self.images.iter().filter(|(_, image)| image.is_none());
        let is_file = |path: &&str| !path.starts_with('[') && !path.starts_with("//");
        unknown.map(|(path, _)| path.as_str()).filter(is_file)
    }
}

impl Image {
    fn load(path: &str) -> Option<Self> {
        let path = Path::new(path);
        let data = fs::read(path).ok()?;
        let file = object::File::parse(&*data).ok()?;
        let segments = file.segments().map(|segment| {
            let (offset, bytes) = segment.file_range();
            Segment { offset, bytes, address: segment.address() }
        });
        let segments = segments.collect();
        let files = SymbolFiles::of(path);
        let mut symbols = symbols(&file);
        if files.main != path
            && let Some(data) = fs::read(&files.main).ok()
            && let Ok(file) = object::File::parse(&*data)
        {
            symbols.extend(self::symbols(&file));
        }
        symbols.sort_by_key(|symbol| symbol.address);
        let lines = Loader::new_with_sup(&files.main, files.shared.as_ref()).ok();
        Some(Self { segments, symbols, lines })
    }

    fn frames(&self, offset: u64, library: &str) -> Option<Vec<Frame>> {
        let in_file = |segment: &&Segment| offset.wrapping_sub(segment.offset) < segment.bytes;
        let segment = self.segments.iter().find(in_file)?;
        let address = segment.address + (offset - segment.offset);
        let symbol = self.symbol(address);
        let mut frames = self.lines(address, library).unwrap_or_default();
        let count = frames.len();
        for (index, frame) in frames.iter_mut().enumerate() {
            frame.is_inlined = index + 1 < count;
        }
        if let Some(symbol) = symbol {
            // The symbol's name is that of the function as a whole, also of a part of it elsewhere.
            let name = readable(&symbol.name);
            let offset = address - symbol.address;
            match frames.last_mut() {
                Some(frame) => {
                    if frame.function.is_empty() {
                        frame.function = name;
                    }
                    frame.offset = offset;
                }
                None => frames.push(Frame { offset, ..Frame::named(&name, library) }),
            }
        }
        frames.retain(|frame| !frame.function.is_empty());
        (!frames.is_empty()).then_some(frames)
    }

    fn lines(&self, address: u64, library: &str) -> Option<Vec<Frame>> {
        let mut found = self.lines.as_ref()?.find_frames(address).ok()?;
        let mut frames = Vec::new();
        while let Ok(Some(frame)) = found.next() {
            let name = frame.function.as_ref().and_then(|name| name.demangle().ok());
            let location = frame.location.as_ref();
            frames.push(Frame {
                function: name.map(Cow::into_owned).unwrap_or_default(),
                file: location.and_then(|location| location.file).map(str::to_owned),
                // Line 0 is none: the compiler says that it belongs to no line.
                line: location.and_then(|location| location.line).filter(|&line| line != 0),
                library: library.to_owned(),
                ..Frame::default()
            });
        }
        Some(frames)
    }

    fn lines_of_functions(&self) -> Vec<(String, Vec<String>)> {
        let Some(lines) = &self.lines else { return Vec::new() };
        let of = |symbol: &Symbol| {
            let found = lines.find_location_range(symbol.address, symbol.address + symbol.bytes);
            let places = found.ok()?.filter_map(|(_, _, location)| {
                Some(format!("{}:{}", location.file?, location.line?))
            });
            let name = readable(&symbol.name);
            Some((name, places.collect()))
        };
        self.symbols.iter().filter_map(of).collect()
    }

    fn symbol(&self, address: u64) -> Option<&Symbol> {
        let behind = self.symbols.partition_point(|symbol| symbol.address <= address);
        let candidates = self.symbols[..behind].iter().rev().take(MAX_ALIASES);
        let mut holding = candidates.filter(|symbol| address - symbol.address < symbol.bytes);
        let first = holding.next()?;
        // Of several names at one address the shortest one says most.
        let same = holding.filter(|symbol| symbol.address == first.address);
        same.chain([first]).min_by_key(|symbol| (symbol.name.len(), &symbol.name))
    }
}

/// How many symbols in front of an address are looked at.
const MAX_ALIASES: usize = 32;

/// The functions that a file has symbols for.
fn symbols(file: &object::File<'_>) -> Vec<Symbol> {
    let all = file.symbols().chain(file.dynamic_symbols());
    let functions = all.filter(|symbol| {
        symbol.is_definition() && symbol.kind() == SymbolKind::Text && symbol.size() != 0
    });
    let symbol = |symbol: object::Symbol<'_, '_>| {
        let name = symbol.name().ok().filter(|name| !name.is_empty())?.to_owned();
        Some(Symbol { address: symbol.address(), bytes: symbol.size(), name })
    };
    functions.filter_map(symbol).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(symbols: &[(u64, u64, &str)]) -> Image {
        let symbol = |&(address, bytes, name): &(u64, u64, &str)| Symbol {
            address,
            bytes,
            name: name.to_owned(),
        };
        let segments = vec![Segment { offset: 0x1000, bytes: 0x1000, address: 0x40_2000 }];
        Image { segments, symbols: symbols.iter().map(symbol).collect(), lines: None }
    }

    fn name(image: &Image, offset: u64) -> Option<(String, u64)> {
        let frames = image.frames(offset, "a")?;
        Some((frames[0].function.clone(), frames[0].offset))
    }

    #[test]
    fn an_offset_of_the_file_is_in_the_function_whose_symbol_covers_its_address() {
        let image = image(&[(0x40_2000, 16, "first"), (0x40_2020, 16, "second")]);
        assert_eq!(name(&image, 0x1004), Some(("first".into(), 4)));
        assert_eq!(name(&image, 0x102f), Some(("second".into(), 15)));
        // Between functions, and outside of what is loaded.
        assert_eq!(name(&image, 0x1010), None);
        assert_eq!(name(&image, 0x2000), None);
    }

    #[test]
    fn of_several_names_the_shortest_is_shown_and_mangled_ones_are_readable() {
        let image = image(&[
            (0x40_2000, 16, "__libc_malloc"),
            (0x40_2000, 16, "malloc"),
            (0x40_2010, 16, "_ZN3foo3barEv"),
        ]);
        assert_eq!(name(&image, 0x1000), Some(("malloc".into(), 0)));
        assert_eq!(name(&image, 0x1010), Some(("foo::bar()".into(), 0)));
    }

    #[test]
    fn what_has_no_symbols_is_named_by_file_and_offset() {
        let mut symbols = Symbols::default();
        let frames = symbols.frames("/nowhere/a", 0x10);
        assert_eq!(frames, [Frame { offset: 0x10, ..Frame::named("[a]", "a") }]);
        assert_eq!(symbols.unreadable().collect::<Vec<_>>(), ["/nowhere/a"]);
    }
}
