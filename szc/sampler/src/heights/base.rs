//! Where the stack of a thread begins, what heights count from, and where its frames have pads.
#![forbid(unsafe_code)]

use std::fs;

use szc_abi::stack::PadState;

use crate::descriptor::robust_list;
use crate::memory::{Memory, OfProcess};

/// Field of `/proc/PID/stat` with the stack pointer at the first instruction (proc_pid_stat(5)),
/// counted behind the name, which may hold anything but ends with the last `)`.
const START_STACK: usize = 28 - 3;

/// More than the descriptor has in front of the list of robust mutexes.
const MAX_DESCRIPTOR_BYTES: u64 = 4096;

/// An address at a fixed distance from where the first frame of a thread is, in all processes: of
/// the main thread the stack pointer at the program's first instruction, of others their
/// descriptor, which glibc puts above their stack and tells the kernel of.
#[must_use]
pub fn base(pid: u32, tid: u32) -> Option<u64> {
    if pid == tid {
        return start_of_main(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?);
    }
    robust_list(tid).filter(|&address| address != 0)
}

/// The address of a thread's pad state, which lies at a distance from its thread pointer.
#[must_use]
pub fn pad_state(pid: u32, tid: u32, distance: u64) -> Option<u64> {
    let list = robust_list(tid).filter(|&address| address != 0)?;
    Some(thread_pointer(&OfProcess(pid), list)?.wrapping_add(distance))
}

/// The stack in which frames have pads by a pad state: its lowest address, and its bytes.
#[must_use]
pub fn padded(pid: u32, pad_state: u64) -> Option<(u64, u64)> {
    let word = |at: u64| OfProcess(pid).word(pad_state.wrapping_add(at));
    Some((word(PadState::LOW_AT)?, word(PadState::SPAN_AT)?)).filter(|&(_, span)| span != 0)
}

/// The thread pointer leads to glibc's descriptor of the thread, whose first word is its own
/// address (System V ABI AMD64, thread-local storage), as is the third one, and which has the list
/// of robust mutexes.
fn thread_pointer(memory: &impl Memory, robust_list: u64) -> Option<u64> {
    let is_own = |address: u64, at: u64| memory.word(address + at) == Some(address);
    (1..MAX_DESCRIPTOR_BYTES / 8)
        .map(|words| robust_list.saturating_sub(8 * words))
        .find(|&address| is_own(address, 0) && is_own(address, 16))
}

fn start_of_main(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(") ")?;
    let address = fields.split(' ').nth(START_STACK)?.parse().ok()?;
    // Not told to those who may not look.
    Some(address).filter(|&address| address > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stack_of_the_main_thread_begins_where_the_kernel_says() {
        let fields: Vec<String> = (3..=52).map(|field| field.to_string()).collect();
        let stat = format!("7 (a) b) {}", fields.join(" "));
        assert_eq!(start_of_main(&stat), Some(28));
        assert_eq!(start_of_main("7 (a) R 1"), None);
    }

    #[test]
    fn the_thread_pointer_is_found_from_the_list_of_mutexes() {
        let pid = std::process::id();
        let tid = nix::unistd::gettid().as_raw().cast_unsigned();
        let found = thread_pointer(&OfProcess(pid), robust_list(tid).unwrap()).unwrap();
        // Where a thread's own variables are, below it.
        thread_local!(static OWN: u8 = const { 0 });
        let own = OWN.with(|own| &raw const *own as u64);
        assert!((1..1 << 16).contains(&(found - own)), "{found:x} {own:x}");
        // What lies at the thread pointer itself: its address, and another one.
        let state = |tid| pad_state(pid, tid, 0);
        assert_eq!(padded(pid, state(tid).unwrap()).map(|(low, _)| low), Some(found));
        assert_eq!(state(u32::MAX).and_then(|state| padded(pid, state)), None);
    }

    #[test]
    fn threads_have_bases_in_memory_of_their_own() {
        let pid = std::process::id();
        let main = base(pid, pid).unwrap();
        let local = 0_u64;
        let other = std::thread::spawn(move || {
            let tid = nix::unistd::gettid().as_raw().cast_unsigned();
            let here = &raw const local as u64;
            (base(pid, tid), here)
        });
        let (other, here) = other.join().unwrap();
        // The tests' threads have stacks of 2 MiB.
        let height = other.unwrap() - here;
        assert!(height < 4 << 20 && main != other.unwrap(), "{height}");
    }
}
