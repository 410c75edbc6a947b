//! Profilers of others, and our own, by their command lines: how a program is run under each, and
//! what each says of its functions.
#![forbid(unsafe_code)]

mod callgrind;
mod coz;
mod gprof;
mod hotness;
mod perf;
mod samply;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

pub(super) use self::hotness::{Hotness, hottest};
use super::hotness::{By, rows};
use super::model::{Profile, Sample};
use crate::measure::program::Program;

/// What is known of profilers, for messages.
const KNOWN: &str = "known are 'szc profile record', 'perf record', 'samply record', 'gprof' (of \
                     programs built with -pg), 'coz run' and 'valgrind --tool=callgrind', each \
                     with its options";

/// A profiler with its options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Profiler {
    kind: Kind,
    /// As the user wrote it.
    pub text: String,
    words: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Own,
    Perf,
    Samply,
    Gprof,
    Coz,
    Callgrind,
}

impl Profiler {
    /// szc's own, as it is without options.
    ///
    /// # Errors
    /// Those of [`Profiler::parse`].
    pub fn own() -> Result<Self> {
        Self::parse("szc profile record")
    }

    /// Reads a command line.
    ///
    /// # Errors
    /// It is none of those that are known.
    pub fn parse(text: &str) -> Result<Self> {
        let program = Program::new(0, None, text).context("--profiler")?;
        if program.via_shell {
            bail!("--profiler '{text}' needs a shell; give a profiler and its options: {KNOWN}");
        }
        let words = program.argv;
        let first = Path::new(&words[0]).file_name().map(|name| name.to_string_lossy());
        let second = words.get(1).map(String::as_str);
        let kind = match (first.as_deref().unwrap_or_default(), second) {
            ("szc", Some("profile")) if words.get(2).is_some_and(|word| word == "record") => {
                Kind::Own
            }
            ("perf", Some("record")) => Kind::Perf,
            ("samply", Some("record")) => Kind::Samply,
            ("gprof", _) => Kind::Gprof,
            ("coz", Some("run")) => Kind::Coz,
            ("valgrind", _) if words.iter().any(|word| word == "--tool=callgrind") => {
                Kind::Callgrind
            }
            _ => bail!("--profiler '{text}' is not known, since its output would not be: {KNOWN}"),
        };
        Ok(Self { kind, text: text.to_owned(), words })
    }

    /// What is executed to run a program. `scratch` is a folder of this run.
    ///
    /// # Errors
    /// szc does not know where it is itself.
    pub fn command(&self, scratch: &Path, program: &[String]) -> Result<Vec<String>> {
        let file = |option: &str, name: &str| format!("{option}{}", scratch.join(name).display());
        let mut words = self.words.clone();
        match self.kind {
            Kind::Own => {
                words[0] = std::env::current_exe()
                    .context("cannot find szc's own file")?
                    .to_string_lossy()
                    .into_owned();
                words.extend([file("--output=", OWN_FILE), "--".to_owned()]);
            }
            Kind::Perf => {
                words.extend(["-o".to_owned(), file("", perf::FILE), "--".to_owned()]);
            }
            Kind::Samply => {
                words.extend(["--save-only", "--output"].map(str::to_owned));
                words.extend([file("", samply::FILE), "--".to_owned()]);
            }
            // The program takes its profile by itself.
            Kind::Gprof => words.clear(),
            Kind::Coz => {
                words.extend(["--output".to_owned(), file("", coz::FILE), "---".to_owned()]);
            }
            Kind::Callgrind => {
                words.push(file("--callgrind-out-file=", callgrind::FILE));
                words.push("--demangle=no".to_owned());
                if !words.iter().any(|word| word.starts_with("--smc-check")) {
                    // Otherwise it does not see functions move, and they stay.
                    words.push("--smc-check=all".to_owned());
                }
            }
        }
        words.extend(program.iter().cloned());
        Ok(words)
    }

