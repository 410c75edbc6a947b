//! The schedule that an experiment decides on, and what follows from it.

use super::*;
use crate::measure::turns::Turns;
use crate::samples::Metric;

/// A comparison that takes turns; `schedule` if it was begun before.
fn by_turns(usual_budget: bool, schedule: Option<ScheduleRecord>) -> Experiment {
    let programs = [0, 1].map(|index| Program::new(index, None, "true").unwrap()).to_vec();
    let turns = Turns::Of(Duration::from_millis(3));
    let measurement = Measurement {
        conditions: Conditions { turns, ..Conditions::new(Metric::Cpu) },
        instruments: Vec::new(),
        metric_option: None,
    };
    let design = Design::mirrored(2, 100, 1);
    let command_line = Vec::new();
    let experiment = Experiment {
        usual_budget,
        schedule,
        ..Experiment::new(Command::Compare, command_line, programs, design, measurement)
    };
    decided(experiment)
}

fn decided(mut experiment: Experiment) -> Experiment {
    let warm_rounds = experiment.decide_schedule(&Stop::new()).unwrap().unwrap();
    assert_eq!(warm_rounds, 0);
    experiment
}

#[test]
fn by_turns_a_budget_that_nobody_gave_is_of_as_many_runs() {
    let usual = by_turns(true, None);
    assert_eq!(usual.design.blocks, 200);
    assert_eq!(usual.design.total_runs() - 2, 400);
    assert_eq!(by_turns(false, None).design.blocks, 100);
    assert_eq!(by_turns(true, usual.schedule).design.blocks, 100);
}

#[test]
fn what_was_begun_goes_on_by_its_schedule_whatever_would_be_decided_now() {
    let turn_ms = Some(7.0);
    let record = ScheduleRecord { by_turns: true, turn_ms, cpu: Some(0), ..Default::default() };
    let begun = by_turns(false, Some(record.clone()));
    assert!(begun.design.by_turns);
    let conditions = begun.measurement.conditions;
    assert_eq!((conditions.turn, conditions.cpu), (Some(Duration::from_millis(7)), Some(0)));
    assert_eq!(begun.schedule, Some(record));
    let alone = ScheduleRecord::one_after_the_other(None, "a pilot waited");
    let begun = by_turns(false, Some(alone.clone()));
    assert!(!begun.design.by_turns);
    assert_eq!((begun.measurement.conditions.turn, begun.schedule), (None, Some(alone)));
}
