//! The plan of an interleaved experiment: which program runs when, with which layout seed.
//!
//! Everything follows from one seed, whatever the timing, so a plan can be
//! repeated and resumed. Random numbers are outputs of SplitMix64 (Steele, Lea and Flood 2014)
//! addressed by index: output i is `finalize(seed + (i + 1)·0x9e3779b97f4a7c15)`.
//! The index of a run is `2^48·phase + 2^16·block + position`, with phase 0 for
//! warm-up, 1 for measured runs, 2 for the order of a block, 3 and 4 for where stack and mappings
//! begin, 5 for setups and for parts of a layout that are drawn anew, and 6 for the order of setups
//! that are held against each other, 7 for the layouts that setups have in common.
//!
//! Layout seeds are mapped to 10^15 ≤ seed < 2^53. All have sixteen digits, so
//! `SZC_SEED` is equally long in every run and moves no stack; and all are exact
//! in JSON readers that know only doubles. What does move the stack is the size of the
//! environment, which is random on purpose and follows from the layout seed.
#![forbid(unsafe_code)]

mod pairs;
mod parts;

pub use self::parts::Part;

use serde::{Deserialize, Serialize};

pub use super::bases::{Addresses, Bases, EnvironmentSize};
use super::draw::{below, run_index, shuffled, splitmix64_at};
use super::setups::{Contrast, STACK_ALIGNMENT, Setup, Setups};

const MIN_LAYOUT_SEED: u64 = 1_000_000_000_000_000;
const LAYOUT_SEED_LIMIT: u64 = 1 << 53;

/// The padding of the environment has fewer bytes than this: a page, after which the stack's
/// position within pages repeats.
const PADDING_LIMIT_BYTES: u32 = 4096;

/// Positions of the stack within a page.
const STACK_POSITIONS: u64 = 256;

/// Positions of the base of mappings, a page apart: 256 MiB.
const MAPPING_POSITIONS: u64 = 1 << 16;

/// Most runs of a program in one of its two positions of a block, and of a layout.
pub const MAX_RUNS_PER_POSITION: u32 = 1000;

/// Most programs of an experiment, so that positions fit into the index of a run.
pub const MAX_PROGRAMS: usize = 32;

/// Most blocks: block numbers have 32 bits in the index of a run, and this is beyond patience.
pub const MAX_BLOCKS: u32 = 1_000_000;

/// Phase of an experiment, part of the index of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Runs whose cost is not recorded.
    WarmUp,
    /// Runs that count.
    Measured,
}

/// One run to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedRun {
    /// Whether it counts.
    pub phase: Phase,
    /// Block, or round of warm-up, from 0.
    pub block: u32,
    /// Place in the block, from 0.
    pub position: u32,
    /// Program to run: its place in the list of programs.
    pub program: usize,
    /// Layout seed to give it.
    pub seed: u64,
    /// A part of the layout that has another seed.
    pub redrawn: Option<(Part, u64)>,
    /// The seeds of code, frames and heap that its setup chooses.
    pub layouts: [Option<u64>; 3],
    /// Length of the variable that pads the environment; none with a fixed environment.
    pub padding_bytes: Option<u32>,
    /// Where its addresses begin; none if the kernel chooses.
    pub addresses: Option<Addresses>,
    /// The setup that it has on purpose, if any.
    pub setup: Option<Setup>,
}

/// What a block is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Arrangement {
    /// All programs in an order drawn at random and then in its reverse (ABBA), a fresh layout
    /// for every run.
    Mirrored,
    /// A block is a layout of one program, run once or, in every second block,
    /// [`Design::runs_per_layout`] times. Beside each run a second program, if there is one, has
    /// one layout throughout.
    Layouts,
    /// Pairs of runs of one program that differ in one [`Part`] each, by turns at once.
    Parts,
    /// Programs that were measured apart, each over layouts of its own: they have no common
    /// blocks. Made of two measurements, never planned.
    Groups,
}

/// Size and seed of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Design {
    /// Number of programs in a block.
    pub programs: usize,
    /// What a block is made of.
    pub arrangement: Arrangement,
    /// Number of blocks: exactly as many with a fixed rule, at most as many with a sequential one.
    pub blocks: u32,
    /// Runs of one program in each of its two positions of a mirrored block.
    pub runs_per_position: u32,
    /// Runs with the same layout in every second block of [`Arrangement::Layouts`].
    pub runs_per_layout: u32,
    /// Runs of each program before the first block.
    pub warmup: u32,
    /// Whether the order within a block is drawn at random; otherwise it is that of the list.
    pub shuffle: bool,
    /// Size of the environment.
    pub environment: EnvironmentSize,
    /// Whether the programs of a block have the same seeds, each in its first run, in its second
    /// and so on.
    #[serde(default)]
    pub coupled: bool,
    /// Who chooses where stack and mappings begin.
    #[serde(default)]
    pub bases: Bases,
    /// Whether the programs of a block are under way at once and have one processor by turns. In
    /// files it stands with each program.
    #[serde(skip)]
    pub by_turns: bool,
    /// The setups that an experiment on bias goes through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setups: Option<Setups>,
    /// Seed of everything.
    pub seed: u64,
}

