//! The start of a child's stack, moved from where the length of its environment puts it.
//!
//! At its first instruction a process finds the number of its arguments at the stack pointer,
//! behind it the pointers to arguments and environment, and the auxiliary vector (System V ABI,
//! AMD64 supplement, 3.4.1); the texts lie above. These words alone are moved down, and the stack
//! pointer with them: all texts, and what the kernel knows of them, stay. The kernel has mapped
//! 128 KiB for the stack below them (`setup_arg_pages` in fs/exec.c).
#![forbid(unsafe_code)]

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;

use nix::sys::ptrace;
use nix::unistd::Pid;

/// Longer lists of arguments and variables are left alone.
const MAX_BYTES: usize = 64 << 10;

const WORD: usize = 8;

/// Moves the start of the stack of `child`, which this thread traces and which has just executed
/// its program, down by `bytes`, a multiple of 16.
///
/// # Errors
/// When its memory cannot be read and written, or is not what a program of 64 bits has.
pub(super) fn lower(child: Pid, bytes: u32) -> io::Result<()> {
    let mut registers = ptrace::getregs(child)?;
    let memory = OpenOptions::new().read(true).write(true).open(format!("/proc/{child}/mem"))?;
    let start = registers.rsp;
    let words = up_to(&memory, start)?;
    let length = start_length(&words).ok_or_else(|| {
        io::Error::other("the start of its stack cannot be moved: it has no form that is known")
    })?;
    registers.rsp = start - u64::from(bytes);
    memory.write_all_at(&words[..length], registers.rsp)?;
    Ok(ptrace::setregs(child, registers)?)
}

/// What lies at `start`, up to the end of the stack.
fn up_to(memory: &File, start: u64) -> io::Result<Vec<u8>> {
    let mut found = vec![0; MAX_BYTES];
    let mut length = 0;
    while length < found.len() {
        match memory.read_at(&mut found[length..], start + length as u64) {
            Ok(0) => break,
            Ok(more) => length += more,
            Err(_) if length > 0 => break,
            Err(error) => return Err(error),
        }
    }
    found.truncate(length);
    Ok(found)
}

/// Bytes of the words at the start of a stack, the end of the auxiliary vector included.
fn start_length(stack: &[u8]) -> Option<usize> {
    let words: Vec<u64> = stack
        .chunks_exact(WORD)
        .map(|word| u64::from_le_bytes(word.try_into().expect("chunks of a word")))
        .collect();
    let arguments = usize::try_from(*words.first()?).ok()?;
    let end_of_arguments = arguments.checked_add(1)?;
    if *words.get(end_of_arguments)? != 0 {
        return None;
    }
    let mut at = end_of_arguments + 1;
    while *words.get(at)? != 0 {
        at += 1;
    }
    at += 1;
    while *words.get(at)? != 0 {
        at += 2;
    }
    // The entry that ends it has a value, too.
    words.get(at + 1)?;
    Some((at + 2) * WORD)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn the_start_ends_with_the_auxiliary_vector() {
        let words = [2, 0x100, 0x108, 0, 0x110, 0x118, 0x120, 0, 6, 4096, 16, 0, 0, 0, 0xabc];
        assert_eq!(start_length(&bytes(&words)), Some(14 * WORD));
        assert_eq!(start_length(&bytes(&[0, 0, 0, 0, 0])), Some(5 * WORD));
    }

    #[test]
    fn what_has_another_form_is_left_alone() {
        for words in [&[][..], &[1, 7], &[1, 7, 8, 0], &[1, 7, 0, 8], &[1, 7, 0, 0, 6], &[u64::MAX]]
        {
            assert_eq!(start_length(&bytes(words)), None, "{words:?}");
        }
    }
}
