//! To which code in scope a sample belongs: that of the innermost call of it.
//!
//! Frames have no pointers in most programs and libraries, and to read unwind tables takes longer
//! than the sample is worth. So the stack is searched for the first word that is a return address
//! into code in scope: one behind a call instruction. A return address that an ended call has left
//! in a frame of today may be taken for one.

use core::sync::atomic::Ordering::Relaxed;

use szc_abi::causal::{Memory, Ranges};

use crate::system::read_words;

/// Words that are read at a time, and how often.
const BLOCK: usize = 64;
const BLOCKS: u64 = 32;

/// The innermost address in scope, 0 if there is none.
pub fn innermost(memory: &Memory, scope: &Ranges, address: u64, stack: u64) -> u64 {
    if memory.contains(scope, address) {
        return address;
    }
    let Some((lowest, end)) = bounds(memory, scope) else { return 0 };
    let mut at = stack & !7;
    for _ in 0..BLOCKS {
        let Some(words) = read_words::<BLOCK>(at) else { break };
        for word in words {
            if word > lowest && word <= end && memory.contains(scope, word - 1) {
                let byte = |address: u64| {
                    let is_in_scope = memory.contains(scope, address);
                    // SAFETY: what is in scope is code of this process, which can be read.
                    is_in_scope.then(|| unsafe { (address as *const u8).read() })
                };
                if follows_call(word, byte) {
                    return word - 1;
                }
            }
        }
        at += 8 * BLOCK as u64;
    }
    0
}

fn bounds(memory: &Memory, scope: &Ranges) -> Option<(u64, u64)> {
    let words = scope.words.load(Relaxed) as usize;
    let first = scope.first.load(Relaxed) as usize;
    let bounds = memory.ranges.get(first..first.checked_add(words)?)?;
    Some((bounds.first()?.load(Relaxed), bounds.last()?.load(Relaxed)))
}

/// Whether a call instruction ends in front of an address: `call rel32`, or `call r/m64` with a
/// register, or memory without or with a displacement of 1 or 4 bytes.
fn follows_call(address: u64, byte: impl Fn(u64) -> Option<u8>) -> bool {
    if byte(address - 5) == Some(0xe8) {
        return true;
    }
    [2, 3, 4, 6, 7].into_iter().any(|length| {
        let is_call = byte(address - length) == Some(0xff);
        is_call && byte(address - length + 1).is_some_and(|modrm| modrm >> 3 & 7 == 2)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn follows(code: &[u8]) -> bool {
        let end = 100 + code.len() as u64;
        follows_call(end, |at| at.checked_sub(100).and_then(|at| code.get(at as usize).copied()))
    }

    #[test]
    fn return_addresses_are_told_by_the_call_in_front_of_them() {
        assert!(follows(&[0xe8, 1, 2, 3, 4]));
        // call rax; call [rbx+8]; call [rip+4]; call [rsp+rax*8+0x100]
        for code in [
            &[0xff, 0xd0][..],
            &[0xff, 0x53, 8],
            &[0xff, 0x15, 4, 0, 0, 0],
            &[0xff, 0x94, 0xc4, 0, 1, 0, 0],
        ] {
            assert!(follows(code), "{code:x?}");
        }
        // jmp rax; jmp rel32; nothing
        for code in [&[0xff, 0xe0][..], &[0xe9, 0, 0, 0, 0], &[]] {
            assert!(!follows(code), "{code:x?}");
        }
    }
}
