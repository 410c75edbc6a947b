//! Reads a command line the way clang does, without changing it: what goes in, what comes
//! out, whether it links, and which arguments are the driver's own.

use super::facts::{Facts, OTHER_UNWINDER, Strip};
use super::features::{Choice, Request};
use super::linker_args::{LinkerArg, Reader};
use super::options::{Effect, Match, look_up};
use super::order::{LinkOrder, is_free};
use super::response;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

#[cfg(test)]
mod tests;

/// A command line, read.
#[derive(Debug)]
pub struct Invocation {
    /// The arguments as the user gave them, `@file` and all.
    given: Vec<OsString>,
    /// The arguments after expansion of response files.
    args: Vec<Arg>,
    /// What `-R…` flags asked for.
    pub request: Request,
    /// What the invocation does.
    pub facts: Facts,
}

/// One argument and what it is for.
#[derive(Debug)]
struct Arg {
    text: OsString,
    /// Which of the arguments given it came from.
    given_at: usize,
    role: Role,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Role {
    /// For clang.
    Clangs,
    /// An object, or a source that becomes one.
    Object,
    /// Another such file than was given here.
    Exchanged,
    /// The driver's own.
    Own,
    /// A strip request of clang's.
    Strips,
    /// It hands these to the linker.
    Linker(Vec<(OsString, LinkerArg)>),
    /// The value of the option before, which hands such arguments to the linker.
    Value(Vec<LinkerArg>),
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
    fn drops(self, kind: LinkerArg) -> bool {
        match kind {
            LinkerArg::Plain => false,
            LinkerArg::Strip => self.strips,
            LinkerArg::VersionScript => self.scripts,
        }
    }

    fn changes(self, role: &Role) -> bool {
        match role {
            Role::Clangs | Role::Object | Role::Exchanged | Role::EndsOptions => false,
            Role::Own => true,
            Role::Strips => self.strips,
            Role::Linker(args) => args.iter().any(|(_, kind)| self.drops(*kind)),
            Role::Value(kinds) => kinds.iter().any(|kind| self.drops(*kind)),
        }
    }
}

/// Reads a command line (without the program name).
#[must_use]
pub fn classify(given: Vec<OsString>) -> Invocation {
    let args = given
        .iter()
        .enumerate()
        .flat_map(|(given_at, argument)| {
            response::expand(argument).into_iter().map(move |text| Arg {
                text,
                given_at,
                role: Role::Clangs,
            })
        })
        .collect();
    let mut reading = Reading {
        args,
        request: Request::default(),
        facts: Facts::default(),
        linker: Reader::default(),
        language: None,
    };
    reading.run();
    let Reading { args, request, mut facts, linker: Reader { facts: linker, .. }, .. } = reading;
    facts.shared |= linker.shared;
    facts.static_libraries |= linker.static_libraries;
    facts.relocatable |= linker.relocatable;
    facts.static_support |= linker.named.unwinder_inside;
    facts.static_cxx |= linker.named.cxx_inside;
    if linker.named.other {
        facts.unwinder = Some(OTHER_UNWINDER.to_owned());
    }
    if let Some(output) = &linker.output {
        facts.output = Some(output.into());
    }
    facts.linker = linker;
    Invocation { given, args, request, facts }
}

/// What a line says whose arguments have no blanks.
#[cfg(test)]
pub(super) fn facts(line: &str) -> Facts {
    classify(line.split_whitespace().map(OsString::from).collect()).facts
}

impl Invocation {
    /// Puts the objects of a link in another order.
    pub(super) fn reorder(&mut self, order: LinkOrder) {
        // Behind such an argument files have another format, and so a meaning of their place.
        let has_formats = self.args.iter().any(|arg| match &arg.role {
            Role::Linker(args) => args.iter().any(|(arg, _)| {
                let arg = arg.as_bytes();
                arg == b"-b" || arg == b"-bbinary" || arg.starts_with(b"--format")
            }),
            _ => false,
        });
        if has_formats || !self.facts.links() {
            return;
        }
        let places: Vec<usize> =
            (0..self.args.len()).filter(|at| self.args[*at].role == Role::Object).collect();
        let mut names: Vec<OsString> =
            places.iter().map(|at| self.args[*at].text.clone()).collect();
        order.apply(&mut names);
        for (at, name) in places.into_iter().zip(names) {
            let arg = &mut self.args[at];
            if arg.text != name {
                (arg.text, arg.role) = (name, Role::Exchanged);
            }
        }
    }

    /// The arguments for clang: as given, without the driver's own, and with `additions` where
    /// they are still read as options.
    #[must_use]
    pub fn for_clang(&self, additions: &[OsString]) -> Vec<OsString> {
        self.render(Without::default(), additions)
    }

    /// The arguments for a link that retains relocations: no strip request, and `additions`
    /// where they are still read as options.
    #[must_use]
    pub fn for_link(&self, additions: &[OsString]) -> Vec<OsString> {
        self.render(Without { strips: true, scripts: false }, additions)
    }

