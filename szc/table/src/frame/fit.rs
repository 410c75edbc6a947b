//! What is to be known of the frames that the compiler pass has prepared, and what has to change in
//! the linked image: there they are as large as without szc, in movable functions and in pinned
//! ones.

use super::fde::FdeRewrite;
use super::flow::StackFlow;
use super::growth;
use super::marker::is_marker;
use super::resizable::{PreparedFrames, Resizable};
use super::self_contained::SelfContained;
use crate::instructions::decoder;
use crate::read::Image;
use crate::records;
use crate::references::References;
use iced_x86::{FlowControl, Mnemonic, Register};
use smallvec::{SmallVec, smallvec};
use szc_abi::FixedFrame;
use szc_abi::stack::{FunctionRecord, Growth};
use szc_abi::unwind::EhFrame;

/// What one change puts in place: a constant, an offset in an FDE, or an instruction. There
/// are several of them for each frame, so that a place of their own in memory for each would cost
/// more than finding them.
pub type NewBytes = SmallVec<[u8; MAX_INSTRUCTION_BYTES + 1]>;

/// Bytes of the image to be replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Link address of the first of them.
    pub address: u64,
    /// What is to be there.
    pub bytes: NewBytes,
}

/// The prepared frames of an image.
#[derive(Debug, Default)]
pub struct Fitted {
    /// What takes the slack out of the image. Frames that cannot be resized, or do not end
    /// with it, keep it; the records of functions say which, so that the runtime can make up
    /// for it.
    pub changes: Vec<Change>,
    /// The frames with the slack taken out.
    pub frames: PreparedFrames,
}

/// Looks at all frames that the compiler pass has prepared.
#[must_use]
pub fn fit<'data>(
    image: &Image<'data>,
    references: &References<'data>,
    unwind: Option<&EhFrame<'_>>,
) -> Fitted {
    let mut fitted = Fitted::default();
    let without_pads = references.covered.is_some();
    let self_contained = SelfContained::new(image, references, unwind);
    for known in records::all(image).filter(|known| known.resizable || known.padded) {
        let first = image.functions.partition_point(|symbol| symbol.address < known.entry);
        let Some(function) = image.functions.get(first).filter(|f| f.address == known.entry) else {
            continue;
        };
        let Some(bytes) = image.bytes(function.address, function.size) else {
            continue;
        };
        let mut has_slack = known.resizable;
        if known.resizable {
            let code = Code {
                start: function.address,
                bytes,
                compiled_bytes: known.size,
                addressed: known.addressed,
            };
            let frame = of_function(code, &self_contained, unwind).map(|fit| {
                fitted.changes.extend(fit.changes);
                has_slack &= !fit.is_exact;
                fit.frame
            });
            let frame = if without_pads { Err(FixedFrame::StackBounds) } else { frame };
            fitted.frames.insert(function.address, frame);
        }
        let growth = if has_slack {
            growth::with_slack(bytes)
        } else if known.padded || known.addressed {
            growth::with_frame_pointer(bytes)
        } else {
            Growth::Half
        };
        let mut flags = known.flags | growth::flag(growth).unwrap_or(0);
        if without_pads {
            // No frame of the image counts as one with a pad, and so the runtime gives none.
            flags &= !(FunctionRecord::FLAG_PADDED | FunctionRecord::FLAG_RESIZABLE);
        }
        if flags != known.flags {
            let bytes = NewBytes::from_slice(&flags.to_le_bytes());
            fitted.changes.push(Change { address: known.flags_at, bytes });
        }
    }
    fitted
}

/// What is to be done about one function.
struct Fit {
    /// All of them or none.
    changes: Vec<Change>,
    /// Its frame behind them.
    frame: Resizable,
    /// The frame is as large as without szc.
    is_exact: bool,
}

/// The code of one function.
#[derive(Clone, Copy)]
struct Code<'a> {
    start: u64,
    bytes: &'a [u8],
    /// How many the compiler made of it.
    compiled_bytes: u64,
    /// Addresses of its variables may be kept.
    addressed: bool,
}

fn of_function(
    code: Code<'_>,
    self_contained: &SelfContained<'_, '_>,
    unwind: Option<&EhFrame<'_>>,
) -> Result<Fit, FixedFrame> {
    let flow = StackFlow::of(code.start, code.bytes)?;
    self_contained.check(code.start, &flow)?;
    of_self_contained(code, flow, unwind)
}

