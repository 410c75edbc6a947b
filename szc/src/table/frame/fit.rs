//! What is to be known of the frames that the compiler pass has prepared, and what has to change in the linked image:
//! there they are as large as without szc, in functions that move and in those that stay.

use super::Resizable;
use super::flow::StackFlow;
use super::growth;
use super::rules::Rewrite;
use crate::table::compiler;
use crate::table::read::Image;
use std::collections::HashMap;
use szc_abi::FixedFrame;
use szc_abi::stack::Growth;
use szc_abi::unwind::Frames;

/// Bytes of the image to be replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Link address of the first of them.
    pub address: u64,
    /// What is to be there.
    pub bytes: Vec<u8>,
}

/// The prepared frames of an image.
#[derive(Debug, Default)]
pub struct Fitted {
    /// What takes the added room out of the image. Frames that cannot be resized, or do not end with the room, keep
    /// it; the records of functions say which, so that the runtime can make up for it.
    pub changes: Vec<Change>,
    /// By address of the function, its frame with the room taken out, or why it keeps its size.
    pub frames: HashMap<u64, Result<Resizable, FixedFrame>>,
}

/// Looks at all frames that the compiler pass has prepared.
#[must_use]
pub fn fit(image: &Image<'_>, unwind: Option<&Frames<'_>>) -> Fitted {
    let mut fitted = Fitted::default();
    for known in compiler::records(image).filter(|known| known.resizable || known.padded) {
        let first = image.functions.partition_point(|symbol| symbol.address < known.entry);
        let Some(function) = image.functions.get(first).filter(|f| f.address == known.entry) else {
            continue;
        };
        let section = image.section_at(function.address);
        let Some(bytes) = section.and_then(|s| s.bytes(function.address, function.size)) else {
            continue;
        };
        let mut has_room = known.resizable;
        if known.resizable {
            let frame = of_function(function.address, bytes, unwind).map(|fit| {
                fitted.changes.extend(fit.changes);
                has_room &= !fit.is_exact;
                fit.frame
            });
            fitted.frames.insert(function.address, frame);
        }
        let growth = if has_room {
            growth::with_room(bytes)
        } else if known.padded {
            growth::with_frame_pointer(bytes)
        } else {
            Growth::Half
        };
        if let Some(flag) = growth::flag(growth) {
            let bytes = (known.flags | flag).to_le_bytes().to_vec();
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

fn of_function(start: u64, code: &[u8], unwind: Option<&Frames<'_>>) -> Result<Fit, FixedFrame> {
    let flow = StackFlow::of(start, code)?;
    let unwind = unwind.ok_or(FixedFrame::Unwinding)?;
    let frame = Rewrite::only_frame(start, code.len() as u64, unwind)?;
    let rewrite = frame.as_ref().map(|frame| Rewrite::of(frame, &flow)).transpose()?;
    let (changes, slack) = match changes(start, code, &flow, rewrite.as_ref()) {
        Some(changes) => (changes, flow.slack),
        None => (Vec::new(), 0),
    };
    let rules = rewrite.filter(Rewrite::depends_on_size).map(|rewrite| rewrite.finish(slack));
    let rules = rules.transpose()?;
    let frame = Resizable { sites: flow.sites, rules };
    Ok(Fit { changes, frame, is_exact: slack > 0 })
}

fn changes(
    start: u64,
    code: &[u8],
    flow: &StackFlow,
    rewrite: Option<&Rewrite<'_>>,
) -> Option<Vec<Change>> {
    let mut changes = Vec::new();
    for &(at, length) in &flow.markers {
        changes.push(Change { address: start + u64::from(at), bytes: nop(length)?.to_vec() });
    }
    if flow.slack == 0 {
        return Some(changes);
    }
    for &site in &flow.sites {
        let bytes = code.get(site as usize..site as usize + 4)?.try_into().ok()?;
        let smaller = u32::from_le_bytes(bytes).checked_sub(flow.slack)?;
        let bytes = smaller.to_le_bytes().to_vec();
        changes.push(Change { address: start + u64::from(site), bytes });
    }
    for shift in &flow.shifts {
        let at = shift.at as usize;
        let distance = i32::from_le_bytes(code.get(at..at + 4)?.try_into().ok()?);
        let bytes = distance.checked_add(shift.by)?.to_le_bytes().to_vec();
        changes.push(Change { address: start + u64::from(shift.at), bytes });
    }
    for &(address, length, offset) in rewrite.map_or(&[][..], Rewrite::originals) {
        let smaller = offset.checked_sub(flow.slack.into())?;
        changes.push(Change { address, bytes: leb128(smaller, length)? });
    }
    Some(changes)
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
fn leb128(mut value: u64, bytes: usize) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(bytes);
    for index in 0..bytes {
        let more = if index + 1 < bytes { 0x80 } else { 0 };
        out.push((value & 0x7f) as u8 | more);
        value >>= 7;
    }
    (value == 0).then_some(out)
}
