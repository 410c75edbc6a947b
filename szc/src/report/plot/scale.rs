//! From values to places: linear and logarithmic scales, and ticks at round numbers.
//!
//! Ticks after Heckbert (1990, "Nice numbers for graph labels", Graphics Gems), with steps of 1, 2,
//! and 5 times a power of ten.
#![forbid(unsafe_code)]

/// How values become places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Equal differences are equal distances.
    Linear,
    /// Equal ratios are equal distances; for positive values.
    Logarithmic,
}

/// A scale from values to user units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    kind: Kind,
    domain: [f64; 2],
    range: [f64; 2],
}

/// Values to be marked on an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Ticks {
    /// Ascending.
    pub values: Vec<f64>,
    /// Decimals that tell neighbours apart.
    pub decimals: usize,
}

impl Ticks {
    /// The text of a tick.
    #[must_use]
    pub fn label(&self, value: f64) -> String {
        number(value, self.decimals)
    }
}

/// `value` with a true minus sign and never as a negative zero.
#[must_use]
pub fn number(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(digits) if digits.chars().all(|digit| matches!(digit, '0' | '.')) => digits.to_owned(),
        Some(digits) => format!("−{digits}"),
        None => text,
    }
}

impl Scale {
    /// Maps `domain` to `range`; a domain without extent, or of numbers that no axis can show, is
    /// widened to one that can.
    #[must_use]
    pub fn new(kind: Kind, domain: [f64; 2], range: [f64; 2]) -> Self {
        Self { kind, domain: usable(kind, domain), range }
    }

    /// The place of a value; values outside the domain are placed at its ends.
    #[must_use]
    pub fn place(&self, value: f64) -> f64 {
        let [low, high] = self.domain.map(|end| self.along(end));
        let share = ((self.along(value) - low) / (high - low)).clamp(0.0, 1.0);
        let share = if share.is_nan() { 0.0 } else { share };
        self.range[0] + share * (self.range[1] - self.range[0])
    }

    /// Whether a value lies inside the domain.
    #[must_use]
    pub fn shows(&self, value: f64) -> bool {
        self.domain[0] <= value && value <= self.domain[1]
    }

    /// First and last value.
    #[must_use]
    pub fn domain(&self) -> [f64; 2] {
        self.domain
    }

    /// About `wanted` ticks.
    #[must_use]
    pub fn ticks(&self, wanted: usize) -> Ticks {
        let [low, high] = self.domain;
        if self.kind == Kind::Logarithmic && high / low > 4.0 {
            return powers(low, high, wanted);
        }
        let step = nice_step((high - low) / wanted.max(1) as f64);
        let count = ((high - low) / step).floor().min(1000.0);
        let first = (low / step).ceil();
        let slack = 1e-9 * step;
        let values = (0..=whole(count) + 1)
            .map(|index| (first + index as f64) * step)
            .filter(|value| *value >= low - slack && *value <= high + slack)
            .collect();
        let decimals = whole((-(step * (1.0 + 1e-9)).log10().floor()).max(0.0)).min(12);
        Ticks { values, decimals }
    }

    fn along(&self, value: f64) -> f64 {
        match self.kind {
            Kind::Linear => value,
            Kind::Logarithmic => value.max(f64::MIN_POSITIVE).ln(),
        }
    }
}

/// `value`, which is at least 0, as a number to count with.
fn whole(value: f64) -> usize {
    // Saturates, and is 0 for what is no number; callers bound it first.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "see above")]
    let count = value as usize;
    count
}

/// The domain that holds all finite `values`, with `margin` of its extent added at both ends.
#[must_use]
pub fn extent(values: impl IntoIterator<Item = f64>, margin: f64) -> [f64; 2] {
    let [low, high] = values
        .into_iter()
        .filter(|value| value.is_finite())
        .fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], value| {
            [low.min(value), high.max(value)]
        });
    if low > high {
        return [0.0, 1.0];
    }
    let room = margin * (high - low);
    [low - room, high + room]
}

/// Widens a domain that has no extent, and replaces one that is no domain.
fn usable(kind: Kind, [low, high]: [f64; 2]) -> [f64; 2] {
    let fits = low.is_finite()
        && high.is_finite()
        && low <= high
        && (high - low).is_finite()
        && (kind == Kind::Linear || low > 0.0);
    if !fits {
        return if kind == Kind::Linear { [0.0, 1.0] } else { [0.5, 2.0] };
    }
    let size = low.abs().max(high.abs());
    if high - low > size * 1e-12 {
        return [low, high];
    }
    match kind {
        Kind::Linear if size == 0.0 => [-1.0, 1.0],
        Kind::Linear => [low - 0.01 * size, high + 0.01 * size],
        Kind::Logarithmic => [low / 1.01, high * 1.01],
    }
}

