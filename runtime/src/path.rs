//! Paths of the files that the runtime writes: absolute, with a number for each process.
#![forbid(unsafe_code)]

use crate::settings::PATH_BYTES;
use core::ffi::CStr;
use szc_abi::text::Buffer;
use szc_sys::os;

/// A path that leaves room for its NUL.
#[derive(Clone, Copy)]
pub struct Path(Buffer<PATH_BYTES>);

impl Path {
    /// Makes a path absolute, so that a later `chdir` does not matter.
    pub fn absolute(path: &CStr) -> Option<Self> {
        let mut result = Buffer::new();
        let relative = path.to_bytes();
        if !relative.starts_with(b"/") {
            let mut folder = [0; PATH_BYTES];
            let with_nul = os::current_directory(&mut folder).ok()?;
            result.push(folder.get(..with_nul.saturating_sub(1))?).text("/");
        }
        result.push(relative);
        Self(result).if_whole()
    }

    /// Replaces each `%p` by the process number.
    pub fn for_process(&self, process: u32) -> Option<Self> {
        let mut result = Buffer::new();
        result.path_of_process(self.0.bytes(), process);
        Self(result).if_whole()
    }

    /// The path as the kernel takes it.
    pub fn as_c_str(&self) -> &CStr {
        self.0.as_c_str().unwrap_or_default()
    }

    fn if_whole(self) -> Option<Self> {
        self.0.as_c_str().is_some().then_some(self)
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
