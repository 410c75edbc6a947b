//! Tests of callers: of made-up frames, and of this program's own.

use super::*;
use crate::clock::Clock;
use crate::event::Event;
use crate::form::{Callers, Of};
use crate::mappings::Mapping;
use crate::maps::mapped;
use crate::periods::Schedule;
use crate::stack::{RA, SP};
use std::time::{Duration, Instant};

const RBX: usize = 3;

fn stack(words: &[u64]) -> Stack {
    let mut stack = Stack::default();
    stack.registers[SP] = 0x7000;
    stack.registers[RA] = 0x40_1000;
    stack.registers[RBX] = 99;
    stack.bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    stack
}

#[test]
fn a_function_that_was_just_called_returns_to_what_is_on_the_stack() {
    let stack = stack(&[1, 0x40_2000]);
    let registers = Registers::of(&stack);
    let caller = |bytes| registers.caller(&Row::called(bytes), None, &stack);
    let Ok(Some(found)) = caller(8) else { panic!() };
    assert_eq!((found.ip(), found.is_of_caller()), (Some(0x40_2000), true));
    // There is no more of the stack.
    assert_eq!(caller(16), Err(Cut::Stack));
    let next = found.caller(&Row::called(0), None, &stack);
    assert_eq!(next, Err(Cut::Stack));
}

/// A CIE of frames whose highest word is the return address, and an FDE of 16 bytes at 0x1000 that
/// pushes rbx in the first one and is back in the last, without a word of rbx.
fn tables() -> Vec<u8> {
    let cie = [20, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1, 0, 0, 0, 0, 0, 0];
    let mut fde = vec![36, 0, 0, 0, 28, 0, 0, 0];
    fde.extend(0x1000_u64.to_le_bytes());
    fde.extend(16_u64.to_le_bytes());
    // Advance by 1: the CFA is 16 above the stack pointer, rbx 16 below the CFA.
    // Advance by 14: the CFA is 8 above.
    fde.extend([0x41, 0x0e, 16, 0x83, 2, 0x4e, 0x0e, 8, 0, 0, 0, 0, 0, 0, 0, 0]);
    [&cie[..], &fde, &[0; 4]].concat()
}

#[test]
fn what_a_function_saved_is_its_callers_and_what_it_popped_is_in_the_register() {
    let mut tables = Tables::of_frames(tables());
    let stack = stack(&[55, 0x40_2000, 0, 0]);
    let mut caller = |at: u64, popped: u8| {
        let mut registers = stack.registers;
        registers[SP] += u64::from(popped);
        let here = Stack { registers, bytes: stack.bytes[popped.into()..].to_vec() };
        let row = tables.row(at)?;
        let Ok(Some(found)) = Registers::of(&here).caller(&row, None, &here) else {
            return None;
        };
        Some((found.ip()?, found.value(RBX)?))
    };
    assert_eq!(caller(0x1000, 8), Some((0x40_2000, 99)));
    assert_eq!(caller(0x1001, 0), Some((0x40_2000, 55)));
    assert_eq!(caller(0x100f, 8), Some((0x40_2000, 99)));
    // No FDE holds there.
    assert_eq!(caller(0x1010, 8), None);
}

#[test]
fn an_fde_of_a_copy_has_the_cie_of_the_original() {
    let all = tables();
    let mut tables = Tables::of_frames(all.clone());
    let mut fde = all[24..64].to_vec();
    // The distance to its CIE is another one there.
    fde[4..8].copy_from_slice(&[1, 2, 3, 4]);
    fde[8..16].copy_from_slice(&0x9000_u64.to_le_bytes());
    let own = tables.own(0x1000, (&fde, 0x9900), 0x9001).unwrap();
    assert_eq!(own, tables.row(0x1001).unwrap());
    assert_eq!(tables.own(0x1000, (&fde, 0x9900), 0x9010), None);
}

#[inline(never)]
fn innermost(samples: &mut Vec<Stack>, clock: &mut Clock) -> u64 {
    let begin = Instant::now();
    let mut turns = 0;
    while samples.len() < 3 && begin.elapsed() < Duration::from_secs(20) {
        turns += 1;
        let put = |event| {
            if let Event::Sample(sample) = event {
                samples.extend(sample.stack.map(|stack| *stack));
            }
        };
        clock.read(put).unwrap();
    }
    turns
}

#[inline(never)]
fn outer(samples: &mut Vec<Stack>, clock: &mut Clock) -> u64 {
    innermost(samples, clock) + 1
}

#[test]
fn the_callers_of_this_thread_lead_to_where_it_began() {
    let schedule = Schedule { period_ns: 1_000_000, jitter: 0.3, seed: 1 };
    let tid = nix::unistd::gettid().as_raw().cast_unsigned();
    let callers = Callers::Tables { stack_bytes: 32 << 10 };
    // Containers may forbid it; whoever records is told so.
    let Ok(mut clock) = Clock::start(Of::Thread(tid), false, callers, schedule.periods(0)) else {
        return;
    };
    let mut samples = Vec::new();
    assert!(outer(&mut samples, &mut clock) > 1);
    let pid = std::process::id();
    let mut mappings = Mappings::default();
    for map in mapped(pid, 0).unwrap() {
        let path = map.path.to_string_lossy().into();
        mappings.map(map.start, Mapping { bytes: map.bytes, offset: map.offset, path });
    }
    assert_eq!(samples.len(), 3);
    let mut unwinder = Unwinder::default();
    for stack in samples {
        let chain = unwinder.chain(pid, &stack, &mappings, None);
        assert_eq!(chain.cut, None, "{chain:?}");
        // A return address close behind its beginning.
        let start = outer as *const () as u64;
        let in_outer = |caller: &&u64| (1..256).contains(&caller.wrapping_sub(start));
        assert_eq!(chain.callers.iter().filter(in_outer).count(), 1, "{chain:?}");
    }
}
