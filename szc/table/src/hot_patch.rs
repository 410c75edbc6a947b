//! Which functions' copies have a hot-patch point: they are entered at their first byte, without an
//! instruction for the purpose in front of it, and forwarded by a jump of two bytes that takes the
//! place of one of their first instructions. It leads to the copy's undo trampoline.
//!
//! That instruction must have two bytes, so that no thread can stand between them. Most functions
//! begin with a push of one byte, and some with several: those are executed all the same, and
//! undone by the trampoline. Nothing but the entry may lead to what changes, because the way goes
//! on at an entry.

use std::collections::BTreeSet;

use crate::decision::MovableFunction;
use crate::decode::OperandKind;
use crate::jump_tables::JumpTable;
use crate::survey::{Function, Survey};
use szc_abi::Movable;

/// `push` of a register whose number fits into the one byte, but for the stack pointer itself.
const PUSHES: std::ops::RangeInclusive<u8> = 0x50..=0x57;
const PUSH_STACK_POINTER: u8 = 0x54;

/// The addresses in the middle of functions that other functions or tables lead to, and all that
/// tables lead to.
#[derive(Debug)]
pub struct Targets(BTreeSet<u64>);

impl Targets {
    /// Those of an image.
    #[must_use]
    pub fn of(survey: &Survey<'_>, tables: &[JumpTable]) -> Self {
        let branches = survey.branches.iter().map(|branch| branch.target);
        let middles = branches.filter(|&target| survey.middle_of(target).is_some());
        let of_tables = tables.iter().flat_map(|table| table.targets.iter().copied());
        Self(middles.chain(of_tables).collect())
    }
}

/// Pushes in front of the hot-patch point of the function's copies, if they have one: what
/// [`Movable::hot_patch_point`] promises.
#[must_use]
pub fn pushes_in_front(
    function: &Function<'_>,
    bytes: &[u8],
    movable: &MovableFunction,
    targets: &Targets,
) -> Option<u32> {
    let is_push = |&&byte: &&u8| PUSHES.contains(&byte) && byte != PUSH_STACK_POINTER;
    let count = bytes.iter().take_while(is_push).count();
    let pushes = u32::try_from(count).ok().filter(|&n| n <= Movable::MAX_UNDONE_PUSHES)?;
    let changed = pushes + Movable::HOT_PATCH_BYTES;
    let (start, end) = (function.start, function.start + u64::from(changed));
    // The instruction behind the pushes, which must not be of one byte. (Each push is one.)
    let behind = function.decoded.boundaries.get(count + 1).copied().unwrap_or(function.end);
    if behind < end || function.decoded.boundaries.get(count) != Some(&(start + count as u64)) {
        return None;
    }
    let is_entered = function.decoded.operands.iter().any(|operand| match operand.kind {
        // A call of itself goes through the entry, wherever that is.
        OperandKind::Branch { target, call } => {
            (start..end).contains(&target) && !(call && target == start)
        }
        _ => false,
    });
    let sites = movable.frame.iter().flatten().flat_map(|frame| frame.sites.iter().copied());
    let mut differs = movable.fields.iter().map(|field| field.at).chain(sites);
    let is_free = !is_entered
        && targets.0.range(start..end).next().is_none()
        && differs.all(|at| at >= changed);
    is_free.then_some(pushes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::decode_function;
    use szc_abi::{Field, FieldKind};

    const START: u64 = 0x1000;

    /// The pushes of a function with these bytes, of which fields lie at these places, and which
    /// tables lead into.
    fn found(bytes: &[u8], fields: &[u32], led_to: &[u64]) -> Option<u32> {
        let function = Function {
            names: vec![b"f"],
            file: None,
            start: START,
            end: START + bytes.len() as u64,
            section: ".text",
            ifunc: false,
            decoded: decode_function(START, bytes),
            pinned: None,
        };
        let field = |&at: &u32| Field { at, kind: FieldKind::Fixed };
        let movable = MovableFunction {
            fields: fields.iter().map(field).collect(),
            ..MovableFunction::default()
        };
        pushes_in_front(&function, bytes, &movable, &Targets(led_to.iter().copied().collect()))
    }

    #[test]
    fn the_first_instruction_that_is_not_a_short_push_is_where_a_copy_is_left() {
        // xor %eax, %eax; ret
        assert_eq!(found(&[0x31, 0xc0, 0xc3], &[], &[]), Some(0));
        // push %rbx; mov %rdi, %rbx; pop %rbx; ret
        assert_eq!(found(&[0x53, 0x48, 0x89, 0xfb, 0x5b, 0xc3], &[], &[]), Some(1));
        // push %r15 has two bytes itself
        assert_eq!(found(&[0x41, 0x57, 0x41, 0x5f, 0xc3], &[], &[]), Some(0));
        // push %rbp; push %rbx; push %rax; mov %edi, %ebx; ret
        assert_eq!(found(&[0x55, 0x53, 0x50, 0x89, 0xfb, 0xc3], &[], &[]), Some(3));
    }

    #[test]
    fn what_cannot_be_changed_by_one_store_is_not_changed() {
        // Four pushes; a push and a return; a push of the stack pointer, which a pop would not
        // undo.
        assert_eq!(found(&[0x55, 0x53, 0x50, 0x51, 0x89, 0xfb, 0xc3], &[], &[]), None);
        assert_eq!(found(&[0x53, 0xc3], &[], &[]), None);
        assert_eq!(found(&[0x54, 0x31, 0xc0, 0xc3], &[], &[]), None);
        // push %rax; call: the second byte of the call differs from copy to copy.
        let wrapper = [0x50, 0xe8, 0, 0x10, 0, 0, 0x58, 0xc3];
        assert_eq!(found(&wrapper, &[2], &[]), None);
        // lea 16(%rip), %rax; ret: the field lies behind what changes.
        assert_eq!(found(&[0x48, 0x8d, 0x05, 0x10, 0, 0, 0, 0xc3], &[3], &[]), Some(0));
    }

    #[test]
    fn a_loop_or_a_table_that_leads_there_keeps_it() {
        // dec %edi; jne to the start, and to what lies behind it; ret
        assert_eq!(found(&[0xff, 0xcf, 0x75, 0xfc, 0xc3], &[], &[]), None);
        assert_eq!(found(&[0xff, 0xcf, 0x75, 0xfe, 0xc3], &[], &[]), Some(0));
        // push %rbx; dec %edi; jne to the decrement; pop; ret
        assert_eq!(found(&[0x53, 0xff, 0xcf, 0x75, 0xfc, 0x5b, 0xc3], &[], &[]), None);
        assert_eq!(found(&[0x31, 0xc0, 0xc3], &[], &[START]), None);
        assert_eq!(found(&[0x31, 0xc0, 0xc3], &[], &[START + 2, START - 1]), Some(0));
    }
}
