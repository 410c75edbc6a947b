//! How long a step will take, said before it begins.
#![forbid(unsafe_code)]

use std::time::Duration;

use anyhow::Result;
use szc::samples::Metric;
use szc::samples::sample::values_of;
use szc_stats::describe::median;

use super::record::State;
use super::setting::Setting;
use super::step::{BUILDING_S, Method, Step};
use super::subject::Subject;
use crate::{build, run};

const PATIENCE: Duration = Duration::from_secs(600);

/// Seconds that the step will take on a program.
///
/// # Errors
/// When the program cannot be run, or results cannot be read.
pub fn seconds(setting: &Setting<'_>, step: Step, subject: &Subject<'_>) -> Result<f64> {
    let runs = f64::from(subject.evaluation.runs);
    let configurations = subject.lines.len() as f64;
    // One run of each for warming up.
    let number = configurations * (runs + 1.0);
    let one = seconds_of_run(setting, step, subject)?;
    Ok(match step.method() {
        // Whole blocks, the last of which begins in time.
        Some(Method::Builds) => f64::from(BUILDING_S).max(configurations * runs * one),
        _ => number * one,
    })
}

/// From results of this or another step, else by a run (or a build) now.
fn seconds_of_run(setting: &Setting<'_>, step: Step, subject: &Subject<'_>) -> Result<f64> {
    let builds = step.method() == Some(Method::Builds);
    let has_samples = |other: &&Step| other.method().is_some_and(Method::has_samples);
    for other in Step::all().iter().filter(has_samples) {
        if (other.method() == Some(Method::Builds)) != builds {
            continue;
        }
        if let State::Measured(measured) = setting.archive.state(*other, subject.program.name())?
            && measured.evaluation.size == subject.evaluation.size
        {
            let walls = values_of(&measured.file.runs, 0, &Metric::Wall);
            return Ok(median(&walls).unwrap_or_default());
        }
    }
    if builds {
        let rebuilt = build::build(
            setting.suite,
            subject.program,
            &build::Recipe { again: true, ..setting.usual_recipe("none") },
            &setting.cache,
            &setting.jobserver,
        );
        let built = rebuilt.map_err(build::Missing::into_error)?;
        return Ok(built.seconds.unwrap_or_default());
    }
    Ok(run::run(subject.first()?, None, PATIENCE)?.seconds)
}

/// "2 h 05 min", "3 min", "40 s".
pub fn duration(seconds: f64) -> String {
    let whole = Duration::try_from_secs_f64(seconds.ceil()).unwrap_or_default().as_secs();
    match (whole / 3600, whole / 60 % 60) {
        (0, 0) => format!("{whole} s"),
        (0, minutes) => format!("{minutes} min"),
        (hours, minutes) => format!("{hours} h {minutes:02} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_told_in_the_unit_that_fits() {
        for (seconds, text) in
            [(0.2, "1 s"), (59.0, "59 s"), (200.0, "3 min"), (7500.0, "2 h 05 min")]
        {
            assert_eq!(duration(seconds), text);
        }
    }
}
