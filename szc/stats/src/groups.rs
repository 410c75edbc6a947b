//! Groups that are not paired: Welch's t test of two means, analysis of variance of several, Brown
//! and Forsythe's test of spreads.
//!
//! Samples of two files that were not measured in common blocks can be compared no better. Welch
//! (1947), "The generalization of Student's problem when several different population variances are
//! involved"; Brown and Forsythe (1974), "Robust tests for the equality of variances".

use statrs::distribution::{ChiSquared, ContinuousCDF, FisherSnedecor};

use super::data::{DataError, check, finite, is_constant, scale_of, times};
use super::describe::{mean, median, standard_deviation};
use super::fixed::{Interval, student_t_quantile};
use super::tail::{f_upper, student_t_two_sided};

/// Result of [`welch`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Welch {
    /// Mean of the second list minus mean of the first, in their unit.
    pub difference: f64,
    /// Interval of the difference.
    pub interval: Interval,
    /// The difference in standard errors.
    pub t: f64,
    /// Degrees of freedom by Welch and Satterthwaite, seldom whole.
    pub degrees_of_freedom: f64,
    /// Two-sided p of "the means are equal".
    pub p: f64,
}

impl Welch {
    /// Of lists none of which varies, as counts of a deterministic program: the difference is
    /// certain.
    #[must_use]
    pub fn certain(difference: f64) -> Self {
        let p = if difference == 0.0 { 1.0 } else { 0.0 };
        let interval = Interval { lower: difference, upper: difference };
        let t = if difference == 0.0 { 0.0 } else { f64::INFINITY.copysign(difference) };
        Self { difference, interval, t, degrees_of_freedom: f64::INFINITY, p }
    }
}

/// Compares the means of two lists whose variances may differ; interval with `confidence` in (0,
/// 1).
///
/// # Errors
/// [`DataError`] below two values in a list, for values that are not finite, or if neither list
/// varies.
pub fn welch(first: &[f64], second: &[f64], confidence: f64) -> Result<Welch, DataError> {
    check(first, 2)?;
    check(second, 2)?;
    if !(confidence > 0.0 && confidence < 1.0) {
        return Err(DataError::Parameter("confidence"));
    }
    if is_constant(first) && is_constant(second) {
        return Err(DataError::NoSpread);
    }
    let scale = scale_of(&[first, second]);
    let [one, other] = [times(first, scale), times(second, scale)];
    let [(mean_1, error_1), (mean_2, error_2)] =
        [mean_and_squared_error(&one)?, mean_and_squared_error(&other)?];
    let squared_error = error_1 + error_2;
    if squared_error == 0.0 {
        return Err(DataError::NoSpread);
    }
    let shares = [error_1 / squared_error, error_2 / squared_error];
    let degrees_of_freedom = 1.0
        / (shares[0].powi(2) / (first.len() - 1) as f64
            + shares[1].powi(2) / (second.len() - 1) as f64);
    let error = squared_error.sqrt();
    let t = (mean_2 - mean_1) / error;
    let half = student_t_quantile(f64::midpoint(1.0, confidence), degrees_of_freedom) * error;
    let difference = mean_2 - mean_1;
    Ok(Welch {
        difference: finite(difference / scale)?,
        interval: Interval {
            lower: finite((difference - half) / scale)?,
            upper: finite((difference + half) / scale)?,
        },
        t,
        degrees_of_freedom,
        p: student_t_two_sided(t, degrees_of_freedom),
    })
}

/// Mean and s²/n.
fn mean_and_squared_error(values: &[f64]) -> Result<(f64, f64), DataError> {
    match (mean(values), standard_deviation(values)) {
        (Some(center), Some(spread)) => Ok((center, spread * spread / values.len() as f64)),
        _ => Err(DataError::TooFew { needed: 2, found: values.len() }),
    }
}

/// The squares of a one-way analysis of variance.
struct Squares {
    between: f64,
    within: f64,
    /// Degrees of freedom of both.
    degrees_of_freedom: [usize; 2],
}

