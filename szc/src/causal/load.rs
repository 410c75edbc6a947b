//! What follows from runs under a greater load: what a program would do then.
//!
//! Arrivals are sped up virtually, by delays of all other threads. Runs with that are compared with
//! runs without. Source: Curtsinger, 2016, chapter 6.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;

use serde::Serialize;
use szc_stats::dose::{Observation, Reduction, levels};
use szc_stats::sequential::ERROR_RATE;

use super::arrivals::{ArrivalCounts, Load};
use super::file::{CausalProfile, LoadRun, Progress};
use super::finding::{Change, Kind};
use super::sentences::{change, interval};

/// What a greater load does to a progress point.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct LoadFinding {
    /// The point.
    pub point: String,
    /// What is told of it.
    pub kind: Kind,
    /// By what share more is done in a time, or requests take longer; none if too few runs tell.
    pub change: Option<Change>,
    /// Runs, with and without.
    pub runs: usize,
    /// Share of what began that did not end, under the load.
    pub unfinished: f64,
}

/// What the runs of a profile say, by progress point.
#[must_use]
pub fn findings(runs: &[LoadRun]) -> Vec<LoadFinding> {
    let mut series: BTreeMap<(&str, Kind), Vec<Observation>> = BTreeMap::new();
    let mut open: BTreeMap<&str, [u64; 2]> = BTreeMap::new();
    for run in runs {
        let seconds = run.duration_ns.saturating_sub(run.delay_ns) as f64 / 1e9;
        for point in &run.points {
            let (kind, amount, count) = match point.progress {
                Progress::Throughput { visits } => (Kind::Throughput, seconds, visits),
                Progress::Latency { arrivals, departures, mean_length } => {
                    if run.is_amplified {
                        let sums = open.entry(&point.name).or_default();
                        sums[0] += arrivals;
                        sums[1] += departures;
                    }
                    (Kind::Latency, seconds * mean_length, arrivals)
                }
            };
            let dose = f64::from(u8::from(run.is_amplified));
            let observation = Observation { dose, amount, count: count as f64 };
            series.entry((&point.name, kind)).or_default().push(observation);
        }
    }
    let finding = |((point, kind), observations): ((&str, Kind), Vec<Observation>)| {
        let levels = levels(&observations).unwrap_or_default();
        let reduction = levels.iter().find(|level| level.dose == 1.0);
        let [begun, ended] = open.get(point).copied().unwrap_or_default();
        LoadFinding {
            point: point.to_owned(),
            kind,
            change: reduction.map(|level| increase(&level.reduction, kind)),
            runs: observations.len(),
            unfinished: begun.saturating_sub(ended) as f64 / begun.max(1) as f64,
        }
    };
    series.into_iter().map(finding).collect()
}

/// Of a time per visit that gets less: by what share visits come more often. Of a time that
/// requests take: by what share it gets longer.
fn increase(reduction: &Reduction, kind: Kind) -> Change {
    let bounds = reduction.interval(ERROR_RATE);
    let [value, lower, upper] =
        [reduction.value(), bounds.lower, bounds.upper].map(|less| match kind {
            Kind::Throughput if less >= 1.0 => f64::INFINITY,
            Kind::Throughput => 1.0 / (1.0 - less) - 1.0,
            Kind::Latency => -less,
        });
    let (lower, upper) = if kind == Kind::Latency { (upper, lower) } else { (lower, upper) };
    let finite = |end: f64| end.is_finite().then_some(end);
    Change { value, lower: finite(lower), upper: finite(upper) }
}

/// What arrived, and by what it was sped up.
#[derive(Clone, Copy, Debug, Serialize, PartialEq)]
pub struct Arrived {
    /// Arrivals a second as it is; none without runs of that.
    pub rate: Option<f64>,
    /// With the greater load; none where that is that of experiments.
    pub amplified_rate: Option<f64>,
    /// Mean time between arrivals of a thread as it is, without pauses.
    pub interval_ns: f64,
    /// The least one.
    pub least_ns: Option<u64>,
    /// By what each was sped up.
    pub speedup_ns: f64,
}

