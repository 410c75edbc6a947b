//! `szc compare`: two commands, interleaved blocks, one verdict.
//!
//! parse → measure → analyse → report. The number of blocks is fixed before the
//! first run, and the verdict is read once, at the end.
#![forbid(unsafe_code)]

mod options;

use std::ffi::OsString;
use std::io::{Read, Write};
use std::process::ExitCode;
use std::time::SystemTime;

use anyhow::{Context, Result};
use clap::Parser;

use self::options::{Options, programs_of};
use super::design::Design;
use super::session::{Checks, Ending, Findings, Observer, measure};
use super::{EXIT_INTERNAL, EXIT_PROGRAM, EXIT_SIGNAL_BASE, EXIT_USAGE, EXIT_VERDICT};
use crate::measure::child::stop_on_signals;
use crate::measure::machine::Machine;
use crate::measure::program::{Executable, Program};
use crate::measure::sample::{Metric, Sample};
use crate::report::comparison::{Comparison, MetricResult};
use crate::report::json::{
    self, DesignRecord, EndedRecord, FORMAT, ProgramRecord, ResultRecord, SamplesFile, VERSION,
};
use crate::report::progress::Progress;
use crate::report::text::{remarks, running_estimate, table, verdict_sentence};

/// Runs `szc compare` with the arguments after the word `compare`.
///
/// Prints to stdout and stderr; the exit code is one of those in [`super`].
#[must_use]
pub fn command(arguments: &[OsString]) -> ExitCode {
    let options = match Options::try_parse_from(arguments) {
        Ok(options) => options,
        Err(error) => {
            // A closed stdout or stderr leaves nobody to tell.
            let _ = error.print();
            let code = if error.use_stderr() { EXIT_USAGE } else { EXIT_VERDICT };
            return code.into();
        }
    };
    let programs = match programs_of(&options) {
        Ok(programs) => programs,
        Err(error) => {
            complain(&format!("{error:#}"));
            return EXIT_USAGE.into();
        }
    };
    match compare(&options, &programs, arguments) {
        Ok(code) => code.into(),
        Err(error) => {
            complain(&format!("{error:#}"));
            EXIT_INTERNAL.into()
        }
    }
}

fn compare(options: &Options, programs: &[Program; 2], arguments: &[OsString]) -> Result<u8> {
    if let Some(path) = &options.json {
        json::check_writable(path)?;
    }
    let created = SystemTime::now();
    let machine = Machine::current();
    let design = Design {
        blocks: options.blocks,
        runs_per_position: options.runs_per_block,
        warmup: options.warmup,
        seed: options.seed.map_or_else(draw_seed, Ok)?,
    };
    // Identified before the runs: a file rebuilt meanwhile is not the one that ran.
    let executables = programs.each_ref().map(Program::executable);
    if !options.quiet {
        say(&header(programs, &design));
    }
    let mut screen = Screen {
        progress: Progress::new(design.total_runs(), options.quiet),
        metric: options.metric,
    };
    for advice in machine.advice() {
        screen.warning(&advice);
    }
    let checks = Checks {
        output: !options.no_check_output,
        metric: options.metric,
        timeout: options.timeout,
    };
    let stop = stop_on_signals().context("cannot handle signals")?;
    let findings = measure(programs, &design, checks, stop, &mut screen)
        .context("cannot read the log of the measured programs")?;
    screen.progress.finish();

    let comparison = comparison_of(programs, &design, options.metric, &findings);
    let refused = matches!(findings.ending, Ending::Refused(_));
    if let Some(path) = &options.json {
        let file = SamplesFile {
            format: FORMAT.to_owned(),
            version: VERSION,
            created: json::iso_8601(created),
            szc_version: env!("CARGO_PKG_VERSION").to_owned(),
            command_line: ["szc", "compare"]
                .into_iter()
                .map(str::to_owned)
                .chain(arguments.iter().map(|word| word.to_string_lossy().into_owned()))
                .collect(),
            seed: design.seed,
            design: DesignRecord {
                blocks: design.blocks,
                complete_blocks: findings.complete_blocks,
                runs_per_position: design.runs_per_position,
                warmup: design.warmup,
                check_output: checks.output,
                timeout_s: options.timeout.map(|limit| limit.as_secs_f64()),
            },
            machine,
            programs: program_records(programs, executables, &findings),
            runs: findings.samples.clone(),
            ended: ended_record(&findings.ending),
            result: (!refused).then(|| ResultRecord::new(&comparison)).flatten(),
        };
        json::write(path, &file)?;
    }
    if let Ending::Refused(reason) = &findings.ending {
        complain(reason);
        return Ok(EXIT_PROGRAM);
    }
    report(&comparison, options.quiet);
    Ok(match findings.ending {
        Ending::Interrupted(signal) => EXIT_SIGNAL_BASE + u8::try_from(signal).unwrap_or_default(),
        _ => EXIT_VERDICT,
    })
}

