//! What an image gets and loses with its relocation table, as bytes: no file is touched here.

use crate::decide::decide;
use crate::frame::{self, Change, Fitted, NewBytes};
use crate::pins::Policy;
use crate::read::Image;
use crate::references::References;
use crate::{eh_frame_hdr, section_numbers, write};
use anyhow::{Context, Result};
use szc_abi::library::{NOTE_DESCRIPTOR_AT, NOTE_SECTION};
use szc_abi::unwind::EhFrame;

/// An image with functions and without the relocations that the linker was to retain.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the linker did not retain relocations; szc needs a linker that knows --emit-relocs")]
pub struct NothingRetained;

/// A table, and what has to be changed in the file of its image.
#[derive(Clone, Debug)]
pub struct Edits {
    /// The table: contents of [`TABLE_SECTION`](szc_abi::TABLE_SECTION).
    pub table: Vec<u8>,
    /// Names of the sections to be removed: the retained relocations.
    pub removed: Vec<String>,
    /// Bytes to be replaced, by offset in the file: what takes the slack out of frames that the
    /// compiler pass has added, what unwinders search, and what names sections by number.
    pub replaced: Vec<(usize, NewBytes)>,
    /// A library's note, with the digest of the table: contents of [`NOTE_SECTION`].
    pub note: Option<Vec<u8>>,
    /// llvm-objcopy would refuse the image ("link field of .rela.plt is not a symbol table"), as it
    /// does static programs of GNU ld; the objcopy that comes with that linker takes them.
    pub needs_gnu_objcopy: bool,
}

/// Builds the table of an image whose file has these bytes.
///
/// # Errors
/// [`NothingRetained`]; or the image is damaged, or too large for a table.
pub fn edits_of(data: &[u8], image: &Image<'_>, policy: &Policy) -> Result<Edits> {
    let code = image.sections.iter().any(|section| section.executable && section.size > 0);
    if code && !image.functions.is_empty() && image.retained_sections.is_empty() {
        return Err(NothingRetained.into());
    }
    let references = References::of(image);
    let unwind = EhFrame::parse(data);
    let Fitted { mut changes, frames } = frame::fit(image, &references, unwind.as_ref());
    changes.extend(
        unwind.as_ref().map(|unwind| eh_frame_hdr::repairs(image, unwind)).into_iter().flatten(),
    );
    let decision = decide(image, &references, frames, policy);
    let table = write::encode(&decision, image.link_base)?;
    let place = |change: Change| {
        let at = image.file_offset(data, change.address, change.bytes.len());
        Ok((at.context("a function lies outside the file")?, change.bytes))
    };
    let mut replaced: Vec<_> = changes.into_iter().map(place).collect::<Result<_>>()?;
    replaced.extend(section_numbers::without(data, &image.retained_sections)?);
    Ok(Edits {
        note: note_with(image, szc_abi::digest(&table)),
        table,
        removed: image.retained_sections.clone(),
        replaced,
        needs_gnu_objcopy: image.loaded_uses_symtab,
    })
}

/// The library's note with a digest; nothing in an image without one.
fn note_with(image: &Image<'_>, digest: u64) -> Option<Vec<u8>> {
    let note = image.sections.iter().find(|section| section.name == NOTE_SECTION)?;
    let mut bytes = note.data.to_vec();
    let field = bytes.get_mut(NOTE_DESCRIPTOR_AT..)?.first_chunk_mut()?;
    *field = digest.to_le_bytes();
    Some(bytes)
}
