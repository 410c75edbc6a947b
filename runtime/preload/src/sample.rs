//! What happens at a sample: it is put where szc reads it, and in an experiment the thread gets
//! ahead or pauses.

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use szc_abi::causal::{Memory, RING_SAMPLES};

use crate::caller;
use crate::delay::{advance, is_left, memory, pay};
use crate::process::process;
use crate::system::now_ns;
use crate::task_clock;
use crate::thread::current;

/// A sample of the calling thread, at an address and with this stack pointer. `is_late` if it comes
/// after SIGTRAP was blocked, so that the address says nothing.
pub fn take(address: u64, stack: u64, is_late: bool) {
    let thread = current();
    let Some(memory) = memory() else { return };
    let now = now_ns();
    if is_left(memory, now) {
        return task_clock::stop(thread);
    }
    task_clock::go_on(memory, thread);
    if now < thread.paying_until_ns.load(Relaxed) {
        // This is a pause of ours.
        return;
    }
    if is_late {
        memory.late_samples.fetch_add(1, Relaxed);
    } else {
        note(memory, address, stack);
    }
    pay(memory, thread);
}

fn note(memory: &Memory, address: u64, stack: u64) {
    let Some(process) = process() else { return };
    // Pairs with szc's release, behind the experiment's record.
    let state = memory.state.load(Acquire);
    let space = process.space.load(Relaxed);
    let innermost = caller::innermost(memory, &process.scope, address, stack);
    put(memory, innermost, address, state << 16 | space);
    let running = (state & 1 != 0).then(|| memory.record(state >> 1)).flatten();
    let Some(record) = running else { return };
    record.samples.fetch_add(1, Relaxed);
    let is_selected = innermost != 0
        && record.space.load(Relaxed) == space
        && memory.contains(&record.selected, innermost);
    if is_selected {
        record.selected_samples.fetch_add(1, Relaxed);
        advance(memory, current(), record.step_ns.load(Relaxed));
    }
}

fn put(memory: &Memory, innermost: u64, address: u64, state_and_space: u64) {
    let turn = memory.ring_count.fetch_add(1, Relaxed);
    let sample = &memory.ring[(turn % RING_SAMPLES as u64) as usize];
    sample.address.store(innermost, Relaxed);
    sample.own_address.store(address, Relaxed);
    sample.state_and_space.store(state_and_space, Relaxed);
    // szc acquires it before it reads the rest.
    sample.turn.store(turn + 1, Release);
}
