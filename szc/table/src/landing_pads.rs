//! Where exceptions land outside of the piece of code that they were thrown through: in another
//! part of the same function, as its unwind information says.
//!
//! Source: Itanium C++ ABI, "Exception Handling Tables" (the language-specific data area); Linux
//! Standard Base, "DWARF Exception Header Encoding".

use crate::read::Image;
use szc_abi::cursor::Cursor;
use szc_abi::unwind::{EhFrame, Fde};

/// Encodings of pointers (`DW_EH_PE_…`): none, the form of a value, what it counts from.
const OMITTED: u8 = 0xff;
const FORM: u8 = 0x0f;
const BASE: u8 = 0x70;
const RELATIVE: u8 = 0x10;
const INDIRECT: u8 = 0x80;

/// A landing pad that lies outside of the code it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Distant {
    /// Address of the first byte that the exception is thrown through.
    pub from: u64,
    /// Where it lands; none if that is not understood.
    pub to: Option<u64>,
}

/// All landing pads that lie outside of the code they are for.
#[must_use]
pub fn distant(image: &Image<'_>, unwind: &EhFrame<'_>) -> Vec<Distant> {
    let mut found = Vec::new();
    unwind.for_each(0, u64::MAX, |frame| {
        let range = frame.start..frame.start.saturating_add(frame.bytes);
        match landing_pads(image, frame) {
            Some(pads) => {
                let outside = pads.into_iter().filter(|pad| !range.contains(pad));
                found.extend(outside.map(|pad| Distant { from: frame.start, to: Some(pad) }));
            }
            None => found.push(Distant { from: frame.start, to: None }),
        }
    });
    found
}

/// Where exceptions land that are thrown through a piece of code; nothing if its data is not
/// understood.
fn landing_pads(image: &Image<'_>, frame: &Fde<'_>) -> Option<Vec<u64>> {
    let Some(encoding) = frame.cie.lsda.filter(|_| frame.cie.has_augmentation) else {
        return Some(Vec::new());
    };
    // Length, CIE pointer, first address and number of bytes.
    let fields = if frame.is_relative_4() { 4 + 4 + 4 + 4 } else { 4 + 4 + 8 + 8 };
    let mut cursor = Cursor::new(frame.entry.get(fields..)?);
    cursor.unsigned()?;
    let place = frame.address + (frame.entry.len() - cursor.rest().len()) as u64;
    let Some(address) = pointer(&mut cursor, encoding, place)? else { return Some(Vec::new()) };
    let section = image.section_at(address)?;
    let bytes = section.bytes(address, section.end() - address)?;
    let mut data = Cursor::new(bytes);
    let at = |data: &Cursor<'_>| address + (bytes.len() - data.rest().len()) as u64;
    let starts = data.u8()?;
    let start = match starts {
        OMITTED => frame.start,
        _ => {
            let place = at(&data);
            pointer(&mut data, starts, place)?.unwrap_or(0)
        }
    };
    if data.u8()? != OMITTED {
        data.unsigned()?;
    }
    let encoding = data.u8()?;
    let bytes = usize::try_from(data.unsigned()?).ok()?;
    let mut calls = Cursor::new(data.take(bytes)?);
    let mut pads = Vec::new();
    while !calls.rest().is_empty() {
        number(&mut calls, encoding)?;
        number(&mut calls, encoding)?;
        let pad = number(&mut calls, encoding)?;
        calls.unsigned()?;
        if pad != 0 {
            pads.push(start.wrapping_add(pad));
        }
    }
    Some(pads)
}

/// A pointer that stands at `place`, in an encoding; none if it points nowhere. Nothing if that is
/// not understood.
fn pointer(cursor: &mut Cursor<'_>, encoding: u8, place: u64) -> Option<Option<u64>> {
    let value = number(cursor, encoding)?;
    let base = match encoding & (BASE | INDIRECT) {
        0 => 0,
        RELATIVE => place,
        _ => return None,
    };
    Some((value != 0).then(|| base.wrapping_add(value)))
}

/// A number in the form of an encoding.
fn number(cursor: &mut Cursor<'_>, encoding: u8) -> Option<u64> {
    match encoding & FORM {
        0x00 | 0x04 | 0x0c => cursor.u64(),
        0x01 => cursor.unsigned(),
        0x02 => cursor.u16().map(u64::from),
        0x03 => cursor.u32().map(u64::from),
        0x09 => cursor.signed().map(i64::cast_unsigned),
        0x0a => cursor.u16().map(|value| i64::from(value.cast_signed()).cast_unsigned()),
        0x0b => cursor.u32().map(|value| i64::from(value.cast_signed()).cast_unsigned()),
        _ => None,
    }
}
