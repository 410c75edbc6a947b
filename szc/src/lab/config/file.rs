//! What a configuration holds, and how it is read.
#![forbid(unsafe_code)]

use std::fs;
use std::path::{Path, PathBuf};

use szc_stats::{fixed, sequential};
use toml::de::DeTable;

use super::problems::{Problem, nearest};
use super::reader::Reader;
use crate::lab::metric;
use crate::measure::turns::Turns;

/// The name that is looked for in the current folder.
pub const FILE: &str = "szc.toml";

/// Larger files are no configuration.
const MAX_BYTES: u64 = 1 << 20;

/// A configuration; what is absent is `None` or empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// What is measured, in the order of the file.
    pub programs: Vec<ProgramEntry>,
    /// How versions of it are built.
    pub build: BuildTable,
    /// How it is run.
    pub runs: RunsTable,
    /// Names of metrics; the first one decides.
    pub metrics: Vec<String>,
    /// A tolerated difference, as options take it: "1%".
    pub tolerance: Option<String>,
    /// Those of rows of a harness, as options take them: "parse/*=2%".
    pub row_tolerances: Vec<String>,
}

/// One of `[[programs]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramEntry {
    /// What tables call it.
    pub name: String,
    /// The command, with placeholders.
    pub command: String,
}

/// `[build]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuildTable {
    /// Shell command, with placeholders.
    pub command: Option<String>,
    /// Values of `{flags}`.
    pub flags: Vec<String>,
    /// git revisions.
    pub revisions: Vec<String>,
    /// Names and values of parameters, in the order of names.
    pub parameters: Vec<(String, Vec<String>)>,
    /// Folder to build in.
    pub tree: Option<String>,
    /// Where builds are kept.
    pub cache: Option<String>,
}

/// `[runs]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunsTable {
    /// Most blocks of a sequential experiment.
    pub budget: Option<u64>,
    /// Blocks of a fixed one.
    pub fixed: Option<u64>,
    /// Runs of a program in each of its positions in a block.
    pub runs_per_block: Option<u64>,
    /// Runs of each program that are not recorded.
    pub warmup: Option<u64>,
    /// Longest run, in seconds.
    pub timeout: Option<f64>,
    /// Seed of everything.
    pub seed: Option<u64>,
    /// CPU to run on.
    pub cpu: Option<u64>,
    /// "auto", "off" or the length of a turn.
    pub turns: Option<String>,
    /// "random" or "fixed": the length of the environment.
    pub env_size: Option<String>,
    /// Shell command in front of each run.
    pub prepare: Option<String>,
    /// Shell command behind each run.
    pub cleanup: Option<String>,
    /// Whether output must be identical.
    pub check_output: Option<bool>,
    /// Whether the order in a block is random.
    pub shuffle: Option<bool>,
}

/// Reads `file`, or `szc.toml` in the current folder if there is one.
///
/// # Errors
/// What is wrong, one problem a line: `file:line:column: what`.
pub fn load(file: Option<&Path>) -> Result<Option<Config>, String> {
    let path = match file {
        Some(path) => path.to_owned(),
        None if Path::new(FILE).is_file() => PathBuf::from(FILE),
        None => return Ok(None),
    };
    let unreadable = |error: std::io::Error| {
        format!("cannot read {}: {error}; check the name behind --config", path.display())
    };
    let length = fs::metadata(&path).map_err(unreadable)?.len();
    if length > MAX_BYTES {
        return Err(format!(
            "{} has {length} bytes: a configuration of at most {MAX_BYTES} is needed",
            path.display()
        ));
    }
    let bytes = fs::read(&path).map_err(unreadable)?;
    let text = String::from_utf8(bytes)
        .map_err(|_| format!("{}: a text in UTF-8 is needed", path.display()))?;
    read(&path.display().to_string(), &text).map(Some).map_err(|problems| {
        let lines: Vec<String> = problems.iter().map(Problem::to_string).collect();
        lines.join("\n")
    })
}

/// Reads the text of a file that is called `file` in messages.
///
/// # Errors
/// Everything that is wrong with it, in the order of the text.
pub fn read(file: &str, text: &str) -> Result<Config, Vec<Problem>> {
    let mut reader = Reader::new(file, text);
    let document = match DeTable::parse(text) {
        Ok(document) => document,
        Err(error) => {
            // Some messages of the parser have several lines; the place is said once, in front.
            let message = error.message().lines().collect::<Vec<_>>().join(", ");
            reader.problem(error.span().unwrap_or(0..0), message);
            return Err(reader.into_problems());
        }
    };
    let table = document.get_ref();
    reader.known(table, &["build", "metrics", "programs", "rows", "runs", "tolerance"]);
    let config = Config {
        programs: programs(&mut reader, table),
        build: reader
            .table(table, "build")
            .map(|inner| build(&mut reader, inner))
            .unwrap_or_default(),
        runs: reader.table(table, "runs").map(|inner| runs(&mut reader, inner)).unwrap_or_default(),
        metrics: metrics(&mut reader, table),
        tolerance: tolerance(&mut reader, table),
        row_tolerances: rows(&mut reader, table),
    };
    let problems = reader.into_problems();
    if problems.is_empty() { Ok(config) } else { Err(problems) }
}

fn programs(reader: &mut Reader<'_>, table: &DeTable<'_>) -> Vec<ProgramEntry> {
    let mut entries: Vec<ProgramEntry> = Vec::new();
    for (inner, span) in reader.tables(table, "programs") {
        reader.known(inner, &["command", "name"]);
        let command = reader.text(inner, "command");
        if command.is_none() && !inner.contains_key("command") {
            reader.problem(span.clone(), "a program needs a `command`");
        }
        let name = reader.text(inner, "name");
        if let Some(name) = &name
            && entries.iter().any(|entry| entry.name == *name)
        {
            reader.problem(span, format!("there is a program `{name}` already"));
        }
        if let Some(command) = command {
            let first = command.split_whitespace().next().unwrap_or(&command);
            let name = name.unwrap_or_else(|| first.to_owned());
            entries.push(ProgramEntry { name, command });
        }
    }
    entries
}