/// The same for a function that holds all code which runs with its frame.
fn of_self_contained(
    code: Code<'_>,
    flow: StackFlow,
    unwind: Option<&EhFrame<'_>>,
) -> Result<Fit, FixedFrame> {
    let Code { start, bytes: code, compiled_bytes, addressed } = code;
    // Linkers take jumps out between the parts of a function, which then run on into each other.
    if compiled_bytes != code.len() as u64 {
        return Err(FixedFrame::Parts);
    }
    if addressed && !flow.grows_below_variables {
        return Err(FixedFrame::Addressed);
    }
    let unwind = unwind.ok_or(FixedFrame::Unwinding)?;
    let frame = FdeRewrite::only_frame(start, code.len() as u64, unwind)?;
    let rewrite = frame.as_ref().map(|frame| FdeRewrite::of(frame, &flow)).transpose()?;
    let (changes, slack) = match changes(start, code, &flow, rewrite.as_ref()) {
        Some(changes) => (changes, flow.slack),
        None => (Vec::new(), 0),
    };
    let fde = rewrite.filter(FdeRewrite::depends_on_size).map(|rewrite| rewrite.finish(slack));
    let frame = Resizable { sites: flow.sites, fde: fde.transpose()? };
    Ok(Fit { changes, frame, is_exact: slack > 0 })
}

fn changes(
    start: u64,
    code: &[u8],
    flow: &StackFlow,
    rewrite: Option<&FdeRewrite<'_>>,
) -> Option<Vec<Change>> {
    let mut changes = Vec::new();
    for &(at, length) in &flow.markers {
        let bytes = instead_of_marker(start, code, flow, (at, length))?;
        changes.push(Change { address: start + u64::from(at), bytes });
    }
    if flow.slack == 0 {
        return Some(changes);
    }
    for &site in &flow.sites {
        let bytes = code.get(site as usize..site as usize + 4)?.try_into().ok()?;
        let smaller = u32::from_le_bytes(bytes).checked_sub(flow.slack)?;
        let bytes = NewBytes::from_slice(&smaller.to_le_bytes());
        changes.push(Change { address: start + u64::from(site), bytes });
    }
    for shift in &flow.shifts {
        let at = shift.at as usize;
        let distance = i32::from_le_bytes(code.get(at..at + 4)?.try_into().ok()?);
        let bytes = NewBytes::from_slice(&distance.checked_add(shift.by)?.to_le_bytes());
        changes.push(Change { address: start + u64::from(shift.at), bytes });
    }
    for &(address, length, offset) in rewrite.map_or(&[][..], FdeRewrite::originals) {
        let smaller = offset.checked_sub(flow.slack.into())?;
        changes.push(Change { address, bytes: leb128(smaller, length)? });
    }
    Some(changes)
}

/// Most prefixes that one instruction gets: as many as GNU as uses to align branches
/// (`-malign-branch-prefix-size`).
const MAX_PREFIXES: usize = 5;

/// Longest instruction, in bytes (Intel SDM volume 2, 2.3.11).
const MAX_INSTRUCTION_BYTES: usize = 15;

/// `cs`, which means nothing in 64-bit mode.
const PREFIX: u8 = 0x2e;

/// What takes a marker's place: prefixes of the next instruction, so that nothing more is executed
/// than without szc, or else one that does nothing.
fn instead_of_marker(
    start: u64,
    code: &[u8],
    flow: &StackFlow,
    (at, length): (u32, usize),
) -> Option<NewBytes> {
    let behind = at as usize + length;
    let address = start + behind as u64;
    let next = decoder(address, code.get(behind..)?).decode();
    let takes_prefixes = matches!(
        next.flow_control(),
        FlowControl::Next | FlowControl::Call | FlowControl::IndirectCall
    ) && !is_marker(&next)
        && next.mnemonic() != Mnemonic::Nop
        && next.segment_prefix() == Register::None
        && next.len() + length <= MAX_INSTRUCTION_BYTES;
    // Where a branch leads, an instruction has to begin.
    if takes_prefixes && length <= MAX_PREFIXES && !flow.is_branched_to(address) {
        Some(smallvec![PREFIX; length])
    } else {
        nop(length).map(NewBytes::from_slice)
    }
}

