//! Remarks and verdicts in words: what was found, what it means, what to do next.
#![forbid(unsafe_code)]

use super::diagnosis::{Reason, Remark};
use super::file::CausalProfile;
use super::finding::{Change, Finding, Kind, Lack, Verdict};
use crate::report::number::percent;

/// A remark as sentences.
#[must_use]
pub fn remark(remark: &Remark) -> String {
    match remark {
        Remark::Empty { reason } => format!("No findings: {}", why_empty(*reason)),
        Remark::CutOff => {
            "The file ends before the program did: what follows is of the time up to \
                           then."
                .to_owned()
        }
        Remark::Ended { reason } => format!("The program did not return 0: {reason}."),
        Remark::Crowded { experiments, of, runnable, processors } => format!(
            "In {experiments} of {of} experiments {runnable:.1} threads could run in the mean, on \
             {processors} processors. A delay costs a thread nothing while it waits for a \
             processor, so virtual speedups there are larger than they say, up to {:.1} times. Use \
             no more threads than processors.",
            runnable / f64::from((*processors).max(1))
        ),
        Remark::Starved { share } => format!(
            "Samples account for {:.0} % of the time in which threads could run: the rest they \
             waited for a processor that others had, or were in the kernel. A speedup shortens \
             the sampled time only, so changes are smaller than on a machine of one's own.",
            100.0 * share
        ),
        Remark::Unsteady { point, arrivals, departures } => format!(
            "{point}: {arrivals} arrivals and {departures} departures. Latency follows from the \
             number under way only where as many leave as arrive."
        ),
        Remark::FewVisits { experiments, of } => format!(
            "In {experiments} of {of} experiments a progress point was visited less than 5 times: \
             a visit more or less at the ends weighs much there. Longer experiments, or a progress \
             point that is visited more often, give narrower intervals."
        ),
        Remark::AllDelay { experiments } => format!(
            "In {} no more time passed than was delayed: they count as \
             taking no time.",
            number(*experiments, "experiment")
        ),
        Remark::LeftOut { lack: Lack::Baseline, pairs } => format!(
            "{} left out, for want of an experiment without speedup to compare with.",
            number(*pairs, "place")
        ),
        Remark::LeftOut { lack: Lack::Speedups | Lack::Visits, pairs } => format!(
            "{} left out for too few different speedups. A longer run, or more runs (-n), reaches \
             more of them.",
            number(*pairs, "place")
        ),
        Remark::TooFew { findings } => format!(
            "{} without a verdict: fewer than 10 experiments, or equal ones. More runs (-n) give \
             one.",
            number(*findings, "place")
        ),
        Remark::NoPhases => {
            "Samples of whole runs are missing: a place that runs in a part of the \
                             run only is shown as if that were all of it."
                .to_owned()
        }
        Remark::NotVisited { point } => {
            format!("{point} was not visited in any experiment, and is not shown.")
        }
    }
}

fn why_empty(reason: Reason) -> String {
    match reason {
        Reason::NothingWritten => {
            "the file has nothing but its header. The program ended at once, \
                                   or was killed before the first experiment."
                .to_owned()
        }
        Reason::NoSamples { elapsed_ns, period_ns } => format!(
            "no sample was taken in {}, at one for every {} of CPU time. The program waits, or is \
             too short: give it more to do.",
            seconds(elapsed_ns),
            seconds(period_ns)
        ),
        Reason::NoDebugInformation { samples } => format!(
            "all {samples} samples are of code without debug information. Compile it with -g, or \
             ask for functions."
        ),
        Reason::OutOfScope { samples, without_line } => format!(
            "all {samples} samples with a name are out of scope{}. Widen the scope (-b, -s).",
            if without_line == 0 {
                String::new()
            } else {
                format!(", and {without_line} have no debug information")
            }
        ),
        Reason::TooShort { elapsed_ns, samples } => format!(
            "the program ran for {} and had {samples} samples in scope, and an experiment takes \
             about half a second. Give it more to do, or use --end-to-end with several runs (-n).",
            seconds(elapsed_ns)
        ),
        Reason::NoProgressPoint { samples } => format!(
            "{samples} samples in scope, and no experiment: no progress point was reached. Mark \
             one in the source (COZ_PROGRESS), name one, or use --end-to-end."
        ),
        Reason::NeverVisited { experiments } => format!(
            "in {experiments} experiments no progress point was visited. It may be at the end of \
             the program, where --end-to-end is right, or is visited too seldom."
        ),
        Reason::NoPoints { experiments } => format!(
            "{experiments} experiments have no progress points. Mark one in the source \
             (COZ_PROGRESS), name one, or use --end-to-end."
        ),
        Reason::TooFewExperiments { experiments, places } => format!(
            "{experiments} experiments of {places} places are too few: a place needs experiments \
             without speedup, and 5 different speedups. Use a longer run, more runs (-n), or a \
             narrower scope (-s)."
        ),
    }
}

