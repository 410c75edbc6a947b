//! The evaluation of the STABILIZER paper (chapter 4 of Curtsinger's thesis), on the open suite.
//!
//! [`step`] says what is compared, [`subject`] builds a program for it, [`measure`] runs `szc
//! compare` or `szc run`, and [`record`] keeps their samples. All figures are made from these
//! samples, by [`results`], with the statistics of szc.
#![forbid(unsafe_code)]

mod counts;
mod ended;
mod estimate;
mod heap;
#[cfg(test)]
mod link_orders_tests;
mod measure;
mod options;
mod record;
mod results;
mod setting;
mod step;
mod subject;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::ValueEnum;

use self::ended::{Done, fail};
use self::estimate::duration;
use self::measure::Ended;
use self::options::{ALL, RESULTS};
use self::record::{Archive, Evaluation, State};
use self::setting::Setting;
use self::step::{Method, Step};
use crate::say::say;
use crate::suite::{Program, Suite};

pub use self::options::Options;

/// A program could not be measured; the others were.
const EXIT_FAILED: u8 = 1;

/// Does what was asked for.
///
/// # Errors
/// When the command line makes no sense, or szc cannot do its work.
pub fn run(options: &Options, suite: &Suite, file: &Path, cache: &Path) -> Result<ExitCode> {
    let programs = suite.select(&options.programs, false)?;
    if options.request == RESULTS {
        let archive = Archive::new(&options.results(suite));
        results::write(&archive, &programs, &options.page(suite))?;
        return Ok(ExitCode::SUCCESS);
    }
    let setting = Setting::new(options, suite, file, cache)?;
    let steps: Vec<Step> = match Step::from_str(&options.request, false) {
        Ok(step) => vec![step],
        Err(_) => Step::all().to_vec(),
    };
    let mut failed = false;
    for step in steps {
        match carry_out(&setting, step, &programs)? {
            Done::Well => {}
            Done::Failed => failed = true,
            Done::Interrupted(code) => {
                return Ok(ExitCode::from(u8::try_from(code).unwrap_or(EXIT_FAILED)));
            }
        }
    }
    if options.request == ALL && !options.plan {
        results::write(&setting.archive, &programs, &options.page(suite))?;
    }
    Ok(ExitCode::from(if failed { EXIT_FAILED } else { 0 }))
}

fn carry_out(setting: &Setting<'_>, step: Step, programs: &[&Program]) -> Result<Done> {
    match step.method() {
        None => return heap::carry_out(setting, step),
        Some(Method::Counts) => return counts::carry_out(setting, programs),
        Some(Method::Compare | Method::Split | Method::Builds) => {}
    }
    if step.source() != step && setting.options.request == ALL {
        // Its samples are those of a step that is carried out.
        return Ok(Done::Well);
    }
    let missing = missing(setting, step, programs)?;
    say!("== {}: {} of {} programs to measure", step.name(), missing.len(), programs.len());
    let mut failed = false;
    let mut subjects = Vec::new();
    for program in missing {
        match subject::ready(setting, step, program) {
            Ok(subject) => subjects.push(subject),
            Err(error) => {
                failed = true;
                fail(setting, step, program, &format!("{error:#}"))?;
            }
        }
    }
    let mut total = 0.0;
    for subject in &subjects {
        let seconds = estimate::seconds(setting, step, subject)?;
        say!("{:<13} about {}", subject.program.name(), duration(seconds));
        total += seconds;
    }
    say!("{:<13} about {}", "all", duration(total));
    if setting.options.plan {
        return Ok(if failed { Done::Failed } else { Done::Well });
    }
    for (number, subject) in (1..).zip(&subjects) {
        say!("-- {} ({number} of {})", subject.program.name(), subjects.len());
        match measure::measure(setting, step, subject)? {
            Ended::Measured => {}
            Ended::Refused(reason) => {
                failed = true;
                fail(setting, step, subject.program, &reason)?;
            }
            Ended::Interrupted(code) => return Ok(Done::Interrupted(code)),
        }
    }
    Ok(if failed { Done::Failed } else { Done::Well })
}

/// The programs whose samples are not there, or are to be made again.
///
/// # Errors
/// When there are samples of another experiment, which would become one table with the new ones.
fn missing<'a>(
    setting: &Setting<'_>,
    step: Step,
    programs: &[&'a Program],
) -> Result<Vec<&'a Program>> {
    let mut missing = Vec::new();
    for program in programs {
        let state = setting.archive.state(step, program.name())?;
        match state {
            State::Measured(measured) if !setting.options.again => {
                check_same(setting, step, &measured.evaluation)?;
            }
            _ => missing.push(*program),
        }
    }
    Ok(missing)
}

fn check_same(setting: &Setting<'_>, step: Step, evaluation: &Evaluation) -> Result<()> {
    let (size, runs) = (setting.options.size.name(), setting.options.runs(step));
    if evaluation.size != size || evaluation.runs != runs {
        bail!(
            "{} has samples of {} with {} runs at size {}, and {runs} at size {size} are asked \
             for: --again measures anew, --out names another folder",
            setting.results.display(),
            evaluation.program,
            evaluation.runs,
            evaluation.size,
        );
    }
    Ok(())
}