    /// The arguments without some of them, and with `additions` where they are still read as
    /// options.
    ///
    /// A response file is passed on as it is unless one of its arguments changes.
    #[must_use]
    pub fn render(&self, without: Without, additions: &[OsString]) -> Vec<OsString> {
        let mut rendered = Vec::with_capacity(self.given.len() + additions.len());
        let mut additions = Some(additions);
        for (given_at, argument) in self.given.iter().enumerate() {
            let first = self.args.partition_point(|arg| arg.given_at < given_at);
            let beyond = self.args.partition_point(|arg| arg.given_at <= given_at);
            let args = &self.args[first..beyond];
            let changes = args.iter().any(|arg| match &arg.role {
                Role::EndsOptions => additions.is_some_and(|args| !args.is_empty()),
                Role::Exchanged => true,
                role => without.changes(role),
            });
            if !changes {
                rendered.push(argument.clone());
                continue;
            }
            for arg in args {
                match &arg.role {
                    Role::Linker(args) if without.changes(&arg.role) => {
                        let staying = args.iter().filter(|(_, kind)| !without.drops(*kind));
                        rendered.extend(for_linker(staying.map(|(arg, _)| arg.as_os_str())));
                    }
                    role if without.changes(role) => {}
                    Role::EndsOptions => {
                        rendered.extend_from_slice(additions.take().unwrap_or_default());
                        rendered.push(arg.text.clone());
                    }
                    _ => rendered.push(arg.text.clone()),
                }
            }
        }
        rendered.extend_from_slice(additions.unwrap_or_default());
        rendered
    }
}

/// The state of reading a command line from left to right.
struct Reading {
    args: Vec<Arg>,
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
        while at < self.args.len() {
            let text = self.args[at].text.clone();
            let bytes = text.as_bytes();
            if bytes.is_empty() {
                // clang takes no notice of it.
                at += 1;
            } else if options_ended || bytes == b"-" || bytes.first() != Some(&b'-') {
                self.input(at, &text);
                at += 1;
            } else if let Some(choice) = Choice::from_flag(bytes) {
                self.request.add(choice);
                self.args[at].role = Role::Own;
                at += 1;
            } else {
                let found = look_up(bytes);
                options_ended = found.effect == Effect::EndOfOptions;
                self.option(at, found, bytes);
                at += 1 + found.further;
            }
        }
        // clang will complain about the missing value, which must not be found in the
        // arguments that a link adds.
        self.facts.only_asks |= at > self.args.len();
    }

    fn input(&mut self, at: usize, text: &OsStr) {
        self.facts.files.push(text.into());
        let bytes = text.as_bytes();
        if self.language.is_none() && is_free(bytes) {
            self.args[at].role = Role::Object;
        }
        let is_header = match &self.language {
            Some(language) => language.ends_with("-header") || language.contains("-header-"),
            None => has_extension(bytes, &HEADER_EXTENSIONS),
        };
        let is_offload = match &self.language {
            Some(language) => matches!(language.as_str(), "cuda" | "hip" | "cl"),
            None => has_extension(bytes, &OFFLOAD_EXTENSIONS),
        };
        self.facts.headers += usize::from(is_header);
        self.linker.facts.named.file(bytes);
        self.facts.offload |= is_offload;
    }

    fn option(&mut self, at: usize, found: Match<'_>, arg: &[u8]) {
        let next = self.args.get(at + 1).map(|arg| arg.text.clone());
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
                self.args[at].role = Role::Strips;
            }
            Effect::LinkerArgs => {
                facts.has_linker_args = true;
                self.linker_args(at, found, &value, arg);
            }
            Effect::LinkerKeyword => self.linker.keyword(value.as_bytes()),
            Effect::Target => facts.target = Some(text()),
            Effect::Wide(wide) => facts.narrow = !wide,
            Effect::CodeModel => facts.code_model = Some(text()),
            Effect::Offload => facts.offload = true,
            Effect::WorkingDirectory => facts.is_elsewhere = true,
            Effect::DriverMode => facts.driver_mode = Some(text()),
            Effect::Sanitize(on) => facts.sanitize(on, &text()),
            Effect::EndOfOptions => self.args[at].role = Role::EndsOptions,
        }
    }

    /// `-Wl,…` holds several arguments; `-Xlinker` and `--for-linker` one each, in this argument or
    /// in the next. Each may name a response file of the linker's.
    fn linker_args(&mut self, at: usize, found: Match<'_>, value: &OsStr, arg: &[u8]) {
        let all: Vec<OsString> = if arg.starts_with(b"-Wl,") {
            let args = value.as_bytes().split(|byte| *byte == b',');
            args.map(|arg| OsStr::from_bytes(arg).to_owned()).collect()
        } else {
            vec![value.to_owned()]
        };
        let expanded = all.iter().flat_map(|arg| response::expand(arg));
        let read: Vec<_> = expanded
            .map(|arg| {
                let kind = self.linker.read(arg.as_bytes());
                (arg, kind)
            })
            .collect();
        for arg in self.args.iter_mut().skip(at + 1).take(found.further) {
            arg.role = Role::Value(read.iter().map(|(_, kind)| *kind).collect());
        }
        self.args[at].role = Role::Linker(read);
    }
}

/// Arguments that hand these to the linker. Those of a response file may have commas.
fn for_linker<'a>(args: impl Iterator<Item = &'a OsStr>) -> Vec<OsString> {
    let all: Vec<&[u8]> = args.map(OsStr::as_bytes).collect();
    let text = |arg: &[u8]| OsStr::from_bytes(arg).to_owned();
    if all.iter().any(|arg| arg.contains(&b',')) {
        return all.iter().flat_map(|arg| ["-Xlinker".into(), text(arg)]).collect();
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
