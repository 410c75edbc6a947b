//! Where the basic blocks of a function begin, by its instructions.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;

use iced_x86::{Decoder, DecoderOptions, FlowControl, Mnemonic};

/// The addresses at which blocks begin in code at an address: its start, where its jumps lead
/// within it, and what follows a jump or return. What only a table leads to is found by the latter.
pub(super) fn starts(code: &[u8], address: u64) -> Vec<u64> {
    let decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
    let (mut instructions, mut starts) = (BTreeSet::new(), BTreeSet::from([address]));
    // Padding behind a jump is part of no block.
    let mut is_behind = false;
    for instruction in decoder {
        if instruction.is_invalid() {
            break;
        }
        if is_behind && !matches!(instruction.mnemonic(), Mnemonic::Nop | Mnemonic::Int3) {
            starts.insert(instruction.ip());
            is_behind = false;
        }
        instructions.insert(instruction.ip());
        match instruction.flow_control() {
            FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch => {
                starts.insert(instruction.near_branch_target());
                is_behind = true;
            }
            FlowControl::IndirectBranch | FlowControl::Return | FlowControl::Exception => {
                is_behind = true;
            }
            _ => {}
        }
    }
    // Jumps to other functions, and what does not lie between instructions.
    starts.retain(|start| instructions.contains(start));
    starts.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_begin_where_jumps_lead_and_behind_them() {
        // 0: test eax, eax; 2: je 6; 4: inc eax; 6: dec eax; 8: jmp 0x40; 10: nop; 11: ret
        let code = [0x85, 0xc0, 0x74, 2, 0xff, 0xc0, 0xff, 0xc8, 0xeb, 0x36, 0x90, 0xc3];
        assert_eq!(starts(&code, 0x100), [0x100, 0x104, 0x106, 0x10b]);
    }

    #[test]
    fn a_function_without_jumps_is_one_block_and_one_without_code_none() {
        assert_eq!(starts(&[0xff, 0xc0, 0xc3], 8), [8]);
        assert!(starts(&[], 8).is_empty());
    }
}
