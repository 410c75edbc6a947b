//! Caller-sensitive tail calls: `jmp dlsym` at the end of a function, as compilers make of `return
//! dlsym(…)`. The return address, at which the loader looks, then lies in the caller of that
//! function, which is pinned.
//!
//! The compiler pass leaves such calls as they are (`pass/src/plan.rs`); this is for objects of
//! other compilers.

use crate::instructions::decoder;
use crate::read::Image;
use crate::survey::{Function, Survey};
use iced_x86::FlowControl;
use std::collections::BTreeSet;

/// The functions whose address the loader may look at because something that they call ends in such
/// a jump. Callers through a pointer in data are not known.
pub fn caller_sensitive(image: &Image<'_>, survey: &Survey<'_>) -> BTreeSet<usize> {
    let jumps_at = |index: usize, place| jumps(image, &survey.functions[index], place);
    let mut open: Vec<usize> = Vec::new();
    for &place in &image.caller_sensitive_calls {
        if let Some((index, _)) = survey.function_at(place)
            && jumps_at(index, place)
        {
            open.push(index);
        }
    }
    let mut callers = BTreeSet::new();
    while let Some(asking) = open.pop() {
        let start = survey.functions[asking].start;
        let mut add = |caller, by_a_jump| {
            if callers.insert(caller) && by_a_jump {
                open.push(caller);
            }
        };
        for branch in survey.branches.iter().filter(|branch| branch.target == start) {
            branch.function.into_iter().for_each(|caller| add(caller, !branch.call));
        }
        for reference in survey.references_to(start) {
            reference.function.into_iter().for_each(|caller| add(caller, false));
        }
        // Calls through the stubs of a library name the function in their relocations only.
        for relocation in image.relocations.iter().filter(|entry| entry.symbol == start) {
            if let Some((caller, _)) = survey.function_at(relocation.place) {
                add(caller, jumps_at(caller, relocation.place));
            }
        }
    }
    callers
}

/// Whether the instruction of a function that has a byte at `place` jumps.
fn jumps(image: &Image<'_>, function: &Function<'_>, place: u64) -> bool {
    let decode = || {
        let start = function.instruction_at(place)?;
        let bytes = image.bytes(start, function.end - start)?;
        Some(decoder(start, bytes).decode())
    };
    decode().is_some_and(|instruction| {
        matches!(
            instruction.flow_control(),
            FlowControl::UnconditionalBranch
                | FlowControl::ConditionalBranch
                | FlowControl::IndirectBranch
        )
    })
}
