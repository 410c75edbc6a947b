//! Two metrics without noise: instructions executed, and cycles of a simulated processor.
//!
//! Both come from cachegrind, which runs the program on a processor of its own. The second one
//! depends on the layout, as time does, because caches and branch predictors are simulated by
//! address; nothing else on the machine can disturb it. The simulated processor is the same
//! everywhere: see [`CACHES`]. Cycles follow from counts by fixed costs, [`COSTS`], after the model
//! "CEst" of kcachegrind; no real processor is that simple.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::{fs, io};

use super::child::Outcome;
use super::instrument::Instrument;

/// Options that make cachegrind's caches those of no particular machine: 32 KiB of first level for
/// code and for data, 8 MiB of last level; size, ways, bytes of a line.
pub const CACHES: [&str; 3] = ["--I1=32768,8,64", "--D1=32768,8,64", "--LL=8388608,16,64"];

/// Cycles for each event that cachegrind counts; all others cost nothing.
pub const COSTS: [(&str, f64); 9] = [
    ("Ir", 1.0),
    ("I1mr", 10.0),
    ("D1mr", 10.0),
    ("D1mw", 10.0),
    ("ILmr", 100.0),
    ("DLmr", 100.0),
    ("DLmw", 100.0),
    ("Bcm", 10.0),
    ("Bim", 10.0),
];

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Simulation {
    /// Instructions of all processes of the run.
    Instructions,
    /// Σ events · [`COSTS`] of all processes of the run.
    Cycles,
}

impl Simulation {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Instructions, Self::Cycles];

    /// The name of its figure.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Instructions => "instructions",
            Self::Cycles => "simulated-cycles",
        }
    }

    /// The words that run `argv` under cachegrind, which leaves one file for each process in
    /// `folder`, and prints nothing.
    #[must_use]
    pub fn argv(self, argv: &[String], folder: &Path) -> Vec<String> {
        let simulate = if self == Self::Cycles { "yes" } else { "no" };
        let place = |name: &str| folder.join(name).display().to_string();
        [
            "valgrind".to_owned(),
            "--command-line-only=yes".to_owned(),
            "--tool=cachegrind".to_owned(),
            "--trace-children=yes".to_owned(),
            // Names as symbols of the image have them.
            "--demangle=no".to_owned(),
            // Programs built by szc write code, and have a thread that must get its turns.
            "--smc-check=all".to_owned(),
            "--fair-sched=yes".to_owned(),
            format!("--cache-sim={simulate}"),
            format!("--branch-sim={simulate}"),
            format!("--log-file={}", place("log.%p")),
            format!("--cachegrind-out-file={}", place("counts.%p")),
        ]
        .into_iter()
        .chain(CACHES.map(str::to_owned))
        .chain(argv.iter().cloned())
        .collect()
    }

    /// Reads and removes what a run left in `folder`.
    ///
    /// # Errors
    /// When files cannot be read or removed, or there is no count among them.
    pub fn take(self, folder: &Path) -> io::Result<f64> {
        let costs = taken(folder)?.into_iter().map(|(name, text)| {
            self.cost_of(&text).ok_or_else(|| {
                io::Error::other(format!("cachegrind's {} has no totals", name.display()))
            })
        });
        costs.sum()
    }

    fn cost_of(self, counts: &str) -> Option<f64> {
        let totals = totals(counts)?;
        let count = |event: &str| {
            totals.iter().find(|(name, _)| *name == event).map_or(0.0, |(_, count)| *count as f64)
        };
        Some(match self {
            Self::Instructions => count("Ir"),
            Self::Cycles => COSTS.iter().map(|(event, cost)| count(event) * cost).sum(),
        })
    }
}

/// What cachegrind counted in a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Events {
    /// Each event with its count.
    pub totals: Vec<(String, u64)>,
    /// Instructions of each function, the most first.
    pub functions: Vec<(String, u64)>,
}

