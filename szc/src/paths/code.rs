//! The instructions of blocks, and what they cost by a simple table.
//!
//! A block is known by the address that its call of the runtime returns to. Its instructions are
//! those from there to its first jump, or to the call of the next block; behind a jump with which
//! it begins, too.
#![forbid(unsafe_code)]

use std::collections::HashMap;
use std::fs;

use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Formatter as _, Instruction, InstructionInfoFactory,
    IntelFormatter, Mnemonic, OpAccess, Register,
};
use object::{Object as _, ObjectSegment as _};

/// Most instructions of a block that are looked at.
const MAX_INSTRUCTIONS: usize = 1000;

/// Bytes of a call of the runtime.
const CALL_BYTES: u64 = 5;

/// What is known of the code of programs.
#[derive(Default)]
pub(super) struct Code {
    images: HashMap<String, Option<Image>>,
    costs: HashMap<(String, u32), u32>,
}

struct Image {
    /// Lowest address.
    start: u64,
    segments: Vec<(u64, Vec<u8>)>,
}

impl Code {
    /// About how many cycles a block takes: 1 if nothing is known of it.
    pub fn cost(&mut self, path: &str, block: u32) -> u32 {
        let key = (path.to_owned(), block);
        if let Some(&cost) = self.costs.get(&key) {
            return cost;
        }
        let mut of_one = InstructionInfoFactory::new();
        let cost = self.block(path, block).iter().map(|one| cost(one, &mut of_one)).sum();
        *self.costs.entry(key).or_insert(u32::max(cost, 1))
    }

    /// The instructions of a block: addresses as the file has them, and what they are.
    pub fn listing(&mut self, path: &str, block: u32) -> Vec<(u64, String)> {
        let mut formatter = IntelFormatter::new();
        formatter.options_mut().set_branch_leading_zeros(false);
        let line = |instruction: &Instruction| {
            let mut text = String::new();
            formatter.format(instruction, &mut text);
            (instruction.ip(), text)
        };
        self.block(path, block).iter().map(line).collect()
    }

    /// The first and the last instruction of each part of a block, which lie one after the other.
    pub fn ranges(&mut self, path: &str, block: u32) -> Vec<[u64; 2]> {
        let mut ranges: Vec<[u64; 2]> = Vec::new();
        let mut next = None;
        for instruction in self.block(path, block) {
            match ranges.last_mut().filter(|_| next == Some(instruction.ip())) {
                Some(range) => range[1] = instruction.ip(),
                None => ranges.push([instruction.ip(); 2]),
            }
            next = Some(instruction.next_ip());
        }
        ranges
    }

    fn block(&mut self, path: &str, block: u32) -> Vec<Instruction> {
        let image = self.images.entry(path.to_owned()).or_insert_with(|| Image::load(path));
        image.as_ref().and_then(|image| image.block(block)).unwrap_or_default()
    }
}

impl Image {
    fn load(path: &str) -> Option<Self> {
        let data = fs::read(path).ok()?;
        let file = object::File::parse(&*data).ok()?;
        let start = file.segments().map(|segment| segment.address()).min()?;
        let segment = |one: object::Segment<'_, '_>| Some((one.address(), one.data().ok()?.into()));
        Some(Self { start, segments: file.segments().filter_map(segment).collect() })
    }

    fn block(&self, block: u32) -> Option<Vec<Instruction>> {
        let address = self.start + u64::from(block);
        let (start, bytes) = self.segments.iter().find(|(start, bytes)| {
            address.checked_sub(*start).is_some_and(|at| at < bytes.len() as u64)
        })?;
        let at = usize::try_from(address - start).ok()?;
        // What the call in front of the block calls is called in front of the next one, too.
        let telling = at.checked_sub(usize::try_from(CALL_BYTES).ok()?).and_then(|call| {
            let mut decoder =
                Decoder::with_ip(64, &bytes[call..at], address - CALL_BYTES, DecoderOptions::NONE);
            called(&decoder.decode())
        });
        let mut decoder = Decoder::with_ip(64, bytes, *start, DecoderOptions::NONE);
        let move_to = |decoder: &mut Decoder<'_>, address: u64| {
            decoder.set_ip(address);
            let at = address.checked_sub(*start).and_then(|at| usize::try_from(at).ok());
            at.is_some_and(|at| decoder.set_position(at).is_ok())
        };
        let (mut found, mut is_elsewhere) = (Vec::new(), false);
        move_to(&mut decoder, address);
        while found.len() < MAX_INSTRUCTIONS && decoder.can_decode() {
            let instruction = decoder.decode();
            let is_next = called(&instruction).is_some_and(|it| Some(it) == telling);
            // A look at the countdown.
            let is_check = is_elsewhere && instruction.segment_prefix() == Register::FS;
            if is_next || is_check || instruction.is_invalid() {
                break;
            }
            let flow = instruction.flow_control();
            found.push(instruction);
            match flow {
                FlowControl::Next | FlowControl::Call | FlowControl::IndirectCall => {}
                // The block itself lies elsewhere.
                FlowControl::UnconditionalBranch if found.len() == 1 => {
                    is_elsewhere = move_to(&mut decoder, instruction.near_branch_target());
                    if !is_elsewhere {
                        break;
                    }
                }
                _ => break,
            }
        }
        Some(found)
    }
}