fn build(reader: &mut Reader<'_>, table: &DeTable<'_>) -> BuildTable {
    reader.known(table, &["cache", "command", "flags", "parameters", "revisions", "tree"]);
    let plain = |texts: Vec<(String, _)>| -> Vec<String> {
        texts.into_iter().map(|(text, _)| text).collect()
    };
    let command = reader.text(table, "command");
    let revisions = plain(reader.texts(table, "revisions"));
    if !revisions.is_empty() && !table.contains_key("command") {
        let span = table.get_key_value("revisions").map_or(0..0, |(key, _)| key.span());
        reader.problem(span, "`revisions` need a `command` that builds them");
    }
    let parameters = reader.table(table, "parameters").map(|inner| {
        let names = inner.keys().map(|key| key.get_ref().to_string());
        let names: Vec<String> = names.collect();
        names.into_iter().map(|name| (name.clone(), plain(reader.texts(inner, &name)))).collect()
    });
    BuildTable {
        command,
        flags: plain(reader.texts(table, "flags")),
        revisions,
        parameters: parameters.unwrap_or_default(),
        tree: reader.text(table, "tree"),
        cache: reader.text(table, "cache"),
    }
}

fn runs(reader: &mut Reader<'_>, table: &DeTable<'_>) -> RunsTable {
    reader.known(
        table,
        &[
            "budget",
            "check-output",
            "cleanup",
            "cpu",
            "env-size",
            "fixed",
            "prepare",
            "runs-per-block",
            "seed",
            "shuffle",
            "timeout",
            "turns",
            "warmup",
        ],
    );
    let blocks = |least: usize| least as u64..=1_000_000;
    let read = RunsTable {
        budget: reader.whole(table, "budget", blocks(sequential::MIN_BLOCKS)),
        fixed: reader.whole(table, "fixed", blocks(fixed::MIN_BLOCKS)),
        runs_per_block: reader.whole(table, "runs-per-block", 1..=1000),
        warmup: reader.whole(table, "warmup", 0..=1_000_000),
        timeout: reader.positive(table, "timeout"),
        seed: reader.whole(table, "seed", 0..=u64::MAX),
        cpu: reader.whole(table, "cpu", 0..=65_535),
        turns: reader.text(table, "turns"),
        env_size: reader.text(table, "env-size"),
        prepare: reader.text(table, "prepare"),
        cleanup: reader.text(table, "cleanup"),
        check_output: reader.flag(table, "check-output"),
        shuffle: reader.flag(table, "shuffle"),
    };
    if let (Some(_), Some((key, _))) = (table.get("budget"), table.get_key_value("fixed")) {
        reader.problem(key.span(), "`fixed` and `budget` exclude each other: leave one out");
    }
    if let (Some(turns), Some(value)) = (&read.turns, table.get("turns"))
        && let Err(needed) = Turns::parse(turns)
    {
        reader.problem(value.span(), format!("`turns` is {turns:?}: {needed}"));
    }
    if let (Some(size), Some(value)) = (&read.env_size, table.get("env-size"))
        && !["random", "fixed"].contains(&size.as_str())
    {
        let message = format!("`env-size` is {size:?}: \"random\" or \"fixed\" is needed");
        reader.problem(value.span(), message);
    }
    read
}

fn metrics(reader: &mut Reader<'_>, table: &DeTable<'_>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (name, span) in reader.texts(table, "metrics") {
        let is_name = !name.starts_with(metric::USER_PREFIX);
        if let Err(message) = metric::check(&name) {
            let near = nearest(&name, &metric::NAMES).filter(|_| is_name);
            let message = match near {
                Some(near) => format!("unknown metric {name:?}; did you mean \"{near}\"?"),
                None => message.lines().map(str::trim).collect::<Vec<_>>().join(" "),
            };
            reader.problem(span.clone(), message);
        }
        let always_there = ["cpu", "wall", "rss"].contains(&name.as_str());
        if !names.is_empty() && !always_there {
            reader.problem(
                span,
                "a metric other than cpu, wall and rss must stand first: one such is measured at a \
                 time",
            );
        }
        names.push(name);
    }
    names
}

/// `[[rows]]`: patterns of names, each with its tolerance.
fn rows(reader: &mut Reader<'_>, table: &DeTable<'_>) -> Vec<String> {
    let mut all = Vec::new();
    for (inner, span) in reader.tables(table, "rows") {
        reader.known(inner, &["name", "tolerance"]);
        for key in ["name", "tolerance"] {
            if !inner.contains_key(key) {
                reader.problem(span.clone(), format!("rows need a `{key}`"));
            }
        }
        let pair = (reader.text(inner, "name"), tolerance(reader, inner));
        if let (Some(name), Some(tolerance)) = pair {
            all.push(format!("{name}={tolerance}"));
        }
    }
    all
}

fn tolerance(reader: &mut Reader<'_>, table: &DeTable<'_>) -> Option<String> {
    let text = reader.text(table, "tolerance")?;
    let percent: Option<f64> = text.strip_suffix('%').and_then(|part| part.trim().parse().ok());
    if percent.is_none_or(|percent| !(percent > 0.0 && percent < 100.0)) {
        let span = table.get("tolerance").map_or(0..0, toml::Spanned::span);
        reader.problem(
            span,
            format!("`tolerance` is {text:?}: a percentage such as \"1%\" is needed"),
        );
    }
    Some(text)
}
