//! When to stop measuring: at a fixed number of blocks, or as soon as the question is answered.
//!
//! The caller measures a block, asks [`Plan::look`], and goes on while told to. Stopping early is
//! allowed only with the sequential rule, whose intervals are valid at every look; so the two
//! cannot be combined wrongly.

use super::data::{DataError, check, finite};
use super::decision::{Comparison, Estimate, Gate, Tolerance, compare, gate};
use super::planning::Rule;
use super::{fixed, sequential};

/// What the experiment is to find out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Question {
    /// Which program is faster, or whether they are equivalent within the tolerance.
    Compare(Tolerance),
    /// Whether the slowdown stays below the tolerance.
    Gate(Tolerance),
    /// How large the mean is, to half an interval of at most this width.
    Precision {
        /// Half the width of the interval asked for, in the unit of the data.
        half_width: f64,
    },
}

/// The answer that an interval gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// To [`Question::Compare`].
    Compare(Comparison),
    /// To [`Question::Gate`].
    Gate(Gate),
    /// To [`Question::Precision`].
    Precision {
        /// Whether the interval is as narrow as asked.
        reached: bool,
    },
}

impl Verdict {
    /// Whether the question is answered.
    #[must_use]
    pub fn is_decided(self) -> bool {
        match self {
            Self::Compare(verdict) => !matches!(verdict, Comparison::Unresolved { .. }),
            Self::Gate(verdict) => !matches!(verdict, Gate::Inconclusive { .. }),
            Self::Precision { reached } => reached,
        }
    }
}

/// What to do after a look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Look {
    /// Measure another block. There is an estimate once there are enough blocks for one, for
    /// display only under the fixed rule.
    Continue(Option<Estimate>),
    /// Stop: the question is answered or the budget is spent.
    Stop(Estimate, Verdict),
}

/// A question, a budget and a rule, fixed before the first block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    rule: Rule,
    question: Question,
    budget: usize,
}

impl Plan {
    /// `budget` is the number of blocks after which measuring stops in any case; under the
    /// fixed rule it is the number of blocks.
    ///
    /// # Errors
    /// [`DataError::Parameter`] for a budget below the fewest blocks of the rule
    /// ([`fixed::FEWEST_BLOCKS`], [`sequential::FEWEST_BLOCKS`]) or a precision that is not
    /// positive.
    pub fn new(rule: Rule, question: Question, budget: usize) -> Result<Self, DataError> {
        let fewest = match rule {
            Rule::Fixed => fixed::FEWEST_BLOCKS,
            Rule::Sequential => sequential::FEWEST_BLOCKS,
        };
        if budget < fewest {
            return Err(DataError::Parameter("budget"));
        }
        if let Question::Precision { half_width } = question
            && !(half_width > 0.0 && half_width.is_finite())
        {
            return Err(DataError::Parameter("precision"));
        }
        Ok(Self { rule, question, budget })
    }

    /// Looks at the differences of all blocks so far, one number per block.
    ///
    /// # Errors
    /// [`DataError`] for a value that is not finite, or values too large to average.
    pub fn look(&self, differences: &[f64]) -> Result<Look, DataError> {
        check(differences, 0)?;
        let estimate = match self.rule {
            Rule::Fixed => fixed::analyse(differences).as_ref().map(Estimate::from),
            Rule::Sequential if differences.len() < sequential::FEWEST_BLOCKS => None,
            Rule::Sequential => Some(Estimate::from(&sequential::mean_sequence(differences)?)),
        };
        let Some(estimate) = estimate else {
            return Ok(Look::Continue(None));
        };
        finite(estimate.mean)?;
        finite(estimate.standard_deviation)?;
        let spent = differences.len() >= self.budget;
        let verdict = self.answer(&estimate);
        let decided = self.rule == Rule::Sequential && verdict.is_decided();
        Ok(if spent || decided {
            Look::Stop(estimate, verdict)
        } else {
            Look::Continue(Some(estimate))
        })
    }