fn called(instruction: &Instruction) -> Option<u64> {
    instruction.is_call_near().then(|| instruction.near_branch_target())
}

/// About how many cycles an instruction takes on processors of these years, by itself, with its
/// data in the first cache.
fn cost(instruction: &Instruction, of_one: &mut InstructionInfoFactory) -> u32 {
    use Mnemonic as M;
    let itself = match instruction.mnemonic() {
        M::Nop | M::Endbr64 => 0,
        M::Div | M::Idiv => 20,
        M::Divss
        | M::Divsd
        | M::Divps
        | M::Divpd
        | M::Vdivss
        | M::Vdivsd
        | M::Vdivps
        | M::Vdivpd
        | M::Sqrtss
        | M::Sqrtsd
        | M::Sqrtps
        | M::Sqrtpd
        | M::Vsqrtss
        | M::Vsqrtsd
        | M::Vsqrtps
        | M::Vsqrtpd => 13,
        M::Imul | M::Mul | M::Mulx => 3,
        M::Addss
        | M::Addsd
        | M::Addps
        | M::Addpd
        | M::Subss
        | M::Subsd
        | M::Subps
        | M::Subpd
        | M::Mulss
        | M::Mulsd
        | M::Mulps
        | M::Mulpd
        | M::Cvtsi2sd
        | M::Cvtsi2ss
        | M::Cvttsd2si
        | M::Cvttss2si
        | M::Cvtss2sd
        | M::Cvtsd2ss => 4,
        M::Cpuid | M::Rdtsc | M::Rdtscp | M::Syscall | M::Mfence => 100,
        M::Call | M::Ret => 2,
        _ if instruction.has_rep_prefix() || instruction.has_repne_prefix() => 30,
        _ => 1,
    };
    // An exchange with memory locks without saying so.
    let is_atomic = instruction.has_lock_prefix()
        || (instruction.mnemonic() == M::Xchg
            && instruction.op_count() == 2
            && instruction.memory_size() != iced_x86::MemorySize::Unknown);
    let reads = of_one.info(instruction).used_memory().iter().any(|memory| {
        matches!(memory.access(), OpAccess::Read | OpAccess::ReadWrite | OpAccess::CondRead)
    });
    itself + 4 * u32::from(reads) + 16 * u32::from(is_atomic)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `call 0x200` at 0x100, and what follows.
    fn image(code: &[u8]) -> Image {
        let mut bytes = vec![0; 0x100];
        bytes.extend([&[0xe8, 0xfb, 0, 0, 0][..], code].concat());
        Image { start: 0x40_0000, segments: vec![(0x40_0000, bytes)] }
    }

    fn costs(code: &[u8]) -> Vec<u32> {
        let mut of_one = InstructionInfoFactory::new();
        image(code).block(0x105).unwrap().iter().map(|one| cost(one, &mut of_one)).collect()
    }

    #[test]
    fn a_block_ends_with_its_first_jump_or_where_the_next_one_tells_of_itself() {
        // xor eax, eax; nop; div ecx; jmp; inc
        assert_eq!(costs(&[0x31, 0xc0, 0x90, 0xf7, 0xf1, 0xeb, 0, 0xff, 0xc0]), [1, 0, 20, 1]);
        // jmp over a byte; inc; ret
        assert_eq!(costs(&[0xeb, 1, 0xcc, 0xff, 0xc0, 0xc3]), [1, 1, 6]);
        // A call of another function; mov eax, [rdi]; call 0x200; inc
        let other = [0xe8, 0, 1, 0, 0];
        let next = [0xe8, 0xef, 0, 0, 0];
        let code = [&other[..], &[0x8b, 7], &next, &[0xff, 0xc0]].concat();
        assert_eq!(costs(&code), [2, 5]);
    }

    #[test]
    fn memory_that_is_read_costs_more_than_memory_that_is_written() {
        // mov [rdi], eax; lock inc [rdi]; lea rax, [rdi + 1]; ret
        let code = [0x89, 7, 0xf0, 0xff, 7, 0x48, 0x8d, 0x47, 1, 0xc3];
        assert_eq!(costs(&code), [1, 21, 1, 6]);
    }

    #[test]
    fn a_block_whose_code_lies_elsewhere_has_two_ranges() {
        let mut code = Code::default();
        let image = image(&[0xeb, 1, 0xcc, 0xff, 0xc0, 0xc3]);
        code.images.insert("a".to_owned(), Some(image));
        assert_eq!(code.ranges("a", 0x105), [[0x40_0105, 0x40_0105], [0x40_0108, 0x40_010a]]);
        let lines: Vec<String> = code.listing("a", 0x105).into_iter().map(|line| line.1).collect();
        assert!(lines[0].starts_with("jmp") && lines[1..] == ["inc eax", "ret"], "{lines:?}");
    }

    #[test]
    fn what_cannot_be_read_costs_1_and_lists_nothing() {
        let mut code = Code::default();
        assert_eq!(code.cost("/nowhere", 5), 1);
        assert!(code.listing("/nowhere", 5).is_empty());
        assert!(image(&[]).block(0x1000).is_none());
    }
}
