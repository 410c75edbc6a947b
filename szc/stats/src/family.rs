//! Several programs against one reference: verdicts that share one error rate.
//!
//! With m comparisons at 5 % each, the chance of a false difference among them is up to m times as
//! large. Holm's procedure (1979) bounds it for all together: p-values in ascending order are held
//! against α/m, α/(m−1), … until one fails. Here each comparison also gets the interval of that
//! level, so that interval and verdict never contradict each other: what is bounded is any false
//! difference, not any miss of an interval, whose level the data have chosen. One comparison is a
//! family of one, and gets the interval of its rule.
//!
//! A comparison asks whether there is a difference, and its null value is 0. A gate asks on which
//! side of its tolerance a difference lies, and its null value is ln(1+δ): were its rows put in
//! order by the p of "no difference", those that are slower within the tolerance would come first
//! and take from the divisors of the others.
//!
//! The sequential rule has p-values that are valid at every look, 1/E (Ville's inequality), so
//! that Holm's procedure may be repeated after every block.

use super::data::{DataError, check, finite, is_constant};
use super::decision::Estimate;
use super::describe::{mean, standard_deviation};
use super::fixed::{self, Interval, t_interval};
use super::multiplicity::holm;
use super::planning::Rule;
use super::sequential::{self, ERROR_RATE, half_width};
use super::tail::student_t_two_sided;

/// What is asked of each comparison of a family.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Question {
    /// When the data are looked at.
    pub rule: Rule,
    /// Layouts of each program in a block: two in one of two runs each.
    pub layouts_per_block: usize,
}

/// One comparison of a family.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Member {
    /// Mean, spread and the interval at [`Member::confidence`].
    pub estimate: Estimate,
    /// p of "no difference" by itself.
    pub p: f64,
    /// Holm's adjustment of the p of the null value.
    pub p_adjusted: f64,
    /// Level of the interval by itself: 1 − α/(m − rank). The rank follows from the data, so that
    /// the intervals of a family are not promised to cover all at once.
    pub confidence: f64,
}

/// Analyses lists of differences, one list with its null value for each comparison, one number per
/// block. An interval excludes the null value exactly where Holm's procedure rejects it.
///
/// `None` below the fewest blocks of the rule.
///
/// # Errors
/// [`DataError`] for values that are not finite or too large to average.
pub fn family(
    question: &Question,
    lists: &[(&[f64], f64)],
) -> Result<Option<Vec<Member>>, DataError> {
    let rule = question.rule;
    let fewest = match rule {
        Rule::Fixed => fixed::MIN_BLOCKS,
        Rule::Sequential => sequential::MIN_BLOCKS,
    };
    if lists.iter().any(|(list, _)| list.len() < fewest) {
        return Ok(None);
    }
    let p = lists
        .iter()
        .map(|(list, null)| {
            let shifted: Vec<f64> = list.iter().map(|difference| difference - null).collect();
            p_value(rule, &shifted)
        })
        .collect::<Result<Vec<f64>, _>>()?;
    let adjusted = holm(&p)?;
    let divisors = holm_divisors(&p);
    let member = |place: usize| {
        let alpha = ERROR_RATE / divisors[place] as f64;
        let (list, null) = lists[place];
        Ok(Member {
            estimate: estimate(question, list, alpha)?,
            p: if null == 0.0 { p[place] } else { p_value(rule, list)? },
            p_adjusted: adjusted[place],
            confidence: 1.0 - alpha,
        })
    };
    (0..lists.len()).map(member).collect::<Result<Vec<Member>, _>>().map(Some)
}

/// By how much α is divided for each: m for the smallest p, m − 1 for the next, until one fails;
/// from there on as for that one.
#[must_use]
pub fn holm_divisors(p: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&one, &other| p[one].total_cmp(&p[other]));
    let mut divisor = p.len();
    let mut divisors = vec![1; p.len()];
    let mut going = true;
    for place in order {
        divisors[place] = divisor;
        going &= p[place] <= ERROR_RATE / divisor as f64;
        if going && divisor > 1 {
            divisor -= 1;
        }
    }
    divisors
}

fn p_value(rule: Rule, differences: &[f64]) -> Result<f64, DataError> {
    match rule {
        Rule::Sequential => Ok(sequential::mean_sequence(differences)?.p),
        Rule::Fixed => {
            check(differences, 2)?;
            let center = mean(differences).unwrap_or_default();
            if is_constant(differences) {
                return Ok(if center == 0.0 { 1.0 } else { 0.0 });
            }
            let spread = standard_deviation(differences).unwrap_or_default();
            let count = differences.len() as f64;
            Ok(student_t_two_sided(finite(center / (spread / count.sqrt()))?, count - 1.0))
        }
    }
}

