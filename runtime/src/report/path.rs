//! Paths of the files that the runtime writes: absolute, with a number for each process.

use super::{Buffer, DIGITS};
use crate::os;
use crate::settings::PATH_BYTES;
use core::ffi::CStr;

/// A path, NUL-terminated.
#[derive(Clone, Copy)]
pub struct Path {
    bytes: [u8; PATH_BYTES],
    length: usize,
}

impl Path {
    /// Makes a path absolute, so that a later `chdir` does not matter.
    pub fn absolute(path: &CStr) -> Option<Self> {
        let mut result = Self { bytes: [0; PATH_BYTES], length: 0 };
        let relative = path.to_bytes();
        if !relative.starts_with(b"/") {
            let with_nul = os::current_directory(&mut result.bytes).ok()?;
            result.length = with_nul.saturating_sub(1);
            result.push(b"/")?;
        }
        result.push(relative)?;
        Some(result)
    }

    /// Replaces each `%p` by the process number.
    pub fn for_process(&self, process: u32) -> Option<Self> {
        let mut result = Self { bytes: [0; PATH_BYTES], length: 0 };
        let mut rest = &self.bytes[..self.length];
        while let [first, behind @ ..] = rest {
            if let [b'%', b'p', behind @ ..] = rest {
                result.push(Buffer::<DIGITS>::new().decimal(u64::from(process)).bytes())?;
                rest = behind;
            } else {
                result.push(&[*first])?;
                rest = behind;
            }
        }
        Some(result)
    }

    /// The path as the kernel takes it.
    pub fn as_c_str(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.bytes).unwrap_or(c"")
    }

    fn push(&mut self, bytes: &[u8]) -> Option<()> {
        let end = self.length.checked_add(bytes.len()).filter(|&end| end < PATH_BYTES)?;
        self.bytes[self.length..end].copy_from_slice(bytes);
        self.length = end;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_made_absolute_and_gets_the_process_number() {
        let path = Path::absolute(c"a/%p-%p.json").unwrap().for_process(42).unwrap();
        let text = path.as_c_str().to_str().unwrap();
        assert!(text.starts_with('/') && text.ends_with("/a/42-42.json"), "{text}");
        let kept = Path::absolute(c"/x/%d%").unwrap().for_process(1).unwrap();
        assert_eq!(kept.as_c_str(), c"/x/%d%");
    }
}
