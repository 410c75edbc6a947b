//! Reads a command line the way clang does, without changing it: what goes in, what comes
//! out, whether it links, and which words are the driver's own.

use super::facts::{Facts, OTHER_UNWINDER, Strip};
use super::features::{Request, Word as OwnWord};
use super::linker_words::{Reader, Verdict};
use super::options::{Effect, Match, look_up};
use super::response;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

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
    /// A strip request of clang's.
    Strips,
    /// It hands these to the linker.
    Linker(Vec<(OsString, Verdict)>),
    /// The value of the option before, to which that happens.
    Value(Vec<Verdict>),
    /// `--`: what is added to the line must come before it.
    EndsOptions,
}

/// What of a command line a link does not get.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Without {
    /// Strip requests, which are carried out afterwards.
    pub strips: bool,
    /// Version scripts, for which others stand.
    pub scripts: bool,
}

impl Without {
    fn drops(self, verdict: Verdict) -> bool {
        match verdict {
            Verdict::Stays => false,
            Verdict::Leaves => self.strips,
            Verdict::Script => self.scripts,
        }
    }

    fn changes(self, fate: &Fate) -> bool {
        match fate {
            Fate::Stays | Fate::EndsOptions => false,
            Fate::Own => true,
            Fate::Strips => self.strips,
            Fate::Linker(words) => words.iter().any(|(_, verdict)| self.drops(*verdict)),
            Fate::Value(verdicts) => verdicts.iter().any(|verdict| self.drops(*verdict)),
        }
    }
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
    facts.version_scripts = linker.version_scripts;
    facts.no_section_headers = linker.no_section_headers;
    facts.linker_effort = linker.effort;
    facts.static_support |= linker.named.unwinder_inside;
    facts.static_cxx |= linker.named.cxx_inside;
    facts.names_cxx = linker.named.cxx_shared;
    facts.unwinder_archive = linker.named.other_archive;
    if linker.named.other {
        facts.unwinder = Some(OTHER_UNWINDER.to_owned());
    }
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
        self.render(Without::default(), additions)
    }

    /// The words for a link that retains relocations: no strip request, and `additions`
    /// where they are still read as options.
    #[must_use]
    pub fn for_link(&self, additions: &[OsString]) -> Vec<OsString> {
        self.render(Without { strips: true, scripts: false }, additions)
    }

    /// The words without some of them, and with `additions` where they are still read as options.
    ///
    /// A response file is passed on as it is unless one of its words changes.
    #[must_use]
    pub fn render(&self, without: Without, additions: &[OsString]) -> Vec<OsString> {
        let mut rendered = Vec::with_capacity(self.given.len() + additions.len());
        let mut additions = Some(additions);
        for (origin, argument) in self.given.iter().enumerate() {
            let first = self.words.partition_point(|word| word.origin < origin);
            let beyond = self.words.partition_point(|word| word.origin <= origin);
            let words = &self.words[first..beyond];
            let changes = words.iter().any(|word| match &word.fate {
                Fate::EndsOptions => additions.is_some_and(|words| !words.is_empty()),
                fate => without.changes(fate),
            });
            if !changes {
                rendered.push(argument.clone());
                continue;
            }
            for word in words {
                match &word.fate {
                    Fate::Linker(words) if without.changes(&word.fate) => {
                        let staying = words.iter().filter(|(_, verdict)| !without.drops(*verdict));
                        rendered.extend(for_linker(staying.map(|(word, _)| word.as_os_str())));
                    }
                    fate if without.changes(fate) => {}
                    Fate::EndsOptions => {
                        rendered.extend_from_slice(additions.take().unwrap_or_default());
                        rendered.push(word.text.clone());
                    }
                    _ => rendered.push(word.text.clone()),
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
        self.linker.named.file(bytes);
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
                self.linker.library(value.as_bytes());
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
            Effect::Lto(on) => facts.lto = on,
            Effect::StripAll => {
                self.linker.request_strip(Strip::All);
                self.words[at].fate = Fate::Strips;
            }
            Effect::LinkerWords => {
                facts.has_linker_words = true;
                self.linker_words(at, found, &value, word);
            }
            Effect::LinkerKeyword => self.linker.keyword(value.as_bytes()),
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
    /// in the next. Each may name a response file of the linker's.
    fn linker_words(&mut self, at: usize, found: Match<'_>, value: &OsStr, word: &[u8]) {
        let all: Vec<OsString> = if word.starts_with(b"-Wl,") {
            let words = value.as_bytes().split(|byte| *byte == b',');
            words.map(|word| OsStr::from_bytes(word).to_owned()).collect()
        } else {
            vec![value.to_owned()]
        };
        let expanded = all.iter().flat_map(|word| response::expand(word));
        let read: Vec<_> = expanded
            .map(|word| {
                let verdict = self.linker.read(word.as_bytes());
                (word, verdict)
            })
            .collect();
        for word in self.words.iter_mut().skip(at + 1).take(found.further) {
            word.fate = Fate::Value(read.iter().map(|(_, verdict)| *verdict).collect());
        }
        self.words[at].fate = Fate::Linker(read);
    }
}

/// Words that hand these to the linker. Those of a response file may have commas.
fn for_linker<'a>(words: impl Iterator<Item = &'a OsStr>) -> Vec<OsString> {
    let all: Vec<&[u8]> = words.map(OsStr::as_bytes).collect();
    let text = |word: &[u8]| OsStr::from_bytes(word).to_owned();
    if all.iter().any(|word| word.contains(&b',')) {
        return all.iter().flat_map(|word| ["-Xlinker".into(), text(word)]).collect();
    }
    let joined = || OsString::from_vec([&b"-Wl,"[..], &all.join(&b',')].concat());
    (!all.is_empty()).then(joined).into_iter().collect()
}

const HEADER_EXTENSIONS: [&str; 5] = ["h", "hh", "hpp", "hxx", "H"];
const OFFLOAD_EXTENSIONS: [&str; 3] = ["cu", "hip", "cl"];

fn has_extension(name: &[u8], extensions: &[&str]) -> bool {
    let extension = name.rsplit(|byte| *byte == b'.').next();
    name.contains(&b'.') && extensions.iter().any(|known| Some(known.as_bytes()) == extension)
}
