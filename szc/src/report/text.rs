//! Text for people: the verdict sentence, the table, numbers with units.
#![forbid(unsafe_code)]

use super::comparison::{Comparison, MetricResult, Verdict};
use crate::measure::sample::Metric;
use crate::stats::fixed::{FEWEST_BLOCKS, Interval};

/// Loading and linking a program takes a millisecond or so.
const SHORT_RUN_S: f64 = 5e-3;

/// Name of a metric in sentences and tables.
#[must_use]
pub fn metric_name(metric: Metric) -> &'static str {
    match metric {
        Metric::Cpu => "CPU time",
        Metric::Wall => "wall time",
        Metric::Rss => "peak memory",
    }
}

/// The verdict on the deciding metric in one sentence, followed by at most one
/// on what it is not: resolved, or about more than one layout.
#[must_use]
pub fn verdict_sentence(comparison: &Comparison) -> String {
    let [title_a, title_b] = &comparison.titles;
    let name = metric_name(comparison.deciding);
    let Some(result) = comparison.deciding_result() else {
        return format!(
            "No verdict on {title_b} against {title_a}: {} complete blocks, and at least {FEWEST_BLOCKS} are needed.",
            comparison.blocks
        );
    };
    let evidence = format!(
        "n = {} blocks of {} runs each, paired t on log {name}",
        comparison.blocks, comparison.runs_per_block
    );
    let mut sentence = match result.verdict() {
        Verdict::Unresolved if result.never_differed() => format!(
            "Unresolved, no difference seen: {name} of {title_b} equals that of {title_a} in every block, {evidence}."
        ),
        Verdict::Unresolved => format!(
            "Unresolved whether {title_b} takes more or less {name} than {title_a}: ratio {}, {evidence}; this does not show that they are alike, and resolving 1 % would take about {} blocks.",
            ratio_with_interval(result.ratio(), result.ratio_interval()),
            result.blocks_to_resolve_named_ratio()
        ),
        verdict @ (Verdict::Faster | Verdict::Slower) => {
            let (factor, interval) = if verdict == Verdict::Faster {
                (1.0 / result.ratio(), inverse(result.ratio_interval()))
            } else {
                (result.ratio(), result.ratio_interval())
            };
            let decimals = decimals_for(factor, interval);
            format!(
                "{title_b} is {factor:.decimals$} × {} than {title_a}: 95 % interval {}, {evidence}.",
                verdict.word(),
                range(interval, decimals),
            )
        }
        verdict @ (Verdict::Smaller | Verdict::Larger) => format!(
            "{title_b} is {} in memory than {title_a}: ratio {}, {evidence}.",
            verdict.word(),
            ratio_with_interval(result.ratio(), result.ratio_interval()),
        ),
    };
    sentence.push_str(match comparison.randomized {
        [true, true] => "",
        [false, true] => " This is about one layout only of A, which was not randomized.",
        [true, false] => " This is about one layout only of B, which was not randomized.",
        [false, false] => " This is about one layout only of A and of B: neither was randomized.",
    });
    sentence
}

/// Remarks below the verdict, each a sentence: disagreement of mean and median,
/// very short runs, an interrupted experiment, metrics that could not be compared.
#[must_use]
pub fn remarks(comparison: &Comparison) -> Vec<String> {
    let mut remarks = Vec::new();
    if let Some(result) = comparison.deciding_result()
        && result.analysis.mean_and_median_disagree()
    {
        remarks.push(format!(
            "Mean and median disagree: the median ratio is {} ({:.0} % sign interval), the mean ratio {:.4}. The tail of the layouts moved: some layouts behave unlike the typical one.",
            ratio_with_range(
                result.analysis.median.exp(),
                result.median_ratio_interval()
            ),
            100.0 * result.analysis.median_check.coverage,
            result.ratio(),
        ));
    }
    if let Some(result) = comparison.deciding_result()
        && comparison.deciding != Metric::Rss
        && result.medians.iter().any(|median| *median < SHORT_RUN_S)
    {
        remarks.push(
            "A run takes less than 5 ms, most of which is start-up: give the programs more work to compare the work."
                .to_owned(),
        );
    }
    if comparison.blocks < comparison.blocks_planned && comparison.deciding_result().is_some() {
        remarks.push(format!(
            "Stopped after {} of {} blocks: the interval is valid only if the stop had nothing to do with what was seen.",
            comparison.blocks, comparison.blocks_planned
        ));
    }
    if comparison.blocks as usize >= FEWEST_BLOCKS {
        for metric in Metric::ALL {
            if !comparison.results.iter().any(|result| result.metric == metric) {
                remarks.push(format!(
                    "No comparison of {}: it was zero in some runs, which are too short for this clock.",
                    metric_name(metric)
                ));
            }
        }
    }
    remarks
}

