//! The bytes of a copy of a function: those of the original with every field that differs there,
//! a larger frame, and jump tables; and the FDE of a larger frame.
//!
//! Fields come sorted by their offsets, so original bytes and fields are merged in one pass, and
//! each word goes out once, with its final value. Whoever shares the memory of a copy and runs in
//! it, as a forked child may, never sees a copy that is half done.
//!
//! Nothing here knows where copies lie: addresses come in, words go out.

use crate::arch::TRAP;
use crate::arch::patch::WORD_BYTES;
use szc_abi::unwind::{CIE_POINTER_AT, INITIAL_LOCATION_AT};
use szc_abi::{
    CopyFde, FieldKind, FieldReader, FrameReader, Malformed, Movable, NumberReader, OFFSET_BYTES,
    Table, TableOffsets, TableTarget, put_offset,
};

/// What fills the rest of the last word.
const TRAPS: u64 = u64::from_le_bytes([TRAP; WORD_BYTES]);

/// Where words go.
pub trait Out {
    /// Takes the word at an offset from the beginning, a multiple of [`WORD_BYTES`]. Offsets
    /// ascend.
    fn put(&mut self, at: usize, word: u64);
}

/// Where references of a copy lead.
pub trait Targets {
    /// Where a copy goes on that calls or jumps to an offset in a function.
    fn function(&self, function: u32, offset: u32) -> usize;
    /// Where a copy with a pad calls a function whose frame then needs no stack-room check.
    fn inner(&self, function: u32) -> usize;
    /// The address of an offset in the image.
    fn image(&self, offset: u32) -> usize;
}

/// Bytes as they are before anything is changed in them.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// The first ones, which may differ from those in `bytes`.
    first: u64,
    bytes: &'a [u8],
}

impl<'a> Source<'a> {
    /// These bytes.
    #[must_use]
    pub fn of(bytes: &'a [u8]) -> Self {
        Self { first: word_in(bytes, 0), bytes }
    }

    /// These bytes, of which the first word is another one.
    #[must_use]
    pub fn beginning_with(first: u64, bytes: &'a [u8]) -> Self {
        let own = mask(bytes.len().min(WORD_BYTES));
        Self { first: (first as u128 & own) as u64 | (TRAPS as u128 & !own) as u64, bytes }
    }
}

/// The word at an offset of bytes, with traps behind them.
fn word_in(bytes: &[u8], at: usize) -> u64 {
    let rest = bytes.get(at..).unwrap_or(&[]);
    match rest.first_chunk() {
        Some(word) => u64::from_le_bytes(*word),
        None => rest.iter().rev().fold(TRAPS, |word, &byte| word << 8 | u64::from(byte)),
    }
}

/// A mask of so many bytes, at most twice those of a word less one.
fn mask(bytes: usize) -> u128 {
    (1 << (8 * bytes)) - 1
}

/// Bytes on their way out, in which fields are replaced in ascending order.
struct Stream<'a, O> {
    source: Source<'a>,
    out: O,
    /// Offset of the next word that goes out.
    at: usize,
    /// That word and the one behind it.
    window: u128,
}

impl<'a, O: Out> Stream<'a, O> {
    fn new(source: Source<'a>, out: O) -> Self {
        let window = u128::from(source.first) | u128::from(word_in(source.bytes, WORD_BYTES)) << 64;
        Self { source, out, at: 0, window }
    }

    fn advance(&mut self) {
        self.out.put(self.at, self.window as u64);
        self.at += WORD_BYTES;
        let next = word_in(self.source.bytes, self.at + WORD_BYTES);
        self.window = self.window >> 64 | u128::from(next) << 64;
    }

    /// Replaces a field of so many bytes, at most those of a word, by what `value` makes of it.
    #[inline]
    fn replace(&mut self, at: u32, bytes: usize, value: impl FnOnce(u64) -> u64) {
        while at as usize >= self.at + WORD_BYTES {
            self.advance();
        }
        let shift = 8 * (at as usize).saturating_sub(self.at);
        let mask = mask(bytes) << shift;
        let old = (self.window >> shift) as u64;
        self.window = self.window & !mask | u128::from(value(old)) << shift & mask;
    }

