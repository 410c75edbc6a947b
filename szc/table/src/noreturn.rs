//! Functions whose last instruction is a call. Compilers put one there only if the callee never
//! returns (`noreturn`); an author of assembly may mean to go on in what follows.

use crate::decode::OperandKind;
use crate::read::Image;
use crate::records;
use crate::survey::Survey;
use std::collections::HashMap;

/// How far calls of functions that end in calls are followed.
const MAX_DEPTH: u32 = 16;

/// The functions whose last call may come back to code behind their end.
pub fn falling_through(image: &Image<'_>, survey: &Survey<'_>) -> Vec<usize> {
    let recorded: HashMap<u64, u64> =
        records::all(image).map(|known| (known.entry, known.size)).collect();
    let calls = Calls { image, survey };
    let runs_on = |&index: &usize| {
        let function = &survey.functions[index];
        function.decoded.ends_in_call
            && match survey.functions.get(index + 1) {
                Some(following) if following.start == function.end => {
                    // Where the linker took out a jump to what follows, the size is another one.
                    recorded.get(&function.start) != Some(&(function.end - function.start))
                        && !calls.last_call_is_noreturn(index, 0)
                }
                _ => calls.code_follows(function.end),
            }
    };
    (0..survey.functions.len()).filter(runs_on).collect()
}

struct Calls<'a, 'data> {
    image: &'a Image<'data>,
    survey: &'a Survey<'data>,
}

impl Calls<'_, '_> {
    /// Whether what lies at `end`, which is no function, looks like code: neither padding nor the
    /// end of the section.
    fn code_follows(&self, end: u64) -> bool {
        // int3; nop and the first bytes of longer ones; zero.
        let padding = [0xcc, 0x90, 0x66, 0x0f, 0x2e, 0x00];
        let behind = self.image.bytes(end, 1);
        behind.is_some_and(|byte| !padding.contains(&byte[0]))
    }

    /// Whether the function that the last instruction of a function calls never returns.
    fn last_call_is_noreturn(&self, index: usize, depth: u32) -> bool {
        let function = &self.survey.functions[index];
        let Some(&last) = function.decoded.boundaries.last() else { return false };
        let places = &self.image.noreturn_calls;
        let first = places.partition_point(|&place| place < last);
        if places.get(first).is_some_and(|&place| place < function.end) {
            return true;
        }
        match function.decoded.operands.last().map(|operand| (operand.place, operand.kind)) {
            Some((place, OperandKind::Branch { target, call: true })) if place > last => {
                let callee = self.survey.function_at(target);
                callee.is_some_and(|(callee, function)| {
                    function.start == target
                        && depth < MAX_DEPTH
                        && self.never_returns(callee, depth)
                })
            }
            _ => false,
        }
    }

    /// Whether nothing in a function returns or jumps to somewhere else, and its end is one.
    fn never_returns(&self, index: usize, depth: u32) -> bool {
        let function = &self.survey.functions[index];
        function.pinned.is_none()
            && !function.decoded.leaves
            && (!function.decoded.ends_in_call || self.last_call_is_noreturn(index, depth + 1))
    }
}
