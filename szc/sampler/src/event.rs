//! What clocks report: the records of perf_event_open(2) that a profile is made of.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;

use crate::heights::Inferred;
use crate::stack::Stack;
use crate::unwind::Cut;

/// A sample: where a thread was.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// Process.
    pub pid: u32,
    /// Thread.
    pub tid: u32,
    /// When, in nanoseconds of the monotonic clock.
    pub time: u64,
    /// On which processor.
    pub cpu: u32,
    /// Address in user mode that it was at, or will return to from the kernel; 0 if it has none.
    pub ip: u64,
    /// Whether it was in the kernel.
    pub in_kernel: bool,
    /// Return addresses, innermost first, if they were asked for.
    pub callers: Vec<u64>,
    /// Why they do not lead to where the thread began, if that is known.
    pub cut: Option<Cut>,
    /// What two registers say of them, if they were asked.
    pub inferred: Option<Inferred>,
    /// What callers follow from, until they are known.
    pub stack: Option<Box<Stack>>,
}

/// What happened, and when in nanoseconds of the monotonic clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A clock's interval ended.
    Sample(Sample),
    /// A thread leaves its processor, and this is where it is.
    Left(Sample),
    /// It has left, or has come back.
    Switch {
        /// Process.
        pid: u32,
        /// Thread.
        tid: u32,
        /// When.
        time: u64,
        /// It has left.
        is_out: bool,
        /// It could have gone on.
        is_preempted: bool,
    },
    /// Executable memory was mapped.
    Map(Map),
    /// A thread got a name.
    Name {
        /// Process.
        pid: u32,
        /// Thread.
        tid: u32,
        /// When.
        time: u64,
        /// The name.
        name: String,
        /// Because it began a new program.
        is_exec: bool,
    },
    /// A thread or process began.
    Fork {
        /// Process.
        pid: u32,
        /// Thread.
        tid: u32,
        /// Process of the thread that made it.
        parent: u32,
        /// When.
        time: u64,
    },
    /// A thread ended.
    Exit {
        /// Process.
        pid: u32,
        /// Thread.
        tid: u32,
        /// When.
        time: u64,
    },
    /// So many records found no room.
    Lost(u64),
}

/// Executable memory of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Map {
    /// Process.
    pub pid: u32,
    /// When.
    pub time: u64,
    /// First address.
    pub start: u64,
    /// Bytes.
    pub bytes: u64,
    /// Offset in the file.
    pub offset: u64,
    /// The file, or a name in brackets or slashes of what is none.
    pub path: OsString,
}

impl Event {
    /// When it happened; 0 where the kernel does not say.
    #[must_use]
    pub fn time(&self) -> u64 {
        match self {
            Self::Sample(Sample { time, .. })
            | Self::Left(Sample { time, .. })
            | Self::Switch { time, .. }
            | Self::Map(Map { time, .. })
            | Self::Name { time, .. }
            | Self::Fork { time, .. }
            | Self::Exit { time, .. } => *time,
            Self::Lost(_) => 0,
        }
    }

    /// Reads a record of the clocks of [`crate::clock`]: its type, its flags, and what follows its
    /// header. Nothing if a profile does not need it.
    #[must_use]
    pub fn read(kind: u32, misc: u16, bytes: &[u8]) -> Option<Self> {
        let fields = Fields { bytes };
        match kind {
            LOST => Some(Self::Lost(fields.u64(8)?)),
            COMM => Some(Self::Name {
                pid: fields.u32(0)?,
                tid: fields.u32(4)?,
                time: fields.trailing_time()?,
                name: String::from_utf8_lossy(fields.text(8)?).into_owned(),
                is_exec: misc & COMM_EXEC != 0,
            }),
            EXIT => {
                Some(Self::Exit { pid: fields.u32(0)?, tid: fields.u32(8)?, time: fields.u64(16)? })
            }
            FORK => Some(Self::Fork {
                pid: fields.u32(0)?,
                parent: fields.u32(4)?,
                tid: fields.u32(8)?,
                time: fields.u64(16)?,
            }),
            SAMPLE => read_sample(&fields, misc).map(Self::Sample),
            SWITCH | SWITCH_OF_PROCESSOR => {
                let at = bytes.len().checked_sub(TRAILER_BYTES)?;
                Some(Self::Switch {
                    pid: fields.u32(at)?,
                    tid: fields.u32(at + 4)?,
                    time: fields.trailing_time()?,
                    is_out: misc & SWITCHED_OUT != 0,
                    is_preempted: misc & PREEMPTED != 0,
                })
            }
            MMAP2 => Some(Self::Map(Map {
                pid: fields.u32(0)?,
                time: fields.trailing_time()?,
                start: fields.u64(8)?,
                bytes: fields.u64(16)?,
                offset: fields.u64(24)?,
                path: OsString::from_vec(fields.text(64)?.to_vec()),
            })),
            _ => None,
        }
    }
}

