//! Whether the slack that the compiler pass has added to a frame can be taken out, and what has to
//! change then.
//!
//! The slack is somewhere in the frame, and what lies on one side of it keeps its distance from the
//! register that it is reached by:
//!
//! ```text
//! by the stack pointer            by the frame pointer
//!   guard     −144                  variables     0
//!   slack                           slack
//!   variables    0                  values that registers had no place for   +144
//!   arguments    0                  arguments (by the stack pointer)            0
//! ```
//!
//! Distances that change have 4 bytes, because they span the slack. An address that is computed may
//! lie outside of the variable that it is of, so it does not say on which side that variable lies.
//! So computed addresses must all lie on the side that keeps its distances, and the other one must
//! hold nothing but what is reached directly.

use super::point::Facts;
use szc_abi::stack::RESIZABLE_BYTES;

/// The register that something is reached by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    StackPointer,
    FramePointer,
}

/// What an instruction reaches in the frame, in depths: bytes below the stack pointer's value at
/// the entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub base: Base,
    /// Depth of its first byte.
    pub lowest: i64,
    /// Depth behind its last byte: not larger.
    pub end: i64,
    /// The instruction computes the address, or adds something to it.
    pub computed: bool,
    /// Offset in the function of the distance from the register, if it has 4 bytes.
    pub site: Option<u32>,
}

/// A distance from the stack or frame pointer that changes when the slack is taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shift {
    /// Offset in the function of its 4 bytes.
    pub at: u32,
    /// What is added.
    pub by: i32,
}

/// Grain of frames: the alignment of the stack at calls.
const GRAIN: i64 = 16;

/// Bytes by which distances change.
const SLACK: i32 = RESIZABLE_BYTES.cast_signed();

/// The distances that change when the slack is taken out; none if it cannot be. `part` is the part
/// of the frame that can grow: the depth above, and its bytes; `slack` the depth of the slack's
/// end, towards the entry. All in bytes below the stack pointer's value at the entry.
pub(super) fn without_slack(
    accesses: &[Access],
    facts: &Facts,
    part: (i64, i64),
    slack: i64,
) -> Option<Vec<Shift>> {
    let (above, bytes) = part;
    let behind = slack + i64::from(RESIZABLE_BYTES);
    let mut shifts = Vec::new();
    let mut shifting = Vec::new();
    for access in accesses {
        let is_higher = access.lowest <= slack;
        let is_lower = access.end >= behind;
        let keeps = match access.base {
            Base::StackPointer => is_lower,
            Base::FramePointer => is_higher,
        };
        let crosses = !is_higher && !is_lower;
        let argument = access.base == Base::StackPointer && facts.uses_frame_pointer;
        if argument && keeps {
            shifting.push((access.end, access.lowest));
        }
        if keeps {
            continue;
        }
        if crosses || access.computed || argument {
            return None;
        }
        let by = if access.base == Base::StackPointer { -SLACK } else { SLACK };
        shifts.push(Shift { at: access.site?, by });
        shifting.push((access.end, access.lowest));
    }
    let side = if facts.uses_frame_pointer { (behind, above + bytes) } else { (above, slack) };
    let known = is_covered(side, shifting);
    let leaks = facts.frame_pointer_leaks && !shifts.is_empty();
    shifts.sort_unstable_by_key(|shift| shift.at);
    shifts.dedup();
    (known && !leaks).then_some(shifts)
}

/// Whether these parts of a frame leave no hole between two depths that anything but alignment
/// could account for.
fn is_covered((from, to): (i64, i64), mut parts: Vec<(i64, i64)>) -> bool {
    parts.sort_unstable();
    let mut reached = from;
    for (start, end) in parts {
        if start - reached >= GRAIN {
            return false;
        }
        reached = reached.max(end);
    }
    from <= to && to - reached < GRAIN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_side_is_covered_if_its_holes_are_those_of_alignment() {
        assert!(is_covered((8, 8), vec![]));
        assert!(is_covered((8, 23), vec![]));
        assert!(!is_covered((8, 24), vec![]));
        assert!(!is_covered((24, 8), vec![]));
        assert!(is_covered((0, 40), vec![(32, 40), (8, 24)]));
        assert!(!is_covered((0, 40), vec![(32, 40), (8, 16)]));
        assert!(!is_covered((0, 40), vec![(0, 8), (8, 24)]));
    }
}