fn seconds(ns: u64) -> String {
    match ns as f64 / 1e9 {
        seconds if seconds >= 1.0 => format!("{seconds:.1} s"),
        seconds => format!("{:.1} ms", seconds * 1e3),
    }
}

/// A verdict as a sentence.
#[must_use]
pub fn verdict(finding: &Finding, tolerance: f64) -> String {
    let place = &finding.location;
    match finding.verdict {
        Verdict::Gain => format!("Making {place} faster makes the program faster."),
        Verdict::Contention => format!(
            "Making {place} faster makes the program slower: what runs there is in the way of \
             others."
        ),
        Verdict::NoEffect => format!(
            "Whatever is done to {place} changes the program by no more than {} of its speedup.",
            percent(tolerance)
        ),
        Verdict::Unresolved { experiments_needed } => format!(
            "Not known, which is not “no effect”: about {experiments_needed} experiments on \
             {place} may tell."
        ),
        Verdict::TooFew => format!("Too few experiments on {place} for a verdict."),
    }
}

/// What a progress point tells.
#[must_use]
pub fn point(name: &str, kind: Kind) -> String {
    match kind {
        Kind::Throughput => format!("Progress point {name}"),
        Kind::Latency => format!("Latency of {name}"),
    }
}

/// A change in percent with its sign.
#[must_use]
pub fn change(value: f64) -> String {
    let text = format!("{:+.1} %", 100.0 * value);
    if text == "-0.0 %" { "+0.0 %".to_owned() } else { text.replace('-', "−") }
}

/// An interval in percent; open ends are said.
#[must_use]
pub fn interval(of: &Change) -> String {
    let end = |end: Option<f64>| {
        end.map_or_else(|| "open".to_owned(), |end| change(end).replace(" %", ""))
    };
    format!("{} to {} %", end(of.lower), end(of.upper))
}

/// What was run and how much was measured, in one line.
#[must_use]
pub fn header(profile: &CausalProfile) -> String {
    let mut places: Vec<_> = profile.experiments.iter().map(|one| &one.selected).collect();
    places.sort();
    places.dedup();
    let mut runs: Vec<_> = profile.experiments.iter().map(|one| one.run).collect();
    runs.sort_unstable();
    runs.dedup();
    let delay: u64 = profile.experiments.iter().map(|one| one.delay_ns).sum();
    let time: u64 = profile.experiments.iter().map(|one| one.duration_ns).sum();
    let delays =
        if delay == 0 { String::new() } else { format!(", {} of it delays", seconds(delay)) };
    format!(
        "{} on {} in {}: {}{delays}",
        number(profile.experiments.len(), "experiment"),
        number(places.len(), "place"),
        number(runs.len(), "run"),
        seconds(time)
    )
}

fn number(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// How intervals and verdicts come about.
pub const METHOD: &str = "Changes are ratios of sums of time and visits over experiments, against \
    those of the same place without speedup. Intervals are confidence sequences by the t e-value, \
    valid however often one looks; verdicts share one error rate of 5 % by Holm's procedure.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_have_a_sign_and_open_ends_are_said() {
        assert_eq!(change(0.1234), "+12.3 %");
        assert_eq!(change(-0.1234), "−12.3 %");
        assert_eq!(change(-0.000_01), "+0.0 %");
        let open = Change { value: 0.1, lower: None, upper: Some(0.2) };
        assert_eq!(interval(&open), "open to +20.0 %");
    }
}
