//! FDEs for frames of another size: the original's, in which each distance of the canonical frame
//! address (CFA) from the stack pointer that grows with the frame takes bytes enough for any size.
//!
//! Sources: DWARF 4, 6.4.2 (call frame instructions) and 7.23 (their encoding); Linux Standard
//! Base, "Exception Frames".

use super::flow::StackFlow;
use super::resizable::FdeTemplate;
use szc_abi::cursor::Cursor;
use szc_abi::unwind::{EhFrame, Fde, Lsda};
use szc_abi::{FixedFrame, MAX_OFFSET, put_offset};

/// Numbers of registers in FDEs (System V ABI, figure 3.36).
const FRAME_POINTER: u64 = 6;
const STACK_POINTER: u64 = 7;

/// Bytes of the return address, which the CFA lies above.
const WORD: i64 = 8;

/// Largest growth of a frame, in bytes: FDEs must be able to hold what comes of it.
const MAX_GROWTH: u64 = 4096;

/// Rules of one instruction and those behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Row {
    from: u64,
    register: u64,
    offset: u64,
    /// The offset grows with the frame.
    grows: bool,
}

/// The FDE of one function, taken over instruction by instruction.
pub struct FdeRewrite<'a> {
    frame: &'a Fde<'a>,
    flow: &'a StackFlow,
    row: Row,
    rows: Vec<Row>,
    remembered: Vec<Row>,
    out: Vec<u8>,
    offsets: Vec<u32>,
    /// The same offsets in the original: where each lies, its bytes, and what it is.
    originals: Vec<(u64, usize, u64)>,
}

