//! Several programs against one reference: verdicts that share one error rate.
//!
//! With m comparisons at 5 % each, the chance of a false difference among them is up to m times as
//! large. Holm's procedure (1979) bounds it for all together: p-values in ascending order are held
//! against α/m, α/(m−1), … until one fails. Here each comparison also gets the interval of that
//! level, so that interval and verdict never contradict each other: what is bounded is any false
//! difference, not any miss of an interval, whose level the data have chosen. One comparison is a
//! family of one, and gets the interval of its rule.
//!
//! The sequential rule has p-values that are valid at every look, 1/E (Ville's inequality), so
//! that Holm's procedure may be repeated after every block.

use super::data::{DataError, check, finite, is_constant};
use super::decision::{Comparison, Estimate, Tolerance, compare};
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
    /// Tolerated change.
    pub tolerance: Tolerance,
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
    /// Holm's adjustment.
    pub p_adjusted: f64,
    /// Level of the interval by itself: 1 − α/(m − rank). The rank follows from the data, so that
    /// the intervals of a family are not promised to cover all at once.
    pub confidence: f64,
    /// The verdict of that interval.
    pub verdict: Comparison,
}

/// Analyses lists of differences, one list for each comparison, one number per block.
///
/// `None` below the fewest blocks of the rule.
///
/// # Errors
/// [`DataError`] for values that are not finite or too large to average.
pub fn family(question: &Question, lists: &[&[f64]]) -> Result<Option<Vec<Member>>, DataError> {
    let rule = question.rule;
    let fewest = match rule {
        Rule::Fixed => fixed::MIN_BLOCKS,
        Rule::Sequential => sequential::MIN_BLOCKS,
    };
    if lists.iter().any(|list| list.len() < fewest) {
        return Ok(None);
    }
    let p = lists.iter().map(|list| p_value(rule, list)).collect::<Result<Vec<f64>, _>>()?;
    let adjusted = holm(&p)?;
    let divisors = holm_divisors(&p);
    let member = |place: usize| {
        let alpha = ERROR_RATE / divisors[place] as f64;
        let estimate = estimate(question, lists[place], alpha)?;
        Ok(Member {
            estimate,
            p: p[place],
            p_adjusted: adjusted[place],
            confidence: 1.0 - alpha,
            verdict: compare(&estimate, question.tolerance),
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
    use proptest::prelude::*;

    fn question(rule: Rule) -> Question {
        Question { rule, tolerance: Tolerance::new(0.01).unwrap(), layouts_per_block: 13 }
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
                let members = family(&question(rule), &[&list]).unwrap().unwrap();
                let [one, other] = [members[0].estimate.interval, expected];
                assert!((one.lower - other.lower).abs() < 1e-12);
                assert!((one.upper - other.upper).abs() < 1e-12);
                assert_eq!(members[0].p, members[0].p_adjusted);
            }
        }
    }

    #[test]
    fn the_sequential_rule_has_a_verdict_as_soon_as_the_interval_allows() {
        let verdict = |center, count| {
            let list: Vec<f64> =
                wavy(center, count).iter().map(|x| center + (x - center) / 10.0).collect();
            let found = family(&question(Rule::Sequential), &[&list]).unwrap();
            found.map(|found| found[0].verdict)
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
                for member in family(&question(rule), &slices).unwrap().unwrap() {
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
                let members = family(&question(rule), &slices).unwrap().unwrap();
                let different = |member: &Member| {
                    matches!(member.verdict, Comparison::Faster | Comparison::Slower)
                };
                *count += i32::from(members.iter().any(different));
            }
        }
        // 5 % of 2000 and three standard errors; the sequential rule keeps most for later looks.
        assert!((60..130).contains(&wrong[0]) && wrong[1] < 60, "{wrong:?}");
    }

    #[test]
    fn too_few_blocks_give_nothing_and_constant_ones_a_verdict() {
        assert_eq!(family(&question(Rule::Sequential), &[&[0.1; 9]]), Ok(None));
        assert_eq!(family(&question(Rule::Fixed), &[&[0.1; 5]]), Ok(None));
        for rule in [Rule::Fixed, Rule::Sequential] {
            let members = family(&question(rule), &[&[0.0; 10], &[0.5; 10]]).unwrap().unwrap();
            assert_eq!(members[0].verdict, Comparison::Equivalent);
            assert_eq!(members[1].verdict, Comparison::Slower);
            assert!(family(&question(rule), &[&[f64::NAN; 10]]).is_err());
        }
    }

    proptest! {
        #[test]
        fn the_order_of_the_programs_does_not_matter(
            values in prop::collection::vec(-0.1..0.1_f64, 36),
        ) {
            let lists: Vec<&[f64]> = values.chunks(12).collect();
            let turned = [lists[2], lists[0], lists[1]];
            let found = family(&question(Rule::Sequential), &lists).unwrap().unwrap();
            let other = family(&question(Rule::Sequential), &turned).unwrap().unwrap();
            prop_assert_eq!(found, vec![other[1], other[2], other[0]]);
        }
    }
}
