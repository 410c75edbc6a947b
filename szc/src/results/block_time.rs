//! How long the blocks of a family took, to say what more of them would take.
#![forbid(unsafe_code)]

use crate::samples::design::Arrangement;
use crate::samples::{ResultRecord, Sample, SamplesFile};

/// Seconds that a complete block of the programs of `result` took: that of its runs one after the
/// other, or of its rounds by turns. `None` where there are no common blocks.
#[must_use]
pub fn seconds_per_block(file: &SamplesFile, result: &ResultRecord) -> Option<f64> {
    if file.design.plan.arrangement != Arrangement::Mirrored {
        return None;
    }
    let reference = file.programs.get(result.reference)?;
    let members = file
        .programs
        .iter()
        .map(|other| (&other.workload, other.machine) == (&reference.workload, reference.machine));
    let members: Vec<bool> = members.collect();
    let count = members.iter().filter(|member| **member).count();
    let at_once = if reference.was_by_turns() { u32::try_from(count).ok()?.max(1) } else { 1 };
    let blocks = file.design.complete_blocks;
    let runs = file
        .runs
        .iter()
        .filter(|run| run.block < blocks && members.get(run.program).copied().unwrap_or(false));
    let runs: Vec<&Sample> = runs.collect();
    let round = |run: &Sample| (run.block, run.position / at_once);
    let rounds = runs.chunk_by(|one, next| round(one) == round(next));
    let longest = |runs: &[&Sample]| runs.iter().map(|run| run.wall_ns).max().unwrap_or(0);
    let total: f64 = rounds.map(|runs| longest(runs) as f64 / 1e9).sum();
    let found = runs.chunk_by(|one, next| one.block == next.block).count();
    (found > 0).then(|| total / found as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::{analysed, file_of, sample_of};
    use crate::samples::ScheduleRecord;

    #[test]
    fn runs_of_a_block_follow_each_other_or_share_the_time_of_the_longest() {
        let mut file = file_of(&[1000, 3000], 10);
        for run in &mut file.runs {
            *run = sample_of(run.block, run.position, run.program, [1000, 3000][run.program]);
        }
        let alone = analysed(file.clone());
        assert_eq!(seconds_per_block(&alone, &alone.results[0]), Some(8.0));
        let by_turns = ScheduleRecord { by_turns: true, ..ScheduleRecord::default() };
        file.programs.iter_mut().for_each(|program| program.schedule = Some(by_turns.clone()));
        let by_turns = analysed(file);
        assert_eq!(seconds_per_block(&by_turns, &by_turns.results[0]), Some(6.0));
        let mut groups = alone.clone();
        groups.design.plan.arrangement = Arrangement::Groups;
        assert_eq!(seconds_per_block(&groups, &alone.results[0]), None);
    }
}
