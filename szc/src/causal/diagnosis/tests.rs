//! Each reason for an empty profile, and each doubt, by a profile that has it.

use super::*;
use crate::causal::analysis::tests::{profile, simulated};
use crate::causal::analysis::{Question, analyse};
use crate::causal::file::tests::{experiment, line};
use crate::causal::file::{End, LocationSamples, Point, Run};
use crate::causal::sentences::remark;
use szc_stats::calibration::noise::Noise;

fn found(profile: &CausalProfile) -> Vec<Remark> {
    remarks(profile, &analyse(profile, &Question::default()))
}

fn ended(runs: Vec<Run>, experiments: Vec<Experiment>) -> CausalProfile {
    let end = End { reason: "exit 0".into(), ..End::default() };
    CausalProfile { runs, ends: vec![end], ..profile(experiments) }
}

fn reason(profile: &CausalProfile) -> Reason {
    let remarks = found(profile);
    let [Remark::Empty { reason }] = remarks[..] else { panic!("{remarks:?}") };
    assert!(remark(&remarks[0]).starts_with("No findings: "));
    reason
}

fn sampled(count: u64) -> Run {
    let samples = vec![LocationSamples { location: line("a.c", 1), count, unaltered: None }];
    Run { elapsed_ns: 300_000_000, samples, ..Run::default() }
}

#[test]
fn an_empty_profile_says_why() {
    assert_eq!(reason(&ended(Vec::new(), Vec::new())), Reason::NothingWritten);
    let run = Run { elapsed_ns: 5, ..Run::default() };
    let expected = Reason::NoSamples { elapsed_ns: 5, period_ns: 1_000_000 };
    assert_eq!(reason(&ended(vec![run.clone()], Vec::new())), expected);
    let run = Run { samples_without_line: Some(40), ..run };
    let expected = Reason::NoDebugInformation { samples: 40 };
    assert_eq!(reason(&ended(vec![run.clone()], Vec::new())), expected);
    let run = Run { samples_out_of_scope: Some(30), ..run };
    let expected = Reason::OutOfScope { samples: 30, without_line: 40 };
    assert_eq!(reason(&ended(vec![run], Vec::new())), expected);
    let expected = Reason::TooShort { elapsed_ns: 300_000_000, samples: 99 };
    assert_eq!(reason(&ended(vec![sampled(99)], Vec::new())), expected);
    let expected = Reason::NoProgressPoint { samples: 100 };
    assert_eq!(reason(&ended(vec![sampled(100)], Vec::new())), expected);
}

#[test]
fn experiments_that_say_nothing_say_why() {
    let one = |visits| experiment(line("a.c", 1), 0.0, 5_000, visits);
    let with = |experiments| reason(&ended(vec![sampled(100)], experiments));
    let without_points = Experiment { points: Vec::new(), ..one(0) };
    assert_eq!(with(vec![without_points]), Reason::NoPoints { experiments: 1 });
    assert_eq!(with(vec![one(0), one(0)]), Reason::NeverVisited { experiments: 2 });
    let expected = Reason::TooFewExperiments { experiments: 2, places: 1 };
    assert_eq!(with(vec![one(9), one(9)]), expected);
}

#[test]
fn more_threads_than_processors_are_told_with_what_follows() {
    let mut experiments = simulated(&mut Noise::new(1), &line("a.c", 1), 0.2, 20);
    experiments.iter_mut().take(5).for_each(|one| one.runnable_mean = 5.0);
    experiments[6].runnable_mean = 2.1;
    let remarks = found(&ended(Vec::new(), experiments));
    let crowded = Remark::Crowded { experiments: 5, of: 20, runnable: 5.0, processors: 2 };
    assert!(remarks.contains(&crowded), "{remarks:?}");
    assert!(remark(&crowded).contains("up to 2.5 times"));
}

#[test]
fn time_without_a_processor_is_told() {
    let mut experiments = simulated(&mut Noise::new(1), &line("a.c", 1), 0.2, 20);
    for one in &mut experiments {
        // 200 samples of a millisecond in half a second of a thread.
        (one.samples, one.runnable_mean) = (200, 1.0);
    }
    let mut profile = ended(Vec::new(), experiments);
    let remarks = found(&profile);
    assert!(remarks.contains(&Remark::Starved { share: 0.4 }), "{remarks:?}");
    profile.experiments.iter_mut().for_each(|one| one.samples = 450);
    assert_eq!(found(&profile), [Remark::NoPhases]);
}

#[test]
fn doubtful_experiments_are_counted() {
    let mut experiments = simulated(&mut Noise::new(1), &line("a.c", 1), 0.2, 20);
    let latency = Progress::Latency { arrivals: 100, departures: 50, mean_length: 3.0 };
    experiments[0].points.push(Point { name: "q".into(), progress: latency });
    let never = Progress::Throughput { visits: 0 };
    experiments[0].points.push(Point { name: "never".into(), progress: never });
    experiments[1].points[0].progress = Progress::Throughput { visits: 4 };
    experiments[2].delay_ns = experiments[2].duration_ns;
    experiments.extend(simulated(&mut Noise::new(2), &line("a.c", 2), 0.0, 9));
    let remarks = found(&profile(experiments));
    let expected = [
        Remark::CutOff,
        Remark::NotVisited { point: "never".into() },
        Remark::Unsteady { point: "q".into(), arrivals: 100, departures: 50 },
        Remark::FewVisits { experiments: 1, of: 29 },
        Remark::AllDelay { experiments: 1 },
        Remark::LeftOut { lack: Lack::Speedups, pairs: 1 },
        Remark::TooFew { findings: 1 },
        Remark::NoPhases,
    ];
    assert_eq!(remarks, expected);
    assert!(remarks.iter().all(|one| remark(one).ends_with('.')));
}

#[test]
fn how_the_program_ended_is_told_once() {
    let experiments = simulated(&mut Noise::new(1), &line("a.c", 1), 0.2, 20);
    let mut profile = ended(Vec::new(), experiments);
    for _ in 0..2 {
        profile.ends.push(End { reason: "signal 11".into(), ..End::default() });
    }
    let killed = Remark::Ended { reason: "signal 11".into() };
    assert_eq!(found(&profile), [killed, Remark::NoPhases]);
}
