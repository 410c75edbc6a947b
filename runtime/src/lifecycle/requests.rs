//! What a program asks of the maintenance task: a layout at once, and times without new layouts.
//!
//! Each request has a number, and the task says up to which it has answered. One layout answers all
//! requests that were there when it was begun. Rules of this file: no libc, no lock.
#![forbid(unsafe_code)]

use super::suspension;
use crate::os::{futex_wait, futex_wake};
use core::sync::atomic::{AtomicU32, Ordering};

/// Requests up to now, and the last one that was answered.
static MADE: AtomicU32 = AtomicU32::new(0);
static ANSWERED: AtomicU32 = AtomicU32::new(0);

/// Times without new layouts that have begun and not ended.
static PAUSES: AtomicU32 = AtomicU32::new(0);

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request(u32);

impl Request {
    /// Asks the task for a layout.
    pub fn make() -> Self {
        // Before the task is woken: it finds the number behind the bit.
        let number = MADE.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        suspension::ask();
        Self(number)
    }

    /// Waits until the task may have answered, at most about `timeout_ns`. Whether it has.
    pub fn is_answered_within(self, timeout_ns: u64) -> bool {
        // Acquire: pairs with the release in `answer`; the layout is in use.
        let answered = ANSWERED.load(Ordering::Acquire);
        if self.is_covered_by(answered) {
            return true;
        }
        futex_wait(&ANSWERED, answered, timeout_ns, false);
        self.is_covered_by(ANSWERED.load(Ordering::Acquire))
    }

    fn is_covered_by(self, answered: u32) -> bool {
        answered.wrapping_sub(self.0) as i32 >= 0
    }
}

/// The last request that has not been answered, if there is one. The task calls this before it
/// begins what answers it.
pub fn take() -> Option<Request> {
    suspension::take_question();
    let made = MADE.load(Ordering::Relaxed);
    (made != ANSWERED.load(Ordering::Relaxed)).then_some(Request(made))
}

/// Answers all requests up to one.
pub fn answer(request: Request) {
    // Release: pairs with the acquire in `is_answered_within`.
    ANSWERED.store(request.0, Ordering::Release);
    futex_wake(&ANSWERED, u32::MAX >> 1, false);
}

/// No layout begins by time, until [`resume`] has been called as often.
pub fn pause() {
    let _ = PAUSES.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_add(1));
}

/// Ends what [`pause`] began.
pub fn resume() {
    let _ = PAUSES.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
}

/// Whether layouts begin when they are asked for only.
pub fn are_paused() -> bool {
    PAUSES.load(Ordering::Relaxed) != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_answer_is_for_all_requests_before_it_also_when_their_numbers_wrap() {
        MADE.store(u32::MAX - 1, Ordering::Relaxed);
        ANSWERED.store(u32::MAX - 1, Ordering::Relaxed);
        assert_eq!(take(), None);
        let requests = [(); 3].map(|()| Request::make());
        assert!(requests.iter().all(|request| !request.is_answered_within(0)));
        let taken = take().expect("three");
        let late = Request::make();
        answer(taken);
        assert!(requests.iter().all(|request| request.is_answered_within(0)));
        assert!(!late.is_answered_within(0), "it was made behind that");
        answer(late);
        assert!(late.is_answered_within(0) && take().is_none());
    }

    #[test]
    fn pauses_are_counted_and_what_was_not_begun_is_not_ended() {
        resume();
        assert!(!are_paused());
        pause();
        pause();
        resume();
        assert!(are_paused());
        resume();
        assert!(!are_paused());
    }
}