impl<'a> FdeRewrite<'a> {
    /// The one FDE of all of a function; none if it cannot be unwound.
    pub fn only_frame(
        start: u64,
        bytes: u64,
        unwind: &EhFrame<'a>,
    ) -> Result<Option<Fde<'a>>, FixedFrame> {
        let mut found = Vec::new();
        unwind.for_each(start, start + bytes, |frame| found.push(*frame));
        if found.len() != unwind.count(start, start + bytes) {
            return Err(FixedFrame::Unwinding);
        }
        match found.as_slice() {
            [] => Ok(None),
            [frame] if frame.start == start && frame.bytes == bytes => Ok(Some(*frame)),
            _ => Err(FixedFrame::Unwinding),
        }
    }

    fn new(frame: &'a Fde<'a>, flow: &'a StackFlow) -> Result<Self, FixedFrame> {
        if !frame.is_relative_4() || frame.lsda == Lsda::Unknown {
            return Err(FixedFrame::Unwinding);
        }
        let mut out = frame.entry[..frame.instructions_at()].to_vec();
        out.reserve(frame.instructions.len() + 16);
        let mut row = Row { from: frame.start, register: 0, offset: 0, grows: false };
        // What holds at the entry: the stack pointer, and the return address below the CFA.
        let mut cie = Cursor::new(frame.cie.instructions);
        if cie.u8() != Some(0x0c) {
            return Err(FixedFrame::Unwinding);
        }
        row.register = cie.unsigned().ok_or(FixedFrame::Unwinding)?;
        row.offset = cie.unsigned().ok_or(FixedFrame::Unwinding)?;
        let rest = cie.rest();
        let is_usual = rest.starts_with(&[0x90, 1]) && rest[2..].iter().all(|&byte| byte == 0);
        if row.register != STACK_POINTER || row.offset != 8 || !is_usual {
            return Err(FixedFrame::Unwinding);
        }
        Ok(Self {
            frame,
            flow,
            row,
            rows: vec![row],
            remembered: Vec::new(),
            out,
            offsets: Vec::new(),
            originals: Vec::new(),
        })
    }

    /// The whole FDE, which must say what the instructions do.
    pub fn of(frame: &'a Fde<'a>, flow: &'a StackFlow) -> Result<Self, FixedFrame> {
        let mut rewrite = Self::new(frame, flow)?;
        rewrite.run()?;
        rewrite.check_calls()?;
        Ok(rewrite)
    }

    fn run(&mut self) -> Result<(), FixedFrame> {
        let mut cursor = Cursor::new(self.frame.instructions);
        while !cursor.rest().is_empty() {
            self.instruction(&mut cursor).ok_or(FixedFrame::Unwinding)?;
        }
        Ok(())
    }

    /// Takes over one instruction; nothing if it is not understood.
    fn instruction(&mut self, cursor: &mut Cursor<'_>) -> Option<()> {
        let before = cursor.rest();
        let code = cursor.u8()?;
        match (code & 0xc0, code) {
            (0x40, _) => self.advance(u64::from(code & 0x3f)),
            (0x80, _) => drop(cursor.unsigned()?),
            (0xc0, _) | (_, 0x00) => {}
            (_, 0x02) => self.advance(u64::from(cursor.u8()?)),
            (_, 0x03) => self.advance(u64::from(cursor.u16()?)),
            (_, 0x04) => self.advance(u64::from(cursor.u32()?)),
            // offset_extended, register
            (_, 0x05 | 0x09) => {
                cursor.unsigned()?;
                cursor.unsigned()?;
            }
            // restore_extended, undefined, same_value, GNU_args_size
            (_, 0x06..=0x08 | 0x2e) => drop(cursor.unsigned()?),
            (_, 0x0a) => self.remembered.push(self.row),
            (_, 0x0b) => {
                let remembered = self.remembered.pop()?;
                self.set(Row { from: self.row.from, ..remembered });
                // The row that comes back must grow where it is used as it did where it was made.
                if remembered.register == STACK_POINTER && remembered.grows != self.is_resized()? {
                    return None;
                }
            }
            (_, 0x0c) => {
                let register = cursor.unsigned()?;
                let number = *cursor;
                let offset = cursor.unsigned()?;
                let beginning = [code, u8::try_from(register).ok()?];
                return self.set_address(&beginning, register, offset, (number, *cursor));
            }
            (_, 0x0d) => {
                let register = cursor.unsigned()?;
                if register == STACK_POINTER || self.row.grows {
                    return None;
                }
                self.set(Row { register, ..self.row });
            }
            (_, 0x0e) => {
                let number = *cursor;
                let offset = cursor.unsigned()?;
                return self.set_address(&[code], self.row.register, offset, (number, *cursor));
            }
            _ => return None,
        }
        self.out.extend_from_slice(&before[..before.len() - cursor.rest().len()]);
        Some(())
    }

    fn advance(&mut self, bytes: u64) {
        self.row.from += bytes;
    }

    fn set(&mut self, row: Row) {
        self.row = row;
        self.rows.push(row);
    }

    /// Sets the rule of the CFA, by an instruction with this beginning and the offset behind it,
    /// which lies between two positions of the original.
    fn set_address(
        &mut self,
        beginning: &[u8],
        register: u64,
        offset: u64,
        (from, to): (Cursor<'_>, Cursor<'_>),
    ) -> Option<()> {
        let grows = register == STACK_POINTER && self.is_resized()?;
        self.set(Row { register, offset, grows, ..self.row });
        self.out.extend_from_slice(beginning);
        let number =
            u32::try_from(offset).ok().filter(|_| offset + MAX_GROWTH <= MAX_OFFSET.into())?;
        if grows {
            self.offsets.push(u32::try_from(self.out.len()).ok()?);
            let at = self.frame.entry.len() - from.rest().len();
            let bytes = from.rest().len() - to.rest().len();
            self.originals.push((self.frame.address + at as u64, bytes, offset));
        }
        self.out.extend_from_slice(&put_offset(number));
        Some(())
    }

    /// Whether the part of the frame that can grow is taken where the current row begins.
    fn is_resized(&self) -> Option<bool> {
        self.flow.point_from(self.row.from).map(|point| point.resized)
    }

    /// At each call the FDE must describe the stack as it is.
    fn check_calls(&self) -> Result<(), FixedFrame> {
        for (address, point) in self.flow.calls() {
            let behind = self.rows.partition_point(|row| row.from <= address);
            let row = self.rows[behind - 1];
            let holds = match row.register {
                STACK_POINTER => {
                    row.offset.cast_signed() == point.depth + WORD && row.grows == point.resized
                }
                FRAME_POINTER => {
                    point.frame_pointer.is_some_and(|at| row.offset.cast_signed() == at + WORD)
                }
                _ => false,
            };
            if !holds {
                return Err(FixedFrame::Unwinding);
            }
        }
        Ok(())
    }

    /// Whether copies need FDEs of their own.
    pub fn depends_on_size(&self) -> bool {
        !self.offsets.is_empty()
    }

    /// Where the image's own FDE has offsets that grow with the frame: link address, bytes, and
    /// value.
    pub fn originals(&self) -> &[(u64, usize, u64)] {
        &self.originals
    }

    /// The FDE of copies, for a frame that is so many bytes smaller in the image than it was
    /// compiled.
    pub fn finish(mut self, slack: u32) -> Result<FdeTemplate, FixedFrame> {
        for (&at, &(_, _, offset)) in self.offsets.iter().zip(&self.originals) {
            let smaller = u32::try_from(offset).ok().and_then(|offset| offset.checked_sub(slack));
            let bytes = put_offset(smaller.ok_or(FixedFrame::Unwinding)?);
            self.out[at as usize..][..bytes.len()].copy_from_slice(&bytes);
        }
        // FDEs are filled up with instructions that do nothing.
        self.out.resize(self.out.len().next_multiple_of(8), 0);
        let length = u32::try_from(self.out.len() - 4).map_err(|_| FixedFrame::Unwinding)?;
        self.out[..4].copy_from_slice(&length.to_le_bytes());
        let lsda = match self.frame.lsda {
            Lsda::Relative { at, address } => {
                Some((u32::try_from(at).map_err(|_| FixedFrame::Unwinding)?, address))
            }
            Lsda::Anywhere | Lsda::Unknown => None,
        };
        Ok(FdeTemplate {
            cie: self.frame.cie.address,
            lsda,
            offsets: self.offsets,
            bytes: self.out,
        })
    }
}
