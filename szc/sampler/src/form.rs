//! What samples have in them, and how much room they get.
#![forbid(unsafe_code)]

use std::io;

use nix::time::ClockId;
use perf_event::events::Software;
use perf_event::{Builder, Clock as KernelClock, SampleFlag, Sampler};

use crate::stack::Stack;

/// What a clock runs for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Of {
    /// A processor.
    Processor(u32),
    /// A thread.
    Thread(u32),
}

/// What the callers of samples follow from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callers {
    /// Samples have none.
    None,
    /// The chain of frame pointers, which the kernel follows.
    FramePointers,
    /// Registers and so many bytes of the stack, by the unwind tables of the code.
    Tables {
        /// A multiple of 8.
        stack_bytes: u32,
    },
    /// The stack pointer and the instruction pointer.
    TwoRegisters,
}

/// Most bytes of a stack that a sample has room for: its size is a number of 16 bits.
pub const MAX_STACK_BYTES: u32 = 65528;

/// Bytes of a processor's ring buffer, and of a thread's, of which there may be thousands.
pub(crate) const CPU_RING_BYTES: usize = 256 << 10;
const THREAD_RING_BYTES: usize = 16 << 10;
/// How many samples with stacks there is room for, and in how much memory at most.
const SAMPLES_OF_CPU: usize = 64;
const SAMPLES_OF_THREAD: usize = 8;
/// Most samples of a thread that are read at once: half of those.
pub(crate) const MAX_BATCH_OF_THREAD: usize = SAMPLES_OF_THREAD / 2;
const MAX_RING_BYTES: usize = 4 << 20;

/// Bytes of the shortest sample in a ring.
const SAMPLE_BYTES: usize = 64;

/// The instruction pointer (`PERF_REG_X86_IP`).
pub(crate) const IP: u64 = 1 << 8;

impl Callers {
    /// Bytes of the shortest sample.
    pub(crate) fn sample_bytes(self) -> usize {
        match self {
            Self::None | Self::FramePointers => SAMPLE_BYTES,
            Self::TwoRegisters => SAMPLE_BYTES + 8,
            Self::Tables { stack_bytes } => {
                SAMPLE_BYTES + 8 * (Stack::REGISTERS + 2) + stack_bytes as usize
            }
        }
    }

    /// Bytes of a ring buffer.
    pub(crate) fn ring_bytes(self, of: Of) -> usize {
        let (bytes, samples) = match of {
            Of::Processor(_) => (CPU_RING_BYTES, SAMPLES_OF_CPU),
            Of::Thread(_) => (THREAD_RING_BYTES, SAMPLES_OF_THREAD),
        };
        match self {
            Self::None | Self::FramePointers | Self::TwoRegisters => bytes,
            Self::Tables { .. } => {
                let wanted = (samples * self.sample_bytes()).next_power_of_two();
                wanted.min(MAX_RING_BYTES).max(bytes)
            }
        }
    }

    /// Bytes of the smallest ring buffer that is of use: a batch of samples, and another one.
    pub(crate) fn least_bytes(self, batch: usize) -> usize {
        2 * batch * self.sample_bytes()
    }
}

/// A counter of what runs there.
pub(crate) fn counter_of(of: Of, counter: Software) -> Builder<'static> {
    let mut builder = Builder::new(counter);
    match of {
        Of::Processor(cpu) => builder.any_pid().one_cpu(cpu as usize),
        Of::Thread(tid) => builder.observe_pid(tid.cast_signed()).any_cpu(),
    };
    builder
}

/// Lets samples have what their reader expects ([`crate::event::Event`]).
pub(crate) fn in_one_form<'a, 'b>(
    builder: &'b mut Builder<'a>,
    callers: Callers,
) -> &'b mut Builder<'a> {
    let form = SampleFlag::IP
        | SampleFlag::TID
        | SampleFlag::TIME
        | SampleFlag::CPU
        | SampleFlag::CALLCHAIN
        | SampleFlag::REGS_USER;
    match callers {
        Callers::None | Callers::FramePointers => builder.sample(form).sample_regs_user(IP),
        Callers::TwoRegisters => builder.sample(form).sample_regs_user(Stack::TWO),
        Callers::Tables { stack_bytes } => builder
            .sample(form | SampleFlag::STACK_USER)
            .sample_regs_user(Stack::MASK)
            .sample_stack_user(stack_bytes),
    };
    builder
        .sample_id_all(true)
        .exclude_hv(true)
        .exclude_callchain_kernel(true)
        .exclude_callchain_user(callers != Callers::FramePointers)
        .clockid(KernelClock::new(ClockId::CLOCK_MONOTONIC.as_raw()))
}

/// A counter with a ring buffer of so many bytes, or of less where the kernel gives no more, but
/// not of less than the least.
///
/// # Errors
/// What perf_event_open(2) reports. `OutOfMemory`: not even the least can be had.
pub(crate) fn with_ring(builder: &Builder<'_>, wanted: usize, least: usize) -> io::Result<Sampler> {
    let mut bytes = wanted;
    loop {
        let refused = match builder.build()?.sampled(bytes) {
            Err(error) if error.raw_os_error() == Some(nix::libc::EPERM) => error,
            result => return result,
        };
        if bytes / 2 < least {
            let text = format!(
                "there is no room for {} KiB of samples ({refused}): raise \
                 kernel.perf_event_mlock_kb or the limit of locked memory (ulimit -l), or record \
                 less of each stack",
                bytes >> 10
            );
            return Err(io::Error::new(io::ErrorKind::OutOfMemory, text));
        }
        bytes /= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_have_room_for_samples_with_their_stacks() {
        let usual = Callers::Tables { stack_bytes: 8192 };
        let all = Callers::Tables { stack_bytes: MAX_STACK_BYTES };
        let (cpu, thread) = (Of::Processor(0), Of::Thread(1));
        assert_eq!(usual.ring_bytes(cpu), 1 << 20);
        assert_eq!(usual.ring_bytes(thread), 128 << 10);
        assert_eq!(all.ring_bytes(cpu), MAX_RING_BYTES);
        assert!(all.least_bytes(4) <= MAX_RING_BYTES);
        assert_eq!(Callers::None.ring_bytes(thread), THREAD_RING_BYTES);
        let with_short_stacks = Callers::Tables { stack_bytes: 8 };
        assert_eq!(with_short_stacks.ring_bytes(cpu), CPU_RING_BYTES);
    }
}
