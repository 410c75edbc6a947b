//! SHA-256 of files and of what decides about a build.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

/// Digits of a [`Key`] in names of folders: all paths are equally long.
const KEY_DIGITS: usize = 16;

/// SHA-256 of all that a reader gives, in small hexadecimal digits, and its length in bytes.
///
/// # Errors
/// When reading fails.
pub fn of_reader(mut reader: impl Read) -> io::Result<(String, u64)> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    let mut bytes = 0;
    loop {
        match reader.read(&mut buffer)? {
            0 => return Ok((format!("{:x}", hash.finalize()), bytes)),
            read => {
                hash.update(&buffer[..read]);
                bytes += read as u64;
            }
        }
    }
}

/// SHA-256 of a file.
///
/// # Errors
/// When it cannot be read.
pub fn of_file(path: &Path) -> Result<String> {
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    let (digits, _) = of_reader(file).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(digits)
}

/// A name for everything that was put in.
#[derive(Default)]
pub struct Key(Sha256);

impl Key {
    /// Adds a part; where one ends and the next begins counts.
    #[must_use]
    pub fn with(mut self, part: impl AsRef<[u8]>) -> Self {
        let part = part.as_ref();
        self.0.update((part.len() as u64).to_le_bytes());
        self.0.update(part);
        self
    }

    /// Adds a folder's files in the order of their names, or a file; nothing if it is not there.
    ///
    /// # Errors
    /// When something cannot be read.
    pub fn with_files(mut self, path: &Path) -> Result<Self> {
        if path.is_dir() {
            let entries =
                path.read_dir().with_context(|| format!("cannot list {}", path.display()))?;
            let mut paths =
                entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
            paths.sort();
            for inner in paths {
                self = self.with_files(&inner)?;
            }
        } else if path.is_file() {
            self = self.with(path.as_os_str().as_encoded_bytes()).with(of_file(path)?);
        }
        Ok(self)
    }

    /// The name.
    #[must_use]
    pub fn digits(self) -> String {
        let mut digits = format!("{:x}", self.0.finalize());
        digits.truncate(KEY_DIGITS);
        digits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_of_abc_is_that_of_fips_180() {
        let (digits, bytes) = of_reader(&b"abc"[..]).unwrap();
        assert_eq!(digits, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(bytes, 3);
    }

    #[test]
    fn a_key_depends_on_where_parts_end() {
        let key = |parts: [&str; 2]| Key::default().with(parts[0]).with(parts[1]).digits();
        assert_ne!(key(["ab", "c"]), key(["a", "bc"]));
        assert_eq!(key(["ab", "c"]), key(["ab", "c"]));
    }
}