// Types and flags of records, from linux/perf_event.h.
const LOST: u32 = 2;
const COMM: u32 = 3;
const EXIT: u32 = 4;
const FORK: u32 = 7;
const SAMPLE: u32 = 9;
const MMAP2: u32 = 10;
const SWITCH: u32 = 14;
const SWITCH_OF_PROCESSOR: u32 = 15;
const COMM_EXEC: u16 = 1 << 13;
const SWITCHED_OUT: u16 = 1 << 13;
const PREEMPTED: u16 = 1 << 14;
/// Process and thread, time, and processor.
const TRAILER_BYTES: usize = 24;
/// What registers are there, and one of them.
const ONE_REGISTER_BYTES: usize = 16;
const CPU_MODE: u16 = 7;
const IN_USER_MODE: u16 = 2;

/// Call chains have numbers among the addresses that say in which mode the next ones are.
const CONTEXTS: u64 = -4095_i64 as u64;
/// The addresses of the kernel have this bit.
const KERNEL: u64 = 1 << 63;

fn read_sample(fields: &Fields<'_>, misc: u16) -> Option<Sample> {
    let in_kernel = misc & CPU_MODE != IN_USER_MODE;
    let count = usize::try_from(fields.u64(32)?).ok()?;
    let chain_end = count.checked_mul(8)?.checked_add(40)?;
    let chain = (40..chain_end).step_by(8).map(|at| fields.u64(at));
    let chain: Vec<u64> = chain.collect::<Option<_>>()?;
    let behind = fields.bytes.get(chain_end..)?;
    let has_registers = fields.u64(chain_end)? != 0;
    // Without stacks the instruction pointer is the only register.
    let stack = if has_registers && behind.len() == Stack::TWO_BYTES {
        let word = |at: usize| fields.u64(chain_end + 8 * at);
        Some(Box::new(Stack::of_two(word(1)?, word(2)?)))
    } else if has_registers && behind.len() > ONE_REGISTER_BYTES {
        Some(Box::new(Stack::read(behind)?))
    } else {
        None
    };
    let ip = match (in_kernel, has_registers) {
        (false, _) => fields.u64(0)?,
        (true, true) => match &stack {
            Some(stack) => stack.ip(),
            None => fields.u64(chain_end + 8)?,
        },
        (true, false) => 0,
    };
    // A frame pointer that is none may end the chain with 0.
    let is_address = |word: &u64| *word != 0 && *word < CONTEXTS && word & KERNEL == 0;
    let addresses = chain.into_iter().filter(is_address);
    // The first one is where the thread is.
    let callers = addresses.skip(1).collect();
    Some(Sample {
        pid: fields.u32(8)?,
        tid: fields.u32(12)?,
        time: fields.u64(16)?,
        cpu: fields.u32(24)?,
        ip,
        in_kernel,
        callers,
        cut: None,
        inferred: None,
        stack,
    })
}

struct Fields<'a> {
    bytes: &'a [u8],
}

impl<'a> Fields<'a> {
    fn u32(&self, at: usize) -> Option<u32> {
        Some(u32::from_le_bytes(*self.bytes.get(at..)?.first_chunk()?))
    }

    fn u64(&self, at: usize) -> Option<u64> {
        Some(u64::from_le_bytes(*self.bytes.get(at..)?.first_chunk()?))
    }

