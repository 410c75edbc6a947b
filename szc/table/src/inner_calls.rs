//! Which calls need no stack-room check.
//!
//! A frame gets a pad only where the runtime has made room, which the entry of each copy with a pad
//! checks. Where one such function calls another, the check of the first has shown where the stack
//! is, so the second may be entered behind its own, as long as few do so in turn:
//! [`PADS_OF_A_CHECK`] pads fit below any check. So each function has a *height*, and calls from a
//! greater height to a smaller one need no check; there are as many heights as pads. Calls between
//! equal ones (recursion, or long ways down) are checked.

use crate::decision::MovableFunction;
use szc_abi::FieldKind;
use szc_abi::stack::PADS_OF_A_CHECK;

/// The greatest height.
const HIGHEST: u32 = PADS_OF_A_CHECK - 1;

/// Marks the calls, and the functions that are called so.
pub(crate) fn mark(functions: &mut [MovableFunction]) {
    let padded: Vec<bool> =
        functions.iter().map(|function| matches!(function.frame, Some(Ok(_)))).collect();
    let callees: Vec<Vec<u32>> = functions
        .iter()
        .zip(&padded)
        .map(|(function, &is_padded)| {
            let fields = function.fields.iter().filter(|_| is_padded && !function.leaves_stack);
            fields
                .filter_map(|field| called(field.kind))
                .filter(|&to| padded[to as usize])
                .collect()
        })
        .collect();
    let heights = heights(&callees);
    for (caller, callees) in callees.iter().enumerate().filter(|(_, callees)| !callees.is_empty()) {
        let is_lower = |to: u32| padded[to as usize] && heights[to as usize] < heights[caller];
        for field in &mut functions[caller].fields {
            if let Some(to) = called(field.kind).filter(|&to| is_lower(to)) {
                field.kind = FieldKind::Inner(to);
            }
        }
        for &to in callees.iter().filter(|&&to| is_lower(to)) {
            functions[to as usize].inner_entry = true;
        }
    }
}

/// The function whose entry a field leads to.
fn called(kind: FieldKind) -> Option<u32> {
    match kind {
        FieldKind::Function { function, offset: 0 } => Some(function),
        _ => None,
    }
}

/// The height of each function: one more than that of the highest it calls, up to [`HIGHEST`].
/// Calls that close a circle do not count.
fn heights(callees: &[Vec<u32>]) -> Vec<u32> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        /// On the way from the first function to the present one.
        Open,
        Done,
    }
    let mut states = vec![State::New; callees.len()];
    let mut heights = vec![0; callees.len()];
    // Functions on the way, and how many of their calls have been looked at.
    let mut way: Vec<(usize, usize)> = Vec::new();
    for first in 0..callees.len() {
        if states[first] == State::New {
            states[first] = State::Open;
            way.push((first, 0));
        }
        while let Some((caller, next)) = way.last_mut() {
            let (caller, position) = (*caller, *next);
            *next += 1;
            match callees[caller].get(position).map(|&to| to as usize) {
                Some(to) if states[to] == State::New => {
                    states[to] = State::Open;
                    way.push((to, 0));
                }
                Some(_) => {}
                None => {
                    let done = |&&to: &&u32| states[to as usize] == State::Done;
                    let below = callees[caller].iter().filter(done);
                    let highest = below.map(|&to| heights[to as usize] + 1).max();
                    heights[caller] = highest.unwrap_or(0).min(HIGHEST);
                    states[caller] = State::Done;
                    way.pop();
                }
            }
        }
    }
    heights
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Resizable;
    use szc_abi::{Field, FixedFrame};

    fn function(callees: &[u32]) -> MovableFunction {
        let field = |(index, &function): (usize, &u32)| Field {
            at: 10 * u32::try_from(index).unwrap(),
            kind: FieldKind::Function { function, offset: 0 },
        };
        MovableFunction {
            fields: callees.iter().enumerate().map(field).collect(),
            frame: Some(Ok(Resizable { sites: Vec::new(), fde: None })),
            ..MovableFunction::default()
        }
    }

    /// Callers and callees of the calls without checks.
    fn marked(functions: &mut [MovableFunction]) -> Vec<(usize, u32)> {
        mark(functions);
        let mut calls = Vec::new();
        for (caller, function) in functions.iter().enumerate() {
            for field in &function.fields {
                if let FieldKind::Inner(callee) = field.kind {
                    calls.push((caller, callee));
                    assert!(functions[callee as usize].inner_entry);
                }
            }
        }
        for (index, function) in functions.iter().enumerate() {
            let called = calls.iter().any(|&(_, callee)| callee as usize == index);
            assert_eq!(function.inner_entry, called);
        }
        calls
    }

    #[test]
    fn calls_downwards_need_no_check_and_circles_have_one() {
        let mut functions = [function(&[1, 2]), function(&[2]), function(&[]), function(&[3, 2])];
        assert_eq!(marked(&mut functions), [(0, 1), (0, 2), (1, 2), (3, 2)]);
        let mut circle = [function(&[1]), function(&[2]), function(&[0, 2])];
        assert_eq!(marked(&mut circle), [(0, 1), (1, 2)]);
    }

    #[test]
    fn no_way_takes_more_pads_than_there_is_room_for() {
        let mut random = 7u64;
        let mut below = |n: u32| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 33) as u32 % n
        };
        for size in [3, 30, 100] {
            let mut functions: Vec<_> =
                (0..size).map(|_| function(&[below(size), below(size), below(size)])).collect();
            let calls = marked(&mut functions);
            assert!(!calls.is_empty());
            // The longest way by rounds: none is longer than the number of pads, or the rounds go
            // on.
            let mut pads = vec![1; functions.len()];
            for _ in 0..functions.len() {
                for &(caller, callee) in &calls {
                    pads[caller] = pads[caller].max(pads[callee as usize] + 1);
                }
            }
            assert!(pads.iter().all(|&pads| pads <= PADS_OF_A_CHECK));
        }
        let mut chain: Vec<_> = (1..100).map(|next| function(&[next])).collect();
        chain.push(function(&[]));
        assert_eq!(marked(&mut chain).len(), HIGHEST as usize);
    }

    #[test]
    fn only_functions_with_pads_take_part() {
        let mut functions = [function(&[1, 2]), function(&[]), function(&[1]), function(&[1])];
        functions[1].frame = Some(Err(FixedFrame::Labels));
        functions[2].frame = None;
        assert_eq!(marked(&mut functions), []);
        let mut functions = [function(&[1]), function(&[]), function(&[1])];
        functions[0].leaves_stack = true;
        assert_eq!(marked(&mut functions), [(2, 1)]);
        let mut middle = [function(&[]), function(&[])];
        let kind = FieldKind::Function { function: 1, offset: 4 };
        middle[0].fields.push(Field { at: 0, kind });
        assert_eq!(marked(&mut middle), []);
    }
}
