//! What a reader of a causal profile has to know beside its findings: why there are none, what
//! makes them doubtful. Found in the profile alone; how it is said is in `sentences`.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;

use serde::Serialize;

use super::file::{CausalProfile, Experiment, Progress};
use super::finding::{Analysis, Lack, Verdict};

/// Samples below which a run was too short for an experiment.
const MIN_SAMPLES: u64 = 100;

/// Mean of runnable threads above the number of processors that is more than chance.
const CROWDED: f64 = 1.1;

/// Share of the time of runnable threads below which samples miss more than chance.
const STARVED: f64 = 0.8;

/// Arrivals and departures that differ by more than this share are no steady queue.
const UNSTEADY: f64 = 0.05;

/// Visits of an experiment below which its ends weigh too much, as in coz.
const MIN_VISITS: u64 = 5;

/// Something to know.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "remark", rename_all = "kebab-case")]
pub enum Remark {
    /// There are no findings.
    Empty {
        /// Why.
        reason: Reason,
    },
    /// The file ends before the program did.
    CutOff,
    /// A process did not return 0.
    Ended {
        /// How it ended.
        reason: String,
    },
    /// There were more threads that could run than processors.
    Crowded {
        /// In so many experiments.
        experiments: usize,
        /// Of so many.
        of: usize,
        /// Mean number of such threads in them.
        runnable: f64,
        /// Processors.
        processors: u32,
    },
    /// Threads that could run had a processor for a part of the time only.
    Starved {
        /// Which part, by their samples.
        share: f64,
    },
    /// More begins than ends, so that Little's law does not hold.
    Unsteady {
        /// The progress point.
        point: String,
        /// What began.
        arrivals: u64,
        /// What ended.
        departures: u64,
    },
    /// Experiments in which a progress point was visited less than five times.
    FewVisits {
        /// So many.
        experiments: usize,
        /// Of so many.
        of: usize,
    },
    /// Experiments that were all delay.
    AllDelay {
        /// So many.
        experiments: usize,
    },
    /// Pairs of a place and a progress point that nothing is said of.
    LeftOut {
        /// Why.
        lack: Lack,
        /// So many.
        pairs: usize,
    },
    /// Findings of fewer than ten experiments.
    TooFew {
        /// So many.
        findings: usize,
    },
    /// Changes are those while a place runs: samples of the whole run are missing.
    NoPhases,
    /// Of several progress points, one was never visited.
    NotVisited {
        /// The progress point.
        point: String,
    },
}

/// Why there are no findings.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "why", rename_all = "kebab-case")]
pub enum Reason {
    /// Nothing but the header was written.
    NothingWritten,
    /// No sample at all.
    NoSamples {
        /// How long the program ran.
        elapsed_ns: u64,
        /// The interval of samples.
        period_ns: u64,
    },
    /// All samples are of code without debug information.
    NoDebugInformation {
        /// So many.
        samples: u64,
    },
    /// All samples are of code that is out of scope.
    OutOfScope {
        /// So many.
        samples: u64,
        /// Samples without a line.
        without_line: u64,
    },
    /// The program ended before an experiment did.
    TooShort {
        /// How long it ran.
        elapsed_ns: u64,
        /// Samples in scope.
        samples: u64,
    },
    /// There were samples, and no experiment: there is nothing that progress is known by.
    NoProgressPoint {
        /// Samples in scope.
        samples: u64,
    },
    /// Progress points were never visited in an experiment.
    NeverVisited {
        /// So many experiments.
        experiments: usize,
    },
    /// Experiments had no progress points.
    NoPoints {
        /// So many experiments.
        experiments: usize,
    },
    /// No place has experiments without speedup and enough with others.
    TooFewExperiments {
        /// So many experiments.
        experiments: usize,
        /// Of so many places.
        places: usize,
    },
}

/// All that there is to know.
#[must_use]
pub fn remarks(profile: &CausalProfile, analysis: &Analysis) -> Vec<Remark> {
    let mut remarks = Vec::new();
    if analysis.findings.is_empty() && profile.loads.is_empty() {
        remarks.push(Remark::Empty { reason: why_empty(profile, analysis) });
    }
    remarks.extend(ends(profile));
    remarks.extend(crowded(profile));
    remarks.extend(starved(profile));
    remarks.extend(points(profile, analysis));
    let all_delay = profile.experiments.iter().filter(|one| one.effective_ns() == 0).count();
    if all_delay > 0 {
        remarks.push(Remark::AllDelay { experiments: all_delay });
    }
    if !analysis.findings.is_empty() {
        remarks.extend(left_out(analysis));
        let lacks_phases = analysis.findings.iter().any(|finding| finding.phase.is_none());
        if lacks_phases && !profile.header.end_to_end {
            remarks.push(Remark::NoPhases);
        }
    }
    remarks
}

