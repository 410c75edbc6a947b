//! `szc profile check`: is a profiler actionable?
//!
//! Causality analysis (Mytkowicz, Diwan, Hauswirth and Sweeney, PLDI 2010; section 3.3 of
//! Mytkowicz's dissertation): hot functions are made longer, one at a time, and the time that the
//! profiler gives a function is held against the time of the program. What is added is known, so
//! the slope is that of an instrument ([`szc_stats::instrumented`]).
#![forbid(unsafe_code)]

mod options;
mod record;
pub(super) mod runs;
mod subjects;
mod text;

use anyhow::{Context as _, Result, anyhow};
use szc_stats::random::Draws;

pub(super) use self::options::Options;
use self::record::{Computation, LeftOut, Record, Run, Subject, VERSION};
use self::runs::{Longer, Subjected};
use self::subjects::{Candidate, Functions, drawn};
use super::profilers::{Hotness, Profiler};
use crate::lab::exit::{EXIT_SIGNAL_BASE, EXIT_VERDICT};
use crate::lab::failure::Failure;
use crate::lab::options::draw_seed;
use crate::lab::output::{say, write_json};
use crate::measure::stop::stop_on_signals;

/// By how much of its time a pilot must make the program slower to tell what a round costs.
const PILOT_GROWTH: f64 = 0.2;
/// By how much lengths of pilots grow.
const PILOT_FACTOR: f64 = 8.0;

/// Carries it out. The exit code is one of [`crate::lab::exit`].
///
/// # Errors
/// Nothing could be measured.
pub(super) fn check(options: &Options) -> Result<u8, Failure> {
    let profiler = Profiler::parse(&options.profiler).map_err(Failure::Usage)?;
    let seed = options.seed.map_or_else(draw_seed, Ok)?;
    let stop = stop_on_signals().context("cannot handle signals")?;
    let program = Subjected::new(&options.command, seed, stop)?;
    let mut check = Check { options, profiler, program, draws: Draws::new(seed), base_s: 0.0 };
    let mut record = Record {
        szc_check: VERSION,
        command: options.command.clone(),
        profiler: options.profiler.clone(),
        seed,
        delta: options.delta,
        left_out: Vec::new(),
        subjects: Vec::new(),
    };
    let measured = check.measure(&mut record);
    if !record.subjects.is_empty() {
        say(&text::report(&record))?;
        if let Some(path) = &options.json {
            write_json(path, "the runs", &record)?;
        }
    }
    match measured {
        Err(Failure::Interrupted(signal)) => {
            Ok(EXIT_SIGNAL_BASE + u8::try_from(signal).unwrap_or_default())
        }
        measured => measured.map(|()| EXIT_VERDICT),
    }
}

struct Check<'a> {
    options: &'a Options,
    profiler: Profiler,
    program: Subjected<'a>,
    draws: Draws,
    /// CPU time of the program as it is.
    base_s: f64,
}

