//! Puts the relocation table into a linked image, and takes out what it was made from.

use super::facts::Strip;
use anyhow::{Context, Result, bail};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use szc_abi::TABLE_SECTION;
use szc_abi::library::NOTE_SECTION;
use szc_table::edits::{Edits, edits_of};
use szc_table::pins::Policy;
use szc_table::read::Image;

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

/// Builds the table of `image`, embeds it, drops the relocations that the linker retained, strips
/// if asked, and replaces the file in one step.
///
/// # Errors
/// When the file is not a linked x86-64 image or cannot be rewritten. The file is then unchanged.
pub fn embed(image: &Path, options: &EmbedOptions) -> Result<()> {
    let mut data =
        std::fs::read(image).with_context(|| format!("cannot read {}", image.display()))?;
    let edits = edits(&data, options)
        .with_context(|| format!("cannot build the relocation table of {}", image.display()))?;
    let image = std::fs::canonicalize(image).unwrap_or_else(|_| image.to_path_buf());
    let folder = image.parent().unwrap_or(Path::new("."));
    let scratch = tempfile::Builder::new()
        .prefix(".szc-link-")
        .tempdir_in(folder)
        .with_context(|| format!("cannot create a temporary directory in {}", folder.display()))?;
    let table_file = scratch.path().join("table");
    let output = scratch.path().join("image");
    std::fs::write(&table_file, &edits.table).context("cannot write the relocation table")?;
    let mut args = vec![OsString::from("--add-section"), join(TABLE_SECTION, &table_file)];
    if let Some(note) = &edits.note {
        let file = scratch.path().join("note");
        std::fs::write(&file, note).context("cannot write a note")?;
        args.extend(["--update-section".into(), join(NOTE_SECTION, &file)]);
    }
    args.extend(edits.removed.iter().map(|section| format!("--remove-section={section}").into()));
    match options.strip {
        Some(Strip::All) => args.push("--strip-all".into()),
        Some(Strip::Debug) => args.push("--strip-debug".into()),
        None => {}
    }
    let mut input = image.clone();
    if !edits.replaced.is_empty() {
        for (at, bytes) in &edits.replaced {
            data[*at..at + bytes.len()].copy_from_slice(bytes);
        }
        input = scratch.path().join("fitted");
        std::fs::write(&input, &data).context("cannot write the image")?;
        let permissions = std::fs::metadata(&image).map(|metadata| metadata.permissions());
        permissions
            .and_then(|permissions| std::fs::set_permissions(&input, permissions))
            .context("cannot copy the image's permissions")?;
    }
    args.extend([input.into(), output.clone().into()]);
    // llvm-objcopy refuses the static programs of GNU ld ("link field of .rela.plt is not a symbol
    // table"); the objcopy that comes with that linker takes them.
    let objcopy =
        if edits.needs_gnu_objcopy { Path::new("objcopy") } else { options.objcopy.as_path() };
    edit(objcopy, &args).with_context(|| format!("cannot edit {}", image.display()))?;
    std::fs::rename(&output, &image)
        .with_context(|| format!("cannot replace {}", image.display()))?;
    Ok(())
}

fn edit(objcopy: &Path, args: &[OsString]) -> Result<()> {
    let result = Command::new(objcopy)
        .args(args)
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

fn edits(data: &[u8], options: &EmbedOptions) -> Result<Edits> {
    let image = Image::parse(data)?;
    let mut policy = Policy::default();
    if !image.dynamic {
        for archive in &options.c_library_archives {
            std::fs::read(archive)
                .map_err(anyhow::Error::from)
                .and_then(|data| policy.add_archive(&data))
                .with_context(|| format!("cannot read {}", archive.display()))?;
        }
    }
    edits_of(data, &image, &policy)
}
