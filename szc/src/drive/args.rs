//! Reads a command line the way clang does, without changing it: what goes in, what comes
//! out, whether it links, and which words are the driver's own.

use super::features::{Request, Word as OwnWord};
use super::link::{OTHER_UNWINDER, OTHER_UNWINDER_ARCHIVE};
use super::linker_words::{Reader, Verdict};
use super::options::{Effect, Match, look_up};
use super::response;
use crate::table::Strip;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

#[cfg(test)]
mod tests;

/// A command line, read.
#[derive(Debug)]
pub struct Invocation {
    /// The words as the user gave them, `@file` and all.
    given: Vec<OsString>,
    /// The words after expansion of response files.
    words: Vec<Word>,
    /// What `-R…` flags asked for.
    pub request: Request,
    /// What the invocation does.
    pub facts: Facts,
}

/// What a command line says about the work to do.
#[derive(Debug, Default)]
pub struct Facts {
    /// Input files, `-` among them.
    pub files: Vec<PathBuf>,
    /// How many `-l` options there are.
    pub libraries: usize,
    /// Inputs that are headers, which clang precompiles instead of linking.
    pub headers: usize,
    /// There are words for the linker alone, which clang counts as inputs of a link.
    pub has_linker_words: bool,
    /// Names of files are relative to another directory than this process's.
    pub is_elsewhere: bool,
    /// Ends before the link.
    pub stops_early: bool,
    /// Asks something and does nothing else, or lacks the value of its last option.
    pub only_asks: bool,
    /// `-###`.
    pub dry_run: bool,
    /// `-v`.
    pub verbose: bool,
    /// The image is a shared library.
    pub shared: bool,
    /// A file says what the image shows to libraries.
    pub hides_symbols: bool,
    /// Libraries are linked statically, some at least.
    pub static_libraries: bool,
    /// All libraries are linked statically.
    pub fully_static: bool,
    /// The compiler's support library, with the unwinder, is linked statically.
    pub static_support: bool,
    /// The C++ library is linked statically.
    pub static_cxx: bool,
    /// The unwinder, if named: by an option or as a library.
    pub unwinder: Option<String>,
    /// An archive of another unwinder than the compiler's is named.
    pub unwinder_archive: bool,
    /// The compiler's support library, if named; the unwinder comes with it.
    pub support_library: Option<String>,
    /// The link makes an object file.
    pub relocatable: bool,
    /// No start files.
    pub no_start_files: bool,
    /// No default libraries.
    pub no_default_libs: bool,
    /// `-lc` is given by name.
    pub names_libc: bool,
    /// The linker that the user chose: a name or a path.
    pub chosen_linker: Option<OsString>,
    /// Taken out of the link, to be carried out on the image.
    pub strip: Option<Strip>,
    /// Where the image goes, if not to `a.out`.
    pub output: Option<PathBuf>,
    /// The target triple, if named.
    pub target: Option<String>,
    /// Code for a mode with narrower pointers than the 64-bit one.
    pub narrow: bool,
    /// The code model, if named.
    pub code_model: Option<String>,
    /// Code for accelerators is linked too.
    pub offload: bool,
    /// `--driver-mode`, if given.
    pub driver_mode: Option<String>,
    /// Sanitizers in effect at the end of the line.
    pub sanitizers: BTreeSet<String>,
}

impl Facts {
    /// Whether the linker will run.
    #[must_use]
    pub fn links(&self) -> bool {
        let inputs = self.files.len() + self.libraries;
        // `-Wl,--version` alone asks the linker that would be used for its name.
        let only_for_linker = inputs == 0 && self.has_linker_words;
        !self.stops_early && !self.only_asks && (inputs > self.headers || only_for_linker)
    }

    /// Whether the linker will make a program or a shared library.
    #[must_use]
    pub fn makes_image(&self) -> bool {
        self.links() && !self.relocatable
    }

    /// Whether the linker will be LLVM's.
    #[must_use]
    pub fn links_with_lld(&self) -> bool {
        let is_lld = |name: &OsString| {
            let file = Path::new(name).file_name().unwrap_or(name);
            file.as_bytes().windows(3).any(|part| part == b"lld")
        };
        self.chosen_linker.as_ref().is_none_or(is_lld)
    }

    /// Whether clang will not find one of its inputs, and so do nothing.
    #[must_use]
    pub fn lacks_a_file(&self) -> bool {
        !self.is_elsewhere
            && self.files.iter().any(|file| file.as_os_str() != "-" && !file.exists())
    }
}

