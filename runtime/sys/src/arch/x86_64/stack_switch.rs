//! Instructions that go on on another stack, as code that nobody has decoded may hold them.
//!
//! Found by their bytes, wherever those stand: what looks like one and is none costs memory alone.
//! Compilers load the stack pointer from their frames and from registers that calls keep (arrays of
//! variable length), or from one that holds no argument and that they have loaded from their frame;
//! code that switches stacks loads it from somewhere else in memory, or from a register that may
//! hold an argument. Source: Intel SDM volume 2, 2.1.5 (ModR/M and SIB), 2.2.1 (REX), MOV, XCHG.
#![forbid(unsafe_code)]

/// Bytes that must be there behind the first one of such an instruction.
pub const SWITCH_BYTES_BEHIND: usize = 3;

/// How far in front of `mov %r11, %rsp` a load from the frame counts. (Both parts of a loop that
/// allocates; farther away it is another function's.)
const LOADED_BYTES_IN_FRONT: usize = 256;

/// Whether bytes of code hold an instruction that switches stacks, at all but the last
/// [`SWITCH_BYTES_BEHIND`] places.
pub fn switches_stacks(code: &[u8]) -> bool {
    code.windows(SWITCH_BYTES_BEHIND + 1).enumerate().any(|(at, bytes)| {
        let &[rex, opcode, modrm, sib] = bytes else { return false };
        rex & 0xf8 == REX_W
            && sets_stack_pointer(rex, opcode, modrm, sib)
            && !([rex, opcode, modrm] == FROM_R11 && loads_r11_from_frame(&code[..at]))
    })
}

/// `mov %r11, %rsp`: no argument is in that register, so what goes to the stack pointer has been
/// loaded before.
const FROM_R11: [u8; 3] = [0x4c, 0x89, 0xdc];

/// Whether code ends with some in which `mov n(%rbp), %r11` stands.
fn loads_r11_from_frame(code: &[u8]) -> bool {
    let end = &code[code.len().saturating_sub(LOADED_BYTES_IN_FRONT)..];
    end.windows(3).any(|bytes| matches!(bytes, [0x4c, 0x8b, 0x5d | 0x9d]))
}

/// The prefix for operands of 8 bytes; its lower bits extend the three register fields.
const REX_W: u8 = 0x48;

const RBX: u8 = 3;
const RSP: u8 = 4;
const RBP: u8 = 5;
/// The first register of those that calls keep, but for `rbx` and `rbp`: r12.
const FIRST_KEPT: u8 = 12;

/// In the field of a base register: there is a SIB byte; without displacement there is no base.
const HAS_SIB: u8 = 4;
const NO_BASE: u8 = 5;

fn sets_stack_pointer(rex: u8, opcode: u8, modrm: u8, sib: u8) -> bool {
    let (form, register, other) = (modrm >> 6, modrm >> 3 & 7, modrm & 7);
    let register = register | (rex & 4) << 1;
    let extended = (rex & 1) << 3;
    let is_register = form == 3;
    let may_be_argument =
        |register: u8| !matches!(register, RBX | RSP | RBP) && register < FIRST_KEPT;
    let is_elsewhere = || {
        let base = if other == HAS_SIB { sib & 7 } else { other };
        form == 0 && base == NO_BASE || !matches!(base | extended, RSP | RBP)
    };
    match opcode {
        // mov r/m64, r64
        0x8b if register == RSP && is_register => may_be_argument(other | extended),
        0x8b if register == RSP => is_elsewhere(),
        // mov r64, r64
        0x89 if is_register && other | extended == RSP => may_be_argument(register),
        // xchg r/m64, r64
        0x87 => register == RSP || is_register && other | extended == RSP,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_switch(instruction: &[u8]) -> bool {
        let code = [&[0x90; 5], instruction, &[0x90; 5]].concat();
        switches_stacks(&code)
    }

    #[test]
    fn a_register_without_argument_that_was_loaded_from_the_frame_is_none() {
        // gcc 12, an array of variable length in a loop: mov -0x88(%rbp), %r11; test %eax, %eax;
        // mov %r11, %rsp
        let load = [0x4c, 0x8b, 0x9d, 0x78, 0xff, 0xff, 0xff, 0x85, 0xc0];
        let set = [0x4c, 0x89, 0xdc];
        assert!(is_switch(&set));
        assert!(!is_switch(&[&load[..], &set].concat()));
        assert!(is_switch(&[&set[..], &load].concat()));
        assert!(is_switch(&[&load[..], &[0x90; 256], &set].concat()));
        assert!(is_switch(&[&load[..], &[0x48, 0x89, 0xfc]].concat()), "mov %rdi, %rsp");
    }

    #[test]
    fn the_stack_pointer_from_memory_elsewhere_or_an_argument_is_a_switch() {
        assert!(is_switch(&[0x48, 0x89, 0xfc])); // mov %rdi, %rsp
        assert!(is_switch(&[0x48, 0x8b, 0xe6])); // mov %rsi, %rsp, the other form
        assert!(is_switch(&[0x4c, 0x89, 0xc4])); // mov %r8, %rsp
        assert!(is_switch(&[0x48, 0x8b, 0x27])); // mov (%rdi), %rsp
        assert!(is_switch(&[0x48, 0x8b, 0xa2, 0xa0, 0, 0, 0])); // mov 0xa0(%rdx), %rsp
        assert!(is_switch(&[0x49, 0x8b, 0x65, 0x08])); // mov 0x8(%r13), %rsp
        assert!(is_switch(&[0x48, 0x8b, 0x25, 0x20, 0, 0, 0])); // mov 0x20(%rip), %rsp
        assert!(is_switch(&[0x48, 0x8b, 0x24, 0xc7])); // mov (%rdi,%rax,8), %rsp
        assert!(is_switch(&[0x48, 0x87, 0x27])); // xchg %rsp, (%rdi)
        assert!(is_switch(&[0x48, 0x87, 0xe7])); // xchg %rsp, %rdi
    }

    #[test]
    fn what_compilers_do_for_frames_is_none() {
        assert!(!is_switch(&[0x48, 0x89, 0xe5])); // mov %rsp, %rbp
        assert!(!is_switch(&[0x48, 0x89, 0xec])); // mov %rbp, %rsp
        assert!(!is_switch(&[0x4c, 0x89, 0xe4])); // mov %r12, %rsp
        assert!(!is_switch(&[0x48, 0x89, 0xdc])); // mov %rbx, %rsp
        assert!(!is_switch(&[0x48, 0x8b, 0x65, 0xd0])); // mov -0x30(%rbp), %rsp
        assert!(!is_switch(&[0x48, 0x8b, 0x64, 0x24, 0x08])); // mov 8(%rsp), %rsp
        assert!(!is_switch(&[0x48, 0x8d, 0x65, 0xd8])); // lea -0x28(%rbp), %rsp
        assert!(!is_switch(&[0x48, 0x89, 0xe7])); // mov %rsp, %rdi
        assert!(!is_switch(&[0x48, 0x89, 0x27])); // mov %rsp, (%rdi)
        assert!(!is_switch(&[0x49, 0x89, 0xfc])); // mov %rdi, %r12
        assert!(!is_switch(&[0x4c, 0x8b, 0x27])); // mov (%rdi), %r12
    }

    #[test]
    fn one_that_begins_at_the_last_place_is_found() {
        assert!(switches_stacks(&[0x48, 0x89, 0xfc, 0xc3]));
        assert!(!switches_stacks(&[0x48, 0x89, 0xfc]));
    }
}