/// What arrived in a profile; nothing without a load, or if nothing arrived.
#[must_use]
pub fn arrived(profile: &CausalProfile) -> Option<Arrived> {
    let runs = |is_amplified: bool| {
        let runs = profile.loads.iter().filter(move |run| run.is_amplified == is_amplified);
        let without_delays = |run: &LoadRun| run.duration_ns.saturating_sub(run.delay_ns);
        let ns: u64 = runs.clone().map(without_delays).sum();
        (sum(runs.map(|run| run.arrivals)), ns)
    };
    let ((base, base_ns), (mut amplified, amplified_ns)) = (runs(false), runs(true));
    if profile.loads.is_empty() {
        amplified = sum(profile.runs.iter().filter_map(|run| run.arrivals));
    }
    let unaltered = if base.count > 0 { base } else { amplified };
    if profile.header.load.is_none() || unaltered.count == 0 {
        return None;
    }
    let rate = |count: u64, ns: u64| (ns > 0).then(|| count as f64 * 1e9 / ns as f64);
    let mean = |sum: u64, count: u64| sum as f64 / count.max(1) as f64;
    Some(Arrived {
        rate: rate(base.count, base_ns),
        amplified_rate: rate(amplified.count, amplified_ns),
        interval_ns: mean(unaltered.interval_ns, unaltered.count),
        least_ns: unaltered.least_ns,
        speedup_ns: mean(amplified.ahead_ns, amplified.count),
    })
}

fn sum(all: impl Iterator<Item = ArrivalCounts>) -> ArrivalCounts {
    all.fold(ArrivalCounts::default(), |sum, one| ArrivalCounts {
        count: sum.count + one.count,
        interval_ns: sum.interval_ns + one.interval_ns,
        least_ns: [sum.least_ns, one.least_ns].into_iter().flatten().min(),
        ahead_ns: sum.ahead_ns + one.ahead_ns,
    })
}

/// What a profile says of a greater load, in words; nothing if there was none.
#[must_use]
pub fn sentences(profile: &CausalProfile) -> Vec<String> {
    let is_measured = !profile.loads.is_empty() || !profile.runs.is_empty();
    let Some(load) = profile.header.load.filter(|_| is_measured) else { return Vec::new() };
    let asked = match load {
        Load::Factor(factor) => format!("{factor} times the load"),
        Load::ArrivalSpeedupNs(step) => format!("Every arrival {step} ns sooner"),
    };
    let experiments = if profile.loads.is_empty() { " in all experiments" } else { "" };
    let arrivals = arrived(profile).map_or_else(|| NO_ARRIVALS.to_owned(), arrivals);
    let mut said = vec![format!("{asked}{experiments}: {arrivals}")];
    for finding in findings(&profile.loads) {
        let LoadFinding { point, kind, runs, .. } = &finding;
        let Some(found) = finding.change else {
            said.push(format!("{point}: too few of {runs} runs have it (-n)."));
            continue;
        };
        let what = match kind {
            Kind::Throughput => "done in a time",
            Kind::Latency => "time that requests take",
        };
        let (value, interval) = (change(found.value), interval(&found));
        said.push(format!("{point}, {what}: {value}, 95 %: {interval}; {runs} runs."));
        if finding.unfinished > 0.05 {
            said.push(format!(
                "{point}: {:.0} % of what began under the load had not ended: it waits longer \
                 the longer the load lasts, so that the time that requests take says little.",
                100.0 * finding.unfinished
            ));
        }
    }
    if !profile.loads.is_empty() {
        said.push("Intervals are confidence sequences, each by itself.".to_owned());
    }
    said.push(LIMITS.to_owned());
    said
}

const LIMITS: &str = "Only threads of the program are faster against arrivals: disks, networks \
    and programs that szc does not run answer as they do now. What the threads do that arrivals \
    come on is sped up with them, so they should do nothing else than wait for arrivals or make \
    them.";

const NO_ARRIVALS: &str = "nothing arrived. Mark where it does, by COZ_ARRIVAL or COZ_BEGIN of \
    szc's coz.h, or name a function or line (--arrival).";

