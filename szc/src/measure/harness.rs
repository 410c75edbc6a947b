//! Harnesses: programs of many benchmarks that measure themselves, and what they write.
//!
//! Each benchmark is a row. What a run of the harness says of a row, its mean or only time of one
//! iteration in seconds, is one figure of that run. The parsers are pure; where a harness is asked
//! for a file by an option or a variable is in [`Format::arguments`].
#![forbid(unsafe_code)]

mod filter;
mod format;
mod json;
mod recognise;
mod row;
mod tables;
mod xml;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

pub use self::filter::Filter;
use self::format::FILE;
pub use self::format::{FORMATS, Format};
use self::recognise::of_output;
pub use self::recognise::of_program;
pub use self::row::Row;
use super::child::Outcome;
use super::instrument::Instrument;
use crate::samples::metric::ROW_PREFIX;

/// Reads the rows of each run of a harness.
#[derive(Clone, Debug)]
pub struct Harness {
    /// None: found out from the program, and else from what it prints.
    format: Option<Format>,
    /// The rows that count.
    filter: Filter,
}

impl Harness {
    /// Reads a format or "auto", and behind a colon a [`Filter`] for the names of rows.
    ///
    /// # Errors
    /// What is needed instead.
    pub fn new(text: &str) -> Result<Self, String> {
        let (name, filter) = text.split_once(':').unwrap_or((text, ""));
        let format = match name {
            "auto" => None,
            name => Some(
                FORMATS
                    .iter()
                    .find(|(known, _)| *known == name)
                    .map(|(_, format)| *format)
                    .ok_or_else(|| {
                        format!("{name:?} is no harness that szc reads: {}, or auto", names())
                    })?,
            ),
        };
        Ok(Self { format, filter: Filter::new(filter)? })
    }

    /// The figures of a run that was measured elsewhere: of the file that its harness wrote, or of
    /// criterion's folder.
    ///
    /// # Errors
    /// What was found, what is needed, what to do next.
    pub fn figures_of(&self, path: &Path) -> Result<BTreeMap<String, f64>, String> {
        let rows = if path.is_dir() {
            match self.format {
                None | Some(Format::Criterion) => Ok(criterion(path)),
                Some(_) => Err("it is a folder, such as only criterion writes".to_owned()),
            }
        } else {
            let text = fs::read(path).map_err(|error| error.to_string());
            text.and_then(|text| self.read_text(&String::from_utf8_lossy(&text)))
        };
        self.chosen(rows, "the file")
    }

    /// The rows of a run.
    fn read(&self, scratch: &Path, stdout: &[u8]) -> Result<Vec<Row>, String> {
        let stdout = String::from_utf8_lossy(stdout);
        let file = scratch.join(FILE);
        let text = fs::read_to_string(&file).unwrap_or_else(|_| stdout.clone().into_owned());
        let folder = scratch.join(CRITERION_FOLDER);
        if self.format == Some(Format::Criterion) || self.format.is_none() && folder.is_dir() {
            return Ok(criterion(&folder));
        }
        self.read_text(&text)
    }

    /// The rows of what a harness wrote.
    fn read_text(&self, text: &str) -> Result<Vec<Row>, String> {
        let recognised = of_output(text);
        let begins = || {
            let line = text.lines().find(|line| !line.trim().is_empty());
            let shown: String = line.unwrap_or("nothing at all").chars().take(100).collect();
            format!("its output begins with {shown:?}")
        };
        let Some(format) = self.format.or(recognised) else { return Err(begins()) };
        match (format.rows(text), recognised) {
            (Ok(rows), _) if !rows.is_empty() => Ok(rows),
            (_, Some(found)) if found != format => {
                Err(format!("its output is what {} writes", found.name()))
            }
            (Err(wrong), _) => Err(format!("{wrong}; {}", begins())),
            (Ok(_), _) => Err(format!("it has no rows; {}", begins())),
        }
    }