    /// Variables of the program's environment that it needs.
    pub fn environment(&self, scratch: &Path) -> Vec<(&'static str, OsString)> {
        match self.kind {
            Kind::Perf => vec![("SZC_SYMBOLS", "elf".into())],
            Kind::Samply => vec![("SZC_SYMBOLS", "perf".into())],
            Kind::Gprof => vec![("GMON_OUT_PREFIX", scratch.join(gprof::PREFIX).into())],
            Kind::Own | Kind::Coz | Kind::Callgrind => Vec::new(),
        }
    }

    /// What it says of a run.
    ///
    /// # Errors
    /// It has left nothing that can be read.
    pub fn read(&self, scratch: &Path, program: &Path) -> Result<Hotness> {
        let read = match self.kind {
            Kind::Own => own(&scratch.join(OWN_FILE)),
            Kind::Perf => perf::read(&self.words[0], &scratch.join(perf::FILE)),
            Kind::Samply => samply::read(&scratch.join(samply::FILE)),
            Kind::Gprof => gprof::read(&self.words, scratch, program),
            Kind::Coz => coz::read(&scratch.join(coz::FILE), program),
            Kind::Callgrind => callgrind::read(&scratch.join(callgrind::FILE)),
        };
        let hotness = read.with_context(|| format!("cannot read what {} says", self.text))?;
        if hotness.total <= 0.0 {
            bail!("{} found nothing in the run: it may have been too short", self.text);
        }
        Ok(hotness)
    }
}

const OWN_FILE: &str = "profile.jsonl";

fn own(path: &Path) -> Result<Hotness> {
    let profile = Profile::read(path)?;
    let seconds = profile.interval_ns() / 1e9;
    let mut hotness = Hotness { in_seconds: true, ..Hotness::default() };
    for row in rows(&profile, By::Function).0 {
        hotness.add(&row.name, row.hits as f64 * seconds);
    }
    for sample in &profile.samples {
        let names = sample.stack.iter().map(|&frame| &profile.frames[frame].function);
        let names: Vec<&String> = names.collect();
        for pair in names.windows(2) {
            hotness.calls.insert((pair[1].clone(), pair[0].clone()));
        }
    }
    Ok(hotness)
}

/// The share of a function in the processes that were in it, of a run under our own profiler.
///
/// # Errors
/// The profile cannot be read.
pub(super) fn share_in_its_process(scratch: &Path, function: &str) -> Result<Option<f64>> {
    let profile = Profile::read(&scratch.join(OWN_FILE))?;
    let is_in = |sample: &&Sample| {
        let frames = sample.stack.iter().map(|&frame| &profile.frames[frame]);
        let own = frames.filter(|frame| !frame.is_inlined).map(|frame| &frame.function).next();
        own.is_some_and(|name| name == function)
    };
    let hits: Vec<u32> =
        profile.samples.iter().filter(is_in).map(|sample| sample.thread.0).collect();
    let processes: BTreeSet<u32> = hits.iter().copied().collect();
    let all = profile.samples.iter().filter(|sample| processes.contains(&sample.thread.0)).count();
    Ok((all > 0).then(|| hits.len() as f64 / all as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profiler_is_known_by_its_command_and_gets_a_place_for_its_file() {
        let command = |text: &str| {
            let profiler = Profiler::parse(text).unwrap();
            let words = profiler.command(Path::new("/t"), &["./a".into(), "1".into()]).unwrap();
            words.join(" ")
        };
        assert_eq!(command("perf record -F 997"), "perf record -F 997 -o /t/perf.data -- ./a 1");
        assert_eq!(command("coz run"), "coz run --output /t/profile.coz --- ./a 1");
        assert_eq!(command("gprof"), "./a 1");
        let own = command("szc profile record -F 100");
        assert!(own.ends_with(" profile record -F 100 --output=/t/profile.jsonl -- ./a 1"));
        let valgrind = command("valgrind --tool=callgrind");
        assert!(valgrind.contains("--smc-check=all") && valgrind.ends_with("./a 1"));
    }

    #[test]
    fn an_unknown_profiler_is_refused_with_those_that_are_known() {
        for text in ["vtune -collect", "perf stat", "valgrind", "perf record | cat", "szc run"] {
            let error = format!("{:#}", Profiler::parse(text).unwrap_err());
            assert!(error.contains("known are") && error.contains(text), "{error}");
        }
    }
}