/// How often things arrived, and by what they were sped up.
fn arrivals(arrived: Arrived) -> String {
    let rates = match (arrived.rate, arrived.amplified_rate) {
        (None, _) => String::new(),
        (Some(rate), None) => format!("{rate:.1} arrivals a second as it is. "),
        (Some(rate), Some(amplified)) => {
            format!("{rate:.1} arrivals a second as it is, {amplified:.1} with it. ")
        }
    };
    let least = arrived
        .least_ns
        .map_or_else(String::new, |ns| format!(", {:.3} at least", ns as f64 / 1e6));
    format!(
        "{rates}A thread has one every {:.3} ms{least}; it was sped up by {:.3} ms.",
        arrived.interval_ns / 1e6,
        arrived.speedup_ns / 1e6
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::causal::file::{Header, Point, Run};

    /// Runs in which 100 are done in `seconds`, of which `delay` are delays.
    fn run(is_amplified: bool, seconds: f64, delay: f64) -> LoadRun {
        let ns = |seconds: f64| {
            u64::try_from(std::time::Duration::from_secs_f64(seconds).as_nanos()).unwrap()
        };
        let progress = Progress::Throughput { visits: 100 };
        let latency = Progress::Latency { arrivals: 100, departures: 90, mean_length: 2.0 };
        LoadRun {
            run: 0,
            process: 1,
            is_amplified,
            start_ns: 0,
            duration_ns: ns(seconds),
            delay_ns: ns(delay),
            runnable_mean: 1.0,
            arrivals: ArrivalCounts {
                count: 100,
                interval_ns: ns(seconds),
                least_ns: Some(8_000_000),
                ahead_ns: ns(delay),
            },
            points: vec![
                Point { name: "done".into(), progress },
                Point { name: "request".into(), progress: latency },
            ],
        }
    }

    fn runs() -> Vec<LoadRun> {
        let noise = [0.0, 0.01, -0.01, 0.005, -0.005, 0.002, -0.002, 0.004];
        noise.iter().flat_map(|n| [run(false, 1.0 + n, 0.0), run(true, 1.0 - n, 0.5)]).collect()
    }

    #[test]
    fn what_is_done_twice_as_fast_is_so_with_an_interval() {
        let found = findings(&runs());
        let done = found.iter().find(|one| one.point == "done").unwrap();
        let change = done.change.unwrap();
        assert!((change.value - 1.0).abs() < 0.03, "{change:?}");
        let [lower, upper] = [change.lower.unwrap(), change.upper.unwrap()];
        assert!(0.9 < lower && lower < 1.0 && 1.0 < upper && upper < 1.1, "{change:?}");
        let latency = found.iter().find(|one| one.point == "request").unwrap();
        assert!((latency.change.unwrap().value + 0.5).abs() < 0.02, "{latency:?}");
        assert!((latency.unfinished - 0.1).abs() < 1e-9);
    }

    #[test]
    fn a_report_has_rates_changes_and_what_is_not_amplified() {
        let header = Header { load: Some(Load::Factor(2.0)), ..Header::default() };
        let profile = CausalProfile { header, loads: runs(), ..CausalProfile::default() };
        let said = sentences(&profile).join("\n");
        assert!(said.starts_with("2 times the load: ") && said.contains(" 200."), "{said}");
        assert!(said.contains("8.000 at least; it was sped up by 5.000 ms"), "{said}");
        assert!(said.contains("done, done in a time: +100."), "{said}");
        assert!(said.contains("10 % of what began") && said.contains("disks, networks"), "{said}");
        assert!(sentences(&CausalProfile::default()).is_empty());
    }

    #[test]
    fn without_runs_to_compare_nothing_is_said_of_a_point() {
        assert!(findings(&[run(true, 1.0, 0.5)]).iter().all(|one| one.change.is_none()));
    }

    #[test]
    fn experiments_under_a_load_say_by_what_arrivals_were_sped_up() {
        let run = |interval_ns, least_ns| Run {
            arrivals: Some(ArrivalCounts {
                count: 10,
                interval_ns,
                least_ns: Some(least_ns),
                ahead_ns: interval_ns / 4,
            }),
            ..Run::default()
        };
        let load = Some(Load::Factor(4.0 / 3.0));
        let profile = CausalProfile {
            header: Header { load, ..Header::default() },
            runs: vec![run(30_000_000, 2_000_000), run(50_000_000, 3_000_000)],
            ..CausalProfile::default()
        };
        let found = arrived(&profile).unwrap();
        assert_eq!((found.rate, found.amplified_rate), (None, None));
        assert_eq!((found.interval_ns, found.least_ns), (4e6, Some(2_000_000)));
        assert!((found.speedup_ns - 1e6).abs() < 1e-6, "{found:?}");
        let said = sentences(&profile);
        let [load, limits] = &said[..] else { panic!("{said:?}") };
        assert!(load.contains("in all experiments: A thread has one every 4.000 ms"), "{load}");
        assert!(load.ends_with("2.000 at least; it was sped up by 1.000 ms."), "{load}");
        assert!(limits.contains("disks, networks"), "{limits}");
    }

    #[test]
    fn nothing_that_arrived_is_said() {
        let quiet = LoadRun { arrivals: ArrivalCounts::default(), ..run(true, 1.0, 0.0) };
        let header = Header { load: Some(Load::Factor(2.0)), ..Header::default() };
        let profile = CausalProfile { header, loads: vec![quiet], ..CausalProfile::default() };
        assert!(sentences(&profile)[0].starts_with("2 times the load: nothing arrived"));
        assert_eq!(arrived(&profile), None);
    }
}
