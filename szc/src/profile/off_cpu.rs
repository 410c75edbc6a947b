//! Where threads waited: times on no processor, by where they were when these began.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet};

use super::hotness::{By, keys};
use super::model::{Profile, Wait};

/// What waits come to at one place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Row {
    /// Waits in which it was innermost, and their time.
    waits: u64,
    ns: u64,
    /// Time of the waits in which it was anywhere.
    total_ns: u64,
}

/// The table of the longest waits.
#[must_use]
pub fn table(profile: &Profile, by: By, top: usize) -> String {
    let waited = |is_preempted: bool| {
        profile.waits.iter().filter(move |wait| wait.is_preempted == is_preempted)
    };
    let sum = |is_preempted| {
        let (mut count, mut ns) = (0u64, 0u64);
        for wait in waited(is_preempted) {
            (count, ns) = (count + 1, ns + wait.ns);
        }
        (count, ns)
    };
    let ((waits, ns), (preempted, preempted_ns)) = (sum(false), sum(true));
    let mut text = format!(
        "{waits} waits of {:.3} s; {preempted} times others took the processor, for {:.3} s\n",
        seconds(ns),
        seconds(preempted_ns)
    );
    if profile.waits.is_empty() {
        return text + "No thread has left its processor, or it was not recorded (--off-cpu).\n";
    }
    let rows = rows(profile, waited(false), by);
    text += &line(["waited", "total", "waits", "mean ms"], "where");
    for ((name, library), row) in rows.iter().take(top) {
        let mean = seconds(row.ns) * 1e3 / (row.waits.max(1) as f64);
        let numbers = [
            format!("{:.3} s", seconds(row.ns)),
            format!("{:.3} s", seconds(row.total_ns)),
            row.waits.to_string(),
            format!("{mean:.3}"),
        ];
        let place = if library.is_empty() { String::new() } else { format!("  [{library}]") };
        text += &line(numbers.each_ref().map(String::as_str), &format!("{name}{place}"));
    }
    if rows.len() > top {
        text += &format!("… and {} more (--top)\n", rows.len() - top);
    }
    text
}

fn line([waited, total, waits, mean]: [&str; 4], rest: &str) -> String {
    format!("{waited:>12}   {total:>12}   {waits:>9}   {mean:>10}   {rest}\n")
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

type Place = (String, String);

fn rows<'a>(profile: &Profile, waits: impl Iterator<Item = &'a Wait>, by: By) -> Vec<(Place, Row)> {
    let mut rows: BTreeMap<Place, Row> = BTreeMap::new();
    for wait in waits {
        let keys = keys(profile, &wait.sample, by);
        if let Some(first) = keys.first() {
            let row = rows.entry(first.clone()).or_default();
            row.waits += 1;
            row.ns += wait.ns;
        }
        for key in keys.into_iter().collect::<BTreeSet<_>>() {
            rows.entry(key).or_default().total_ns += wait.ns;
        }
    }
    let mut rows: Vec<(Place, Row)> = rows.into_iter().collect();
    rows.sort_by(|a, b| b.1.ns.cmp(&a.1.ns).then(b.1.total_ns.cmp(&a.1.total_ns)));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::model::tests::{profile, with_waits};

    #[test]
    fn waits_are_put_together_by_where_they_began_and_who_called_that() {
        let found = with_waits(&[
            (&["read", "main"], 3_000_000, false),
            (&["futex", "main"], 5_000_000, false),
            (&["read", "main"], 1_000_000, false),
            (&["main"], 9_000_000, true),
        ]);
        let text = table(&found, By::Function, 1);
        assert!(text.starts_with("3 waits of 0.009 s; 1 times others"), "{text}");
        assert!(text.contains("0.005 s        0.005 s           1        5.000   futex"), "{text}");
        assert!(text.contains("… and 2 more"), "{text}");
        let text = table(&found, By::Function, 9);
        // Nothing waited in main itself.
        assert!(text.contains("0.000 s        0.009 s           0        0.000   main"), "{text}");
    }

    #[test]
    fn without_waits_the_table_says_why() {
        assert!(table(&profile(&[]), By::Line, 9).contains("No thread has left its processor"));
    }
}
