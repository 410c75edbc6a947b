//! What hinders reclaiming: stacks that nobody knows, for which all memory has to be read, and a
//! kernel that does not tell where threads are, which ends it.

use core::sync::atomic::{AtomicU32, Ordering};

/// Why copies are no longer freed, or only by reading all memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Blocked {
    /// `makecontext`.
    Contexts = 1,
    /// A signal stack inside a thread's own stack.
    InnerStack,
    /// A thread on a stack that is not its own.
    OtherStack,
    /// A child that shares the memory: `clone`.
    Child,
    /// `/proc` or the system calls about threads do not work.
    Hidden,
    /// The program has installed a seccomp filter.
    Filter,
    /// Code that switches stacks has been entered, or may be at any time.
    Switches,
    /// Code that szc did not link holds an instruction that may switch stacks.
    ThirdPartySwitches,
}

impl Blocked {
    const ALL: [Self; 8] = [
        Self::Contexts,
        Self::InnerStack,
        Self::OtherStack,
        Self::Child,
        Self::Hidden,
        Self::Filter,
        Self::Switches,
        Self::ThirdPartySwitches,
    ];

    /// Whether nothing helps.
    fn is_for_good(self) -> bool {
        matches!(self, Self::Child | Self::Hidden | Self::Filter)
    }

    /// What a person reads.
    pub fn text(self) -> &'static str {
        match self {
            Self::Contexts => "the program makes stacks of its own (makecontext)",
            Self::InnerStack => "a signal stack lies inside a thread's stack",
            Self::OtherStack => "a thread was seen on a stack that is not its own",
            Self::Child => "a process shares memory with the program (clone)",
            Self::Hidden => "the kernel does not tell where threads are",
            Self::Filter => "the program has installed a seccomp filter",
            Self::ThirdPartySwitches => "a library may switch stacks by its own instructions",
            Self::Switches => "the program switches stacks by its own instructions",
        }
    }
}

/// The first reason for which nothing more is freed, and the first one for which references may lie
/// anywhere, as numbers; 0: none.
static BLOCKED: AtomicU32 = AtomicU32::new(0);
static OTHER_STACKS: AtomicU32 = AtomicU32::new(0);

/// From now on copies are freed no more, or only by reading all memory. Relaxed: what was freed
/// before was free.
///
/// A stack that comes into being now cannot hold references to what was free before.
pub fn block(reason: Blocked) {
    note_switches();
    note(reason);
}

/// Copies that switch stacks say so before they can be entered.
fn note_switches() {
    if szc_code::copy::switches_stacks() {
        note(Blocked::Switches);
    }
}

fn note(reason: Blocked) {
    let word = if reason.is_for_good() { &BLOCKED } else { &OTHER_STACKS };
    let _ = word.compare_exchange(0, reason as u32, Ordering::Relaxed, Ordering::Relaxed);
}

/// Why reclaiming has ended, if it has.
pub fn blocked() -> Option<Blocked> {
    reason_in(&BLOCKED)
}

/// Why references to copies may lie anywhere, if they may.
pub fn other_stacks() -> Option<Blocked> {
    note_switches();
    reason_in(&OTHER_STACKS)
}

fn reason_in(word: &AtomicU32) -> Option<Blocked> {
    let code = word.load(Ordering::Relaxed);
    Blocked::ALL.into_iter().find(|&reason| reason as u32 == code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_can_be_told_and_the_first_one_stays() {
        for reason in Blocked::ALL {
            assert!(!reason.text().is_empty());
        }
        block(Blocked::Contexts);
        block(Blocked::InnerStack);
        assert_eq!((blocked(), other_stacks()), (None, Some(Blocked::Contexts)));
        block(Blocked::Filter);
        block(Blocked::Child);
        assert_eq!((blocked(), other_stacks()), (Some(Blocked::Filter), Some(Blocked::Contexts)));
    }
}