    fn answer(&self, estimate: &Estimate) -> Verdict {
        match self.question {
            Question::Compare(tolerance) => Verdict::Compare(compare(estimate, tolerance)),
            Question::Gate(tolerance) => Verdict::Gate(gate(estimate, tolerance)),
            Question::Precision { half_width } => {
                let width = estimate.interval.upper - estimate.interval.lower;
                Verdict::Precision { reached: width <= 2.0 * half_width }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tolerance() -> Tolerance {
        Tolerance::new(0.01).unwrap()
    }

    /// Measures until told to stop.
    fn blocks_measured(plan: Plan, block: impl Fn(u32) -> f64) -> (usize, Verdict) {
        let mut differences = Vec::new();
        for index in 0.. {
            differences.push(block(index));
            if let Look::Stop(estimate, verdict) = plan.look(&differences).unwrap() {
                assert_eq!(estimate.blocks, differences.len());
                return (differences.len(), verdict);
            }
        }
        unreachable!("a plan has a budget")
    }

    fn wavy(center: f64) -> impl Fn(u32) -> f64 {
        move |index| center + 0.002 * (f64::from(index) * 1.3).sin()
    }

    #[test]
    fn the_sequential_rule_stops_as_soon_as_the_verdict_is_there() {
        let plan = Plan::new(Rule::Sequential, Question::Compare(tolerance()), 100).unwrap();
        assert_eq!(blocks_measured(plan, wavy(0.1)), (10, Verdict::Compare(Comparison::Slower)));
        let (blocks, verdict) = blocks_measured(plan, wavy(0.0));
        assert_eq!(verdict, Verdict::Compare(Comparison::Equivalent));
        assert!(blocks < 20, "{blocks}");
        let plan = Plan::new(Rule::Sequential, Question::Gate(tolerance()), 100).unwrap();
        assert_eq!(blocks_measured(plan, wavy(0.1)), (10, Verdict::Gate(Gate::Fail)));
    }

    #[test]
    fn the_budget_ends_what_cannot_be_decided() {
        let plan = Plan::new(Rule::Sequential, Question::Gate(tolerance()), 40).unwrap();
        let (blocks, verdict) = blocks_measured(plan, wavy(tolerance().log_bound()));
        assert_eq!(blocks, 40);
        assert!(!verdict.is_decided());
    }

    #[test]
    fn the_fixed_rule_never_stops_early() {
        let plan = Plan::new(Rule::Fixed, Question::Compare(tolerance()), 30).unwrap();
        assert_eq!(blocks_measured(plan, wavy(0.1)), (30, Verdict::Compare(Comparison::Slower)));
    }

    #[test]
    fn precision_is_reached_when_the_interval_is_narrow() {
        let question = Question::Precision { half_width: 0.001 };
        let plan = Plan::new(Rule::Sequential, question, 1000).unwrap();
        let (blocks, verdict) = blocks_measured(plan, wavy(0.3));
        assert_eq!(verdict, Verdict::Precision { reached: true });
        assert!((11..100).contains(&blocks), "{blocks}");
    }

    #[test]
    fn impossible_plans_are_refused() {
        let compare = Question::Compare(tolerance());
        assert_eq!(Plan::new(Rule::Fixed, compare, 5), Err(DataError::Parameter("budget")));
        assert_eq!(Plan::new(Rule::Sequential, compare, 9), Err(DataError::Parameter("budget")));
        let question = Question::Precision { half_width: 0.0 };
        assert_eq!(Plan::new(Rule::Fixed, question, 9), Err(DataError::Parameter("precision")));
        let plan = Plan::new(Rule::Fixed, compare, 6).unwrap();
        assert_eq!(plan.look(&[f64::NAN]), Err(DataError::NotFinite { index: 0 }));
        assert_eq!(plan.look(&[]), Ok(Look::Continue(None)));
        assert_eq!(plan.look(&[f64::MAX; 6]), Err(DataError::OutOfRange));
    }
}
