//! `cargo szc compare` and `gate`: a bench of a package, built and measured at revisions.
//!
//! Both are szc's own commands, with the build and the measured command found out.
#![forbid(unsafe_code)]

use std::env;
use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};

use super::bench::{BUILD, FOLDER};
use super::page::NOT_FOR_BENCHES;
use super::workspace::{Bench, Workspace};
use crate::error::{Class, report};
use crate::lab::build::quoted;
use crate::lab::{compare, gate, subcommand};

/// Options of `cargo bench` that decide about a build and have a value.
const WITH_VALUE: [&str; 5] = ["--features", "-F", "--profile", "--config", "--target"];
/// Those without.
const WITHOUT_VALUE: [&str; 5] =
    ["--all-features", "--no-default-features", "--locked", "--offline", "--frozen"];

/// Runs `cargo szc compare` or `cargo szc gate` with the arguments behind it.
pub(super) fn run(name: &str, pads: bool, args: &[OsString]) -> ExitCode {
    let words: Vec<String> = args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
    if words.iter().take_while(|word| *word != "--").any(|word| word == "--help" || word == "-h") {
        return measure(name, &["--help".into()]);
    }
    let asked = match Asked::read(&words) {
        Ok(asked) => asked,
        Err(error) => return report(Class::Usage, error),
    };
    let workspace = match Workspace::of(&[]) {
        Ok(workspace) => workspace,
        Err(code) => return code,
    };
    let found = env::current_dir()
        .context("there is no current folder")
        .and_then(|here| workspace.bench(asked.bench.as_deref(), asked.package.as_deref(), &here));
    match found {
        Ok(bench) => measure(name, &asked.arguments(&bench, pads)),
        Err(error) => report(Class::Usage, error),
    }
}

fn measure(name: &str, arguments: &[OsString]) -> ExitCode {
    match name {
        "gate" => subcommand::run::<gate::Options>(arguments),
        _ => subcommand::run::<compare::Options>(arguments),
    }
}

/// What the command line asks for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Asked {
    bench: Option<String>,
    package: Option<String>,
    revisions: Vec<String>,
    /// For cargo.
    build: Vec<String>,
    /// For szc.
    lab: Vec<String>,
    /// For the bench.
    behind: Vec<String>,
}

fn is_not_for_benches(option: &str) -> bool {
    option.strip_prefix("--").is_some_and(|name| NOT_FOR_BENCHES.contains(&name))
}

impl Asked {
    fn read(args: &[String]) -> Result<Self> {
        let mut asked = Self::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            if arg == "--" {
                asked.behind = args.cloned().collect();
                break;
            }
            let (option, joined) = match arg.split_once('=') {
                Some((option, value)) if option.starts_with("--") => (option, Some(value)),
                _ => (arg.as_str(), None),
            };
            let mut value = || {
                let value = joined.map(str::to_owned).or_else(|| args.next().cloned());
                value.ok_or_else(|| anyhow!("{option} needs a value"))
            };
            match option {
                "--bench" => asked.bench = Some(value()?),
                "-p" | "--package" => asked.package = Some(value()?),
                "--rev" => asked.revisions.push(value()?),
                _ if is_not_for_benches(option) => bail!(
                    "{option} is szc's own: cargo szc finds the build and the folder by itself; \
                     use szc compare or szc gate, with --build 'cargo szc {BUILD} --bench NAME'"
                ),
                _ if WITHOUT_VALUE.contains(&arg.as_str()) => asked.build.push(arg.clone()),
                _ if WITH_VALUE.contains(&option) => {
                    let value = value()?;
                    asked.build.extend([option.to_owned(), value]);
                }
                _ => asked.lab.push(arg.clone()),
            }
        }
        match asked.revisions.len() {
            0 => bail!(
                "no revision, and one is needed: cargo szc compare --rev main --bench NAME \
                 compares HEAD with main"
            ),
            1 => asked.revisions.push("HEAD".to_owned()),
            _ => {}
        }
        Ok(asked)
    }

    /// The arguments of szc's command.
    fn arguments(self, bench: &Bench, pads: bool) -> Vec<OsString> {
        let pads = if pads { " --pads" } else { "" };
        let mut build = format!("cargo szc{pads} {BUILD} --bench {}", quoted(&bench.name));
        for arg in &self.build {
            build.push(' ');
            build.push_str(&quoted(arg));
        }
        let mut command = format!("{{out}}/{FOLDER}/{}", quoted(&bench.name));
        for arg in &self.behind {
            command.push(' ');
            command.push_str(&quoted(arg));
        }
        let mut all: Vec<OsString> = vec!["--build".into(), build.into()];
        all.extend(["--tree".into(), bench.folder.clone().into_os_string()]);
        all.extend(self.revisions.into_iter().flat_map(|rev| ["--rev".into(), rev.into()]));
        if !self.lab.iter().any(|arg| arg.starts_with("--harness") || arg.starts_with("--metric")) {
            all.extend(["--harness", "auto"].map(Into::into));
        }
        all.extend(self.lab.into_iter().map(Into::into));
        all.extend(["--".into(), command.into()]);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::super::page::BENCH_CHOICES;
    use super::*;

    fn arguments(line: &str) -> Result<String, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let bench =
            Bench { name: "parser".to_owned(), package: "one".to_owned(), folder: "/w/one".into() };
        let asked = Asked::read(&words).map_err(|error| error.to_string())?;
        let all = asked.arguments(&bench, line.contains("native"));
        Ok(all.join(std::ffi::OsStr::new("|")).into_string().expect("text"))
    }

    #[test]
    fn a_bench_is_built_by_cargo_and_measured_by_szc() {
        assert_eq!(
            arguments("--rev main --bench parser --budget 20 -- --quick fast|slow").as_deref(),
            Ok("--build|cargo szc build-bench --bench parser|--tree|/w/one|--rev|main|--rev|HEAD|\
                --harness|auto|--budget|20|--|{out}/target/szc-bench/parser --quick 'fast|slow'")
        );
        assert_eq!(
            arguments("--rev=a --rev=b --features native -p one --locked --harness=divan")
                .as_deref(),
            Ok("--build|cargo szc --pads build-bench --bench parser --features native --locked|\
                --tree|/w/one|--rev|a|--rev|b|--harness=divan|--|{out}/target/szc-bench/parser")
        );
    }

    #[test]
    fn completions_offer_what_is_read() {
        let offered = |with_value: bool| {
            let of_kind =
                BENCH_CHOICES.iter().filter(move |(_, value, _)| value.is_some() == with_value);
            of_kind.map(|(name, ..)| format!("--{name}")).collect::<Vec<_>>()
        };
        let mut read: Vec<_> = WITH_VALUE.iter().filter(|name| name.starts_with("--")).collect();
        read.extend([&"--bench", &"--package"]);
        for (offered, read) in
            [(offered(true), read), (offered(false), WITHOUT_VALUE.iter().collect())]
        {
            assert_eq!(offered.len(), read.len(), "{offered:?}");
            assert!(read.into_iter().all(|name| offered.iter().any(|o| o == name)), "{offered:?}");
        }
    }

    #[test]
    fn what_is_missing_or_not_for_here_is_said() {
        assert!(arguments("--bench parser").unwrap_err().contains("no revision"));
        assert!(arguments("--rev").unwrap_err().contains("--rev needs a value"));
        assert!(arguments("--rev a --build make").unwrap_err().contains("is szc's own"));
    }
}
