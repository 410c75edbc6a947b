//! Decides for each function whether it may move, and if so what its copies must patch.

use crate::decision::Decision;
use crate::emit::Emitter;
use crate::frame::PreparedFrames;
use crate::pins::{Pins, Policy};
use crate::read::Image;
use crate::references::References;
use crate::stack_switch;
use crate::tail_calls;
use szc_abi::Reason;

/// How names begin of the unwinder's functions, which go back to older frames of the same stack.
const UNWINDER_PREFIX: &[u8] = b"_Unwind_";

/// What goes on on another stack in a C library that is linked statically. (Its jumps go back to
/// older frames.)
const OTHER_CONTEXTS: &[&[u8]] = &[b"setcontext", b"swapcontext"];

/// Decides for all functions of an image.
#[must_use]
pub fn decide<'data>(
    image: &Image<'data>,
    references: &References<'data>,
    frames: PreparedFrames,
    policy: &Policy,
) -> Decision {
    let References { survey, jump_tables, covered } = references;
    let mut pins = Pins::new(survey);
    pins.by_policy(image, survey, policy);
    pins.by_runtime(survey);
    if let Some(covered) = covered {
        pins.by_pc_tables(image, survey, covered);
    }
    for &(index, reason) in &jump_tables.pinned {
        pins.pin(index, reason);
    }
    for index in tail_calls::caller_sensitive(image, survey) {
        pins.pin(index, Reason::CallerMatters);
    }
    let dependencies = pins.by_references(survey, &jump_tables.tables);
    pins.propagate(&dependencies);
    let (tables, pins) = (&jump_tables.tables, &pins.reasons);
    let switches = stack_switch::find(image, survey, |index| {
        let has_name = |is: fn(&[u8]) -> bool| survey.functions[index].has_name(is);
        match pins[index] {
            Some(Reason::Runtime) => true,
            Some(Reason::CLibrary) => !has_name(|name| OTHER_CONTEXTS.contains(&name)),
            _ => has_name(|name| name.starts_with(UNWINDER_PREFIX)),
        }
    });
    Emitter::new(image, survey, tables, pins, &switches).emit(&dependencies, frames)
}
