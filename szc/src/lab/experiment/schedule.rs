//! Decides before the first block how the runs of an experiment are scheduled, and says why.
#![forbid(unsafe_code)]

use std::time::Duration;

use anyhow::{Context, Result};

use crate::lab::session::{Conditions, Ending, pilot};
use crate::measure::child::usable_cpus;
use crate::measure::program::Program;
use crate::measure::stop::Stop;
use crate::measure::turns::{Fitness, Turns, USUAL_TURN};
use crate::measure::user_figure;
use crate::samples::design::{Arrangement, Design};
use crate::samples::{Metric, ScheduleRecord};

/// A schedule, and whether a pilot found it.
pub(super) struct Scheduled {
    pub(super) record: ScheduleRecord,
    pub(super) piloted: bool,
}

/// The schedule of an experiment that has none yet; or why the experiment is over.
///
/// # Errors
/// When szc itself cannot work.
pub(super) fn decide(
    programs: &[Program],
    design: &Design,
    conditions: &Conditions,
    stop: &Stop,
) -> Result<Result<Scheduled, Ending>> {
    let without_pilot = |record| Ok(Ok(Scheduled { record, piloted: false }));
    let alone = |reason: &str| ScheduleRecord::one_after_the_other(conditions.cpu, reason);
    if conditions.turns == Turns::Off {
        return without_pilot(alone("--turns off"));
    }
    if let Some(reason) = forbidden(design, conditions) {
        return without_pilot(alone(reason));
    }
    let cpu = match conditions.cpu {
        Some(cpu) => Some(cpu),
        // Processor 0 has most of the interrupts.
        None => usable_cpus().context("cannot ask for the CPUs of this process")?.last().copied(),
    };
    if let Turns::Of(turn) = conditions.turns {
        let reason = format!("--turns {}", conditions.turns);
        return without_pilot(by_turns(turn, cpu, reason));
    }
    let outcomes = match pilot(programs, design, conditions, stop)
        .context("cannot read the log of the measured programs")?
    {
        Ok(outcomes) => outcomes,
        Err(ending) => return Ok(Err(ending)),
    };
    let fits: Vec<Fitness> = outcomes.iter().map(Fitness::of).collect();
    let objection = programs.iter().zip(&fits).find_map(|(program, fitness)| {
        Some(format!("{}: {}", program.label, fitness.objection()?))
    });
    let least = fits.iter().map(|fitness| fitness.busy.min(1.0)).fold(1.0, f64::min);
    let record = match objection {
        Some(reason) => alone(&reason),
        None => {
            let reason = format!(
                "alone, each computed for at least {:.0} % of its time",
                (100.0 * least).floor()
            );
            by_turns(USUAL_TURN, cpu, reason)
        }
    };
    Ok(Ok(Scheduled { record, piloted: true }))
}

fn by_turns(turn: Duration, cpu: Option<usize>, reason: String) -> ScheduleRecord {
    let turn_ms = Some(turn.as_secs_f64() * 1e3);
    ScheduleRecord { by_turns: true, turn_ms, cpu, reason, ..ScheduleRecord::default() }
}

/// Why turns make no sense or would mislead, as far as it is known without a run.
fn forbidden(design: &Design, conditions: &Conditions) -> Option<&'static str> {
    let has_several = match design.arrangement {
        Arrangement::Mirrored | Arrangement::Layouts => design.programs >= 2,
        Arrangement::Parts => true,
        Arrangement::Groups => false,
    };
    if !has_several {
        return Some("there is one program");
    }
    match &conditions.metric {
        Metric::Wall => return Some("wall time passes during the turns of the others"),
        Metric::Figure(name) if name == user_figure::NAME => {
            return Some(
                "what a program prints may be a time, which passes during the turns of \
                         the others",
            );
        }
        Metric::Figure(name) if name == "instructions" || name == "simulated-cycles" => {
            return Some("what is simulated does not depend on the machine");
        }
        Metric::Rows | Metric::Row(_) => {
            return Some("a harness measures time, which passes during the turns of the others");
        }
        Metric::Cpu | Metric::Rss | Metric::Figure(_) => {}
    }
    (conditions.prepare.is_some() || conditions.cleanup.is_some())
        .then_some("--prepare and --cleanup belong to one run at a time")
}