impl Check<'_> {
    /// Everything, subject by subject. What was measured before an error stays in the record.
    fn measure(&mut self, record: &mut Record) -> Result<(), Failure> {
        let functions = Functions::of(&self.program.path).map_err(Failure::Usage)?;
        self.progress("where the program's time goes");
        let own = Profiler::own().map_err(Failure::Internal)?;
        let (base_s, hotness) = self.program.run(Some(&own), None)?;
        self.base_s = base_s;
        let hotness = hotness.unwrap_or_default();
        let (candidates, left_out) = self.candidates(&functions, &hotness)?;
        record.left_out = left_out;
        for candidate in &candidates {
            for &computation in &self.options.computations {
                let sizes = self.sizes(&candidate.symbol, computation)?;
                let mut subject = Subject {
                    function: candidate.function.clone(),
                    symbol: candidate.symbol.clone(),
                    share: candidate.share,
                    computation,
                    runs: Vec::new(),
                    slope: None,
                };
                self.runs(&sizes, &mut subject)?;
                record.subjects.push(subject);
            }
        }
        Ok(())
    }

    /// The functions that are made longer.
    fn candidates(
        &mut self,
        functions: &Functions,
        hotness: &Hotness,
    ) -> Result<(Vec<Candidate>, Vec<LeftOut>), Failure> {
        let bytes = self.options.computations.iter().map(|one| one.bytes()).max();
        let bytes = bytes.unwrap_or_default();
        if !self.options.function.is_empty() {
            let named = functions.named(&self.options.function, hotness, bytes);
            return Ok((named.map_err(Failure::Usage)?, Vec::new()));
        }
        let (candidates, left_out) = functions.among(hotness, bytes);
        let count = usize::from(self.options.functions);
        let drawn = drawn(candidates, &left_out, count, &mut self.draws);
        Ok((drawn.map_err(Failure::Usage)?, left_out))
    }

    /// Lengths at equal distances, the longest of which makes the program so much slower as was
    /// asked for.
    fn sizes(&self, symbol: &str, computation: Computation) -> Result<Vec<u32>, Failure> {
        self.progress(&format!("how long {} rounds of {symbol} are", computation.name()));
        let growth = |rounds: f64| -> Result<f64, Failure> {
            let longer = Longer { symbol, computation, rounds: in_range(rounds) };
            Ok(self.program.run(None, Some(longer))?.0 / self.base_s - 1.0)
        };
        let mut rounds = PILOT_FACTOR;
        while rounds < f64::from(u32::MAX) {
            let found = growth(rounds)?;
            if found >= PILOT_GROWTH {
                // Others may have made the program slower: the longest must be what it seems.
                let longest = rounds * self.options.growth / found;
                let found = growth(longest)?;
                if found >= self.options.growth / 2.0 {
                    return Ok(sizes(self.options, longest * self.options.growth / found));
                }
            }
            rounds *= PILOT_FACTOR;
        }
        Err(Failure::Usage(anyhow!(
            "{symbol} is called too seldom: a thousand million rounds in each call make the \
             program no slower"
        )))
    }

    /// The runs under the profiler, in random order.
    fn runs(&mut self, sizes: &[u32], subject: &mut Subject) -> Result<(), Failure> {
        let runs = usize::from(self.options.runs);
        let mut planned: Vec<u32> = sizes.iter().flat_map(|&size| vec![size; runs]).collect();
        self.draws.shuffle(&mut planned);
        for (index, &rounds) in planned.iter().enumerate() {
            self.progress(&format!(
                "{}, {}: run {} of {}",
                subject.function,
                subject.computation.name(),
                index + 1,
                planned.len()
            ));
            let longer =
                Longer { symbol: &subject.symbol, computation: subject.computation, rounds };
            let (program_s, hotness) = self.program.run(Some(&self.profiler), Some(longer))?;
            let hotness = hotness.unwrap_or_default();
            let function_s = hotness.seconds(&subject.function, program_s);
            subject.runs.push(Run { rounds, program_s, function_s });
        }
        let slope = subject.fit();
        subject.slope =
            slope.map(|slope| [slope.value, slope.interval.lower, slope.interval.upper]);
        Ok(())
    }

    fn progress(&self, what: &str) {
        if !self.options.quiet {
            eprintln!("szc profile check: {what}");
        }
    }
}

/// A number of rounds.
fn in_range(rounds: f64) -> u32 {
    // Within the range of the type.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let rounds = rounds.round().clamp(1.0, f64::from(u32::MAX)) as u32;
    rounds
}

/// So many lengths up to `longest`, all different.
fn sizes(options: &Options, longest: f64) -> Vec<u32> {
    let count = u32::from(options.sizes);
    let longest = longest.clamp(f64::from(count), f64::from(u32::MAX));
    let size = |index: u32| in_range(longest * f64::from(index) / f64::from(count));
    (1..=count).map(size).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    #[command(no_binary_name = true)]
    struct Line {
        #[command(flatten)]
        options: Options,
    }

    #[test]
    fn lengths_are_at_equal_distances_and_all_different() {
        let options = |args: &[&str]| Line::try_parse_from(args).unwrap().options;
        let usual = options(&["--", "a"]);
        assert_eq!(sizes(&usual, 1600.0), [200, 400, 600, 800, 1000, 1200, 1400, 1600]);
        assert_eq!(sizes(&usual, 0.3), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(sizes(&options(&["--sizes", "2", "--", "a"]), 1e12), [1 << 31, u32::MAX]);
        let both = options(&["--computations", "array,fibonacci", "--", "a"]);
        assert_eq!(both.computations, [Computation::Array, Computation::Fibonacci]);
    }
}
