//! The text of `perf script`, which many viewers read.
//!
//! Source: perf-script(1) of Linux's tools/perf.

use std::fmt::Write as _;

use crate::profile::model::Profile;

/// The samples as text.
#[must_use]
pub fn script(profile: &Profile) -> String {
    let mut text = String::new();
    let period = profile.header.period_ns;
    for sample in &profile.samples {
        let name = profile.threads.get(&sample.thread).map_or("", String::as_str);
        // perf's own readers take the name up to the numbers, which it may not look like.
        let name = if name.is_empty() { ":-1" } else { name };
        let (pid, tid) = sample.thread;
        let (seconds, micros) = (sample.time / 1_000_000_000, sample.time / 1_000 % 1_000_000);
        let cpu = sample.cpu;
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{name} {pid:>7}/{tid:<7} [{cpu:03}] {seconds:>5}.{micros:06}: {period:>10} \
             task-clock: "
        );
        for (index, &frame) in sample.stack.iter().enumerate() {
            let frame = &profile.frames[frame];
            let address = if index == 0 { sample.ip } else { 0 };
            let (function, offset, library) = (&frame.function, frame.offset, &frame.library);
            let _ = if frame.is_inlined {
                writeln!(text, "\t{address:16x} {function} (inlined)")
            } else {
                writeln!(text, "\t{address:16x} {function}+{offset:#x} ({library})")
            };
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::model::tests::profile;

    #[test]
    fn a_sample_is_a_line_with_its_stack_below_and_an_empty_line() {
        let text = script(&profile(&[(3_000_001_000, None, &["b", "a"])]));
        let expected = "a       7/7       [000]     3.000001:    1000000 task-clock: \n\
                        \t               0 b+0x0 (a)\n\
                        \t               0 a+0x0 (a)\n\n";
        assert_eq!(text, expected);
    }
}
