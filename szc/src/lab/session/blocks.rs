//! The loop over the blocks of a design, and how it ends.
#![forbid(unsafe_code)]

use std::io;

use crate::samples::design::{Design, PlannedRun};

/// How a session ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All blocks are measured, or the observer has seen enough.
    Complete,
    /// This signal asked to stop.
    Interrupted(i32),
    /// A program is unfit; the text says what was found, what is needed and what to do.
    Refused(String),
}

/// Whether to measure another block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// As long as the design has one.
    Block,
    /// No: the question is answered or the time is spent.
    Stop,
}

/// The loop over blocks, apart from how runs are made: real runs are made by a session, and by a
/// model of a machine when error rates are simulated.
pub(in crate::lab) trait Blocks {
    /// Makes the runs that are under way at once and keeps their samples, or says why all is over.
    fn make(&mut self, runs: &[PlannedRun]) -> io::Result<Result<(), Ending>>;

    /// Block `blocks − 1` is complete.
    fn block_done(&mut self, blocks: u32) -> Next;

    /// Makes the blocks of `design` from `first_block` on, until enough was seen.
    fn carry_out_blocks(&mut self, design: &Design, first_block: u32) -> io::Result<Ending> {
        for block in first_block..design.blocks {
            for runs in design.block_rounds(block) {
                if let Err(ending) = self.make(&runs)? {
                    return Ok(ending);
                }
            }
            if self.block_done(block + 1) == Next::Stop {
                break;
            }
        }
        Ok(Ending::Complete)
    }
}
