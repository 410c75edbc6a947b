//! `perf record`, by the text of `perf script`.
//!
//! Source: perf-script(1). A sample is a line of event, period, address and symbol; with callers
//! the address and the callers follow, one a line.
#![forbid(unsafe_code)]

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use super::hotness::Hotness;
use crate::measure::names::readable;

/// Name of its file.
pub const FILE: &str = "perf.data";

/// Reads a recording.
pub fn read(perf: &str, path: &Path) -> Result<Hotness> {
    let output = Command::new(perf)
        .args(["script", "--no-demangle", "--no-inline", "-F", "event,period,ip,sym", "-i"])
        .arg(path)
        .output()
        .with_context(|| format!("cannot run {perf}"))?;
    if !output.status.success() {
        bail!("{perf} script: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(parse(&String::from_utf8_lossy(&output.stdout)))
}

/// Reads the text.
fn parse(text: &str) -> Hotness {
    let mut hotness = Hotness { in_seconds: true, ..Hotness::default() };
    let mut period = None;
    let mut callee: Option<String> = None;
    for line in text.lines() {
        let mut words = line.split_whitespace().peekable();
        let Some(first) = words.next() else { continue };
        if let (Ok(number), Some(event)) = (first.parse::<f64>(), words.peek())
            && event.ends_with(':')
        {
            // Clocks count nanoseconds; other events have no unit of time.
            hotness.in_seconds &= event.starts_with("cpu-clock") || event.starts_with("task-clock");
            words.next();
            period = Some(number / 1e9);
            callee = None;
            let address = words.next();
            if address.is_none() {
                continue;
            }
        }
        let name = words.collect::<Vec<_>>().join(" ");
        let name = if name == "[unknown]" { String::new() } else { name };
        if let Some(period) = period.take() {
            hotness.add(&name, period);
        } else if let Some(callee) = &callee {
            hotness.calls.insert((readable(&name), callee.clone()));
        }
        callee = Some(readable(&name));
    }
    hotness
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_of_a_clock_are_seconds_of_the_function_of_their_address() {
        let text = "     250000 cpu-clock:ppp:      5612e00b3f16 hot\n\
                    \x20    250000 cpu-clock:ppp:      5612e00b3f20 _ZN1a1bEv\n\
                    \x20    500000 cpu-clock:ppp:  ffffffff815a573e [unknown]\n";
        let hotness = parse(text);
        assert!((hotness.seconds("hot", 9.0) - 0.000_25).abs() < 1e-12, "{hotness:?}");
        assert!((hotness.share("a::b()") - 0.25).abs() < 1e-12);
        assert!((hotness.total - 0.001).abs() < 1e-12);
    }

    #[test]
    fn callers_follow_their_sample_and_cycles_are_no_seconds() {
        let text = "   1000 cycles:u: \n\t  401000 inner\n\t  402000 outer\n\n\
                    \x20  3000 cycles:u: \n\t  402000 outer\n\n";
        let hotness = parse(text);
        assert!(!hotness.in_seconds);
        assert!((hotness.share("outer") - 0.75).abs() < 1e-12, "{hotness:?}");
        assert_eq!(hotness.calls, [("outer".to_owned(), "inner".to_owned())].into());
    }
}
