//! What `campaign/verdicts.sh` needs to know about samples: one line for an experiment, and the
//! table of all lines.
//!
//! A line is a verdict, a ratio of means, the ends of its interval, runs and their seconds, with
//! tabs between them. The rivals' verdicts are "slower" or "faster" where their rule sees a
//! difference, and "none" elsewhere.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::{Parser, Subcommand};
use szc::samples::sample::values_of;
use szc::samples::{Metric, SamplesFile, io};
use szc_stats::describe::{mean, median, standard_deviation};
use szc_stats::groups::welch;
use szc_tests::hyperfine::Export;
use szc_tests::statistics::clopper_pearson;

/// Lines and the table of campaign/verdicts.sh.
#[derive(Parser)]
#[command(name = "verdict-rates")]
struct Options {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// The verdict in a samples file of szc
    Szc { samples: PathBuf },
    /// Welch's t test on the logarithms of CPU times in a samples file, as if it had no blocks
    Welch { samples: PathBuf },
    /// What hyperfine says of two commands: a difference if "±" does not reach 1
    Hyperfine { export: PathBuf },
    /// Welch's t test on hyperfine's times
    HyperfineWelch { export: PathBuf },
    /// Rates of all lines of a file
    Table { lines: PathBuf },
}

fn main() -> Result<()> {
    match Options::parse().what {
        What::Szc { samples } => println!("{}", of_szc(&io::read(&samples)?)?),
        What::Welch { samples } => {
            let file = io::read(&samples)?;
            let [one, other] = [0, 1].map(|program| values_of(&file.runs, program, &Metric::Cpu));
            println!("{}", of_welch(&one, &other, seconds(&file))?);
        }
        What::Hyperfine { export } => println!("{}", of_hyperfine(&Export::read(&export)?)),
        What::HyperfineWelch { export } => {
            let Export { results: [one, other] } = Export::read(&export)?;
            let seconds = one.times.iter().chain(&other.times).sum();
            println!("{}", of_welch(&one.times, &other.times, seconds)?);
        }
        What::Table { lines } => {
            let text = fs::read_to_string(&lines).with_context(|| lines.display().to_string())?;
            return table(&text);
        }
    }
    Ok(())
}

/// An experiment in one line.
#[derive(Debug, PartialEq)]
struct Line {
    verdict: String,
    ratio: f64,
    interval: [f64; 2],
    runs: usize,
    seconds: f64,
}

impl std::fmt::Display for Line {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        let Line { verdict, ratio, interval: [lower, upper], runs, seconds } = self;
        write!(out, "{verdict}\t{ratio:.5}\t{lower:.5}\t{upper:.5}\t{runs}\t{seconds:.1}")
    }
}

fn seconds(file: &SamplesFile) -> f64 {
    file.runs.iter().map(|run| run.wall_ns as f64 / 1e9).sum()
}

fn of_szc(file: &SamplesFile) -> Result<Line> {
    let result = file.deciding_results().next().context("the file has no result")?;
    Ok(Line {
        verdict: result.verdict.word().to_owned(),
        ratio: result.ratio,
        interval: result.interval,
        runs: file.runs.len(),
        seconds: seconds(file),
    })
}

/// The verdict of an interval of the ratio.
fn difference([lower, upper]: [f64; 2]) -> String {
    match (lower > 1.0, upper < 1.0) {
        (true, _) => "slower",
        (_, true) => "faster",
        _ => "none",
    }
    .to_owned()
}

fn of_welch(one: &[f64], other: &[f64], seconds: f64) -> Result<Line> {
    let [one, other] =
        [one, other].map(|values| values.iter().map(|time| time.ln()).collect::<Vec<_>>());
    let test = welch(&one, &other, 0.95)?;
    let interval = [test.interval.lower.exp(), test.interval.upper.exp()];
    let verdict = difference(interval);
    Ok(Line {
        verdict,
        ratio: test.difference.exp(),
        interval,
        runs: one.len() + other.len(),
        seconds,
    })
}