/// Reads and removes what a run left in `folder`: name and text of the counts of each process.
///
/// # Errors
/// When files cannot be read or removed, or there are no counts among them.
fn taken(folder: &Path) -> io::Result<Vec<(OsString, String)>> {
    let mut counts = Vec::new();
    let mut log = String::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let text = String::from_utf8_lossy(&fs::read(entry.path())?).into_owned();
        fs::remove_file(entry.path())?;
        if name.to_string_lossy().starts_with("counts.") {
            counts.push((name, text));
        } else if log.is_empty() {
            log = text;
        }
    }
    if counts.is_empty() {
        let last = log.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("nothing");
        return Err(io::Error::other(format!("cachegrind left no counts; it said: {last}")));
    }
    Ok(counts)
}

/// Reads and removes what cachegrind left in `folder` of all processes of a run.
///
/// # Errors
/// When files cannot be read or removed, or there are no counts among them.
pub fn events(folder: &Path) -> io::Result<Events> {
    let mut found: BTreeMap<String, u64> = BTreeMap::new();
    let mut functions: BTreeMap<String, u64> = BTreeMap::new();
    let mut order = Vec::new();
    for (_, text) in taken(folder)? {
        for (name, count) in totals(&text).unwrap_or_default() {
            if !order.iter().any(|known| known == name) {
                order.push(name.to_owned());
            }
            *found.entry(name.to_owned()).or_default() += count;
        }
        add_instructions(&text, &mut functions);
    }
    if found.is_empty() {
        return Err(io::Error::other("cachegrind left no counts"));
    }
    let mut functions: Vec<(String, u64)> = functions.into_iter().collect();
    functions.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    let totals = order.into_iter().map(|name| {
        let count = found[&name];
        (name, count)
    });
    Ok(Events { totals: totals.collect(), functions })
}

/// Adds the instructions of each function: the second number of lines behind its `fn=`.
fn add_instructions(counts: &str, functions: &mut BTreeMap<String, u64>) {
    let mut name = None;
    for line in counts.lines() {
        if let Some(function) = line.strip_prefix("fn=") {
            name = Some(function);
        } else if let Some(name) = name
            && line.starts_with(|first: char| first.is_ascii_digit())
        {
            let count = line.split_whitespace().nth(1).and_then(|word| word.parse::<u64>().ok());
            *functions.entry(name.to_owned()).or_default() += count.unwrap_or(0);
        }
    }
}

impl Instrument for Simulation {
    fn another(&self) -> Box<dyn Instrument> {
        Box::new(*self)
    }

    fn command(&self, argv: Vec<String>, scratch: &Path) -> Vec<String> {
        self.argv(&argv, scratch)
    }

    /// One layout for each run: when a new one is due depends on the time, which would make noise.
    fn environment(&self, _scratch: &Path) -> Vec<(String, OsString)> {
        let interval = "SZC_INTERVAL_MS";
        if std::env::var_os(interval).is_some() {
            return Vec::new();
        }
        vec![(interval.to_owned(), "0".into())]
    }

    fn figures(
        &mut self,
        scratch: &Path,
        _outcome: &Outcome,
    ) -> Result<BTreeMap<String, f64>, String> {
        let value = self.take(scratch).map_err(|error| {
            format!(
                "{error}\n  needed: a program that runs under valgrind\n  next: try it with \
                 valgrind --tool=cachegrind --smc-check=all"
            )
        })?;
        Ok(BTreeMap::from([(self.name().to_owned(), value)]))
    }
}

/// The totals of a file of cachegrind: names from its line `events:`, numbers from `summary:`.
fn totals(counts: &str) -> Option<Vec<(&str, u64)>> {
    let line = |key: &str| counts.lines().find_map(|line| line.strip_prefix(key));
    let events = line("events:")?.split_whitespace();
    let numbers: Vec<u64> =
        line("summary:")?.split_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
    // Zeros at the end may be left out.
    Some(events.zip(numbers.into_iter().chain(std::iter::repeat(0))).collect())
}