impl Design {
    /// A comparison of `programs` programs in mirrored blocks with what is usual otherwise.
    #[must_use]
    pub fn mirrored(programs: usize, blocks: u32, seed: u64) -> Self {
        Self {
            programs,
            arrangement: Arrangement::Mirrored,
            blocks,
            runs_per_position: 1,
            runs_per_layout: 1,
            warmup: 1,
            shuffle: true,
            environment: EnvironmentSize::Random,
            coupled: false,
            bases: Bases::Kernel,
            by_turns: false,
            setups: None,
            seed,
        }
    }

    /// Layouts of one program, every second one run `runs_per_layout` times.
    #[must_use]
    pub fn layouts(blocks: u32, runs_per_layout: u32, seed: u64) -> Self {
        Self {
            arrangement: Arrangement::Layouts,
            runs_per_layout,
            ..Self::mirrored(1, blocks, seed)
        }
    }

    /// Runs of the warm-up, all programs in turn.
    pub fn warm_up_runs(&self) -> impl Iterator<Item = PlannedRun> + use<> {
        let design = *self;
        (0..self.warmup).flat_map(move |round| {
            (0..).zip(0..design.programs).map(move |(position, program)| {
                let place = Place { phase: Phase::WarmUp, block: round, position };
                design.planned(place, if design.coupled { 0 } else { position }, 0, program)
            })
        })
    }

    /// Runs of one block in order.
    ///
    /// Mirrored: a random order of the programs followed by its reverse, each place standing for
    /// [`Design::runs_per_position`] runs. A drift of the machine that is linear in time cancels
    /// within a block. By turns: as many rounds as that, each of all programs in a random order.
    #[must_use]
    pub fn block_runs(&self, block: u32) -> Vec<PlannedRun> {
        if let Some((setups, contrast)) = self.contrast_at(block) {
            return self.contrast_runs(block, &setups, contrast);
        }
        let programs: Vec<usize> = match self.arrangement {
            Arrangement::Mirrored if self.by_turns => {
                (0..self.runs_per_position).flat_map(|round| self.order(block, round)).collect()
            }
            Arrangement::Mirrored => {
                let order = self.order(block, 0);
                let places = order.iter().chain(order.iter().rev());
                places.flat_map(|program| vec![*program; self.runs_per_position as usize]).collect()
            }
            Arrangement::Layouts | Arrangement::Groups => {
                (0..self.runs_of_layout(block)).flat_map(|round| self.order(block, round)).collect()
            }
            Arrangement::Parts => return self.pairs(block),
        };
        let mut runs_before = vec![0; self.programs.max(1)];
        let mut planned = Vec::with_capacity(programs.len());
        for (position, program) in (0..).zip(programs) {
            let place = Place { phase: Phase::Measured, block, position };
            let nth: u32 = runs_before[program];
            runs_before[program] += 1;
            planned.push(match self.arrangement {
                Arrangement::Mirrored if self.coupled => self.planned(place, nth, nth, program),
                Arrangement::Mirrored => self.planned(place, position, nth, program),
                _ if program > 0 => {
                    PlannedRun { seed: self.one_layout(), ..self.planned(place, 0, 0, program) }
                }
                _ => self.planned(place, 0, 0, program),
            });
        }
        planned
    }

    fn contrast_at(&self, block: u32) -> Option<(Setups, Contrast)> {
        self.setups.and_then(|setups| Some((setups, setups.contrast_at(block)?)))
    }

    /// All programs in each setup of a contrast, and then the same in reverse.
    fn contrast_runs(&self, block: u32, setups: &Setups, contrast: Contrast) -> Vec<PlannedRun> {
        let order = self.order(block, 0);
        let there = setups.shuffled_contrast(self.seed, block, contrast);
        let cells = there.iter().chain(there.iter().rev());
        let runs = cells.flat_map(|setup| order.iter().map(move |program| (*setup, *program)));
        (0..)
            .zip(runs)
            .map(|(position, (setup, program))| {
                let place = Place { phase: Phase::Measured, block, position };
                PlannedRun { setup: Some(setup), ..self.planned(place, 0, 0, program) }.in_setup()
            })
            .collect()
    }

    /// The runs of one block, those together that are under way at once.
    #[must_use]
    pub fn block_rounds(&self, block: u32) -> Vec<Vec<PlannedRun>> {
        let at_once = if self.by_turns { self.runs_by_turns() } else { 1 };
        self.block_runs(block).chunks(at_once).map(<[PlannedRun]>::to_vec).collect()
    }

    /// Number of runs of a block.
    #[must_use]
    pub fn block_size(&self, block: u32) -> u64 {
        if let Some((_, contrast)) = self.contrast_at(block) {
            return (2 * self.programs * contrast.setups().len()) as u64;
        }
        match self.arrangement {
            Arrangement::Mirrored => {
                let rounds = if self.by_turns { 1 } else { 2 };
                rounds * self.programs as u64 * u64::from(self.runs_per_position)
            }
            Arrangement::Layouts | Arrangement::Groups => {
                self.programs as u64 * u64::from(self.runs_of_layout(block))
            }
            Arrangement::Parts => u64::from(Part::RUNS),
        }
    }

