//! Numbers for people: units that fit, as many decimals as an interval deserves.
#![forbid(unsafe_code)]

use szc_stats::fixed::Interval;

use crate::samples::metric::{Kind, Metric};

/// Values of a metric, all in the unit that fits the smallest.
#[must_use]
pub fn quantities<const N: usize>(metric: &Metric, values: [f64; N]) -> [String; N] {
    quantities_like(metric, values.iter().copied().fold(f64::INFINITY, f64::min), values)
}

/// Values of a metric, all in the unit that fits `smallest`.
#[must_use]
pub fn quantities_like<const N: usize>(
    metric: &Metric,
    smallest: f64,
    values: [f64; N],
) -> [String; N] {
    let (scale, unit) = match metric.kind() {
        Kind::Time if smallest >= 1.0 => (1.0, "s"),
        Kind::Time if smallest >= 1e-3 => (1e-3, "ms"),
        // Of rows of harnesses; CPU time may be nothing at all.
        Kind::Time if smallest > 0.0 && smallest < 1e-6 => (1e-9, "ns"),
        Kind::Time => (1e-6, "µs"),
        Kind::Memory if smallest >= 1_073_741_824.0 => (1_073_741_824.0, "GiB"),
        Kind::Memory if smallest >= 1_048_576.0 => (1_048_576.0, "MiB"),
        Kind::Memory => (1024.0, "KiB"),
        Kind::Count if smallest >= 1e9 => (1e9, "G"),
        Kind::Count if smallest >= 1e6 => (1e6, "M"),
        Kind::Count => (1.0, ""),
    };
    values.map(|value| four_digits(value / scale, unit))
}

fn four_digits(value: f64, unit: &str) -> String {
    let decimals = match value.abs() {
        v if v >= 999.5 => 0,
        v if v >= 99.95 => 1,
        v if v >= 9.995 => 2,
        _ => 3,
    };
    format!("{value:.decimals$} {unit}").trim_end().to_owned()
}

/// Decimals, three to six, that show two digits of the width of an interval, and
/// that never round an end to 1 which is not.
#[must_use]
pub fn decimals_for(ratio: f64, interval: Interval) -> usize {
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

/// Both ends.
#[must_use]
pub fn range(interval: Interval, decimals: usize) -> String {
    format!("{:.decimals$} to {:.decimals$}", interval.lower, interval.upper)
}

/// A ratio and its interval.
#[must_use]
pub fn ratio_with_range(ratio: f64, interval: Interval) -> String {
    let decimals = decimals_for(ratio, interval);
    format!("{ratio:.decimals$}, {}", range(interval, decimals))
}

/// A share as percent with as many digits as it needs: 0.01 is "1 %", 0.0025 "0.25 %".
#[must_use]
pub fn percent(share: f64) -> String {
    let text = format!("{:.2}", 100.0 * share);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

/// A number of blocks or runs that is too large for anybody to wait for is not spelt out.
#[must_use]
pub fn many(count: u64) -> String {
    if count >= 1_000_000 { "more than a million".to_owned() } else { format!("about {count}") }
}

/// What an interval is called that is wider than usual because several comparisons share one error
/// rate. The level is Holm's, which the data choose: it bounds false differences, and is no promise
/// that all intervals cover at once.
#[must_use]
pub fn interval_name(confidence: f64, members: &str) -> String {
    if confidence > 0.9501 {
        format!("{} interval (Holm, at 5 % for all {members})", percent(confidence))
    } else {
        "95 % interval".to_owned()
    }
}

/// A p in running text.
#[must_use]
pub fn p_value(p: f64) -> String {
    if p < 1e-4 { "less than 0.0001".to_owned() } else { format!("{p:.4}") }
}

/// A p in the cell of a table: three digits, or its magnitude.
#[must_use]
pub fn short_p(p: f64) -> String {
    if p >= 0.001 { format!("{p:.3}") } else { format!("{p:.0e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_percents_without_needless_zeros() {
        assert_eq!(percent(0.01), "1 %");
        assert_eq!(percent(0.0025), "0.25 %");
        assert_eq!(percent(0.1), "10 %");
        assert_eq!(percent(0.983_333), "98.33 %");
    }

    #[test]
    fn counts_have_prefixes_and_no_unit() {
        let user = Metric::Figure("user".to_owned());
        assert_eq!(quantities(&user, [12.5, 1000.0]), ["12.50", "1000"]);
        assert_eq!(quantities(&user, [2.5e6, 3.0e9]), ["2.500 M", "3000 M"]);
    }

    #[test]
    fn both_quantities_have_the_unit_that_fits_the_smaller() {
        let shown = |metric: Metric, a, b| quantities(&metric, [a, b]).join(", ");
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