    /// Lets out all that is left, and says where it ended.
    fn finish(&mut self) -> usize {
        while self.at < self.source.bytes.len() {
            self.advance();
        }
        self.at
    }
}

/// A body that is to be written.
#[derive(Clone)]
pub struct Body<'a> {
    /// The function.
    pub function: &'a Movable,
    /// Its index.
    pub index: u32,
    /// Its original bytes.
    pub source: Source<'a>,
    /// Address of the original.
    pub original: usize,
    /// Address at which the body will run, a multiple of [`WORD_BYTES`].
    pub start: usize,
    /// Bytes by which its frame is larger, and where it has constants that follow; none if it stays
    /// as it is.
    pub pad: Option<(u32, NumberReader<'a>)>,
    /// First bytes that are other than the original's, and a mask of them: an unresolved entry.
    pub entry: (u64, u64),
}

/// Writes a body and its jump tables. `targets` are those of a body whose frame is so large.
///
/// # Errors
/// [`Malformed`] if the table was not validated.
pub fn write_body(
    table: &Table<'_>,
    body: &Body<'_>,
    targets: &impl Targets,
    out: impl Out,
) -> Result<(), Malformed> {
    let mut reader = table.fields(body.function);
    let (pad, sites) = match body.pad.clone() {
        Some((pad, sites)) => (pad, Some(sites)),
        None => (0, None),
    };
    let mut stream = Stream::new(body.source, out);
    let (entry, mask) = body.entry;
    stream.window = stream.window & !u128::from(mask) | u128::from(entry & mask);
    let mut growth = Growth { sites, next: None, pad };
    growth.step();
    write_fields(body, &mut reader, targets, &mut stream, &mut growth)?;
    growth.up_to(u32::MAX, &mut stream);
    let tables_at = stream.finish();
    write_tables(body, &mut reader, targets, tables_at, &mut stream.out)
}

/// The description of a function's frame, which must have one.
///
/// # Errors
/// [`Malformed`] if the table was not validated.
pub fn frame_of<'a>(table: &Table<'a>, function: &Movable) -> Result<FrameReader<'a>, Malformed> {
    let mut reader = table.fields(function);
    for _ in 0..reader.skip_fields()? {
        reader.next_table()?;
    }
    reader.frame(function.fde_bytes)
}

/// The constants by which a frame grows.
struct Growth<'a> {
    sites: Option<NumberReader<'a>>,
    next: Option<u32>,
    pad: u32,
}

impl Growth<'_> {
    fn step(&mut self) {
        self.next = self.sites.as_mut().and_then(Iterator::next);
    }

    /// Replaces those in front of an offset.
    #[inline]
    fn up_to<O: Out>(&mut self, end: u32, stream: &mut Stream<'_, O>) {
        while let Some(site) = self.next.filter(|&site| site < end) {
            let pad = self.pad;
            stream.replace(site, 4, |old| u64::from((old as u32).wrapping_add(pad)));
            self.step();
        }
    }
}

/// The displacement at an address of 4 bytes that lead to another. Arenas lie within reach of their
/// images.
#[must_use]
pub fn displacement(at: usize, target: usize) -> u32 {
    target.wrapping_sub(at + 4) as u32
}

