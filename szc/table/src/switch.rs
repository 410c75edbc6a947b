//! Recognizes the instructions of a switch through a table of distances.
//!
//! All compilers make the same of it, with other instructions in between: `lea table(%rip), T` …
//! `movslq (T,I,4), D` … `add T, D` … `jmp *D`. The `lea` may stand far away, before a loop: it is
//! followed along the function's control flow for as long as its register keeps the address.

use crate::decode::Decoded;
use crate::instructions::{CALLEE_SAVED, decoder, is_call, is_write};
use iced_x86::{FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpKind, Register};

/// Most instructions from the load of a distance to the jump.
const MAX_DISPATCH_INSTRUCTIONS: usize = 48;

/// The addresses of the jumps of the function, which lies at `start` and has these bytes, through
/// the table whose address is taken by the `lea` whose displacement stands at `place`.
#[must_use]
pub fn jumps_through(start: u64, bytes: &[u8], decoded: &Decoded, place: u64) -> Vec<u64> {
    let code: Vec<Instruction> = decoder(start, bytes).iter().collect();
    // A function whose bytes do not all decode has other boundaries, and is pinned anyway.
    if code.len() != decoded.boundaries.len() {
        return Vec::new();
    }
    let behind = decoded.boundaries.partition_point(|&boundary| boundary <= place);
    let Some(lea) = behind.checked_sub(1).filter(|&at| code[at].mnemonic() == Mnemonic::Lea) else {
        return Vec::new();
    };
    Search { code: &code, info: InstructionInfoFactory::new() }
        .dispatches_from(lea + 1, code[lea].op0_register())
}

struct Search<'a> {
    code: &'a [Instruction],
    info: InstructionInfoFactory,
}

impl Search<'_> {
    /// The jumps through the table whose address `table` holds, on all ways from instruction `from`
    /// on, before that register is overwritten.
    fn dispatches_from(&mut self, from: usize, table: Register) -> Vec<u64> {
        let mut visited = vec![false; self.code.len()];
        let mut open = vec![from];
        let mut jumps = Vec::new();
        while let Some(at) = open.pop() {
            let Some(step) = self.code.get(at) else { continue };
            if std::mem::replace(&mut visited[at], true) {
                continue;
            }
            if loads_distance(step, table) {
                jumps.extend(self.dispatch(at, table));
            }
            if !self.overwrites(at, table) {
                self.push_successors(at, &mut open);
            }
        }
        jumps
    }

    fn push_successors(&self, at: usize, open: &mut Vec<usize>) {
        let step = &self.code[at];
        let index_of = |target: u64| self.code.binary_search_by_key(&target, Instruction::ip).ok();
        match step.flow_control() {
            FlowControl::Next | FlowControl::Call | FlowControl::IndirectCall => open.push(at + 1),
            FlowControl::ConditionalBranch | FlowControl::XbeginXabortXend => {
                open.push(at + 1);
                open.extend(index_of(step.near_branch_target()));
            }
            FlowControl::UnconditionalBranch => {
                open.extend(index_of(step.near_branch_target()));
            }
            // Another switch: its cases begin where nothing falls in from above.
            FlowControl::IndirectBranch => {
                let begins = |index: &usize| {
                    matches!(
                        self.code[index - 1].flow_control(),
                        FlowControl::UnconditionalBranch
                            | FlowControl::IndirectBranch
                            | FlowControl::Return
                    )
                };
                open.extend((1..self.code.len()).filter(begins));
            }
            FlowControl::Return | FlowControl::Interrupt | FlowControl::Exception => {}
        }
    }

    /// The jump to the sum of the distance loaded at `at` and the table's address. The instructions
    /// of a dispatch stand in order.
    fn dispatch(&mut self, at: usize, table: Register) -> Option<u64> {
        let mut distance = self.code[at].op0_register();
        let mut added = false;
        for at in (at + 1)..self.code.len().min(at + MAX_DISPATCH_INSTRUCTIONS) {
            let step = &self.code[at];
            let of_registers = step.op_count() > 0 && step.op0_kind() == OpKind::Register;
            if added && step.flow_control() == FlowControl::IndirectBranch {
                let jumps = of_registers && step.op0_register() == distance;
                return jumps.then(|| step.ip());
            }
            if !added
                && step.mnemonic() == Mnemonic::Add
                && of_registers
                && step.op1_kind() == OpKind::Register
            {
                let (to, from) = (step.op0_register(), step.op1_register());
                if (to, from) == (distance, table) || (to, from) == (table, distance) {
                    (distance, added) = (to, true);
                    continue;
                }
            }
            if self.overwrites(at, distance) || (!added && self.overwrites(at, table)) {
                return None;
            }
        }
        None
    }

    fn overwrites(&mut self, at: usize, register: Register) -> bool {
        let step = &self.code[at];
        (is_call(step) && !CALLEE_SAVED.contains(&register))
            || self
                .info
                .info(step)
                .used_registers()
                .iter()
                .any(|used| used.register().full_register() == register && is_write(used.access()))
    }
}