    /// Number of runs of warm-up and the first `blocks` blocks.
    #[must_use]
    pub fn runs_until(&self, blocks: u32) -> u64 {
        if self.setups.is_some() {
            let warm_up = self.programs as u64 * u64::from(self.warmup);
            let before = self.setups.map_or(0, Setups::blocks).min(blocks);
            let behind = u64::from(blocks - before) * self.block_size(blocks.saturating_sub(1));
            return warm_up + u64::from(before) * self.block_size(0) + behind;
        }
        // Blocks of layouts come in pairs of different sizes.
        let pairs = u64::from(blocks / 2) * (self.block_size(0) + self.block_size(1));
        let last = if blocks % 2 == 1 { self.block_size(0) } else { 0 };
        self.programs as u64 * u64::from(self.warmup) + pairs + last
    }

    /// Number of runs of the whole experiment.
    #[must_use]
    pub fn total_runs(&self) -> u64 {
        self.runs_until(self.blocks)
    }

    /// One layout throughout, as a program has that nobody randomizes.
    fn one_layout(&self) -> u64 {
        layout_seed(splitmix64_at(self.seed, 0))
    }

    fn runs_of_layout(&self, block: u32) -> u32 {
        if block.is_multiple_of(2) { self.runs_per_layout } else { 1 }
    }

    /// The programs in the order of the first half of a block, or of a round of turns.
    fn order(&self, block: u32, round: u32) -> Vec<usize> {
        if !self.shuffle {
            return (0..self.programs).collect();
        }
        let first_draw = round * u32::try_from(self.programs).unwrap_or(0);
        shuffled(self.seed, 2, (block, first_draw), self.programs)
    }

    /// `layout` is the position whose layout the run has: its own, or another one of its block.
    /// `nth` is which of the program's runs in the block it is, from 0.
    fn planned(&self, place: Place, layout: u32, nth: u32, program: usize) -> PlannedRun {
        let Place { phase, block, position } = place;
        let phase_number = match phase {
            Phase::WarmUp => 0,
            Phase::Measured => 1,
        };
        let own = layout_seed(splitmix64_at(self.seed, run_index(phase_number, block, layout)));
        let seed = if self.setups.is_some_and(|setups| !setups.drawn || setups.has_layouts()) {
            self.one_layout()
        } else {
            own
        };
        let drawn = |phase, limit| {
            let random = below(splitmix64_at(self.seed, run_index(phase, block, nth)), limit);
            u32::try_from(random).expect("below a limit of 32 bits")
        };
        let padding_bytes = match self.bases {
            Bases::Kernel => padding_bytes(seed),
            Bases::Stack | Bases::Drawn => STACK_ALIGNMENT * drawn(3, STACK_POSITIONS),
        };
        let setup = self.setups.map(|setups| match phase {
            Phase::WarmUp => Setup::FIRST,
            Phase::Measured => setups.at(self.seed, block),
        });
        let planned = PlannedRun {
            phase,
            block,
            position,
            program,
            seed,
            setup,
            redrawn: None,
            layouts: self
                .setups
                .zip(setup)
                .map_or([None; 3], |(setups, setup)| self.layout_seeds(setups, setup)),
            padding_bytes: (self.environment == EnvironmentSize::Random).then_some(padding_bytes),
            addresses: match self.bases {
                Bases::Kernel => None,
                Bases::Stack => Some(Addresses { mapping_pages: None, lowered_bytes: 0 }),
                Bases::Drawn => Some(Addresses {
                    mapping_pages: Some(drawn(4, MAPPING_POSITIONS)),
                    lowered_bytes: 0,
                }),
            },
        };
        planned.in_setup()
    }
}

impl PlannedRun {
    /// The same with what its setup says of environment and stack.
    fn in_setup(self) -> Self {
        let Some(setup) = self.setup else { return self };
        let lowered_bytes = setup.lowered_bytes();
        Self {
            padding_bytes: Some(setup.variables_bytes()[0]),
            addresses: self.addresses.map(|addresses| Addresses { lowered_bytes, ..addresses }),
            ..self
        }
    }
}

/// Where a run stands in an experiment.
#[derive(Clone, Copy)]
struct Place {
    phase: Phase,
    block: u32,
    position: u32,
}

/// Maps 64 random bits to 10^15..2^53.
fn layout_seed(random: u64) -> u64 {
    MIN_LAYOUT_SEED + below(random, LAYOUT_SEED_LIMIT - MIN_LAYOUT_SEED)
}

/// Length of the padding that belongs to a layout: 0 to 4095 bytes.
fn padding_bytes(seed: u64) -> u32 {
    let bytes = below(splitmix64_at(seed, 0), u64::from(PADDING_LIMIT_BYTES));
    u32::try_from(bytes).expect("below the limit")
}

#[cfg(test)]
mod tests;
