//! Folded stacks, a line each: outermost function first, and the number of samples. What
//! `flamegraph.pl`, inferno and speedscope read. And the flame graph itself.
//!
//! Source: Gregg, "The flame graph" (2016).

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use inferno::flamegraph::{Options, from_lines};

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

fn stack(profile: &Profile, sample: &Sample) -> String {
    let name = profile.threads.get(&sample.thread).map_or("", String::as_str);
    let mut text = clean(name);
    for &frame in sample.stack.iter().rev() {
        let frame = &profile.frames[frame];
        text.push(';');
        text.push_str(&clean(&frame.function));
        if frame.is_inlined {
            // Inferno's mark.
            text.push_str("_[i]");
        }
    }
    text
}

/// A semicolon parts frames, and a line ends a stack.
fn clean(name: &str) -> String {
    name.replace(';', ":").replace('\n', " ")
}

/// A flame graph as SVG.
///
/// # Errors
/// There are no samples.
pub fn flame(profile: &Profile) -> Result<Vec<u8>> {
    let text = folded(profile);
    let mut options = Options::default();
    options.title = if profile.header.command.is_empty() {
        format!("process {}", profile.header.pid)
    } else {
        profile.header.command.join(" ")
    };
    options.count_name = "samples".to_owned();
    let mut svg = Vec::new();
    from_lines(&mut options, text.lines(), &mut svg).context("no flame graph")?;
    Ok(svg)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::model::tests::profile;

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
