//! Where within a page the stack of a process begins, told by a program of a few instructions that
//! is put in the place of another one: it ends with the position as its exit status.
#![forbid(unsafe_code)]

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::child::{End, Outcome};

/// `mov eax, esp; shr eax, 4; movzx edi, al; mov eax, 60 (exit); syscall`.
const INSTRUCTIONS: [u8; 15] =
    [0x89, 0xe0, 0xc1, 0xe8, 0x04, 0x0f, 0xb6, 0xf8, 0xb8, 0x3c, 0, 0, 0, 0x0f, 0x05];

const HEADER_BYTES: usize = 64;
const SEGMENT_BYTES: usize = 56;
const BASE: u64 = 0x40_0000;

/// Whether there is such a program for this machine.
#[must_use]
pub const fn is_known() -> bool {
    cfg!(target_arch = "x86_64")
}

/// Leaves the program in `folder`, for words like those of another one, `argv`: of the same number
/// and the same lengths, so that its stack begins where that one's does. The words, to be executed
/// in `folder`; none if the other's name is too short for a path.
///
/// # Errors
/// When it cannot be written.
pub fn words_like(argv: &[String], folder: &Path) -> io::Result<Option<Vec<String>>> {
    const SHORTEST: usize = "./p".len();
    let Some((name, rest)) = argv.split_first() else { return Ok(None) };
    if !is_known() || name.len() < SHORTEST || !name.contains('/') {
        return Ok(None);
    }
    let path = folder.join("p");
    fs::write(&path, image())?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
    let own = format!(".{}p", "/".repeat(name.len() + 1 - SHORTEST));
    Ok(Some(std::iter::once(own).chain(rest.iter().cloned()).collect()))
}

/// The position that it ended with, in steps of 16 bytes.
#[must_use]
pub fn position(outcome: &Outcome) -> Option<u32> {
    match outcome.end {
        End::Exited(status) => u32::try_from(status).ok(),
        _ => None,
    }
}

/// An executable of one segment (System V ABI, "Object Files").
fn image() -> Vec<u8> {
    let start = HEADER_BYTES + SEGMENT_BYTES;
    let bytes = start + INSTRUCTIONS.len();
    let mut image = Vec::with_capacity(bytes);
    // ELF, 64 bits, little-endian, version 1.
    image.extend([0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let half = |image: &mut Vec<u8>, values: &[u16]| {
        values.iter().for_each(|value| image.extend(value.to_le_bytes()));
    };
    let word = |image: &mut Vec<u8>, values: &[u32]| {
        values.iter().for_each(|value| image.extend(value.to_le_bytes()));
    };
    let long = |image: &mut Vec<u8>, values: &[u64]| {
        values.iter().for_each(|value| image.extend(value.to_le_bytes()));
    };
    // An executable for x86-64.
    half(&mut image, &[2, 62]);
    word(&mut image, &[1]);
    long(&mut image, &[BASE + start as u64, HEADER_BYTES as u64, 0]);
    word(&mut image, &[0]);
    half(&mut image, &[64, 56, 1, 0, 0, 0]);
    // One segment to load, which may be read and executed.
    word(&mut image, &[1, 5]);
    long(&mut image, &[0, BASE, BASE, bytes as u64, bytes as u64, 4096]);
    image.extend(INSTRUCTIONS);
    image
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::measure::child::{self, Invocation};
    use crate::measure::stop::Stop;
    use crate::samples::design::Addresses;

    /// The position in this environment, with the stack lowered by so many bytes.
    fn position_of(padding: usize, lowered_bytes: u32) -> u32 {
        let folder = tempfile::tempdir().unwrap();
        let like = ["/bin/some-program".to_owned(), "word".to_owned()];
        let argv = words_like(&like, folder.path()).unwrap().unwrap();
        assert_eq!(argv[0].len(), like[0].len());
        let padding = std::ffi::OsString::from("0".repeat(padding));
        let outcome = child::run(
            &Invocation {
                environment: &[("SZC_PADDING", &padding)],
                folder: Some(folder.path()),
                addresses: Some(Addresses { mapping_pages: None, lowered_bytes }),
                ..Invocation::new(&argv)
            },
            &Stop::new(),
        );
        position(&outcome.unwrap()).unwrap()
    }

    #[test]
    fn a_larger_environment_and_a_lowered_stack_begin_lower() {
        let first = position_of(0, 0);
        assert_eq!(position_of(0, 0), first);
        assert_eq!(position_of(160, 0), (first + 256 - 10) % 256);
        assert_eq!(position_of(0, 320), (first + 256 - 20) % 256);
    }
}