/// One word and what becomes of it.
#[derive(Debug)]
struct Word {
    text: OsString,
    /// Which of the words given it came from.
    origin: usize,
    fate: Fate,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Fate {
    /// For clang.
    Stays,
    /// The driver's own.
    Own,
    /// Not in a link that retains relocations; there the replacement, if any, stands for it.
    Strips(Option<OsString>),
    /// `--`: what is added to the line must come before it.
    EndsOptions,
}

/// Reads a command line (without the program name).
#[must_use]
pub fn classify(given: Vec<OsString>) -> Invocation {
    let words = given
        .iter()
        .enumerate()
        .flat_map(|(origin, argument)| {
            response::expand(argument).into_iter().map(move |text| Word {
                text,
                origin,
                fate: Fate::Stays,
            })
        })
        .collect();
    let mut reading = Reading {
        words,
        request: Request::default(),
        facts: Facts::default(),
        linker: Reader::default(),
        language: None,
    };
    reading.run();
    let Reading { words, request, mut facts, linker, .. } = reading;
    facts.strip = linker.strip;
    facts.shared |= linker.shared;
    facts.static_libraries |= linker.static_libraries;
    facts.relocatable |= linker.relocatable;
    facts.hides_symbols |= linker.hides_symbols;
    if let Some(output) = linker.output {
        facts.output = Some(output.into());
    }
    Invocation { given, words, request, facts }
}

impl Invocation {
    /// The words for clang: as given, without the driver's own, and with `additions` where they are
    /// still read as options.
    #[must_use]
    pub fn for_clang(&self, additions: &[OsString]) -> Vec<OsString> {
        self.render(false, additions)
    }

    /// The words for a link that retains relocations: no strip request, and `additions`
    /// where they are still read as options.
    #[must_use]
    pub fn for_link(&self, additions: &[OsString]) -> Vec<OsString> {
        self.render(true, additions)
    }

    /// A response file is passed on as it is unless one of its words changes.
    fn render(&self, links: bool, additions: &[OsString]) -> Vec<OsString> {
        let mut rendered = Vec::with_capacity(self.given.len() + additions.len());
        let mut additions = Some(additions);
        for (origin, argument) in self.given.iter().enumerate() {
            let first = self.words.partition_point(|word| word.origin < origin);
            let beyond = self.words.partition_point(|word| word.origin <= origin);
            let words = &self.words[first..beyond];
            let changes = words.iter().any(|word| match &word.fate {
                Fate::Stays => false,
                Fate::Own => true,
                Fate::Strips(_) => links,
                Fate::EndsOptions => additions.is_some_and(|words| !words.is_empty()),
            });
            if !changes {
                rendered.push(argument.clone());
                continue;
            }
            for word in words {
                match &word.fate {
                    Fate::Own => {}
                    Fate::Strips(replacement) if links => rendered.extend(replacement.clone()),
                    Fate::Stays | Fate::Strips(_) => rendered.push(word.text.clone()),
                    Fate::EndsOptions => {
                        rendered.extend_from_slice(additions.take().unwrap_or_default());
                        rendered.push(word.text.clone());
                    }
                }
            }
        }
        rendered.extend_from_slice(additions.unwrap_or_default());
        rendered
    }
}

/// The state of reading a command line from left to right.
struct Reading {
    words: Vec<Word>,
    request: Request,
    facts: Facts,
    linker: Reader,
    /// The language set by `-x`, unless `none`.
    language: Option<String>,
}

impl Reading {
    fn run(&mut self) {
        let mut at = 0;
        let mut options_ended = false;
        while at < self.words.len() {
            let text = self.words[at].text.clone();
            let bytes = text.as_bytes();
            if bytes.is_empty() {
                // clang takes no notice of it.
                at += 1;
            } else if options_ended || bytes == b"-" || bytes.first() != Some(&b'-') {
                self.input(&text);
                at += 1;
            } else if let Some(own) = OwnWord::from_flag(bytes) {
                self.request.add(own);
                self.words[at].fate = Fate::Own;
                at += 1;
            } else {
                let found = look_up(bytes);
                options_ended = found.effect == Effect::EndOfOptions;
                self.option(at, found, bytes);
                at += 1 + found.further;
            }
        }
        // clang will complain about the missing value, which must not be found in the
        // words that a link adds.
        self.facts.only_asks |= at > self.words.len();
    }

    fn input(&mut self, text: &OsStr) {
        self.facts.files.push(text.into());
        let bytes = text.as_bytes();
        let is_header = match &self.language {
            Some(language) => language.ends_with("-header") || language.contains("-header-"),
            None => has_extension(bytes, &HEADER_EXTENSIONS),
        };
        let is_offload = match &self.language {
            Some(language) => matches!(language.as_str(), "cuda" | "hip" | "cl"),
            None => has_extension(bytes, &OFFLOAD_EXTENSIONS),
        };
        self.facts.headers += usize::from(is_header);
        let file = Path::new(text).file_name().map(OsStr::as_bytes);
        self.facts.unwinder_archive |= file == Some(OTHER_UNWINDER_ARCHIVE);
        self.facts.offload |= is_offload;
    }

