//! x86-64: a computation that takes time and changes nothing, in front of a function. It stands
//! where the function's original did, and goes on through the function's pointer.
//!
//! The stack pointer stays where it was at the entry, so that unwinders and the function see a
//! call. What is changed is kept in the red zone, which is free when a function is entered (System
//! V ABI, 3.2.2), and given back; but for r11 and the flags, which no convention passes anything
//! in.

use super::entry_jump;

/// What is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Computation {
    /// Fibonacci numbers, in registers alone.
    Fibonacci,
    /// The sum of an array of [`ARRAY_INTEGERS`], again and again.
    Array,
}

/// Integers of the array, of 4 bytes each.
pub const ARRAY_INTEGERS: usize = 1024;

/// A computation of some length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Injected {
    /// What is computed.
    pub computation: Computation,
    /// Numbers or elements, at least 1.
    pub rounds: u32,
    /// Address of the array.
    pub array: usize,
}

const FIBONACCI_BYTES: usize = 48;
const ARRAY_BYTES: usize = 71;
const ENTRY_JUMP_BYTES: usize = szc_abi::ENTRY_JUMP_BYTES;

/// Most bytes that one takes.
pub const MAX_INJECTED_BYTES: usize = ARRAY_BYTES;

impl Injected {
    /// Bytes that it takes, the jump to the function included.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self.computation {
            Computation::Fibonacci => FIBONACCI_BYTES,
            Computation::Array => ARRAY_BYTES,
        }
    }

    /// Its code at `at`, which goes on through the pointer at `pointer`; [`Self::bytes`] of it.
    /// Nothing if the pointer is out of reach.
    #[must_use]
    pub fn code(self, at: usize, pointer: usize) -> Option<[u8; MAX_INJECTED_BYTES]> {
        let jump = entry_jump(at + self.bytes() - ENTRY_JUMP_BYTES, pointer)?;
        let rounds = self.rounds.to_le_bytes();
        let mut code = [super::TRAP; MAX_INJECTED_BYTES];
        let mut end = 0;
        let mut put = |bytes: &[u8]| {
            for &byte in bytes {
                code[end] = byte;
                end += 1;
            }
        };
        put(&[0x48, 0x89, 0x44, 0x24, 0xf8]); // mov %rax, -8(%rsp)
        put(&[0x48, 0x89, 0x54, 0x24, 0xf0]); // mov %rdx, -16(%rsp)
        put(&[0x41, 0xbb]); // mov $rounds, %r11d
        put(&rounds);
        put(&[0x31, 0xc0]); // xor %eax, %eax
        match self.computation {
            Computation::Fibonacci => {
                put(&[0xba, 1, 0, 0, 0]); // mov $1, %edx
                put(&[0x48, 0x0f, 0xc1, 0xc2]); // next: xadd %rax, %rdx
                put(&[0x41, 0xff, 0xcb]); // dec %r11d
                put(&[0x75, 0xf7]); // jne next
            }
            Computation::Array => {
                put(&[0x48, 0x89, 0x4c, 0x24, 0xe8]); // mov %rcx, -24(%rsp)
                put(&[0x48, 0xba]); // movabs $array, %rdx
                put(&(self.array as u64).to_le_bytes());
                put(&[0x31, 0xc9]); // xor %ecx, %ecx
                put(&[0x03, 0x0c, 0x82]); // next: add (%rdx,%rax,4), %ecx
                put(&[0xff, 0xc0]); // inc %eax
                put(&[0x25, 0xff, 0x03, 0, 0]); // and $ARRAY_INTEGERS - 1, %eax
                put(&[0x41, 0xff, 0xcb]); // dec %r11d
                put(&[0x75, 0xf1]); // jne next
                put(&[0x48, 0x8b, 0x4c, 0x24, 0xe8]); // mov -24(%rsp), %rcx
            }
        }
        put(&[0x48, 0x8b, 0x54, 0x24, 0xf0]); // mov -16(%rsp), %rdx
        put(&[0x48, 0x8b, 0x44, 0x24, 0xf8]); // mov -8(%rsp), %rax
        put(&jump);
        Some(code)
    }
}

// The mask in the code.
const _: () = assert!(ARRAY_INTEGERS - 1 == 0x3ff);

#[cfg(test)]
mod tests {
    use super::*;

    fn injected(computation: Computation) -> Injected {
        Injected { computation, rounds: 0x1234, array: 0x7000 }
    }

    #[test]
    fn a_computation_ends_with_the_jump_through_the_pointer() {
        for computation in [Computation::Fibonacci, Computation::Array] {
            let injected = injected(computation);
            let code = injected.code(0x1000, 0x2000).unwrap();
            let end = 0x1000 + injected.bytes();
            let jump = entry_jump(end - ENTRY_JUMP_BYTES, 0x2000).unwrap();
            let (used, rest) = code.split_at(injected.bytes());
            assert!(used.ends_with(&jump), "{used:x?}");
            assert!(rest.iter().all(|&byte| byte == super::super::TRAP), "{rest:x?}");
            assert_eq!(injected.code(0x1000, 0x1_8000_2000), None);
        }
    }

    #[test]
    fn loops_lead_back_to_their_first_instruction() {
        let code = |computation| injected(computation).code(0x1000, 0x2000).unwrap();
        let target = |code: &[u8], add: &[u8]| {
            let first = code.windows(add.len()).position(|bytes| bytes == add).unwrap();
            let jump = code.iter().position(|&byte| byte == 0x75).unwrap();
            (first, (jump + 2).wrapping_add_signed(isize::from(code[jump + 1].cast_signed())))
        };
        let (first, back) = target(&code(Computation::Fibonacci), &[0x48, 0x0f, 0xc1, 0xc2]);
        assert_eq!(first, back);
        let (first, back) = target(&code(Computation::Array), &[0x03, 0x0c, 0x82]);
        assert_eq!(first, back);
    }
}