impl Squares {
    /// Of groups with values in each.
    fn of<R: AsRef<[f64]>>(groups: &[R]) -> Self {
        let values: Vec<f64> = groups.iter().flat_map(AsRef::as_ref).copied().collect();
        let grand = mean(&values).unwrap_or_default();
        let (mut between, mut within) = (0.0, 0.0);
        for group in groups.iter().map(AsRef::as_ref) {
            let center = mean(group).unwrap_or_default();
            between += group.len() as f64 * (center - grand).powi(2);
            within += group.iter().map(|value| (value - center).powi(2)).sum::<f64>();
        }
        let degrees_of_freedom = [groups.len() - 1, values.len() - groups.len()];
        Self { between, within, degrees_of_freedom }
    }

    /// The mean squares: each by its degrees of freedom.
    fn means(&self) -> [f64; 2] {
        let [of_between, of_within] = self.degrees_of_freedom.map(|df| df as f64);
        [self.between / of_between, self.within / of_within]
    }
}

/// Result of [`one_way`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OneWay {
    /// p of "the means of all groups are equal".
    pub p: f64,
    /// Standard deviation between groups, by the method of moments; 0 if its square is negative.
    pub sd_between: f64,
    /// Its 95 % interval, of groups from a normal distribution (Williams 1962; Searle, Casella and
    /// McCulloch 1992, section 3.6 d): about 95 %, also where groups differ in size.
    pub sd_interval: Option<[f64; 2]>,
}

/// One-way analysis of variance of groups of any sizes (Searle, Casella and McCulloch, "Variance
/// Components", 1992, section 3.6). `None` below two groups, for one without values, and where no
/// group has two values or nothing varies.
#[must_use]
pub fn one_way(groups: &[&[f64]]) -> Option<OneWay> {
    let total: usize = groups.iter().map(|group| group.len()).sum();
    if groups.len() < 2 || total <= groups.len() || groups.iter().any(|group| group.is_empty()) {
        return None;
    }
    let squares = Squares::of(groups);
    let [of_between, of_within] = squares.degrees_of_freedom.map(|df| df as f64);
    let [between, within] = squares.means();
    let sizes: f64 = groups.iter().map(|group| (group.len() as f64).powi(2)).sum();
    let usual_size = (total as f64 - sizes / total as f64) / of_between;
    let variance = ((between - within) / usual_size).max(0.0);
    let p = if within > 0.0 {
        f_upper(between / within, of_between, of_within)
    } else if between > 0.0 {
        0.0
    } else {
        return None;
    };
    let sd_interval = sd_interval(&squares, usual_size);
    Some(OneWay { p, sd_between: variance.sqrt(), sd_interval })
}

/// Williams' interval of the standard deviation between groups.
fn sd_interval(squares: &Squares, usual_size: f64) -> Option<[f64; 2]> {
    let [of_between, of_within] = squares.degrees_of_freedom.map(|df| df as f64);
    let [between, within] = squares.means();
    let chi = ChiSquared::new(of_between).ok()?;
    let ratio = FisherSnedecor::new(of_between, of_within).ok()?;
    let bound = |share: f64| {
        let expected = ratio.inverse_cdf(share) * within;
        let variance = of_between * (between - expected) / (usual_size * chi.inverse_cdf(share));
        variance.max(0.0).sqrt()
    };
    let bounds = [bound(0.975), bound(0.025)];
    bounds.iter().all(|bound| bound.is_finite()).then_some(bounds)
}

/// Result of [`brown_forsythe`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BrownForsythe {
    /// F of the analysis of variance of the distances from each group's median.
    pub f: f64,
    /// Degrees of freedom between groups and within.
    pub degrees_of_freedom: [usize; 2],
    /// p of "all groups spread equally".
    pub p: f64,
}

