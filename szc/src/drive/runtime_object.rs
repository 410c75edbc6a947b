//! The one object of the runtime's archive that belongs in a program.
//!
//! rustc puts compiler support functions into every static library, `ceil` and `fmod` among them.
//! A linker that saw them would take them instead of the C library's, and a configure script would
//! find that no `-lm` is needed. So the link gets the runtime's own object, not the archive.

use anyhow::{Context, Result};
use object::read::archive::ArchiveFile;
use object::{Object as _, ObjectSymbol as _};
use std::fs;
use std::io::Write as _;
use std::path::Path;
use szc_abi::RUNTIME_START_SYMBOL;
use tempfile::NamedTempFile;

/// Copies the runtime's object out of its archive, into a file that lives as long as the result.
///
/// # Errors
/// The archive cannot be read or has no such object, or there is no room for the copy.
pub fn extract(archive: &Path) -> Result<NamedTempFile> {
    let data = fs::read(archive).with_context(|| format!("cannot read {}", archive.display()))?;
    let object = find(&data).with_context(|| {
        format!("{}: not the runtime of this szc; build all of it again", archive.display())
    })?;
    let mut file = tempfile::Builder::new()
        .prefix("szc-runtime-")
        .suffix(".o")
        .tempfile()
        .context("cannot create a temporary file; TMPDIR may name a better place")?;
    file.write_all(object).context("cannot write a temporary file")?;
    Ok(file)
}

fn find(archive: &[u8]) -> Option<&[u8]> {
    ArchiveFile::parse(archive).ok()?.members().find_map(|member| {
        let data = member.ok()?.data(archive).ok()?;
        let starts_the_runtime = object::File::parse(data)
            .ok()?
            .symbols()
            .any(|symbol| symbol.is_definition() && symbol.name() == Ok(RUNTIME_START_SYMBOL));
        starts_the_runtime.then_some(data)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_the_runtime_is_refused_with_its_name() {
        let mut file = NamedTempFile::new().expect("a temporary file");
        file.write_all(b"!<arch>\n").expect("writable");
        let message = format!("{:#}", extract(file.path()).expect_err("empty"));
        assert!(message.contains(&file.path().display().to_string()), "{message}");
    }
}