    /// One figure for each row that is wanted, or why there is none.
    fn chosen(
        &self,
        rows: Result<Vec<Row>, String>,
        source: &str,
    ) -> Result<BTreeMap<String, f64>, String> {
        let refused = |found: String| {
            let names = names();
            let harness = self.format.map_or("a harness", Format::name);
            format!(
                "nothing that {harness} writes was found: {found}\n  needed: rows of {names}\n  \
                 next: name the harness with --harness, and look at what {source} holds"
            )
        };
        let rows = rows.map_err(&refused)?;
        if rows.is_empty() {
            return Err(refused("it has no rows".to_owned()));
        }
        let count = rows.len();
        let wanted: Vec<Row> = rows.into_iter().filter(|row| self.wanted(row)).collect();
        if wanted.is_empty() {
            return Err(format!(
                "none of its {count} rows matches --rows\n  needed: one row at least\n  next: \
                 look at the names that the harness prints"
            ));
        }
        Ok(means(&wanted))
    }

    fn wanted(&self, row: &Row) -> bool {
        self.filter.is_for(&row.name)
    }
}

impl Instrument for Harness {
    fn another(&self) -> Box<dyn Instrument> {
        Box::new(self.clone())
    }

    fn command(&self, mut argv: Vec<String>, scratch: &Path) -> Vec<String> {
        let Some(format) = self.format.or_else(|| of_program(&argv)) else { return argv };
        let more = format.arguments(scratch);
        let more: Vec<String> = more.into_iter().filter(|arg| !argv.contains(arg)).collect();
        match &mut argv[..] {
            // A command for the shell is one argument.
            [shell, option, command] if shell == "/bin/sh" && option == "-c" => {
                for argument in more {
                    command.push_str(&format!(" '{argument}'"));
                }
            }
            _ => argv.extend(more),
        }
        argv
    }

    fn environment(&self, scratch: &Path) -> Vec<(String, OsString)> {
        vec![("CRITERION_HOME".to_owned(), scratch.join(CRITERION_FOLDER).into_os_string())]
    }

    fn figures(
        &mut self,
        scratch: &Path,
        outcome: &Outcome,
    ) -> Result<BTreeMap<String, f64>, String> {
        self.chosen(self.read(scratch, &outcome.stdout_tail), "the command's output")
    }
}

/// The names of all formats.
fn names() -> String {
    FORMATS.map(|(name, _)| name).join(", ")
}

/// One figure for each name: the geometric mean, where a harness repeats a row.
fn means(rows: &[Row]) -> BTreeMap<String, f64> {
    let mut logarithms: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.seconds > 0.0 && row.seconds.is_finite()) {
        let name: String = row.name.chars().filter(|c| !c.is_control()).collect();
        logarithms.entry(format!("{ROW_PREFIX}{name}")).or_default().push(row.seconds.ln());
    }
    let mean = |list: &[f64]| (list.iter().sum::<f64>() / list.len() as f64).exp();
    logarithms.into_iter().map(|(name, list)| (name, mean(&list))).collect()
}

/// Where criterion is told to write, in the folder of a run.
const CRITERION_FOLDER: &str = "criterion";

/// The rows of criterion's folder: each benchmark has a folder `new` with `benchmark.json`, which
/// names it, and `estimates.json`.
fn criterion(folder: &Path) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut waiting: Vec<PathBuf> = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let read = |name: &str| fs::read_to_string(path.join(name)).ok();
            if path.file_name().is_some_and(|name| name == "new")
                && let Some(benchmark) = read("benchmark.json")
                && let Some(estimates) = read("estimates.json")
            {
                rows.extend(json::criterion(&benchmark, &estimates));
            } else if path.is_dir() {
                waiting.push(path);
            }
        }
    }
    rows.sort_by(|one, other| one.name.cmp(&other.name));
    rows
}

#[cfg(test)]
mod tests;