/// The smallest of 1, 2, 5 times a power of ten that is not below `step`.
fn nice_step(step: f64) -> f64 {
    let power = 10_f64.powf(step.log10().floor());
    let factor = step / power;
    let nice = [1.0, 2.0, 5.0].into_iter().find(|nice| factor <= nice * (1.0 + 1e-9));
    nice.unwrap_or(10.0) * power
}

/// Powers of 2 where few are enough, else of 10.
fn powers(low: f64, high: f64, wanted: usize) -> Ticks {
    let base: f64 = if (high / low).log2() <= 2.0 * wanted as f64 { 2.0 } else { 10.0 };
    let first = (low.ln() / base.ln()).ceil();
    let count = ((high.ln() - low.ln()) / base.ln()).floor().min(700.0);
    let every = (count / wanted.max(1) as f64).ceil().max(1.0);
    let values: Vec<f64> = (0..=whole(count))
        .map(|index| first + index as f64)
        .filter(|exponent| exponent % every == 0.0)
        .map(|exponent| base.powf(exponent))
        .filter(|value| *value >= low && *value <= high)
        .collect();
    let smallest = values.first().copied().unwrap_or(1.0);
    let decimals = if base == 2.0 {
        whole((-smallest.log2()).max(0.0))
    } else {
        whole((-smallest.log10()).round().max(0.0))
    };
    Ticks { values, decimals: decimals.min(12) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ticks(low: f64, high: f64) -> Vec<String> {
        let ticks = Scale::new(Kind::Linear, [low, high], [0.0, 1.0]).ticks(5);
        ticks.values.iter().map(|value| ticks.label(*value)).collect()
    }

    #[test]
    fn ticks_are_round_numbers_with_the_decimals_they_need() {
        assert_eq!(ticks(0.0, 1.0), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(ticks(0.983, 1.041), ["1.00", "1.02", "1.04"]);
        assert_eq!(ticks(-3.0, 4.0), ["−2", "0", "2", "4"]);
        assert_eq!(ticks(1234.0, 5678.0), ["2000", "3000", "4000", "5000"]);
    }

    #[test]
    fn ratios_far_apart_get_powers_as_ticks() {
        let scale = Scale::new(Kind::Logarithmic, [0.2, 9.0], [0.0, 100.0]);
        assert_eq!(scale.ticks(5).values, [0.25, 0.5, 1.0, 2.0, 4.0, 8.0]);
        assert!((scale.place(1.0) - 100.0 * (5.0_f64.ln() / 45.0_f64.ln())).abs() < 1e-9);
    }

    #[test]
    fn a_domain_that_no_axis_can_show_is_replaced() {
        for kind in [Kind::Linear, Kind::Logarithmic] {
            for domain in [
                [f64::NAN, 1.0],
                [0.0, f64::INFINITY],
                [3.0, 3.0],
                [0.0, 0.0],
                [-f64::MAX, f64::MAX],
                [2.0, 1.0],
            ] {
                let scale = Scale::new(kind, domain, [0.0, 10.0]);
                let [low, high] = scale.domain();
                assert!(low < high && (high - low).is_finite(), "{kind:?} {domain:?}");
                assert!(scale.place(f64::NAN).is_finite());
                assert!(scale.ticks(5).values.len() < 50, "{kind:?} {domain:?}");
            }
        }
    }

    #[test]
    fn zero_has_no_sign() {
        assert_eq!(number(-0.0001, 2), "0.00");
        assert_eq!(number(-0.5, 1), "−0.5");
    }

    #[test]
    fn the_extent_of_nothing_is_an_axis_all_the_same() {
        assert_eq!(extent([], 0.1), [0.0, 1.0]);
        assert_eq!(extent([f64::INFINITY, 2.0, 4.0], 0.5), [1.0, 5.0]);
    }

    proptest! {
        #[test]
        fn ticks_lie_inside_and_ascend(low in -1e9_f64..1e9, size in 1e-6_f64..1e9) {
            let scale = Scale::new(Kind::Linear, [low, low + size], [0.0, 300.0]);
            let ticks = scale.ticks(5);
            prop_assert!(ticks.values.len() >= 2 && ticks.values.len() <= 7, "{ticks:?}");
            prop_assert!(ticks.values.windows(2).all(|pair| pair[0] < pair[1]));
            for value in &ticks.values {
                let place = scale.place(*value);
                prop_assert!((-1e-3..=300.001).contains(&place), "{place}");
            }
        }

        #[test]
        fn larger_values_are_never_placed_lower(low in -1e6_f64..1e6, a: f64, b: f64) {
            let scale = Scale::new(Kind::Linear, [low, low + 10.0], [0.0, 300.0]);
            prop_assume!(a <= b);
            prop_assert!(scale.place(a) <= scale.place(b));
        }
    }
}
