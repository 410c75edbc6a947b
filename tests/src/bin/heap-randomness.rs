//! Prints the table of the paper's section 4.2.2: which sources of addresses pass NIST's tests of
//! randomness.
//!
//! One line for `lrand48`, glibc's malloc and every base allocator with every N; one column for
//! each test. A cell holds the percentage of sequences that pass at α = 0.01, with `!` behind it if
//! that is below the standard's limit, and `~` if the P-values are not uniform. What passes, and
//! why `~` does not decide, is said in `szc_tests::nist::verdict`.

use anyhow::{Context, Result, bail};
use clap::{Parser, ValueEnum};
use serde::Serialize;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::PathBuf;
use szc_tests::addresses::{Pattern, Programs, Sample, Source, assess};
use szc_tests::nist::Test;
use szc_tests::nist::verdict::Assessment;

/// Tests which sources of addresses are random in bits 6 to 17 (NIST SP 800-22).
#[derive(Parser)]
#[command(name = "heap-randomness")]
struct Options {
    /// Base allocator of the shuffled heap
    #[arg(long, value_enum, default_value = "all")]
    base: Base,
    /// Entries of the shuffle arrays, one line each
    #[arg(long, value_delimiter = ',', default_value = "1,16,64,256,1024")]
    n: Vec<u32>,
    /// What the program does: allocate only, or free the oldest of the blocks it keeps for each new
    /// one
    #[arg(long, value_enum, default_value = "all")]
    pattern: PatternName,
    /// Blocks that the churning program keeps
    #[arg(long, default_value_t = 10_000)]
    live: usize,
    /// Size of each block in bytes
    #[arg(long, default_value_t = 64)]
    size: usize,
    /// Addresses from each source (the default: 1,000 sequences)
    #[arg(long, default_value_t = 8_333_334)]
    addresses: usize,
    /// Bits in a sequence; an address gives 12
    #[arg(long, default_value_t = 100_000)]
    bits: usize,
    /// Seed of all sources
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Writes all results to this file, too
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Base {
    Segregated,
    Tlsf,
    Diehard,
    All,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PatternName {
    Fresh,
    Churn,
    All,
}

/// One line of the table.
#[derive(Serialize)]
struct Line {
    pattern: &'static str,
    source: String,
    n: Option<u32>,
    tests: Vec<Assessment>,
    passes_one: bool,
    passes_all: bool,
}

fn main() -> Result<()> {
    match run(&Options::parse()) {
        Err(error) if error.is::<NobodyReads>() => Ok(()),
        result => result,
    }
}

/// The reader of standard output has gone away (`| head`), and nobody else is told anything.
#[derive(Debug)]
struct NobodyReads;

impl std::fmt::Display for NobodyReads {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("nobody reads standard output")
    }
}

impl std::error::Error for NobodyReads {}

impl Options {
    /// Prints to standard output; what goes to a file as well is measured although nobody reads.
    fn say(&self, text: &str) -> Result<()> {
        let mut stdout = io::stdout().lock();
        match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(error).context("cannot write to standard output")
            }
            Err(_) if self.json.is_none() => Err(NobodyReads.into()),
            _ => Ok(()),
        }
    }
}

fn run(options: &Options) -> Result<()> {
    let sequences = options.addresses * 12 / options.bits.max(1);
    if sequences == 0 || options.bits < 1000 {
        bail!(
            "{} addresses give no sequence of {} bits; a sequence needs at least 1000 bits \
             (--bits), an address gives 12 (--addresses)",
            options.addresses,
            options.bits
        );
    }
    let sample =
        Sample { addresses: options.addresses, size_bytes: options.size, seed: options.seed };
    options.say(&format!(
        "bits 6-17 of {} addresses of {}-byte blocks, {sequences} sequences of {} bits, seed {}\n",
        options.addresses, options.size, options.bits, options.seed
    ))?;
    let programs = Programs::build();
    let mut lines = Vec::new();
    for (pattern, source) in sources(options) {
        let bits = programs.bits(&source, &sample).map_err(anyhow::Error::msg)?;
        let line = Line::of(pattern, &source, assess(&bits, options.bits));
        if lines.last().is_none_or(|last: &Line| last.pattern != pattern) {
            options.say(&head(pattern, options))?;
        }
        options.say(&line.text())?;
        lines.push(line);
    }
    options.say(
        "\nPercent of sequences with P >= 0.01; ! below NIST's limit, ~ P-values not uniform.\n\
         all: the paper's six tests (all but Rank) keep within NIST's limit.\n\
         one: the paper's six have P >= 0.05 in the first sequence.\n",
    )?;
    if let Some(path) = &options.json {
        let text = serde_json::to_string_pretty(&lines)?;
        fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// All sources, each with the name of its pattern.
fn sources(options: &Options) -> Vec<(&'static str, Source)> {
    let mut sources = vec![("values", Source::Lrand48)];
    let churn = Pattern::Churn { live: options.live };
    for (name, word, pattern) in
        [("fresh", PatternName::Fresh, Pattern::Fresh), ("churn", PatternName::Churn, churn)]
    {
        if options.pattern != word && options.pattern != PatternName::All {
            continue;
        }
        sources.push((name, Source::Glibc(pattern)));
        for (base, word) in
            [("segregated", Base::Segregated), ("tlsf", Base::Tlsf), ("diehard", Base::Diehard)]
        {
            if options.base != word && options.base != Base::All {
                continue;
            }
            for &n in &options.n {
                sources.push((name, Source::Heap { base: base.to_owned(), n, pattern }));
            }
        }
    }
    sources
}

fn head(pattern: &str, options: &Options) -> String {
    let about = match pattern {
        "fresh" => "fresh: allocates, frees nothing".to_owned(),
        "churn" => {
            format!("churn: {} blocks live, the oldest freed for each new one", options.live)
        }
        _ => "values of the C library's generator".to_owned(),
    };
    let mut text = format!("\n{about}\n{:<11} {:>5}", "source", "N");
    for test in Test::ALL.iter().filter(|test| test.shortest() <= options.bits) {
        let _ = write!(text, " {:>14}", test.name());
    }
    text.push_str("  all   one\n");
    text
}

impl Line {
    fn of(pattern: &'static str, source: &Source, tests: Vec<Assessment>) -> Self {
        let (source, n) = match source {
            Source::Lrand48 => ("lrand48".to_owned(), None),
            Source::Glibc(_) => ("glibc".to_owned(), None),
            Source::Heap { base, n, .. } => (base.clone(), Some(*n)),
        };
        let of_the_paper = |holds: fn(&Assessment) -> bool| {
            Test::OF_THE_PAPER
                .iter()
                .filter_map(|test| tests.iter().find(|result| result.test == test.name()))
                .all(holds)
        };
        let passes_one = of_the_paper(Assessment::one_passes);
        let passes_all = of_the_paper(Assessment::all_pass);
        Line { pattern, source, n, tests, passes_one, passes_all }
    }

    fn text(&self) -> String {
        let n = self.n.map(|n| n.to_string()).unwrap_or_default();
        let mut text = format!("{:<11} {n:>5}", self.source);
        for result in &self.tests {
            let percent = 100.0 * result.passed as f64 / result.sequences as f64;
            let low = if result.all_pass() { ' ' } else { '!' };
            let uneven = if result.is_uniform() { ' ' } else { '~' };
            let _ = write!(text, " {percent:>12.1}{low}{uneven}");
        }
        let word = |passes| if passes { "pass" } else { "fail" };
        let _ = writeln!(text, "  {}  {}", word(self.passes_all), word(self.passes_one));
        text
    }
}