fn estimate(question: &Question, differences: &[f64], alpha: f64) -> Result<Estimate, DataError> {
    let (Some(mean), Some(spread)) = (mean(differences), standard_deviation(differences)) else {
        return Err(DataError::TooFew { needed: 2, found: differences.len() });
    };
    let interval = match question.rule {
        Rule::Fixed => t_interval(differences, 1.0 - alpha).ok_or(DataError::NoSpread)?,
        Rule::Sequential => {
            let half = half_width(differences.len(), spread, alpha);
            Interval { lower: mean - half, upper: mean + half }
        }
    };
    finite(interval.lower)?;
    finite(interval.upper)?;
    Ok(Estimate {
        rule: question.rule,
        mean: finite(mean)?,
        standard_deviation: finite(spread)?,
        blocks: differences.len(),
        layouts: differences.len() * question.layouts_per_block,
        interval,
        alpha,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::noise::Noise;
    use crate::decision::{Comparison, Gate, Tolerance, compare, gate};
    use proptest::prelude::*;

    /// Comparisons with no difference.
    fn members(rule: Rule, lists: &[&[f64]]) -> Result<Option<Vec<Member>>, DataError> {
        let lists: Vec<(&[f64], f64)> = lists.iter().map(|list| (*list, 0.0)).collect();
        family(&Question { rule, layouts_per_block: 13 }, &lists)
    }

    fn verdict(member: &Member) -> Comparison {
        compare(&member.estimate, Tolerance::new(0.01).unwrap())
    }

    fn wavy(center: f64, count: u32) -> Vec<f64> {
        (0..count).map(|i| center + 0.02 * (f64::from(i) * 1.3).sin()).collect()
    }

    #[test]
    fn a_family_of_one_gets_the_interval_of_its_rule() {
        for center in [0.0, 0.004, 0.02, -0.03] {
            let list = wavy(center, 20);
            let once = t_interval(&list, 0.95).unwrap();
            let always = sequential::mean_sequence(&list).unwrap().interval;
            for (rule, expected) in [(Rule::Fixed, once), (Rule::Sequential, always)] {
                let found = members(rule, &[&list]).unwrap().unwrap();
                let [one, other] = [found[0].estimate.interval, expected];
                assert!((one.lower - other.lower).abs() < 1e-12);
                assert!((one.upper - other.upper).abs() < 1e-12);
                assert_eq!(found[0].p, found[0].p_adjusted);
            }
        }
    }

    #[test]
    fn the_sequential_rule_has_a_verdict_as_soon_as_the_interval_allows() {
        let verdict = |center, count| {
            let list: Vec<f64> =
                wavy(center, count).iter().map(|x| center + (x - center) / 10.0).collect();
            let found = members(Rule::Sequential, &[&list]).unwrap();
            found.map(|found| verdict(&found[0]))
        };
        assert_eq!(verdict(0.1, 9), None);
        assert_eq!(verdict(0.1, 10), Some(Comparison::Slower));
        assert_eq!(verdict(0.0, 20), Some(Comparison::Equivalent));
    }

    #[test]
    fn the_interval_excludes_zero_exactly_when_holm_finds_a_difference() {
        let mut noise = Noise::new(3);
        for rule in [Rule::Fixed, Rule::Sequential] {
            let mut found = [0; 2];
            for _ in 0..300 {
                let lists: Vec<Vec<f64>> = [0.0, 0.3, 0.6, 0.9]
                    .iter()
                    .map(|center| (0..20).map(|_| center + noise.normal()).collect())
                    .collect();
                let slices: Vec<&[f64]> = lists.iter().map(Vec::as_slice).collect();
                for member in members(rule, &slices).unwrap().unwrap() {
                    let excludes = !member.estimate.interval.contains(0.0);
                    assert_eq!(excludes, member.p_adjusted <= ERROR_RATE, "{member:?}");
                    found[usize::from(excludes)] += 1;
                }
            }
            assert!(found[0] > 100 && found[1] > 100, "{found:?}");
        }
    }

    #[test]
    fn false_differences_among_three_stay_below_five_percent() {
        let mut noise = Noise::new(5);
        let mut wrong = [0, 0];
        for _ in 0..2000 {
            let lists: Vec<Vec<f64>> =
                (0..3).map(|_| (0..12).map(|_| noise.normal()).collect()).collect();
            let slices: Vec<&[f64]> = lists.iter().map(Vec::as_slice).collect();
            for (count, rule) in wrong.iter_mut().zip([Rule::Fixed, Rule::Sequential]) {
                let found = members(rule, &slices).unwrap().unwrap();
                let different = |member: &Member| {
                    matches!(verdict(member), Comparison::Faster | Comparison::Slower)
                };
                *count += i32::from(found.iter().any(different));
            }
        }
        // 5 % of 2000 and three standard errors; the sequential rule keeps most for later looks.
        assert!((60..130).contains(&wrong[0]) && wrong[1] < 60, "{wrong:?}");
    }

    #[test]
    fn rows_as_slow_as_each_tolerates_are_decided_in_five_percent_of_gates_together() {
        // Unlike tolerances, in standard deviations of a block of 1 %: half of one to five.
        let tolerances =
            [0.005, 0.01, 0.02, 0.03, 0.05].map(|share| Tolerance::new(share).unwrap());
        let mut noise = Noise::new(7);
        // All rows as slow as each tolerates; and the same beside ten that are clearly within.
        for within in [0, 10] {
            let mut wrong = [0, 0];
            for _ in 0..2000 {
                let mut rows: Vec<(Vec<f64>, Tolerance)> = Vec::new();
                for place in 0..tolerances.len() + within {
                    let tolerance = tolerances[place % tolerances.len()];
                    let share = if place < tolerances.len() { 1.0 } else { 0.0 };
                    let center = share * tolerance.log_bound();
                    let list = (0..12).map(|_| center + 0.01 * noise.normal()).collect();
                    rows.push((list, tolerance));
                }
                let lists: Vec<(&[f64], f64)> =
                    rows.iter().map(|(list, own)| (&list[..], own.log_bound())).collect();
                for (count, rule) in wrong.iter_mut().zip([Rule::Fixed, Rule::Sequential]) {
                    let question = Question { rule, layouts_per_block: 1000 };
                    let found = family(&question, &lists).unwrap().unwrap();
                    let decided = |(member, (_, tolerance)): (&Member, &(_, Tolerance))| {
                        gate(&member.estimate, *tolerance).is_decided()
                    };
                    let at_tolerance = found.iter().zip(&rows).take(tolerances.len());
                    *count += i32::from(at_tolerance.into_iter().any(decided));
                }
            }
            // 5 % of 2000 and three standard errors; beside others it is less or as much.
            let least = if within == 0 { 60 } else { 5 };
            assert!((least..130).contains(&wrong[0]) && wrong[1] < 60, "{within}: {wrong:?}");
        }
    }

    #[test]
    fn a_row_slower_within_its_tolerance_takes_nothing_from_the_others() {
        let tolerance = Tolerance::new(0.05).unwrap();
        let tight = Tolerance::new(0.01).unwrap();
        let slow: Vec<Vec<f64>> = (0..9).map(|_| wavy(0.048, 12)).collect();
        let close = wavy(tight.log_bound() + 0.0125, 12);
        let mut lists: Vec<(&[f64], f64)> =
            slow.iter().map(|list| (&list[..], tolerance.log_bound())).collect();
        lists.push((&close, tight.log_bound()));
        let question = Question { rule: Rule::Fixed, layouts_per_block: 1000 };
        let found = family(&question, &lists).unwrap().unwrap();
        // None of the nine is decided, so that the tenth is looked at as one of ten.
        assert!((found[9].confidence - 0.995).abs() < 1e-12, "{found:?}");
        assert_eq!(gate(&found[9].estimate, tight).is_decided(), found[9].p_adjusted <= 0.05);
        assert!(matches!(gate(&found[0].estimate, tolerance), Gate::Inconclusive { .. }));
        assert!(found[0].p < 0.001 && found[0].p_adjusted > 0.05, "{:?}", found[0]);
    }

    #[test]
    fn too_few_blocks_give_nothing_and_constant_ones_a_verdict() {
        assert_eq!(members(Rule::Sequential, &[&[0.1; 9]]), Ok(None));
        assert_eq!(members(Rule::Fixed, &[&[0.1; 5]]), Ok(None));
        for rule in [Rule::Fixed, Rule::Sequential] {
            let found = members(rule, &[&[0.0; 10], &[0.5; 10]]).unwrap().unwrap();
            assert_eq!(verdict(&found[0]), Comparison::Equivalent);
            assert_eq!(verdict(&found[1]), Comparison::Slower);
            assert!(members(rule, &[&[f64::NAN; 10]]).is_err());
        }
    }

    proptest! {
        #[test]
        fn the_order_of_the_programs_does_not_matter(
            values in prop::collection::vec(-0.1..0.1_f64, 36),
        ) {
            let lists: Vec<&[f64]> = values.chunks(12).collect();
            let turned = [lists[2], lists[0], lists[1]];
            let found = members(Rule::Sequential, &lists).unwrap().unwrap();
            let other = members(Rule::Sequential, &turned).unwrap().unwrap();
            prop_assert_eq!(found, vec![other[1], other[2], other[0]]);
        }
    }
}
