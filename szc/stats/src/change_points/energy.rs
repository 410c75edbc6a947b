//! The best split of one segment by the energy distance (Székely and Rizzo 2005), with exponent 1.

/// Where a segment splits best.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Split {
    /// First value behind the split, counted from the start of the segment.
    pub(super) index: usize,
    /// Scaled divergence Q of the two sides.
    pub(super) statistic: f64,
}

/// Matteson and James (2014), equation 5: Q(τ, κ) of the values before τ and those from τ to κ,
/// maximal over both, each side at least `least` long. `None` for a segment that is too short.
///
/// With τ moving backwards the distances of each value b to those from τ to b grow by one term
/// each; their sums over b are the distances within [τ, κ). What is between follows from the sums
/// of the prefixes. So time is quadratic and memory linear.
pub(super) fn best_split(values: &[f64], least: usize) -> Option<Split> {
    let count = values.len();
    if least == 0 || count < 2 * least {
        return None;
    }
    // within_prefix[k]: sum of the distances of all pairs below k.
    let mut within_prefix = vec![0.0; count + 1];
    for last in 0..count {
        let to_last: f64 = values[..last].iter().map(|value| (value - values[last]).abs()).sum();
        within_prefix[last + 1] = within_prefix[last] + to_last;
    }
    let mut to_earlier = vec![0.0; count];
    let mut best: Option<Split> = None;
    for tau in (least..count).rev() {
        for (sum, value) in to_earlier[tau + 1..].iter_mut().zip(&values[tau + 1..]) {
            *sum += (value - values[tau]).abs();
        }
        let mut within_after = 0.0;
        for last in tau..count {
            within_after += to_earlier[last];
            let (m, n) = (tau as f64, (last + 1 - tau) as f64);
            if last + 1 - tau < least {
                continue;
            }
            let between = within_prefix[last + 1] - within_prefix[tau] - within_after;
            let mean_within = |sum: f64, size: f64| 2.0 * sum / (size * (size - 1.0));
            let distance = 2.0 * between / (m * n)
                - mean_within(within_prefix[tau], m)
                - mean_within(within_after, n);
            let statistic = m * n / (m + n) * distance;
            if best.is_none_or(|found| statistic > found.statistic) {
                best = Some(Split { index: tau, statistic });
            }
        }
    }
    best
}
