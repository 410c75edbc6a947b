//! A profile as a table.
#![forbid(unsafe_code)]

use super::diagnostics::remarks;
use super::hotness::{Blocks, By, Row, rows};
use super::model::Profile;

/// The table of the hottest ones, and what is to be known of it.
#[must_use]
pub fn table(profile: &Profile, by: By, top: usize) -> String {
    let mut text = heading(profile);
    if !profile.samples.is_empty() {
        let (rows, blocks) = rows(profile, by);
        text += &body(profile, &rows, by, top);
        text += &format!("\n{}\n", basis(blocks));
    }
    for remark in remarks(profile) {
        text += &remark;
        text.push('\n');
    }
    text
}

fn heading(profile: &Profile) -> String {
    let header = &profile.header;
    let program = if header.command.is_empty() {
        format!("process {}", header.pid)
    } else {
        header.command.join(" ")
    };
    let seconds = profile.samples.len() as f64 * profile.interval_ns() / 1e9;
    format!(
        "{program}\n{} samples, one every {:.3} ± {:.0} % ms: {seconds:.3} s of CPU time\n\n",
        profile.samples.len(),
        header.period_ns as f64 / 1e6,
        header.jitter * 100.0
    )
}

fn body(profile: &Profile, rows: &[Row], by: By, top: usize) -> String {
    let name = match by {
        By::Function | By::Inlined => "function",
        By::Line => "line",
        By::Library => "library",
        By::Thread => "thread",
    };
    let mut text = line(["own", "95 % interval", "total", "seconds"], name, "");
    let interval_ns = profile.interval_ns();
    for row in rows.iter().take(top) {
        let own = percent(row.own.value);
        let interval = format!("{} to {}", percent(row.own.low), percent(row.own.high));
        let seconds = format!("{:.3}", row.hits as f64 * interval_ns / 1e9);
        let numbers = [own.as_str(), &interval, &percent(row.total), &seconds];
        text += &line(numbers, &row.name, &row.library);
    }
    if rows.len() > top {
        text += &format!("… and {} more (--top)\n", rows.len() - top);
    }
    text
}

fn line([own, interval, total, seconds]: [&str; 4], name: &str, library: &str) -> String {
    let place = if library.is_empty() { String::new() } else { format!("  [{library}]") };
    format!("{own:>8}   {interval:>20}   {total:>8}   {seconds:>9}   {name}{place}\n")
}

fn percent(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}

fn basis(blocks: Blocks) -> String {
    match blocks {
        Blocks::Layouts(count) => {
            format!("Intervals hold over layouts: the program had {count} of them.")
        }
        Blocks::Times(1) => "Intervals are those of independent samples.".to_owned(),
        Blocks::Times(count) => format!(
            "Intervals are over {count} stretches of the run, in one layout or few. A program \
             built by szc gets them over layouts."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::model::tests::profile;

    #[test]
    fn a_table_shows_shares_with_intervals_and_seconds() {
        let samples: Vec<(u64, Option<u64>, &[&str])> = (0..400)
            .map(|index| {
                (index * 1_000_000, None, if index % 4 == 0 { &["b"][..] } else { &["a"] })
            })
            .collect();
        let text = table(&profile(&samples), By::Function, 1);
        assert!(text.contains("400 samples, one every 1.000 ± 30 % ms: 0.400 s"), "{text}");
        assert!(text.contains("75.00 %") && text.contains("0.300"), "{text}");
        assert!(text.contains("… and 1 more"), "{text}");
        assert!(text.contains("over 20 stretches"), "{text}");
    }

    #[test]
    fn a_profile_without_samples_is_no_table_but_a_reason() {
        let text = table(&profile(&[]), By::Function, 10);
        assert!(text.contains("No sample") && !text.contains("interval\n"), "{text}");
    }
}
