//! What a reader of a profile has to know of it: how good its samples are, and why there are none.
#![forbid(unsafe_code)]

use szc_sampler::form::MAX_STACK_BYTES;

use super::file::{Clocks, Cut};
use super::intervals::Autocorrelation;
use super::model::Profile;

/// Sentences about a profile, one a line.
#[must_use]
pub fn remarks(profile: &Profile) -> Vec<String> {
    let mut remarks = Vec::new();
    if profile.samples.is_empty() {
        remarks.push(why_empty(profile));
    }
    let Some(end) = &profile.end else {
        remarks
            .push("The recording was cut off: what follows is of the time up to then.".to_owned());
        return with_intervals(profile, remarks);
    };
    if let Some(outcome) = end.outcome.as_ref().filter(|outcome| *outcome != "returned 0") {
        remarks.push(format!("The program was {}.", outcome.replace("returned", "ended with")));
    }
    if end.lost != 0 {
        remarks.push(format!(
            "{} records were lost: szc had no time to read them. Record less often (-F).",
            end.lost
        ));
    }
    if profile.header.clocks != Clocks::Processors {
        remarks.push(short_threads(end.missed_threads, end.missed_ns));
    }
    if profile.header.clocks == Clocks::ThreadsInUserMode {
        remarks.push(
            "The kernel's share is missing: it is not shown at kernel.perf_event_paranoid of 2."
                .to_owned(),
        );
    }
    with_intervals(profile, remarks)
}

fn short_threads(threads: u64, ns: u64) -> String {
    if threads == 0 && ns == 0 {
        return "Each thread had a clock of its own from its beginning on.".to_owned();
    }
    format!(
        "Threads had clocks of their own, which begin later than they do: {threads} threads ended \
         before, and {:.3} s of the others were missed. Threads shorter than an interval are \
         counted too seldom. Clocks of processors count them right: they need \
         kernel.perf_event_paranoid of 0 or less, or CAP_PERFMON.",
        ns as f64 / 1e9
    )
}

fn with_intervals(profile: &Profile, mut remarks: Vec<String>) -> Vec<String> {
    if !profile.unreadable.is_empty() {
        remarks.push(format!(
            "No names for what cannot be read here: {}.",
            profile.unreadable.join(", ")
        ));
    }
    if profile.unmapped != 0 {
        remarks.push(format!(
            "{} addresses belong to no file: code that was made at run time.",
            profile.unmapped
        ));
    }
    if profile.in_unread_layouts != 0 {
        remarks.push(format!(
            "{} addresses lie in layouts of moved code that were gone before szc read them: the \
             last ones of a process that ended, or of a szc that had to wait for a processor. \
             Layouts that last longer (SZC_INTERVAL_MS) and longer runs have fewer of them.",
            profile.in_unread_layouts
        ));
    }
    remarks.extend(cut_chains(profile));
    remarks.extend(profile.inferred.remarks());
    let found = intervals(profile);
    if !found.lags.is_empty() {
        remarks.push(format!(
            "Autocorrelation of {} intervals: {} of {} lags are within 2/√n = {:.4}, as those of \
             random intervals are in 95 %.",
            found.count,
            found.within(),
            found.lags.len(),
            found.bound()
        ));
    }
    remarks
}

/// How many call chains end too early, why, and what to do. Where the kernel
/// follows frame pointers nobody knows.
fn cut_chains(profile: &Profile) -> Option<String> {
    let total: u64 = profile.cut.values().sum();
    if total == 0 {
        return None;
    }
    let mut reasons = Vec::new();
    for (cut, count) in &profile.cut {
        reasons.push(match cut {
            Cut::Stack => {
                let bytes = profile.header.stack_bytes.unwrap_or_default();
                let more = if bytes < MAX_STACK_BYTES {
                    format!("more with --call-graph dwarf,{MAX_STACK_BYTES}")
                } else {
                    "the most that the kernel gives, and of one stack".to_owned()
                };
                format!("{count} go beyond {bytes} bytes of the stack ({more})")
            }
            Cut::Tables => {
                let mut files: Vec<_> = profile.without_tables.iter().collect();
                files.sort_by_key(|(path, count)| (u64::MAX - **count, *path));
                let files: Vec<&str> =
                    files.iter().take(3).map(|(path, _)| path.as_str()).collect();
                format!("{count} end in code without unwind tables ({})", files.join(", "))
            }
            Cut::Gone => {
                format!("{count} in a process that was gone before its copies were looked at")
            }
        });
    }
    let samples = profile.samples.len() + profile.waits.len();
    Some(format!("Callers of {total} of {samples} samples end too early: {}.", reasons.join("; ")))
}

