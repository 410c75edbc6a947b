//! When to show what is known while the program runs: after equal times, and at a signal.
#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// What is still to be shown.
pub(super) struct Interim {
    every: Option<Duration>,
    started: Instant,
    next: Option<Instant>,
    questions: &'static AtomicU32,
    answered: u32,
}

impl Interim {
    /// From now on; `questions` says how often a signal asked.
    pub fn new(every: Option<Duration>, questions: &'static AtomicU32) -> Self {
        let started = Instant::now();
        let next = every.map(|every| started + every);
        let answered = questions.load(Ordering::Relaxed);
        Self { every, started, next, questions, answered }
    }

    /// How long the program has run, if now is a time to show something.
    pub fn is_due(&mut self) -> Option<Duration> {
        let now = Instant::now();
        let asked = self.questions.load(Ordering::Relaxed);
        let is_asked = asked != self.answered;
        self.answered = asked;
        let is_time = self.next.is_some_and(|next| next <= now);
        if let (true, Some(every), Some(next)) = (is_time, self.every, &mut self.next) {
            // What was missed is not made up for.
            while *next <= now {
                *next += every;
            }
        }
        (is_time || is_asked).then(|| now - self.started)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_due_after_equal_times_and_once_for_each_question() {
        static QUESTIONS: AtomicU32 = AtomicU32::new(3);
        let mut asked = Interim::new(None, &QUESTIONS);
        assert_eq!(asked.is_due(), None);
        QUESTIONS.store(4, Ordering::Relaxed);
        assert!(asked.is_due().is_some());
        assert_eq!(asked.is_due(), None);

        let every = Duration::from_millis(2);
        let mut timed = Interim::new(Some(every), &QUESTIONS);
        std::thread::sleep(Duration::from_millis(7));
        assert!(timed.is_due().is_some_and(|after| after >= every));
        assert!(timed.next.is_some_and(|next| next > timed.started + 3 * every));
        let mut rare = Interim::new(Some(Duration::from_secs(3600)), &QUESTIONS);
        assert_eq!(rare.is_due(), None);
    }
}
