//! Designs of pairs: two runs of a program that differ in one part each.
#![forbid(unsafe_code)]

use super::super::draw::{run_index, splitmix64_at};
use super::super::setups::{Setup, Setups};
use super::parts::Part;
use super::{Arrangement, Design, Phase, Place, PlannedRun, layout_seed};

impl PlannedRun {
    /// The variables with seeds of parts of its layout, and those seeds.
    #[must_use]
    pub fn part_seeds(&self) -> Vec<(&'static str, u64)> {
        let chosen = [Part::Code, Part::Stack, Part::Heap].into_iter().zip(self.layouts);
        let chosen = chosen.filter_map(|(part, seed)| Some((part, seed?)));
        let all = chosen.chain(self.redrawn);
        all.filter_map(|(part, seed)| Some((part.variable()?, seed))).collect()
    }

    /// Whether its setup says which layout it has, so that it keeps one.
    #[must_use]
    pub fn keeps_layout(&self) -> bool {
        self.layouts.iter().any(Option::is_some)
    }
}

impl Design {
    /// The seeds of the parts of a layout that setups differ in.
    pub(super) fn layout_seeds(&self, setups: Setups, setup: Setup) -> [Option<u64>; 3] {
        [0, 1, 2].map(|part| {
            let position = u32::try_from(part).unwrap_or(0);
            let random = splitmix64_at(self.seed, run_index(7, setup.layouts[part], position));
            (setups.layouts[part] > 0).then(|| layout_seed(random))
        })
    }

    /// Pairs of runs that differ in one part each.
    #[must_use]
    pub fn parts(blocks: u32, seed: u64) -> Self {
        Self { arrangement: Arrangement::Parts, ..Self::mirrored(1, blocks, seed) }
    }

    /// Runs that are under way at once if they are by turns.
    #[must_use]
    pub fn runs_by_turns(&self) -> usize {
        match self.arrangement {
            Arrangement::Parts => 2,
            _ => self.programs,
        }
    }

    /// The pairs of a block.
    pub(super) fn pairs(&self, block: u32) -> Vec<PlannedRun> {
        let place = |position| Place { phase: Phase::Measured, block, position };
        (0..Part::RUNS).map(|position| self.planned_of_pair(place(position))).collect()
    }

    /// One of a pair: as the other one, but for the part that is drawn anew.
    fn planned_of_pair(&self, place: Place) -> PlannedRun {
        let first = place.position - place.position % 2;
        let (part, is_second) = (Part::at(place.position), place.position != first);
        let own = |anew: bool| if is_second && anew { first + 1 } else { first };
        let layout = own(part == Part::All);
        let bases = own(matches!(part, Part::Bases | Part::All));
        let run = self.planned(place, layout, bases, 0);
        let drawn = splitmix64_at(self.seed, run_index(5, place.block, place.position));
        let redrawn = (is_second && part.has_seed()).then(|| (part, layout_seed(drawn)));
        PlannedRun { redrawn, ..run }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::bases::Bases;

    #[test]
    fn the_runs_of_a_pair_differ_in_its_part_alone() {
        let design = Design { bases: Bases::Drawn, ..Design::parts(40, 9) };
        let mut same_bases = 0;
        for block in 0..40 {
            let runs = design.block_runs(block);
            assert_eq!(runs.len() as u64, design.block_size(block));
            for (pair, part) in runs.chunks(2).zip(Part::ALL) {
                let [one, other] = pair else { panic!("{pair:?}") };
                assert_eq!((Part::at(one.position), Part::at(other.position)), (part, part));
                assert_eq!(one.redrawn, None);
                assert_eq!(
                    other.redrawn.map(|(part, _)| part),
                    Some(part).filter(|part| part.has_seed())
                );
                assert!(other.redrawn.is_none_or(|(_, seed)| seed != one.seed));
                assert_eq!(one.seed != other.seed, part == Part::All);
                let bases = |run: &PlannedRun| (run.padding_bytes, run.addresses);
                let alike = bases(one) == bases(other);
                assert!(alike || matches!(part, Part::Bases | Part::All), "{part:?}");
                same_bases += u32::from(alike && matches!(part, Part::Bases | Part::All));
            }
            let mut seeds: Vec<u64> = runs.iter().step_by(2).map(|run| run.seed).collect();
            seeds.dedup();
            assert_eq!(seeds.len(), Part::ALL.len());
        }
        // Once in 256·65536.
        assert_eq!(same_bases, 0);
    }
}