#[inline(never)]
fn write_fields<O: Out>(
    body: &Body<'_>,
    reader: &mut FieldReader<'_>,
    targets: &impl Targets,
    stream: &mut Stream<'_, O>,
    growth: &mut Growth<'_>,
) -> Result<(), Malformed> {
    let tables_at = body.start + body.function.size.next_multiple_of(8) as usize;
    let mut offsets = TableOffsets::of(reader);
    for _ in 0..reader.field_count()? {
        let field = reader.next_field()?;
        growth.up_to(field.at, stream);
        let relative = |target| u64::from(displacement(body.start + field.at as usize, target));
        let mut table = |table| tables_at + offsets.of_table(table) as usize;
        let (bytes, value) = match field.kind {
            FieldKind::Fixed => {
                let moved = body.start.wrapping_sub(body.original) as u32;
                stream.replace(field.at, 4, |old| u64::from((old as u32).wrapping_sub(moved)));
                continue;
            }
            FieldKind::Function { function, offset } => {
                (4, relative(target(body, targets, function, offset)))
            }
            FieldKind::Inner(callee) if body.pad.is_some() => (4, relative(targets.inner(callee))),
            FieldKind::Inner(callee) => (4, relative(targets.function(callee, 0))),
            FieldKind::TableRelative32(index) => (4, relative(table(index))),
            FieldKind::TableAbsolute32(index) => (4, table(index) as u64),
            FieldKind::TableAbsolute64(index) => (8, table(index) as u64),
        };
        stream.replace(field.at, bytes, |_| value);
    }
    Ok(())
}

/// Where a body goes on that refers to an offset in a function: the middle of the function itself
/// is that of the same body.
fn target(body: &Body<'_>, targets: &impl Targets, function: u32, offset: u32) -> usize {
    if function == body.index && offset != 0 {
        body.start + offset as usize
    } else {
        targets.function(function, offset)
    }
}

#[inline(never)]
fn write_tables(
    body: &Body<'_>,
    reader: &mut FieldReader<'_>,
    targets: &impl Targets,
    mut at: usize,
    out: &mut impl Out,
) -> Result<(), Malformed> {
    for _ in 0..reader.table_count()? {
        let table = reader.next_table()?;
        let (mut read, start) = (table.targets(), body.start + at);
        let mut next = || {
            let target = match read.next_target()? {
                TableTarget::Image(offset) => targets.image(offset),
                TableTarget::Function { function, offset } => {
                    target(body, targets, function, offset)
                }
            };
            Ok(if table.absolute { target as u64 } else { u64::from(distance(start, target)) })
        };
        let mut left = table.count;
        while left > 0 {
            let mut word = next()?;
            left -= 1;
            if !table.absolute {
                // Two entries in a word.
                let second = if left > 0 { next()? } else { TRAPS >> 32 };
                left = left.saturating_sub(1);
                word |= second << 32;
            }
            out.put(at, word);
            at += WORD_BYTES;
        }
    }
    Ok(())
}

fn distance(from: usize, to: usize) -> u32 {
    to.wrapping_sub(from) as u32
}

/// Writes the FDE of a body at `start` whose frame is larger by so many bytes. It will
/// stand at `at`, a multiple of [`WORD_BYTES`]; `image` has the addresses of offsets in the image.
pub fn write_fde(
    fde: &CopyFde<'_>,
    (at, start): (usize, usize),
    pad: u32,
    image: impl Fn(u32) -> usize,
    out: impl Out,
) {
    let mut stream = Stream::new(Source::of(fde.bytes), out);
    // Each counts from its own place, within reach as all of the image is.
    let cie = (at + CIE_POINTER_AT).wrapping_sub(image(fde.cie));
    stream.replace(CIE_POINTER_AT as u32, 4, |_| cie as u64);
    stream.replace(INITIAL_LOCATION_AT as u32, 4, |_| {
        u64::from(distance(at + INITIAL_LOCATION_AT, start))
    });
    if let Some((inside, address)) = fde.lsda {
        let value = distance(at + inside as usize, image(address));
        stream.replace(inside, 4, |_| u64::from(value));
    }
    for inside in fde.offsets.clone() {
        let [a, b, c] = put_offset(fde.offset(inside).unwrap_or(0) + pad);
        let value = u32::from_le_bytes([a, b, c, 0]);
        stream.replace(inside, OFFSET_BYTES, |_| u64::from(value));
    }
    stream.finish();
}

#[cfg(test)]
mod tests;