/// An instruction of so many bytes that does nothing (Intel SDM volume 2, "NOP", table 4-12).
fn nop(bytes: usize) -> Option<&'static [u8]> {
    match bytes {
        4 => Some(&[0x0f, 0x1f, 0x40, 0x00]),
        5 => Some(&[0x0f, 0x1f, 0x44, 0x00, 0x00]),
        7 => Some(&[0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00]),
        8 => Some(&[0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00]),
        10 => Some(&[0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00]),
        _ => None,
    }
}

/// An unsigned LEB128 number of so many bytes, which is more than it may need.
fn leb128(mut value: u64, bytes: usize) -> Option<NewBytes> {
    let mut out = NewBytes::new();
    for index in 0..bytes {
        let more = if index + 1 < bytes { 0x80 } else { 0 };
        out.push((value & 0x7f) as u8 | more);
        value >>= 7;
    }
    (value == 0).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: u64 = 0x1000;

    /// What takes the place of a marker of 5 bytes in front of this code, which ends a function
    /// with a frame.
    fn replaced(code: &[u8]) -> NewBytes {
        let (take, give_back) =
            ([0x48, 0x81, 0xec, 208, 0, 0, 0], [0x48, 0x81, 0xc4, 208, 0, 0, 0]);
        let marker = [0x0f, 0x18, 0x54, 0x24, 0x40]; // prefetcht1 64(%rsp)
        let call = [0xe8, 0x00, 0x10, 0x00, 0x00];
        let bytes = [&take[..], &marker, code, &call, &give_back, &[0xc3]].concat();
        let flow = StackFlow::of(START, &bytes).unwrap();
        assert_eq!(flow.markers, [(7, 5)]);
        instead_of_marker(START, &bytes, &flow, flow.markers[0]).unwrap()
    }

    #[test]
    fn what_follows_a_marker_gets_prefixes_in_its_place() {
        assert_eq!(replaced(&[0x48, 0x89, 0xdf])[..], [PREFIX; 5]); // mov %rbx, %rdi
        assert_eq!(replaced(&[])[..], [PREFIX; 5]); // the call itself
    }

    #[test]
    fn what_prefixes_could_change_or_a_branch_leads_to_gets_none() {
        let nothing = NewBytes::from_slice(nop(5).unwrap());
        let load_of_thread = [0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0]; // mov %fs:0, %rax
        assert_eq!(replaced(&load_of_thread), nothing);
        assert_eq!(replaced(&[0x75, 0x00]), nothing); // jne to the next instruction
        assert_eq!(replaced(&[0xff, 0xcf, 0x75, 0xfc]), nothing); // dec %edi; jne there
        let long = [0x48, 0xc7, 0x84, 0x24, 0x10, 0, 0, 0, 1, 0, 0, 0]; // movq $1, 16(%rsp)
        assert_eq!(replaced(&long), nothing);
    }

    #[test]
    fn variables_whose_addresses_escape_must_lie_above_what_grows() {
        let (take, give_back) =
            ([0x48, 0x81, 0xec, 208, 0, 0, 0], [0x48, 0x81, 0xc4, 208, 0, 0, 0]);
        let call = [0xe8, 0x00, 0x10, 0x00, 0x00];
        let by_stack = [0x48, 0x8d, 0x7c, 0x24, 0x08]; // lea 8(%rsp), %rdi
        let above = [&take[..], &by_stack, &call, &give_back, &[0xc3]];
        let enter = [0x55, 0x48, 0x89, 0xe5]; // push %rbp; mov %rsp, %rbp
        let by_frame = [0x48, 0x8d, 0x7d, 0xf8]; // lea -8(%rbp), %rdi
        let below = [&enter[..], &take, &by_frame, &call, &give_back, &[0x5d, 0xc3]];
        // What comes next is that there are no unwind tables here.
        for (bytes, addressed, expected) in [
            (above.concat(), true, FixedFrame::Addressed),
            (above.concat(), false, FixedFrame::Unwinding),
            (below.concat(), true, FixedFrame::Unwinding),
        ] {
            let compiled_bytes = bytes.len() as u64;
            let code = Code { start: START, bytes: &bytes, compiled_bytes, addressed };
            let flow = StackFlow::of(START, &bytes).unwrap();
            assert_eq!(of_self_contained(code, flow, None).err(), Some(expected));
        }
    }
}
