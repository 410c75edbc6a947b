//! Callers of a thread, from its registers and its stack, by the unwind tables of the code: those
//! of programs and libraries, and in programs of szc those of the copies, whose frames have pads.
//!
//! Sources: Linux Standard Base, "Exception Frames"; DWARF 5, 6.4; System V ABI, figure 3.36.
#![forbid(unsafe_code)]

mod cut;
mod row;
mod tables;

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

pub use self::cut::Cut;
use self::row::{Registers, Row, Section};
use self::tables::Tables;
use crate::copies::{Copies, Rules};
use crate::heights::At;
use crate::mappings::Mappings;
use crate::memory::{Memory as _, OfProcess};
use crate::stack::Stack;

/// Callers, innermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    /// Return addresses in original functions. Where a signal came, the address behind the first
    /// byte of the instruction that it came at: so what is in front of each belongs to the call.
    pub callers: Vec<u64>,
    /// The stack pointer at each.
    pub stack_pointers: Vec<u64>,
    /// Why they end too early.
    pub cut: Option<Cut>,
}

/// A longer chain goes in circles, or helps nobody.
const MAX_CALLERS: usize = 4096;

/// What the kernel puts into each process, which is in no file.
const VDSO: &str = "[vdso]";

/// Unwind tables of files, as they are asked for.
#[derive(Default)]
pub struct Unwinder {
    files: HashMap<Arc<str>, Option<Tables>>,
}

/// Where a frame is.
struct Place<'a> {
    pid: u32,
    mappings: &'a Mappings,
}

impl Unwinder {
    /// The callers of a thread.
    pub fn chain(
        &mut self,
        pid: u32,
        stack: &Stack,
        mappings: &Mappings,
        mut copies: Option<&mut Copies>,
    ) -> Chain {
        let place = Place { pid, mappings };
        let mut chain = Chain::default();
        let mut registers = Registers::of(stack);
        // The instruction itself, or one behind a call.
        let mut is_exact = true;
        loop {
            let Some(ip) = registers.ip() else { return chain };
            let address = if is_exact { ip } else { ip - 1 };
            let found = copies.as_mut().and_then(|copies| copies.rules(pid, address));
            let original = found.as_ref().map_or(address, |(original, _)| original.address);
            if registers.is_of_caller() {
                chain.callers.push(original + 1);
                chain.stack_pointers.push(registers.sp().unwrap_or_default());
            }
            let rules = match found {
                Some((_, None)) => return Chain { cut: Some(Cut::Gone), ..chain },
                Some((_, Some(rules))) => rules,
                None => Rules::Original(address),
            };
            let row = self.row(&place, address, &rules);
            let step = row.and_then(|(row, section)| {
                is_exact = row.is_signal;
                registers.caller(&row, section.as_ref(), stack)
            });
            registers = match step {
                Ok(Some(caller)) if chain.callers.len() < MAX_CALLERS => caller,
                Ok(None) => return chain,
                Ok(Some(_)) => return Chain { cut: Some(Cut::Tables), ..chain },
                Err(cut) => return Chain { cut: Some(cut), ..chain },
            };
        }
    }

    /// The place in a file of an address in an original.
    pub fn at(&mut self, pid: u32, mappings: &Mappings, address: u64) -> Option<At> {
        let place = Place { pid, mappings };
        let (_, mapping) = mappings.at(address)?;
        let file = mapping.path.clone();
        let (tables, offset) = self.tables(&place, address)?;
        let address = tables.address(offset)?;
        Some(At { file, address, function: tables.function(address)? })
    }

    /// The address in a process of one in a file, as linked.
    pub fn address(&mut self, mappings: &Mappings, file: &str, address: u64) -> Option<u64> {
        self.load(file);
        let tables = self.files.get(file)?.as_ref()?;
        mappings.address(file, tables.offset(address)?)
    }

    fn load(&mut self, file: &str) {
        if !self.files.contains_key(file) && file != VDSO {
            self.files.insert(file.into(), Tables::of_file(file));
        }
    }

    /// Whether the frame at an address of a file, as linked, begins at a fixed distance from the
    /// stack pointer. It does if nothing is known of it.
    pub fn has_fixed_frame(&mut self, file: &str, address: u64) -> bool {
        self.load(file);
        let tables = self.files.get_mut(file).and_then(Option::as_mut);
        tables.and_then(|tables| tables.row(address)).is_none_or(|row| row.counts_from_sp())
    }

    /// The caller's stack pointer behind the return, as it follows from the stack pointer and the
    /// instruction pointer alone. The rules are those at the instruction.
    pub fn cfa(
        &mut self,
        pid: u32,
        mappings: &Mappings,
        rules: &Rules,
        stack: &Stack,
    ) -> Option<u64> {
        let place = Place { pid, mappings };
        let (row, section) = self.row(&place, stack.ip(), rules).ok()?;
        Registers::of_two(stack).cfa(&row, section.as_ref(), &Stack::default()).ok()
    }

    /// The row of the tables that holds at an address, and the section that its expressions are in.
    fn row(
        &mut self,
        place: &Place<'_>,
        address: u64,
        rules: &Rules,
    ) -> Result<(Rc<Row>, Option<Section<'_>>), Cut> {
        let original = match rules {
            Rules::Called { bytes } => return Ok((Rc::new(Row::called(*bytes)), None)),
            Rules::Original(original) | Rules::Own { original, .. } => *original,
        };
        let (tables, offset) = self.tables(place, original).ok_or(Cut::Tables)?;
        let at = tables.address(offset).ok_or(Cut::Tables)?;
        let row = match rules {
            Rules::Own { fde, at: stands_at, .. } => tables.own(at, (fde, *stands_at), address),
            _ => tables.row(at),
        };
        Ok((row.ok_or(Cut::Tables)?, Some(tables.section())))
    }

    /// The tables of the file that an address belongs to, and the offset there.
    fn tables(&mut self, place: &Place<'_>, address: u64) -> Option<(&mut Tables, u64)> {
        let (start, mapping) = place.mappings.at(address)?;
        let offset = mapping.offset + (address - start);
        if !self.files.contains_key(&mapping.path) {
            let tables = if &*mapping.path == VDSO {
                let mut bytes = vec![0; usize::try_from(mapping.bytes).ok()?];
                // Another process may be asked.
                OfProcess(place.pid).read(start, &mut bytes)?;
                Tables::of(&*bytes)
            } else {
                Tables::of_file(&mapping.path)
            };
            self.files.insert(mapping.path.clone(), tables);
        }
        Some((self.files.get_mut(&mapping.path)?.as_mut()?, offset))
    }
}

#[cfg(test)]
mod tests;
