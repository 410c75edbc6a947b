//! Puts the relocation table into a linked image, and takes out what it was made from.

use super::decide::decide;
use super::frame::{self, Fitted};
use super::pins::Policy;
use super::read::{Image, Kind};
use super::references::References;
use super::{section_numbers, unwind_search, write};
use anyhow::{Context, Result, bail};
use object::read::archive::ArchiveFile;
use object::{Object as _, ObjectSymbol};
use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use szc_abi::TABLE_SECTION;
use szc_abi::library::{NOTE_DESCRIPTOR_AT, NOTE_SECTION};
use szc_abi::unwind::Frames;

/// What embedding needs from outside.
#[derive(Clone, Debug)]
pub struct EmbedOptions {
    /// LLVM's objcopy.
    pub objcopy: PathBuf,
    /// What to strip from the image afterwards.
    pub strip: Option<Strip>,
    /// Archives whose functions stay in a static image: the C library and what it is built on.
    pub c_library_archives: Vec<PathBuf>,
}

/// What to strip, as the linker options say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strip {
    /// `-s`: all symbols that are not needed to load the image.
    All,
    /// `-S`: debug information.
    Debug,
}

/// An image with functions and without the relocations that the linker was to retain.
#[derive(Clone, Copy, Debug)]
pub struct NothingRetained;

impl std::fmt::Display for NothingRetained {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(
            "the linker did not retain relocations; szc needs a linker that knows --emit-relocs",
        )
    }
}

impl std::error::Error for NothingRetained {}

/// Builds the table of `image`, embeds it, drops the relocations that the linker retained, strips
/// if asked, and replaces the file in one step.
///
/// # Errors
/// When the file is not a linked x86-64 image or cannot be rewritten. The file is then unchanged.
pub fn embed(image: &Path, options: &EmbedOptions) -> Result<()> {
    let mut data =
        std::fs::read(image).with_context(|| format!("cannot read {}", image.display()))?;
    let built = build(&data, options)
        .with_context(|| format!("cannot build the relocation table of {}", image.display()))?;
    let image = std::fs::canonicalize(image).unwrap_or_else(|_| image.to_path_buf());
    let folder = image.parent().unwrap_or(Path::new("."));
    let scratch = tempfile::Builder::new()
        .prefix(".szc-link-")
        .tempdir_in(folder)
        .with_context(|| format!("cannot create a temporary directory in {}", folder.display()))?;
    let table_file = scratch.path().join("table");
    let output = scratch.path().join("image");
    std::fs::write(&table_file, &built.table).context("cannot write the relocation table")?;
    let mut words = vec![OsString::from("--add-section"), join(TABLE_SECTION, &table_file)];
    if let Some(note) = &built.note {
        let file = scratch.path().join("note");
        std::fs::write(&file, note).context("cannot write a note")?;
        words.extend(["--update-section".into(), join(NOTE_SECTION, &file)]);
    }
    words.extend(built.retained.iter().map(|section| format!("--remove-section={section}").into()));
    match options.strip {
        Some(Strip::All) => words.push("--strip-all".into()),
        Some(Strip::Debug) => words.push("--strip-debug".into()),
        None => {}
    }
    let mut input = image.clone();
    if !built.changes.is_empty() {
        for (at, bytes) in &built.changes {
            data[*at..at + bytes.len()].copy_from_slice(bytes);
        }
        input = scratch.path().join("fitted");
        std::fs::write(&input, &data).context("cannot write the image")?;
        let permissions = std::fs::metadata(&image).map(|metadata| metadata.permissions());
        permissions
            .and_then(|permissions| std::fs::set_permissions(&input, permissions))
            .context("cannot copy the image's permissions")?;
    }
    words.extend([input.into(), output.clone().into()]);
    // llvm-objcopy refuses the static programs of GNU ld ("link field of .rela.plt is not a symbol
    // table"); the objcopy that comes with that linker takes them.
    let objcopy =
        if built.needs_gnu_objcopy { Path::new("objcopy") } else { options.objcopy.as_path() };
    edit(objcopy, &words).with_context(|| format!("cannot edit {}", image.display()))?;
    std::fs::rename(&output, &image)
        .with_context(|| format!("cannot replace {}", image.display()))?;
    Ok(())
}

fn edit(objcopy: &Path, words: &[OsString]) -> Result<()> {
    let result = Command::new(objcopy)
        .args(words)
        .output()
        .with_context(|| format!("cannot run {}", objcopy.display()))?;
    if !result.status.success() {
        let message = String::from_utf8_lossy(&result.stderr);
        bail!("{} failed ({}): {}", objcopy.display(), result.status, message.trim());
    }
    Ok(())
}

/// `NAME=FILE`, where the file may have any name.
fn join(name: &str, file: &Path) -> OsString {
    let mut argument = OsString::from(name);
    argument.push("=");
    argument.push(file);
    argument
}

/// A table and what replaces what it was made from.
struct Built {
    table: Vec<u8>,
    retained: Vec<String>,
    /// Bytes of the file to be replaced, by offset: what takes the room out of frames that the
    /// compiler pass has added, what unwinders search, and what names sections by number.
    changes: Vec<(usize, frame::NewBytes)>,
    /// The library's note, with the digest of the table.
    note: Option<Vec<u8>>,
    needs_gnu_objcopy: bool,
}

fn build(data: &[u8], options: &EmbedOptions) -> Result<Built> {
    let image = Image::parse(data)?;
    let code = image.sections.iter().any(|section| section.executable && section.size > 0);
    if code && !image.functions.is_empty() && image.retained_sections.is_empty() {
        return Err(NothingRetained.into());
    }
    let mut policy = Policy::default();
    if !image.dynamic && image.kind != Kind::SharedLibrary {
        for archive in &options.c_library_archives {
            add_function_names(archive, &mut policy.c_library)
                .with_context(|| format!("cannot read {}", archive.display()))?;
        }
    }
    let references = References::of(&image);
    let unwind = Frames::parse(data);
    let Fitted { mut changes, frames } = frame::fit(&image, &references, unwind.as_ref());
    changes.extend(
        unwind.as_ref().map(|unwind| unwind_search::mended(&image, unwind)).into_iter().flatten(),
    );
    let decision = decide(&image, &references, frames, &policy);
    let table = write::encode(&decision, image.link_base)?;
    let place = |change: frame::Change| {
        let at = image.file_offset(data, change.address, change.bytes.len());
        Ok((at.context("a function lies outside the file")?, change.bytes))
    };
    let mut changes: Vec<_> = changes.into_iter().map(place).collect::<Result<_>>()?;
    changes.extend(section_numbers::without(data, &image.retained_sections)?);
    Ok(Built {
        changes,
        note: note_with(&image, szc_abi::digest(&table)),
        table,
        retained: image.retained_sections,
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

/// Adds the names of all functions that an archive defines, local ones included.
fn add_function_names(archive: &Path, names: &mut HashSet<Vec<u8>>) -> Result<()> {
    let data = std::fs::read(archive)?;
    for member in ArchiveFile::parse(&*data)?.members() {
        let Ok(object) = object::File::parse(member?.data(&*data)?) else { continue };
        names.extend(
            object
                .symbols()
                .filter(ObjectSymbol::is_definition)
                .filter_map(|symbol| symbol.name_bytes().ok())
                .map(<[u8]>::to_vec),
        );
    }
    Ok(())
}