/// The intervals between samples of the clocks of processors. Those of threads hold what the
/// thread waited.
#[must_use]
pub fn intervals(profile: &Profile) -> Autocorrelation {
    if profile.header.clocks != Clocks::Processors {
        return Autocorrelation::default();
    }
    Autocorrelation::of(&profile.intervals())
}

/// Why there are no samples, and what to do.
fn why_empty(profile: &Profile) -> String {
    let period = profile.header.period_ns as f64 / 1e6;
    let Some(end) = &profile.end else {
        return "No sample: the recording was cut off before the first one.".to_owned();
    };
    if end.lost != 0 {
        return "No sample: all records were lost, because szc had no time to read them. Record \
                less often (-F)."
            .to_owned();
    }
    match end.cpu_ns {
        Some(cpu_ns) if (cpu_ns as f64) < 3.0 * profile.header.period_ns as f64 => format!(
            "No sample: the program took {:.3} ms of CPU time, and there is a sample every \
             {period} ms. Record more often (-F 10000), or a longer run.",
            cpu_ns as f64 / 1e6
        ),
        Some(cpu_ns) => format!(
            "No sample, although the program took {:.3} ms of CPU time: its descendants may have \
             left the processes that are followed, or it was in the kernel, whose share is only \
             shown at kernel.perf_event_paranoid below 2.",
            cpu_ns as f64 / 1e6
        ),
        None => format!(
            "No sample: the process waited all the time, or took less CPU time than the interval \
             of {period} ms. Look longer, or record more often (-F)."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::file::End;
    use crate::profile::model::tests::profile;

    fn empty(end: Option<End>) -> String {
        remarks(&Profile { end, ..profile(&[]) }).join("\n")
    }

    #[test]
    fn an_empty_profile_says_why_it_is_and_what_to_do() {
        let short = End { cpu_ns: Some(800_000), ..End::default() };
        assert!(empty(Some(short)).contains("0.800 ms of CPU time"));
        let long = End { cpu_ns: Some(80_000_000), ..End::default() };
        assert!(empty(Some(long)).contains("although"));
        assert!(empty(Some(End { lost: 3, ..End::default() })).contains("all records were lost"));
        assert!(empty(Some(End::default())).contains("waited all the time"));
        assert!(empty(None).contains("cut off before the first one"));
    }

    #[test]
    fn clocks_of_threads_come_with_what_they_missed() {
        let mut found = profile(&[(0, None, &["a"])]);
        assert_eq!(remarks(&found), [""; 0]);
        found.header.clocks = Clocks::ThreadsInUserMode;
        found.end = Some(End { missed_threads: 3, missed_ns: 2_000_000, ..End::default() });
        let text = remarks(&found).join("\n");
        assert!(text.contains("3 threads ended") && text.contains("0.002 s"), "{text}");
        assert!(text.contains("kernel's share is missing"), "{text}");
    }

    #[test]
    fn callers_that_end_too_early_are_counted_by_what_was_missing() {
        let mut found = profile(&[(0, None, &["a"]), (9, None, &["a"])]);
        assert!(!remarks(&found).join("\n").contains("too early"));
        found.header.stack_bytes = Some(8192);
        found.cut = [(Cut::Stack, 1), (Cut::Tables, 1)].into();
        found.without_tables = [("/opt/jit".to_owned(), 1)].into();
        let text = remarks(&found).join("\n");
        assert!(text.contains("of 2 of 2 samples end too early: 1 go beyond 8192 bytes"), "{text}");
        assert!(text.contains("dwarf,65528") && text.contains("tables (/opt/jit)"), "{text}");
    }

    #[test]
    fn what_ended_badly_or_was_lost_is_said() {
        let end = End { outcome: Some("killed by SIGSEGV".into()), lost: 7, ..End::default() };
        let text = remarks(&Profile { end: Some(end), ..profile(&[(0, None, &["a"])]) }).join("\n");
        assert!(text.contains("killed by SIGSEGV") && text.contains("7 records"), "{text}");
    }
}