fn loads_distance(step: &Instruction, table: Register) -> bool {
    step.mnemonic() == Mnemonic::Movsxd
        && step.op1_kind() == OpKind::Memory
        && step.memory_base() == table
        && step.memory_index() != Register::None
        && step.memory_index_scale() == 4
        && step.memory_displacement64() == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::decode_function;

    /// `lea 0x100(%rip), %rcx` and what follows it.
    fn follows(rest: &[u8]) -> bool {
        let bytes = [&[0x48, 0x8d, 0x0d, 0, 1, 0, 0], rest].concat();
        !jumps(&bytes).is_empty()
    }

    fn jumps(bytes: &[u8]) -> Vec<u64> {
        jumps_through(0x1000, bytes, &decode_function(0x1000, bytes), 0x1003)
    }

    const LOAD: [u8; 4] = [0x48, 0x63, 0x04, 0x81]; // movslq (%rcx,%rax,4), %rax
    const ADD: [u8; 3] = [0x48, 0x01, 0xc8]; // add %rcx, %rax
    const JUMP: [u8; 2] = [0xff, 0xe0]; // jmp *%rax

    #[test]
    fn the_switch_of_every_compiler_is_recognized() {
        assert!(follows(&[&LOAD[..], &ADD, &JUMP].concat()));
        let other_work = [0x45, 0x31, 0xc0]; // xor %r8d, %r8d
        assert!(follows(&[&other_work[..], &LOAD, &other_work, &ADD, &other_work, &JUMP].concat()));
        let add_to_table = [0x48, 0x01, 0xc1, 0xff, 0xe1]; // add %rax, %rcx; jmp *%rcx
        assert!(follows(&[&LOAD[..], &add_to_table].concat()));
        let notrack = [0x3e, 0xff, 0xe0];
        assert!(follows(&[&LOAD[..], &ADD, &notrack].concat()));
    }

    #[test]
    fn every_jump_through_a_table_is_found() {
        let lea = [0x48, 0x8d, 0x0d, 0, 1, 0, 0];
        let over = [0x75, 0x09]; // jne over the first dispatch
        let dispatch = [&LOAD[..], &ADD, &JUMP].concat();
        let mut found = jumps(&[&lea[..], &over, &dispatch, &dispatch].concat());
        found.sort_unstable();
        assert_eq!(found, [0x1010, 0x1019]);
    }

    #[test]
    fn an_address_that_is_only_passed_on_or_read_is_no_switch() {
        let call = [0xe8, 0, 0, 0, 0];
        assert!(!follows(&[&call[..], &LOAD, &ADD, &JUMP].concat()));
        let sum = [0x48, 0x01, 0xc2, 0xc3]; // add %rax, %rdx; ret
        assert!(!follows(&[&LOAD[..], &sum].concat()));
        let another_table = [0x48, 0x8d, 0x0d, 0, 0, 0, 0]; // lea 0(%rip), %rcx
        assert!(!follows(&[&another_table[..], &LOAD, &ADD, &JUMP].concat()));
        assert!(!follows(&[0xc3]));
    }
}