/// Whether valgrind can be run.
///
/// # Errors
/// What was found and how to get it.
pub fn available() -> Result<(), String> {
    let found = std::process::Command::new("valgrind").arg("--version").output();
    match found {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(format!(
            "valgrind does not start ({}): repair it (`valgrind --version` must work)",
            output.status
        )),
        Err(error) => Err(format!(
            "valgrind, which counts these metrics, cannot be run: {error}; install it (Debian: \
             apt-get install valgrind)"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    const COUNTS: &str = "desc: I1 cache: x\ncmd: ./h\nevents: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw \
                          DLmw Bc Bcm Bi Bim\nfl=a\nfn=main\n1 2 3\nsummary: 1000 5 2 300 20 4 100 \
                          10 1 80 6 3 2\n";

    #[test]
    fn cycles_are_instructions_and_fixed_costs() {
        assert_eq!(Simulation::Instructions.cost_of(COUNTS), Some(1000.0));
        let misses = 10.0 * (5.0 + 20.0 + 10.0) + 100.0 * (2.0 + 4.0 + 1.0) + 10.0 * (6.0 + 2.0);
        assert_eq!(Simulation::Cycles.cost_of(COUNTS), Some(1000.0 + misses));
    }

    #[test]
    fn events_are_those_of_all_processes_with_the_instructions_of_functions() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("counts.1"), COUNTS).unwrap();
        fs::write(folder.path().join("counts.2"), COUNTS.replace("1 2 3", "7 40 1\n8 2 1"))
            .unwrap();
        fs::write(folder.path().join("log.1"), "").unwrap();
        let found = events(folder.path()).unwrap();
        assert_eq!(found.totals[0], ("Ir".to_owned(), 2000));
        assert_eq!(found.totals.last(), Some(&("Bim".to_owned(), 4)));
        assert_eq!(found.functions, [("main".to_owned(), 44)]);
        assert!(events(tempfile::tempdir().unwrap().path()).is_err());
    }

    #[test]
    fn files_without_totals_are_no_counts() {
        for text in ["", "events: Ir\n", "summary: 3\n", "events: Ir\nsummary: x\n"] {
            assert_eq!(Simulation::Instructions.cost_of(text), None, "{text:?}");
        }
        assert_eq!(totals("events: Ir Bc\nsummary: 7\n"), Some(vec![("Ir", 7), ("Bc", 0)]));
    }

    #[test]
    fn a_program_repeats_its_counts_and_its_children_are_counted() {
        available().expect("spec-scripts/setup.sh --tests installs valgrind");
        let count = |simulation: Simulation, script: &str| {
            let folder = tempfile::tempdir().unwrap();
            let argv = ["/bin/sh", "-c", script].map(str::to_owned);
            let words = simulation.argv(&argv, folder.path());
            let output = Command::new(&words[0]).args(&words[1..]).output().unwrap();
            assert!(output.status.success(), "{output:?}");
            assert_eq!(output.stdout, b"hello\n");
            assert_eq!(output.stderr, b"");
            let value = simulation.take(folder.path()).unwrap();
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
            value
        };
        let alone = count(Simulation::Instructions, "echo hello");
        // One system call more or less in the loader would be a few instructions.
        assert!((alone / count(Simulation::Instructions, "echo hello") - 1.0).abs() < 1e-3);
        assert!(count(Simulation::Instructions, "/bin/true; echo hello") > 1.5 * alone);
        assert!(count(Simulation::Cycles, "echo hello") > alone);
    }

    #[test]
    fn a_run_without_counts_is_an_error_that_quotes_valgrind() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("log.1"), "==1== bad option\n").unwrap();
        let error = Simulation::Cycles.take(folder.path()).unwrap_err().to_string();
        assert!(error.contains("bad option"), "{error}");
    }
}