    /// The text that begins here and ends with a zero.
    fn text(&self, at: usize) -> Option<&'a [u8]> {
        self.bytes.get(at..)?.split(|&byte| byte == 0).next()
    }

    /// Behind all records but samples come process and thread, time, and processor.
    fn trailing_time(&self) -> Option<u64> {
        self.u64(self.bytes.len().checked_sub(16)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    fn pair(low: u32, high: u32) -> u64 {
        u64::from(low) | u64::from(high) << 32
    }

    #[test]
    fn a_sample_in_the_kernel_is_where_the_thread_will_return_to() {
        let kernel = 0xffff_ffff_8100_0000;
        let head = [kernel, pair(10, 11), 5_000, pair(1, 0)];
        let bytes = words(&[&head[..], &[0, 2, 0x40_1000]].concat());
        let expected = Sample {
            pid: 10,
            tid: 11,
            time: 5_000,
            cpu: 1,
            ip: 0x40_1000,
            in_kernel: true,
            ..Sample::default()
        };
        assert_eq!(Event::read(SAMPLE, 1, &bytes), Some(Event::Sample(expected.clone())));
        // A thread of the kernel's has no registers in user mode.
        let bytes = words(&[&head[..], &[0, 0]].concat());
        let expected = Sample { ip: 0, ..expected };
        assert_eq!(Event::read(SAMPLE, 1, &bytes), Some(Event::Sample(expected)));
    }

    #[test]
    fn a_call_chain_gives_the_callers_without_the_marks_of_modes() {
        let user_mark = -512_i64 as u64;
        let chain = [4, user_mark, 0x40_1000, 0x40_2000, 0];
        let bytes = words(&[&[0x40_1000, pair(1, 1), 9, 0][..], &chain, &[2, 0x40_1000]].concat());
        let Some(Event::Sample(sample)) = Event::read(SAMPLE, 2, &bytes) else { panic!() };
        assert_eq!((sample.ip, sample.callers), (0x40_1000, vec![0x40_2000]));
    }

    #[test]
    fn a_sample_with_its_stack_has_all_registers_and_what_was_there_of_the_stack() {
        let head = [0x40_1000, pair(1, 1), 9, 0, 0, 2];
        let registers: Vec<u64> = (100..100 + Stack::REGISTERS as u64).collect();
        let stack = [24, 1, 2, 0, 16];
        let bytes = words(&[&head[..], &registers, &stack].concat());
        let Some(Event::Sample(sample)) = Event::read(SAMPLE, 2, &bytes) else { panic!() };
        let stack = sample.stack.unwrap();
        assert_eq!((stack.ip(), stack.sp(), stack.bytes), (108, 107, words(&[1, 2])));
        // In the kernel the thread will return to where its registers say.
        let Some(Event::Sample(sample)) = Event::read(SAMPLE, 1, &bytes) else { panic!() };
        assert_eq!(sample.ip, 108);
        // A thread of the kernel's has neither.
        let bytes = words(&[&head[..5], &[0, 0]].concat());
        let Some(Event::Sample(sample)) = Event::read(SAMPLE, 1, &bytes) else { panic!() };
        assert_eq!((sample.ip, sample.stack), (0, None));
    }

    #[test]
    fn a_sample_may_have_the_stack_pointer_and_the_instruction_pointer_alone() {
        let bytes = words(&[0x40_1000, pair(1, 1), 9, 0, 0, 2, 0x7000, 0x40_1000]);
        let Some(Event::Sample(sample)) = Event::read(SAMPLE, 2, &bytes) else { panic!() };
        let stack = sample.stack.unwrap();
        assert_eq!((sample.ip, stack.sp(), stack.ip()), (0x40_1000, 0x7000, 0x40_1000));
        assert_eq!(stack.bytes, []);
    }

    #[test]
    fn a_record_that_is_cut_off_is_none() {
        let bytes = words(&[0x40_1000, pair(1, 1), 9, 0, 1 << 40]);
        assert_eq!(Event::read(SAMPLE, 2, &bytes), None);
        assert_eq!(Event::read(COMM, 0, &[0; 7]), None);
    }

    #[test]
    fn switches_say_who_left_or_came_back_and_whether_it_could_have_gone_on() {
        let trailer = [pair(3, 4), 77, 0];
        let switch = |kind, misc, words_in_front: &[u64]| {
            Event::read(kind, misc, &words(&[words_in_front, &trailer].concat()))
        };
        let expected = |is_out, is_preempted| {
            Some(Event::Switch { pid: 3, tid: 4, time: 77, is_out, is_preempted })
        };
        assert_eq!(switch(SWITCH, 0, &[]), expected(false, false));
        let out = SWITCHED_OUT | PREEMPTED;
        assert_eq!(switch(SWITCH_OF_PROCESSOR, out, &[pair(8, 9)]), expected(true, true));
    }

    #[test]
    fn names_and_maps_have_their_time_at_the_end() {
        let trailer = words(&[pair(3, 4), 77, 0]);
        let name = [&words(&[pair(3, 4)])[..], b"sort\0\0\0\0", &trailer].concat();
        let expected = Event::Name { pid: 3, tid: 4, time: 77, name: "sort".into(), is_exec: true };
        assert_eq!(Event::read(COMM, COMM_EXEC, &name), Some(expected));
        let head = words(&[pair(3, 4), 0x1000, 0x2000, 0x3000, 0, 0, 0, 0]);
        let map = [&head[..], b"/bin/sh\0", &trailer].concat();
        let expected = Map {
            pid: 3,
            time: 77,
            start: 0x1000,
            bytes: 0x2000,
            offset: 0x3000,
            path: "/bin/sh".into(),
        };
        assert_eq!(Event::read(MMAP2, 0, &map), Some(Event::Map(expected)));
    }
}
