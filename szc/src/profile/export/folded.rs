//! Folded stacks, a line each: outermost function first, and the number of samples. What
//! `flamegraph.pl`, inferno and speedscope read. And the flame graph itself.

use std::collections::BTreeMap;

use anyhow::Result;
use inferno::flamegraph::Options;

use crate::profile::flame::{flame_graph, frame_name};
use crate::profile::model::{Profile, Sample};

/// The stacks.
#[must_use]
pub fn folded(profile: &Profile) -> String {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for sample in &profile.samples {
        *counts.entry(stack(profile, sample)).or_default() += 1;
    }
    counts.into_iter().map(|(stack, count)| format!("{stack} {count}\n")).collect()
}

/// The stacks of waits, with microseconds. Threads that could have gone on did not wait.
#[must_use]
pub fn folded_waits(profile: &Profile) -> String {
    let mut sums: BTreeMap<String, u64> = BTreeMap::new();
    for wait in profile.waits.iter().filter(|wait| !wait.is_preempted) {
        *sums.entry(stack(profile, &wait.sample)).or_default() += wait.ns;
    }
    sums.into_iter().map(|(stack, ns)| format!("{stack} {}\n", ns / 1_000)).collect()
}

fn stack(profile: &Profile, sample: &Sample) -> String {
    let name = profile.threads.get(&sample.thread).map_or("", String::as_str);
    let mut text = frame_name(name);
    for &frame in sample.stack.iter().rev() {
        let frame = &profile.frames[frame];
        text.push(';');
        text.push_str(&frame_name(&frame.function));
        if frame.is_inlined {
            // Inferno's mark.
            text.push_str("_[i]");
        }
    }
    text
}

/// A flame graph as SVG.
///
/// # Errors
/// There are no samples.
pub fn flame(profile: &Profile) -> Result<Vec<u8>> {
    graph(profile, &folded(profile), "samples")
}

/// The same of waits.
///
/// # Errors
/// There are no waits.
pub fn flame_of_waits(profile: &Profile) -> Result<Vec<u8>> {
    graph(profile, &folded_waits(profile), "µs")
}

fn graph(profile: &Profile, text: &str, unit: &str) -> Result<Vec<u8>> {
    let title = if profile.header.command.is_empty() {
        format!("process {}", profile.header.pid)
    } else {
        profile.header.command.join(" ")
    };
    flame_graph(text, title, unit, Options::default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::model::tests::{profile, with_waits};

    #[test]
    fn stacks_of_waits_have_microseconds() {
        let waits: [(&[&str], u64, bool); 3] =
            [(&["b", "a"], 1_500_000, false), (&["b", "a"], 500_000, false), (&["a"], 9, true)];
        let found = with_waits(&waits);
        assert_eq!(folded_waits(&found), "a;a;b 2000\n");
        let svg = String::from_utf8(flame_of_waits(&found).unwrap()).unwrap();
        assert!(svg.contains("b (2,000 µs, 100.00%)"), "{svg}");
    }

    #[test]
    fn equal_stacks_are_one_line_from_the_outermost_function_on() {
        let found = profile(&[(0, None, &["b", "a"]), (1, None, &["a"]), (2, None, &["b", "a"])]);
        assert_eq!(folded(&found), "a;a 1\na;a;b 2\n");
    }

    #[test]
    fn a_name_with_a_semicolon_is_one_frame() {
        assert_eq!(folded(&profile(&[(0, None, &["a;b"])])), "a;a:b 1\n");
    }

    #[test]
    fn a_flame_graph_shows_each_function() {
        let svg = flame(&profile(&[(0, None, &["inner", "outer"])])).unwrap();
        let text = String::from_utf8(svg).unwrap();
        assert!(text.contains("<svg") && text.contains("inner (1 samples, 100.00%)"));
        assert!(flame(&profile(&[])).is_err());
    }
}