/// The table of all metrics, a header and one line for each.
#[must_use]
pub fn table(comparison: &Comparison) -> String {
    let mut rows = vec![
        ["", "A median", "B median", "B / A", "95 % interval", "verdict", "n"].map(str::to_owned),
    ];
    for result in &comparison.results {
        let interval = result.ratio_interval();
        let decimals = decimals_for(result.ratio(), interval);
        let verdict = match result.verdict() {
            Verdict::Unresolved => "~",
            resolved => resolved.word(),
        };
        let [median_a, median_b] = quantities(result.metric, result.medians);
        rows.push([
            metric_name(result.metric).to_owned(),
            median_a,
            median_b,
            format!("{:.decimals$}", result.ratio()),
            range(interval, decimals),
            verdict.to_owned(),
            result.analysis.blocks.to_string(),
        ]);
    }
    align(&rows)
}

/// Columns padded to their widest cell: the first to the left, the others to the right.
fn align(rows: &[[String; 7]]) -> String {
    let width = |column: usize| {
        let widths = rows.iter().map(|row| row[column].chars().count());
        widths.max().unwrap_or(0)
    };
    let mut text = String::new();
    for row in rows {
        let first_width = width(0);
        let mut line = format!("{:first_width$}", row[0]);
        for (column, cell) in row.iter().enumerate().skip(1) {
            let column_width = width(column);
            line.push_str(&format!("   {cell:>column_width$}"));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// The values of A and B, in seconds or bytes, both in the unit that fits the smaller.
#[must_use]
pub fn quantities(metric: Metric, values: [f64; 2]) -> [String; 2] {
    let smaller = values[0].min(values[1]);
    let (scale, unit) = match metric {
        Metric::Cpu | Metric::Wall if smaller >= 1.0 => (1.0, "s"),
        Metric::Cpu | Metric::Wall if smaller >= 1e-3 => (1e-3, "ms"),
        Metric::Cpu | Metric::Wall => (1e-6, "µs"),
        Metric::Rss if smaller >= 1_073_741_824.0 => (1_073_741_824.0, "GiB"),
        Metric::Rss if smaller >= 1_048_576.0 => (1_048_576.0, "MiB"),
        Metric::Rss => (1024.0, "KiB"),
    };
    values.map(|value| four_digits(value / scale, unit))
}

fn four_digits(value: f64, unit: &str) -> String {
    let decimals = match value {
        v if v >= 999.5 => 0,
        v if v >= 99.95 => 1,
        v if v >= 9.995 => 2,
        _ => 3,
    };
    format!("{value:.decimals$} {unit}")
}

/// Decimals, three to six, that show two digits of the width of an interval, and
/// that never round an end to 1 which is not.
fn decimals_for(ratio: f64, interval: Interval) -> usize {
    let width = match interval.upper - interval.lower {
        width if width > 1e-12 => width,
        _ => (ratio - 1.0).abs(),
    };
    let resolved = !interval.contains(1.0);
    (3..6)
        .find(|decimals| {
            let unit = 0.1_f64.powi(i32::try_from(*decimals).unwrap_or(6));
            let rounds_to_one = |end: f64| (end - 1.0).abs() < unit / 2.0;
            let hides = rounds_to_one(interval.lower) || rounds_to_one(interval.upper);
            width == 0.0 || (width >= 10.0 * unit && !(resolved && hides))
        })
        .unwrap_or(6)
}

fn range(interval: Interval, decimals: usize) -> String {
    format!("{:.decimals$} to {:.decimals$}", interval.lower, interval.upper)
}

fn ratio_with_range(ratio: f64, interval: Interval) -> String {
    let decimals = decimals_for(ratio, interval);
    format!("{ratio:.decimals$}, {}", range(interval, decimals))
}

fn ratio_with_interval(ratio: f64, interval: Interval) -> String {
    let decimals = decimals_for(ratio, interval);
    format!("{ratio:.decimals$}, 95 % interval {}", range(interval, decimals))
}

/// The estimate so far, for a progress line: ratio B/A and its interval.
#[must_use]
pub fn running_estimate(result: &MetricResult) -> String {
    let interval = result.ratio_interval();
    let half_width = (interval.upper - interval.lower) / 2.0;
    let decimals = decimals_for(result.ratio(), interval);
    format!(
        "{} B/A {:.decimals$} ± {half_width:.decimals$} so far",
        metric_name(result.metric),
        result.ratio()
    )
}

fn inverse(interval: Interval) -> Interval {
    Interval { lower: 1.0 / interval.upper, upper: 1.0 / interval.lower }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::comparison::tests::comparison;

    #[test]
    fn a_faster_b_is_said_to_be_faster_by_a_factor_above_one() {
        let sentence = verdict_sentence(&comparison(1000, 900));
        assert!(
            sentence.starts_with("B (-O3) is 1.11")
                && sentence.contains(" × faster than A (-O2): 95 % interval 1.1"),
            "{sentence}"
        );
        assert!(
            sentence.ends_with("n = 20 blocks of 2 runs each, paired t on log CPU time."),
            "{sentence}"
        );
    }

    #[test]
    fn a_slower_b_is_said_to_be_slower_by_a_factor_above_one() {
        let sentence = verdict_sentence(&comparison(900, 1000));
        assert!(
            sentence.starts_with("B (-O3) is 1.1") && sentence.contains(" × slower than A (-O2)"),
            "{sentence}"
        );
    }

    #[test]
    fn the_ends_of_an_interval_stand_in_ascending_order_in_both_directions() {
        for (a, b) in [(1000, 900), (900, 1000)] {
            let sentence = verdict_sentence(&comparison(a, b));
            let interval = sentence.split("interval ").nth(1).unwrap();
            let mut ends = interval.split(&[' ', ','][..]);
            let lower: f64 = ends.next().unwrap().parse().unwrap();
            let upper: f64 = ends.nth(1).unwrap().parse().unwrap();
            assert!(1.0 < lower && lower < upper, "{sentence}");
        }
    }

    #[test]
    fn unresolved_is_never_called_the_same_and_names_its_price() {
        let sentence = verdict_sentence(&comparison(1000, 1000));
        assert!(sentence.starts_with("Unresolved whether B (-O3)"), "{sentence}");
        assert!(sentence.contains("resolving 1 % would take about"), "{sentence}");
        assert!(!sentence.contains("same"), "{sentence}");
    }

    #[test]
    fn a_metric_that_never_differs_is_unresolved_too() {
        let mut equal = comparison(1000, 1000);
        equal.deciding = Metric::Rss;
        let analysis = crate::stats::fixed::analyse(&[0.0; 20]).unwrap();
        equal.results[2].analysis = analysis;
        let sentence = verdict_sentence(&equal);
        assert!(sentence.starts_with("Unresolved, no difference seen: peak memory"), "{sentence}");
    }

    #[test]
    fn a_program_without_random_layouts_limits_the_verdict() {
        let mut fixed = comparison(1000, 900);
        fixed.randomized = [true, false];
        assert!(
            verdict_sentence(&fixed).ends_with("one layout only of B, which was not randomized.")
        );
        fixed.randomized = [false, false];
        assert!(verdict_sentence(&fixed).ends_with("neither was randomized."));
    }

    #[test]
    fn too_few_blocks_give_no_verdict() {
        let mut short = comparison(1000, 900);
        short.blocks = 4;
        short.results.clear();
        assert!(verdict_sentence(&short).starts_with("No verdict on B (-O3) against A (-O2): 4"));
        assert!(remarks(&short).is_empty());
    }

    #[test]
    fn a_moved_tail_is_remarked() {
        let mut tail = comparison(1000, 1000);
        let mut ratios = vec![0.0; 16];
        ratios.extend([0.5; 4]);
        tail.results[0].analysis = crate::stats::fixed::analyse(&ratios).unwrap();
        let remarks = remarks(&tail);
        assert!(remarks[0].contains("The tail of the layouts moved"), "{remarks:?}");
    }

    #[test]
    fn very_short_runs_are_remarked() {
        assert!(remarks(&comparison(1000, 900)).is_empty());
        let mut short = comparison(1000, 900);
        short.results[0].medians = [0.002, 0.001];
        assert!(remarks(&short)[0].contains("more work"));
    }

    #[test]
    fn a_metric_without_values_is_remarked() {
        let mut without = comparison(1000, 900);
        without.results.remove(0);
        without.deciding = Metric::Wall;
        assert!(remarks(&without)[0].starts_with("No comparison of CPU time"));
    }

    #[test]
    fn the_table_has_one_aligned_line_for_each_metric() {
        let text = table(&comparison(1000, 900));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 4);
        assert!(lines[0].contains("95 % interval"));
        assert!(lines[1].starts_with("CPU time       1005 ms    905.0 ms   0.900"), "{text}");
        assert!(lines[1].ends_with("faster   20"), "{text}");
        assert!(lines[3].contains("smaller"), "{text}");
        let unresolved = table(&comparison(1000, 1000));
        assert!(unresolved.lines().nth(1).unwrap().contains(" ~ "), "{unresolved}");
    }

    #[test]
    fn both_quantities_have_the_unit_that_fits_the_smaller() {
        let shown = |metric, a, b| quantities(metric, [a, b]).join(", ");
        assert_eq!(shown(Metric::Cpu, 1.2345, 20.0), "1.234 s, 20.00 s");
        assert_eq!(shown(Metric::Wall, 1.5, 0.012_345), "1500 ms, 12.35 ms");
        assert_eq!(shown(Metric::Wall, 0.000_123_4, 0.0009), "123.4 µs, 900.0 µs");
        assert_eq!(shown(Metric::Rss, 2048.0, 4096.0), "2.000 KiB, 4.000 KiB");
        let mebibyte = 1_048_576.0;
        assert_eq!(shown(Metric::Rss, 5.5 * mebibyte, 2000.0 * mebibyte), "5.500 MiB, 2000 MiB");
    }

    #[test]
    fn narrow_intervals_get_more_decimals() {
        let narrow = Interval { lower: 1.0002, upper: 1.0004 };
        assert_eq!(ratio_with_range(1.0003, narrow), "1.00030, 1.00020 to 1.00040");
        let wide = Interval { lower: 0.9, upper: 1.1 };
        assert_eq!(ratio_with_range(1.0, wide), "1.000, 0.900 to 1.100");
    }
}
