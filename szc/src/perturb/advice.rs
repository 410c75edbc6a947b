//! How to split probes over runs so that none of the runs is perturbed: greedily, each group
//! measured.
//!
//! Metrics from outside are in every run. A probe joins the first group that is not perturbed with
//! it, measured anew in runs of its own among as many of the baseline.
#![forbid(unsafe_code)]

use super::experiment::Session;
use super::record::{Arm, Record, Step};
use super::results::{Judged, judge_step};
use crate::lab::failure::Failure;

/// A split.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Split {
    /// Metrics of probes that go together without being shown to perturb.
    pub(super) groups: Vec<Vec<String>>,
    /// Those that perturb alone.
    pub(super) refused: Vec<String>,
}

/// Whether that is worth a warning: what is shown over layouts, or with the layout that a program
/// has for good.
pub(super) fn perturbs(all: &[Judged]) -> bool {
    all.iter().any(|judged| judged.arm != Arm::Fixed && judged.shown().next().is_some())
}

/// Finds a split by measuring.
pub(super) fn split(session: &mut Session<'_>) -> Result<Split, Failure> {
    let mut probes: Vec<String> = Vec::new();
    for probe in session.record.steps.iter().flat_map(|step| &step.probes) {
        if !probes.contains(probe) {
            probes.push(probe.clone());
        }
    }
    let mut split = Split::default();
    greedy(&probes, &mut split, |group| is_unperturbed(session, group))?;
    Ok(split)
}

fn greedy(
    probes: &[String],
    split: &mut Split,
    mut is_unperturbed: impl FnMut(&[String]) -> Result<bool, Failure>,
) -> Result<(), Failure> {
    'probes: for probe in probes {
        if !is_unperturbed(std::slice::from_ref(probe))? {
            split.refused.push(probe.clone());
            continue;
        }
        for group in &mut split.groups {
            let mut larger = group.clone();
            larger.push(probe.clone());
            if is_unperturbed(&larger)? {
                *group = larger;
                continue 'probes;
            }
        }
        split.groups.push(vec![probe.clone()]);
    }
    Ok(())
}

fn is_unperturbed(session: &mut Session<'_>, group: &[String]) -> Result<bool, Failure> {
    let step =
        Step { name: group.join(" + "), probes: group.to_vec(), tool: None, for_advice: true };
    let place = session.measure_further(step)?;
    Ok(!perturbs(&judged(&session.record, place)?))
}

fn judged(record: &Record, place: usize) -> Result<Vec<Judged>, Failure> {
    let judged = record.arms.iter().map(|arm| judge_step(record, place, *arm));
    Ok(judged.collect::<anyhow::Result<_>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split_where(perturbs: impl Fn(&[&str]) -> bool, probes: &[&str]) -> Split {
        let probes: Vec<String> = probes.iter().map(|name| (*name).to_owned()).collect();
        let mut split = Split::default();
        let judge =
            |group: &[String]| Ok(!perturbs(&group.iter().map(String::as_str).collect::<Vec<_>>()));
        greedy(&probes, &mut split, judge).unwrap();
        split
    }

    #[test]
    fn probes_share_runs_as_long_as_nothing_is_perturbed() {
        let together = split_where(|_| false, &["a", "b", "c"]);
        assert_eq!(together.groups, [["a", "b", "c"]]);
        let apart = split_where(|group| group.len() > 2, &["a", "b", "c"]);
        assert_eq!(apart.groups, [vec!["a", "b"], vec!["c"]]);
        let quarrel = |group: &[&str]| group.contains(&"a") && group.contains(&"b");
        assert_eq!(split_where(quarrel, &["a", "b", "c"]).groups, [vec!["a", "c"], vec!["b"]]);
    }

    #[test]
    fn what_perturbs_alone_is_in_no_group() {
        let split = split_where(|group| group.contains(&"b"), &["a", "b", "c"]);
        assert_eq!(
            (split.groups, split.refused),
            (vec![vec!["a".into(), "c".into()]], vec!["b".into()])
        );
    }
}
