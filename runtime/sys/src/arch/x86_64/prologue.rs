//! x86-64: how large the frame of a function is, from the instructions at its beginning.
//!
//! Sources: Intel SDM, volume 2; what LLVM's and gcc's frame lowering emit (`X86FrameLowering.cpp`,
//! `i386.cc`).
#![forbid(unsafe_code)]

/// `endbr64`.
const ENDBR64: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];

/// How many bytes of stack a function takes for its variables before it does anything else. 0 if
/// that is less than 128 bytes, or not what the first instructions do.
#[must_use]
pub fn frame_bytes(code: &[u8]) -> usize {
    let mut rest = code.strip_prefix(&ENDBR64).unwrap_or(code);
    loop {
        let imm32 = |at: usize| {
            let bytes = rest.get(at..at + 4)?;
            Some(i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
        };
        let length = match rest {
            [0x50..=0x57, ..] => 1,                // push rax … rdi
            [0x41, 0x50..=0x57, ..] => 2,          // push r8 … r15
            [0x48, 0x89, 0xe5, ..] => 3,           // mov rbp, rsp
            [0x48, 0x83, 0xe4, ..] => 4,           // and rsp, -n
            [0x48, 0x81, 0xe4, ..] => 7,           // the same, 4 bytes
            [0x49, 0x89, 0xe3, ..] => 3,           // mov r11, rsp: of a probe
            [0x48, 0x81, 0xec, ..]                 // sub rsp, n
            | [0x49, 0x81, 0xeb, ..] => {          // sub r11, n: the end of probes
                return imm32(3).and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(0);
            }
            [0x4c, 0x8d, 0x9c, 0x24, ..] => {      // lea r11, [rsp - n]: the same
                let bytes = imm32(4).and_then(i32::checked_neg);
                return bytes.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(0);
            }
            _ => return 0,
        };
        let Some(behind) = rest.get(length..) else { return 0 };
        rest = behind;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_all_kinds_of_prologues_are_read() {
        let mib = [0, 0, 0x10, 0];
        for start in [
            &[0x48, 0x81, 0xec][..],
            &[0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5, 0x48, 0x81, 0xec],
            &[0x41, 0x57, 0x41, 0x56, 0x53, 0x48, 0x81, 0xec],
            &[0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xe4, 0xc0, 0x48, 0x81, 0xec],
            &[0x53, 0x49, 0x89, 0xe3, 0x49, 0x81, 0xeb],
        ] {
            assert_eq!(frame_bytes(&[start, &mib, &[0xc3]].concat()), 1 << 20);
        }
        assert_eq!(frame_bytes(&[0x4c, 0x8d, 0x9c, 0x24, 0, 0, 0xf0, 0xff]), 1 << 20);
    }

    #[test]
    fn small_frames_and_other_code_count_as_none() {
        assert_eq!(frame_bytes(&[0x48, 0x83, 0xec, 0x18]), 0);
        assert_eq!(frame_bytes(&[0x31, 0xc0, 0x48, 0x81, 0xec, 0, 0, 1, 0]), 0);
        assert_eq!(frame_bytes(&[0x48, 0x81, 0xec, 0, 0]), 0);
        assert_eq!(frame_bytes(&[0x48, 0x81, 0xec, 0, 0, 0, 0x80]), 0);
        assert_eq!(frame_bytes(&[0x55, 0x53]), 0);
        assert_eq!(frame_bytes(&[]), 0);
    }
}
