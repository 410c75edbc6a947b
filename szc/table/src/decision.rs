//! What was decided about an image: the movable functions, with the fields that their copies must
//! patch, and the pinned ones.

use crate::frame::Resizable;
use szc_abi::{Field, FixedFrame, Reason, TableTarget};

/// What may move in an image and what is pinned.
#[derive(Debug)]
pub struct Decision {
    /// Functions that may move, by address.
    pub movable: Vec<MovableFunction>,
    /// Pinned functions, by address.
    pub pinned: Vec<PinnedFunction>,
    /// Pinned code switches stacks.
    pub switches_in_place: bool,
}

/// A function that may move. Offsets in the image are from its link base.
#[derive(Debug, Default)]
pub struct MovableFunction {
    /// Name as in the symbol table.
    pub name: Vec<u8>,
    /// The number of its canonical name.
    pub name_hash: u64,
    /// Offset of the first byte in the image.
    pub start: u32,
    /// Bytes.
    pub size: u32,
    /// The program can read label addresses of the function as data.
    pub labels_escape: bool,
    /// The function goes on on other stacks.
    pub switches_stacks: bool,
    /// Index of the next function of its unit.
    pub unit_next: u32,
    /// What to patch, by offset.
    pub fields: Vec<Field>,
    /// Tables that each copy gets.
    pub tables: Vec<CopiedTable>,
    /// Its frame, if copies may have one of another size; or why not, if the compiler prepared it.
    pub frame: Option<Result<Resizable, FixedFrame>>,
    /// What it calls may run on another stack than it began on.
    pub leaves_stack: bool,
    /// Its copies have an inner entry.
    pub inner_entry: bool,
    /// Pushes in front of the hot-patch point, if copies have one: an undo trampoline undoes them.
    pub hot_patch_pushes: Option<u32>,
}

/// A jump table as its function's copies hold it.
#[derive(Debug)]
pub struct CopiedTable {
    /// Entries are 8-byte addresses.
    pub absolute: bool,
    /// Where the entries lead.
    pub targets: Vec<TableTarget>,
}

/// A pinned function.
#[derive(Debug)]
pub struct PinnedFunction {
    /// Name as in the symbol table.
    pub name: Vec<u8>,
    /// Offset of the first byte in the image.
    pub start: u64,
    /// Bytes.
    pub size: u64,
    /// Why.
    pub reason: Reason,
}