/// A seed that is exact in JSON readers that know only doubles.
fn draw_seed() -> Result<u64> {
    let mut bytes = [0; 8];
    std::fs::File::open("/dev/urandom")
        .and_then(|mut file| file.read_exact(&mut bytes))
        .context("cannot draw a seed from /dev/urandom: give one with --seed")?;
    Ok(u64::from_le_bytes(bytes) >> 11)
}

fn comparison_of(
    programs: &[Program; 2],
    design: &Design,
    deciding: Metric,
    findings: &Findings,
) -> Comparison {
    Comparison {
        titles: programs.each_ref().map(Program::title),
        blocks: findings.complete_blocks,
        blocks_planned: design.blocks,
        runs_per_block: 2 * design.runs_per_position,
        deciding,
        results: Metric::ALL
            .iter()
            .filter_map(|metric| {
                MetricResult::new(&findings.samples, findings.complete_blocks, *metric)
            })
            .collect(),
        randomized: findings.states.each_ref().map(|state| state.not_randomized.is_none()),
    }
}

fn program_records(
    programs: &[Program; 2],
    executables: [Option<Executable>; 2],
    findings: &Findings,
) -> Vec<ProgramRecord> {
    programs
        .iter()
        .zip(executables)
        .zip(&findings.states)
        .map(|((program, executable), state)| ProgramRecord {
            label: program.side,
            name: program.name.clone(),
            command: program.command.clone(),
            via_shell: program.via_shell,
            executable,
            randomized: state.not_randomized.is_none(),
            not_randomized_reason: state.not_randomized.clone(),
            randomization: state.last_log.clone(),
        })
        .collect()
}

fn ended_record(ending: &Ending) -> EndedRecord {
    match ending {
        Ending::Complete => EndedRecord::Complete,
        Ending::Interrupted(signal) => EndedRecord::Interrupted { signal: *signal },
        Ending::Refused(reason) => EndedRecord::Refused { reason: reason.clone() },
    }
}

struct Screen {
    progress: Progress,
    metric: Metric,
}

impl Observer for Screen {
    fn run_done(&mut self) {
        self.progress.advance();
    }

    fn block_done(&mut self, blocks: u32, samples: &[Sample]) {
        if self.progress.is_visible()
            && let Some(result) = MetricResult::new(samples, blocks, self.metric)
        {
            self.progress.show(running_estimate(&result));
        }
    }

    fn warning(&mut self, text: &str) {
        self.progress.warn(text);
    }
}

fn header(programs: &[Program; 2], design: &Design) -> String {
    let mut text = String::new();
    for program in programs {
        text.push_str(&format!("{}: {}\n", program.title(), program.command));
    }
    text.push_str(&format!("--seed {}\n\n", design.seed));
    text
}

fn report(comparison: &Comparison, quiet: bool) {
    let sentence = verdict_sentence(comparison);
    if quiet {
        say(&format!("{sentence}\n"));
        return;
    }
    let mut text = String::new();
    if !comparison.results.is_empty() {
        text.push_str(&table(comparison));
        text.push('\n');
    }
    text.push_str(&sentence);
    text.push('\n');
    for remark in remarks(comparison) {
        text.push_str(&remark);
        text.push('\n');
    }
    say(&text);
}

/// Writes to stdout; a reader that has gone away is no error.
fn say(text: &str) {
    let mut stdout = std::io::stdout().lock();
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
}

fn complain(text: &str) {
    let _ = writeln!(std::io::stderr(), "szc compare: error: {text}");
}

#[cfg(test)]
mod tests;
