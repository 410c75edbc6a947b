//! What was found, for a terminal.
#![forbid(unsafe_code)]

use super::merge::{Key, Merged};
use super::places::Places;
use super::rows::{COVERING, Row, coverage};

/// Most places of a subpath that a row shows.
const MAX_PLACES: usize = 12;

/// The table of the heaviest subpaths, and what is to be known of it.
pub(super) fn table(merged: &Merged, rows: &[Row<'_>], places: &mut Places, top: usize) -> String {
    let mut text = heading(merged);
    text += &line(["executions", "95 % interval", "length"], "blocks, as function:line");
    for row in rows.iter().take(top) {
        let interval = if merged.is_exact() {
            "exact".to_owned()
        } else {
            format!("{} to {}", number(row.interval.lower), number(row.interval.upper))
        };
        let length = row.key.blocks.len().to_string();
        let path = path(merged, row.key, places);
        text += &line([&number(row.count), &interval, &length], &path);
    }
    if rows.len() > top {
        text += &format!("… and {} more (--top, --json)\n", rows.len() - top);
    }
    text += "\nShare of all subpaths of a length that the most frequent ones are:\n";
    let name = |top: usize| format!("first {top}");
    let [a, b, c] = COVERING.map(name);
    text += &format!("{:>8}  {:>9}  {a:>9}  {b:>9}  {c:>9}\n", "length", "different");
    for one in coverage(merged) {
        let [a, b, c] = one.shares.map(|share| format!("{:.1} %", share * 100.0));
        text += &format!("{:>8}  {:>9}  {a:>9}  {b:>9}  {c:>9}\n", one.length, one.different);
    }
    text += &remarks(merged);
    text
}

fn heading(merged: &Merged) -> String {
    let threads = match merged.threads {
        1 => "1 thread".to_owned(),
        threads => format!("{threads} threads"),
    };
    let how = if merged.is_exact() {
        "all subpaths counted".to_owned()
    } else {
        format!("a subpath began at one block in {}", merged.spacing)
    };
    let blocks = number(merged.blocks as f64);
    format!("{}\n{blocks} blocks executed by {threads}; {how}\n\n", merged.programs.join(", "))
}

fn line([count, interval, length]: [&str; 3], path: &str) -> String {
    format!("{count:>10}   {interval:>20}   {length:>6}   {path}\n")
}

/// Four digits, and a unit where there are more.
pub(super) fn number(value: f64) -> String {
    let (scale, unit) = match value {
        v if v >= 1e10 => (1e9, " G"),
        v if v >= 1e7 => (1e6, " M"),
        v if v >= 1e4 => (1e3, " k"),
        _ => return format!("{value:.0}"),
    };
    let value = value / scale;
    let decimals = if value >= 999.95 { 0 } else { 1 };
    format!("{value:.decimals$}{unit}")
}

/// The places of a subpath; a part that comes several times is shown once.
pub(super) fn path(merged: &Merged, key: &Key, places: &mut Places) -> String {
    let period = period(&key.blocks);
    let shown = key.blocks[..period].iter().take(MAX_PLACES);
    let names: Vec<String> =
        shown.map(|&block| places.of(&merged.programs, key.program, block).short()).collect();
    let mut text = names.join(" → ");
    if period > MAX_PLACES {
        text += &format!(" → … {} more", period - MAX_PLACES);
    }
    let times = key.blocks.len() / period;
    if times > 1 {
        text = format!("{times} × ({text})");
    }
    if key.is_loop { format!("loop: {text}") } else { text }
}

/// Length of the smallest part that the blocks are repetitions of.
pub(super) fn period(blocks: &[u32]) -> usize {
    let is_period = |period: usize| {
        blocks.len().is_multiple_of(period)
            && blocks[period..].iter().zip(blocks).all(|(a, b)| a == b)
    };
    (1..blocks.len()).find(|&period| is_period(period)).unwrap_or(blocks.len())
}

fn remarks(merged: &Merged) -> String {
    let mut text = String::from("\n");
    if !merged.is_exact() {
        text += "Each interval by itself holds with 95 %. ";
        text += "Executions are counted from every block of a loop on.\n";
    }
    if merged.thinned != 0 {
        text += &format!(
            "The list of a thread was full {} times: more --memory gives narrower intervals.\n",
            merged.thinned
        );
    }
    if merged.unprofiled != 0 {
        text += &format!("{} threads have no profile.\n", merged.unprofiled);
    }
    if merged.unread != 0 {
        text +=
            &format!("{} threads were busy with their profile, and are left out.\n", merged.unread);
    }
    if merged.abandoned != 0 {
        text += &format!(
            "{} threads were counted to some point only: a signal's handler was left by a jump.\n",
            merged.abandoned
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::code::Code;
    use super::super::options::Weight;
    use super::super::rows::{rows, tests::merged};
    use super::*;

    #[test]
    fn a_row_has_count_interval_length_and_places() {
        let merged = merged(1000, &[(&[16, 32], 100), (&[16; 4], 80)]);
        let rows = rows(&merged, Weight::Count, 2, &mut Code::default());
        let text = table(&merged, &rows, &mut Places::default(), 1);
        assert!(text.starts_with("/nowhere/p\n1000 k blocks executed by 1 thread; a"), "{text}");
        assert!(text.contains("320.0 k     253.7 k to 398.3 k        4   4 × ([p]+0xf)"), "{text}");
        assert!(text.contains("… and 1 more") && text.contains("100.0 %"), "{text}");
    }

    #[test]
    fn parts_that_come_again_are_found() {
        assert_eq!(period(&[1, 2, 1, 2]), 2);
        assert_eq!(period(&[1, 1, 1, 1]), 1);
        assert_eq!(period(&[1, 2, 1, 1]), 4);
    }
}