    fn option(&mut self, at: usize, found: Match<'_>, word: &[u8]) {
        let next = self.words.get(at + 1).map(|word| word.text.clone());
        let value: OsString = match found.joined {
            Some(joined) => OsString::from_vec(joined.to_vec()),
            None if found.further > 0 => next.unwrap_or_default(),
            None => OsString::new(),
        };
        let text = || value.to_string_lossy().into_owned();
        let facts = &mut self.facts;
        match found.effect {
            Effect::Pass => {}
            Effect::Output => facts.output = Some(PathBuf::from(&value)),
            Effect::Language => self.language = Some(text()).filter(|name| name != "none"),
            Effect::Library => {
                facts.libraries += 1;
                let file = value.as_bytes().strip_prefix(b":").unwrap_or_default();
                facts.unwinder_archive |= file == OTHER_UNWINDER_ARCHIVE;
                if value == "unwind" {
                    facts.unwinder = Some(OTHER_UNWINDER.to_owned());
                }
                facts.names_libc |= value == "c" || value.as_bytes().starts_with(b":libc.");
            }
            Effect::StopsEarly => facts.stops_early = true,
            Effect::Query => facts.only_asks = true,
            Effect::DryRun => facts.dry_run = true,
            Effect::Verbose => facts.verbose = true,
            Effect::Shared => facts.shared = true,
            Effect::Static => {
                facts.static_libraries = true;
                facts.fully_static = true;
            }
            Effect::StaticSupport => facts.static_support = true,
            Effect::StaticCxx => facts.static_cxx = true,
            Effect::Unwinder => facts.unwinder = Some(text()),
            Effect::SupportLibrary => facts.support_library = Some(text()),
            Effect::Relocatable => facts.relocatable = true,
            Effect::NoStartFiles => facts.no_start_files = true,
            Effect::NoDefaultLibs => facts.no_default_libs = true,
            Effect::ChoosesLinker => facts.chosen_linker = Some(value.clone()),
            Effect::StripAll => {
                self.linker.request_strip(Strip::All);
                self.words[at].fate = Fate::Strips(None);
            }
            Effect::LinkerWords => {
                facts.has_linker_words = true;
                self.linker_words(at, found, &value, word);
            }
            Effect::Target => facts.target = Some(text()),
            Effect::Wide(wide) => facts.narrow = !wide,
            Effect::CodeModel => facts.code_model = Some(text()),
            Effect::Offload => facts.offload = true,
            Effect::WorkingDirectory => facts.is_elsewhere = true,
            Effect::DriverMode => facts.driver_mode = Some(text()),
            Effect::Sanitize(on) => facts.sanitize(on, &text()),
            Effect::EndOfOptions => self.words[at].fate = Fate::EndsOptions,
        }
    }

    /// `-Wl,…` holds several words; `-Xlinker` and `--for-linker` one each, in this word or
    /// in the next.
    fn linker_words(&mut self, at: usize, found: Match<'_>, value: &OsStr, word: &[u8]) {
        if !word.starts_with(b"-Wl,") {
            if self.linker.read(value.as_bytes()) == Verdict::Leaves {
                for word in self.words.iter_mut().skip(at).take(1 + found.further) {
                    word.fate = Fate::Strips(None);
                }
            }
            return;
        }
        let all: Vec<_> = value.as_bytes().split(|byte| *byte == b',').collect();
        let mut staying = Vec::with_capacity(all.len());
        for word in &all {
            if self.linker.read(word) == Verdict::Stays {
                staying.push(*word);
            }
        }
        if staying.len() < all.len() {
            let replacement = (!staying.is_empty())
                .then(|| OsString::from_vec([&b"-Wl,"[..], &staying.join(&b',')].concat()));
            self.words[at].fate = Fate::Strips(replacement);
        }
    }
}

impl Facts {
    fn sanitize(&mut self, on: bool, names: &str) {
        for name in names.split(',') {
            match (on, name) {
                (true, name) => {
                    self.sanitizers.insert(name.to_owned());
                }
                (false, "all") => self.sanitizers.clear(),
                (false, name) => {
                    self.sanitizers.remove(name);
                }
            }
        }
    }
}

const HEADER_EXTENSIONS: [&str; 5] = ["h", "hh", "hpp", "hxx", "H"];
const OFFLOAD_EXTENSIONS: [&str; 3] = ["cu", "hip", "cl"];

fn has_extension(name: &[u8], extensions: &[&str]) -> bool {
    let extension = name.rsplit(|byte| *byte == b'.').next();
    name.contains(&b'.') && extensions.iter().any(|known| Some(known.as_bytes()) == extension)
}
