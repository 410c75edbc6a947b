//! What would make a program robust against the placement of one function, and whether it does: the
//! function held where the fix would put it, against layouts in which it lies anywhere.
#![forbid(unsafe_code)]

use anyhow::Result;

use super::hold::{hold, owned};
use super::options::Options;
use crate::lab::experiment::{Experiment, Stopping};
use crate::measure::program::{ONE_LAYOUT, Program};
use crate::samples::design::{Bases, Design, EnvironmentSize};
use crate::samples::luck::NamedRecord;
use crate::samples::{Command, RuleRecord};

/// Blocks of the comparison, each with two layouts of both.
const BLOCKS: u32 = 30;

/// The comparison of the program as it is, A, with the one that holds the function at `offset`, B.
///
/// # Errors
/// An option that has no sense here.
pub(super) fn experiment(
    options: &Options,
    program: &Program,
    (named, offset): (&NamedRecord, u32),
    seed: u64,
    command_line: Vec<String>,
) -> Result<Experiment> {
    let version = |label: &str, name: &str, variables: Vec<(String, String)>| Program {
        label: label.to_owned(),
        name: Some(name.to_owned()),
        variables,
        ..program.clone()
    };
    let programs = vec![
        version("A", "anywhere", vec![owned(ONE_LAYOUT)]),
        version("B", "held", vec![hold(named, offset, seed), owned(ONE_LAYOUT)]),
    ];
    let design = Design { coupled: true, ..Design::mirrored(2, BLOCKS, 0) };
    let drawn = options.common.experiment(Command::Compare, command_line, programs, design)?;
    let design = Design { seed: seed ^ 2, ..in_one_setup(drawn.design) };
    let stopping = Stopping { rule: RuleRecord::Fixed, ..Stopping::default() };
    Ok(Experiment { stopping, design, quiet: true, json: None, ..drawn })
}

/// Only layouts differ.
pub(super) fn in_one_setup(design: Design) -> Design {
    Design { environment: EnvironmentSize::Fixed, bases: Bases::Stack, ..design }
}
