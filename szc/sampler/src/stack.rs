//! Registers and stack of a thread, as a sample has them.
#![forbid(unsafe_code)]

/// What a sample has of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stack {
    /// By their numbers in DWARF; the last one is the instruction pointer.
    pub registers: [u64; Self::REGISTERS],
    /// From the stack pointer on.
    pub bytes: Vec<u8>,
}

/// The stack pointer, in DWARF's numbers (System V ABI, figure 3.36).
pub const SP: usize = 7;
/// The return address, which an unwinder takes for the instruction pointer.
pub const RA: usize = 16;

impl Stack {
    /// Number of registers.
    pub const REGISTERS: usize = 17;

    /// The registers that a sample has: all general ones and the instruction pointer
    /// (`PERF_REG_X86_…`).
    pub(crate) const MASK: u64 = 0x1ff | 0xff << 16;

    /// DWARF's numbers of registers in the kernel's order: ax, bx, cx, dx, si, di, bp, sp, ip, and
    /// r8 to r15.
    const ORDER: [usize; Self::REGISTERS] =
        [0, 3, 2, 1, 4, 5, 6, SP, RA, 8, 9, 10, 11, 12, 13, 14, 15];

    /// The stack pointer and the instruction pointer (`PERF_REG_X86_…`).
    pub(crate) const TWO: u64 = 1 << 7 | 1 << 8;

    /// Bytes of the kind of registers and those two.
    pub(crate) const TWO_BYTES: usize = 3 * 8;

    /// One whose stack pointer and instruction pointer alone are known.
    pub(crate) fn of_two(sp: u64, ip: u64) -> Self {
        let mut stack = Self::default();
        (stack.registers[SP], stack.registers[RA]) = (sp, ip);
        stack
    }

    /// Reads what a sample has behind its call chain: which kind of registers, the registers, how
    /// much room there is for the stack, the stack, and how much of it there was.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let (words, _) = bytes.as_chunks::<8>();
        let word = |at: usize| words.get(at).map(|word| u64::from_le_bytes(*word));
        let mut stack = Self::default();
        for (index, register) in Self::ORDER.into_iter().enumerate() {
            stack.registers[register] = word(1 + index)?;
        }
        let room_at = 1 + Self::REGISTERS;
        let room = usize::try_from(word(room_at)?).ok()?;
        if room != 0 {
            let start = 8 * (room_at + 1);
            let all = bytes.get(start..start.checked_add(room)?)?;
            let was_there = word(room_at + 1 + room / 8)?.min(room as u64);
            stack.bytes = all[..usize::try_from(was_there).ok()?].to_vec();
        }
        Some(stack)
    }

    /// Where the thread was.
    #[must_use]
    pub fn ip(&self) -> u64 {
        self.registers[RA]
    }

    /// Its stack pointer.
    #[must_use]
    pub fn sp(&self) -> u64 {
        self.registers[SP]
    }

    /// The word at an address, if the sample has it.
    #[must_use]
    pub fn word(&self, address: u64) -> Option<u64> {
        let at = usize::try_from(address.checked_sub(self.sp())?).ok()?;
        Some(u64::from_le_bytes(*self.bytes.get(at..)?.first_chunk()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_stack_are_found_by_address_and_nothing_outside() {
        let mut stack = Stack { bytes: (0..20).collect(), ..Stack::default() };
        stack.registers[SP] = 0x1000;
        let second = u64::from_le_bytes([8, 9, 10, 11, 12, 13, 14, 15]);
        assert_eq!(stack.word(0x1008), Some(second));
        assert_eq!([0xff8, 0x100d, u64::MAX].map(|at| stack.word(at)), [None; 3]);
    }
}