fn why_empty(profile: &CausalProfile, analysis: &Analysis) -> Reason {
    let experiments = profile.experiments.len();
    if experiments > 0 {
        let points = || profile.experiments.iter().flat_map(|one| &one.points);
        return if points().next().is_none() {
            Reason::NoPoints { experiments }
        } else if points().all(|point| count(point.progress) == 0) {
            Reason::NeverVisited { experiments }
        } else {
            let places: BTreeSet<_> = analysis.left_out.iter().map(|one| &one.location).collect();
            Reason::TooFewExperiments { experiments, places: places.len() }
        };
    }
    if profile.runs.is_empty() {
        return Reason::NothingWritten;
    }
    let sum = |count: fn(&super::file::Run) -> u64| profile.runs.iter().map(count).sum::<u64>();
    let samples = sum(|run| run.samples.iter().map(|place| place.count).sum());
    let without_line = sum(|run| run.samples_without_line.unwrap_or(0));
    let out_of_scope = sum(|run| run.samples_out_of_scope.unwrap_or(0));
    let elapsed_ns = sum(|run| run.elapsed_ns);
    if samples > 0 {
        return if samples < MIN_SAMPLES {
            Reason::TooShort { elapsed_ns, samples }
        } else {
            Reason::NoProgressPoint { samples }
        };
    }
    if out_of_scope > 0 {
        Reason::OutOfScope { samples: out_of_scope, without_line }
    } else if without_line > 0 {
        Reason::NoDebugInformation { samples: without_line }
    } else {
        Reason::NoSamples { elapsed_ns, period_ns: profile.header.period_ns }
    }
}

fn count(progress: Progress) -> u64 {
    match progress {
        Progress::Throughput { visits } => visits,
        Progress::Latency { arrivals, .. } => arrivals,
    }
}

fn ends(profile: &CausalProfile) -> Vec<Remark> {
    // Other tools' profiles do not tell how the program ended.
    if profile.header.command.is_empty() {
        return Vec::new();
    }
    if profile.ends.is_empty() {
        return vec![Remark::CutOff];
    }
    let mut reasons: Vec<&String> =
        profile.ends.iter().map(|end| &end.reason).filter(|reason| *reason != "exit 0").collect();
    reasons.sort();
    reasons.dedup();
    reasons.into_iter().map(|reason| Remark::Ended { reason: reason.clone() }).collect()
}

fn crowded(profile: &CausalProfile) -> Option<Remark> {
    let processors = profile.header.processors;
    let limit = f64::from(processors) * CROWDED;
    let crowded: Vec<&Experiment> =
        profile.experiments.iter().filter(|one| one.runnable_mean > limit).collect();
    if processors == 0 || crowded.is_empty() {
        return None;
    }
    let sum: f64 = crowded.iter().map(|one| one.runnable_mean).sum();
    Some(Remark::Crowded {
        experiments: crowded.len(),
        of: profile.experiments.len(),
        runnable: sum / crowded.len() as f64,
        processors,
    })
}

/// Time by samples, over that in which threads could run on the processors that there are.
fn starved(profile: &CausalProfile) -> Option<Remark> {
    let (period, processors) = (profile.header.period_ns, profile.header.processors);
    let known = |one: &&Experiment| one.runnable_mean > 0.0 && one.samples > 0;
    let experiments = || profile.experiments.iter().filter(known);
    let sampled: u64 = experiments().map(|one| one.samples * period).sum();
    let runnable: f64 = experiments()
        .map(|one| one.runnable_mean.min(f64::from(processors)) * one.duration_ns as f64)
        .sum();
    let share = sampled as f64 / runnable;
    (sampled > 0 && share < STARVED).then_some(Remark::Starved { share })
}

/// What progress points counted.
fn points(profile: &CausalProfile, analysis: &Analysis) -> Vec<Remark> {
    let mut remarks = Vec::new();
    let all = || profile.experiments.iter().flat_map(|one| &one.points);
    let names: BTreeSet<&String> = all().map(|point| &point.name).collect();
    for name in names {
        let progress = || all().filter(|point| point.name == *name).map(|point| point.progress);
        if progress().all(|progress| count(progress) == 0) && !analysis.findings.is_empty() {
            remarks.push(Remark::NotVisited { point: name.clone() });
        }
        let (mut arrivals, mut departures) = (0, 0);
        for one in progress() {
            if let Progress::Latency { arrivals: more, departures: less, .. } = one {
                arrivals += more;
                departures += less;
            }
        }
        if arrivals.abs_diff(departures) as f64 > UNSTEADY * arrivals.max(departures) as f64 {
            remarks.push(Remark::Unsteady { point: name.clone(), arrivals, departures });
        }
    }
    let few = |experiment: &&Experiment| {
        experiment.points.iter().any(|point| (1..MIN_VISITS).contains(&count(point.progress)))
    };
    let experiments = profile.experiments.iter().filter(few).count();
    if experiments > 0 && !profile.header.end_to_end {
        remarks.push(Remark::FewVisits { experiments, of: profile.experiments.len() });
    }
    remarks
}

fn left_out(analysis: &Analysis) -> Vec<Remark> {
    let mut remarks = Vec::new();
    for lack in [Lack::Baseline, Lack::Speedups] {
        let pairs = analysis.left_out.iter().filter(|one| one.lack == lack).count();
        if pairs > 0 {
            remarks.push(Remark::LeftOut { lack, pairs });
        }
    }
    let too_few = |one: &&super::finding::Finding| one.verdict == Verdict::TooFew;
    let findings = analysis.findings.iter().filter(too_few).count();
    if findings > 0 {
        remarks.push(Remark::TooFew { findings });
    }
    remarks
}

#[cfg(test)]
mod tests;