/// Compares the spread of two or more lists, whatever their means are.
///
/// # Errors
/// [`DataError`] below two lists or two values in one, for values that are not finite, or if the
/// distances from the medians are the same within each list.
pub fn brown_forsythe(groups: &[&[f64]]) -> Result<BrownForsythe, DataError> {
    if groups.len() < 2 {
        return Err(DataError::TooFew { needed: 2, found: groups.len() });
    }
    groups.iter().try_for_each(|group| check(group, 2))?;
    // Centred before they are scaled, so that a common offset does not use up the range.
    let mut distances: Vec<Vec<f64>> = Vec::new();
    for group in groups {
        let center = median(group).ok_or(DataError::TooFew { needed: 2, found: 0 })?;
        distances.push(group.iter().map(|value| (value - center).abs()).collect());
    }
    for list in &distances {
        check(list, 0).map_err(|_| DataError::OutOfRange)?;
    }
    let lists: Vec<&[f64]> = distances.iter().map(Vec::as_slice).collect();
    let scale = scale_of(&lists);
    let scaled: Vec<Vec<f64>> = lists.iter().map(|list| times(list, scale)).collect();
    let squares = Squares::of(&scaled);
    let count: usize = scaled.iter().map(Vec::len).sum();
    if squares.within <= count as f64 * f64::EPSILON * f64::EPSILON {
        return Err(DataError::NoSpread);
    }
    let degrees_of_freedom = squares.degrees_of_freedom;
    let [between_df, within_df] = degrees_of_freedom.map(|df| df as f64);
    let [between, within] = squares.means();
    let f = between / within;
    Ok(BrownForsythe { f, degrees_of_freedom, p: f_upper(f, between_df, within_df) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::data::{MAIZE, SLEEP, cases, close, number, numbers, same_digits};
    use crate::calibration::noise::Noise;
    use proptest::prelude::*;

    #[test]
    fn montgomerys_looms_differ_by_what_the_book_says() {
        let case = &cases("parametric", "kalibera_jones")[0];
        let values = numbers(&case["data"]);
        let looms: Vec<&[f64]> = values.chunks(4).collect();
        let found = one_way(&looms).unwrap();
        assert_eq!(format!("{:.2} {:.4}", found.sd_between.powi(2), found.p), "6.96 0.0002");
        assert_eq!(one_way(&looms[..1]), None);
        assert_eq!(one_way(&[&[1.0], &[2.0]]), None);
        assert_eq!(one_way(&[&[1.0, 1.0], &[1.0, 1.0]]), None);
        assert_eq!(one_way(&[&[1.0, 1.0], &[2.0, 2.0]]).unwrap().p, 0.0);
    }

    #[test]
    fn welch_agrees_with_scipy() {
        for case in cases("parametric", "welch") {
            let found = welch(&numbers(&case["a"]), &numbers(&case["b"]), 0.95).unwrap();
            assert!(same_digits(found.t, number(&case["t"])), "{case}: {found:?}");
            assert!(
                same_digits(found.degrees_of_freedom, number(&case["df"])),
                "{case}: {found:?}"
            );
            assert!(close(found.p, number(&case["p"])), "{case}: {found:?}");
            assert!(close(found.interval.lower, number(&case["lower"])), "{case}: {found:?}");
            assert!(close(found.interval.upper, number(&case["upper"])), "{case}: {found:?}");
        }
    }

    #[test]
    fn welch_says_of_students_patients_what_r_prints() {
        // R's documentation of t.test: t = −1.8608, df = 17.776, p-value = 0.07939.
        let case = &cases("parametric", "welch")[0];
        let found = welch(&numbers(&case["a"]), &numbers(&case["b"]), 0.95).unwrap();
        assert_eq!(
            format!("{:.4} {:.3} {:.5}", found.t, found.degrees_of_freedom, found.p),
            "1.8608 17.776 0.07939"
        );
    }

    #[test]
    fn brown_forsythe_agrees_with_scipy() {
        for case in cases("parametric", "brown_forsythe") {
            let groups: Vec<Vec<f64>> =
                case["groups"].as_array().unwrap().iter().map(numbers).collect();
            let slices: Vec<&[f64]> = groups.iter().map(Vec::as_slice).collect();
            let found = brown_forsythe(&slices).unwrap();
            assert!(
                (found.f - number(&case["f"])).abs() < 1e-9 * number(&case["f"]).max(1.0),
                "{case}: {found:?}"
            );
            assert!((found.p - number(&case["p"])).abs() < 1e-9, "{case}: {found:?}");
            assert_eq!(numbers(&case["df"]), found.degrees_of_freedom.map(|df| df as f64));
        }
    }

    #[test]
    fn unfit_groups_are_refused() {
        assert_eq!(welch(&[1.0], &SLEEP, 0.95), Err(DataError::TooFew { needed: 2, found: 1 }));
        assert_eq!(welch(&[1.0; 3], &[2.0; 4], 0.95), Err(DataError::NoSpread));
        assert_eq!(welch(&[0.0; 3], &[0.0; 4], 0.95), Err(DataError::NoSpread));
        assert_eq!(
            welch(&[0.1, f64::INFINITY], &SLEEP, 0.95),
            Err(DataError::NotFinite { index: 1 })
        );
        assert_eq!(welch(&SLEEP, &MAIZE, 1.0), Err(DataError::Parameter("confidence")));
        assert_eq!(brown_forsythe(&[&SLEEP]), Err(DataError::TooFew { needed: 2, found: 1 }));
        assert_eq!(brown_forsythe(&[&[1.0, 3.0], &[2.0, 9.0]]), Err(DataError::NoSpread));
        assert_eq!(
            brown_forsythe(&[&SLEEP, &[f64::NAN, 1.0]]),
            Err(DataError::NotFinite { index: 0 })
        );
        assert_eq!(
            brown_forsythe(&[&[f64::MAX, f64::MAX, f64::MIN], &SLEEP]),
            Err(DataError::OutOfRange)
        );
    }

    fn list() -> impl Strategy<Value = Vec<f64>> {
        prop::collection::vec(-1.0..1.0_f64, 3..30)
    }

    proptest! {
        #[test]
        fn exchange_mirrors_welch_and_scale_does_not_matter(
            a in list(),
            b in list(),
            power in -280_i32..280,
        ) {
            let found = welch(&a, &b, 0.95).unwrap();
            let mirrored = welch(&b, &a, 0.95).unwrap();
            prop_assert!(close(found.t, -mirrored.t) && close(found.p, mirrored.p));
            prop_assert!(found.interval.contains(found.difference));
            prop_assert!((0.0..=1.0).contains(&found.p));
            let scale = 10.0_f64.powi(power);
            let scaled = welch(&times(&a, scale), &times(&b, scale), 0.95).unwrap();
            prop_assert!(close(scaled.t, found.t) && close(scaled.p, found.p));
        }

        #[test]
        fn spread_is_compared_without_regard_to_place_and_order(
            a in list(),
            b in list(),
            turn in 0_usize..30,
        ) {
            let found = brown_forsythe(&[&a, &b]).unwrap();
            let mut moved: Vec<f64> = a.iter().map(|value| value + 3.0).collect();
            moved.rotate_left(turn % a.len());
            let other = brown_forsythe(&[&b, &moved]).unwrap();
            prop_assert!((found.f - other.f).abs() < 1e-8 * found.f.max(1.0));
            prop_assert!((0.0..=1.0).contains(&found.p));
        }
    }

    #[test]
    fn the_interval_between_groups_holds_what_they_were_drawn_with() {
        let mut noise = Noise::new(11);
        let mut held = 0;
        for _ in 0..400 {
            let groups: Vec<Vec<f64>> = (0..8)
                .map(|group| {
                    let center = noise.normal();
                    (0..4 + group % 3).map(|_| center + noise.normal()).collect()
                })
                .collect();
            let slices: Vec<&[f64]> = groups.iter().map(Vec::as_slice).collect();
            let [low, high] = one_way(&slices).unwrap().sd_interval.unwrap();
            held += u32::from(low <= 1.0 && 1.0 <= high);
        }
        // 380 are expected; fewer than 363 have a probability below 1 in 10,000. The seed is fixed.
        assert!(held >= 363, "{held}");
    }
}