/// "A ran 1.02 ± 0.01 times faster than B": means over one another, relative standard deviations
/// added in squares (`relative_speed.rs` of hyperfine).
fn of_hyperfine(export: &Export) -> Line {
    let [one, other] = &export.results;
    let [(center, spread), (other_center, other_spread)] = [one, other].map(|benchmark| {
        let center = mean(&benchmark.times).unwrap_or(f64::NAN);
        (center, standard_deviation(&benchmark.times).unwrap_or(f64::NAN) / center)
    });
    let ratio = other_center / center;
    let share = spread.hypot(other_spread);
    let interval = [ratio * (1.0 - share), ratio * (1.0 + share)];
    // What it prints is the ratio of the slower one to the faster.
    let printed = ratio.max(1.0 / ratio);
    let verdict = match (printed * (1.0 - share) > 1.0, ratio > 1.0) {
        (false, _) => "none",
        (true, true) => "slower",
        (true, false) => "faster",
    };
    Line {
        verdict: verdict.to_owned(),
        ratio,
        interval,
        runs: one.times.len() + other.times.len(),
        seconds: one.times.iter().chain(&other.times).sum(),
    }
}

/// All experiments of one situation and method.
#[derive(Default)]
struct Group {
    verdicts: BTreeMap<String, usize>,
    ratios: Vec<f64>,
    runs: Vec<f64>,
    seconds: Vec<f64>,
}

impl Group {
    fn count(&self, words: &[&str]) -> usize {
        words.iter().filter_map(|word| self.verdicts.get(*word)).sum()
    }
}

/// Prints a row for each situation and method, in the order of the first line of each.
fn table(text: &str) -> Result<()> {
    let mut names: Vec<(&str, &str)> = Vec::new();
    let mut groups: BTreeMap<(&str, &str), Group> = BTreeMap::new();
    for line in text.lines() {
        let [situation, method, _, verdict, ratio, _, _, runs, seconds] =
            line.split('\t').collect::<Vec<_>>()[..]
        else {
            bail!("a line with nine columns is needed, and this is none: {line}");
        };
        if !groups.contains_key(&(situation, method)) {
            names.push((situation, method));
        }
        let group = groups.entry((situation, method)).or_default();
        *group.verdicts.entry(verdict.to_owned()).or_default() += 1;
        group.ratios.push(ratio.parse().with_context(|| line.to_owned())?);
        group.runs.push(runs.parse().with_context(|| line.to_owned())?);
        group.seconds.push(seconds.parse().with_context(|| line.to_owned())?);
    }
    println!(
        "{:<6} {:<16} {:>4} {:>18} {:>18} {:>7} {:>16} {:>7} {:>18}",
        "what", "method", "n", "slower or FAIL", "faster", "runs", "least to most", "s", "ratios"
    );
    let mut is_right = true;
    for name in names {
        let group = &groups[&name];
        let n = group.ratios.len();
        let [slower, faster] = [group.count(&["slower", "fail"]), group.count(&["faster"])];
        let (least, most) = ends(&group.runs);
        let (lowest, highest) = ends(&group.ratios);
        println!(
            "{:<6} {:<16} {n:>4} {:>18} {:>18} {:>7.0} {:>16} {:>7.1} {:>18}",
            name.0,
            name.1,
            rate(slower, n),
            rate(faster, n),
            median(&group.runs).unwrap_or(f64::NAN),
            format!("{least:.0} to {most:.0}"),
            median(&group.seconds).unwrap_or(f64::NAN),
            format!("{lowest:.3} to {highest:.3}"),
        );
        let verdicts: Vec<String> =
            group.verdicts.iter().map(|(verdict, count)| format!("{count} {verdict}")).collect();
        println!(
            "       {}; geometric mean of the ratios {:.4}",
            verdicts.join(", "),
            center(&group.ratios)
        );
        let wrong = if name.1 == "gate" { slower } else { slower + faster };
        is_right &= name.0 != "same" || wrong * 20 <= n;
    }
    if !is_right {
        bail!("more than 5 % of the verdicts on the same source are wrong");
    }
    Ok(())
}

fn ends(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(*value), high.max(*value))
    })
}

/// "15 % (3 to 38)".
fn rate(count: usize, n: usize) -> String {
    let (lower, upper) = clopper_pearson(count, n);
    let share = 100.0 * count as f64 / n as f64;
    format!("{share:.0} % ({:.1} to {:.1})", 100.0 * lower, 100.0 * upper)
}

fn center(ratios: &[f64]) -> f64 {
    let logarithms: Vec<f64> = ratios.iter().map(|ratio| ratio.ln()).collect();
    mean(&logarithms).unwrap_or(f64::NAN).exp()
}
