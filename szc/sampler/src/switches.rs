//! When threads leave a processor, where they are then, and when they come back.
//!
//! An event counts context switches and takes a sample of each, of the thread that leaves; records
//! of the same descriptor say when a thread left, whether it could have gone on, and when it came
//! back.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::io;

use perf_event::Sampler;
use perf_event::events::Software;

use crate::event::{Event, Sample};
use crate::form::{CPU_RING_BYTES, Callers, Of, counter_of, in_one_form, with_ring};

/// Switches of a processor or thread.
pub struct Switches {
    sampler: Sampler,
}

impl Switches {
    /// Starts to report them, with what callers follow from.
    ///
    /// # Errors
    /// What perf_event_open(2) reports: switches belong to the kernel.
    pub fn start(of: Of, callers: Callers) -> io::Result<Self> {
        let mut builder = counter_of(of, Software::CONTEXT_SWITCHES);
        // The reader comes when a quarter is full, or anyway.
        in_one_form(&mut builder, callers)
            .sample_period(1)
            .exclude_kernel(false)
            .context_switch(true)
            .wakeup_watermark(CPU_RING_BYTES / 4)
            .enabled(true);
        let ring_bytes = callers.ring_bytes(of).max(CPU_RING_BYTES);
        Ok(Self { sampler: with_ring(&builder, ring_bytes, callers.least_bytes(1))? })
    }

    /// Takes all that was reported.
    pub fn read(&mut self, mut report: impl FnMut(Event)) {
        while let Some(record) = self.sampler.next_record() {
            match Event::read(record.ty(), record.misc(), &record.to_contiguous()) {
                Some(Event::Sample(sample)) => report(Event::Left(sample)),
                Some(event) => report(event),
                None => {}
            }
        }
    }
}

/// A time in which a thread was on no processor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Where it was when that began.
    pub sample: Sample,
    /// How long that lasted.
    pub ns: u64,
    /// It could have gone on: others took its processor.
    pub is_preempted: bool,
}

/// Threads that are on no processor.
#[derive(Default)]
pub struct Away {
    by_thread: BTreeMap<u32, (Sample, bool)>,
}

impl Away {
    /// Notes what has happened; what has ended by that.
    pub fn note(&mut self, event: &Event) -> Option<Wait> {
        match event {
            Event::Left(sample) => {
                self.by_thread.insert(sample.tid, (sample.clone(), false));
                None
            }
            Event::Switch { tid, is_out: true, is_preempted, .. } => {
                if let Some((_, preempted)) = self.by_thread.get_mut(tid) {
                    *preempted = *is_preempted;
                }
                None
            }
            Event::Switch { tid, time, is_out: false, .. } => {
                let (sample, is_preempted) = self.by_thread.remove(tid)?;
                let ns = time.saturating_sub(sample.time);
                Some(Wait { sample, ns, is_preempted })
            }
            Event::Exit { tid, .. } => {
                self.by_thread.remove(tid);
                None
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(tid: u32, time: u64) -> Event {
        Event::Left(Sample { tid, time, ..Sample::default() })
    }

    fn switch(tid: u32, time: u64, is_out: bool, is_preempted: bool) -> Event {
        Event::Switch { pid: 1, tid, time, is_out, is_preempted }
    }

    #[test]
    fn a_wait_lasts_from_where_a_thread_leaves_until_it_comes_back() {
        let mut away = Away::default();
        let events = [
            left(1, 100),
            switch(1, 101, true, false),
            left(2, 110),
            switch(2, 111, true, true),
            switch(1, 150, false, false),
            switch(2, 190, false, false),
            // It was away before anybody looked.
            switch(3, 200, false, false),
        ];
        let waits: Vec<(u32, u64, bool)> = events
            .iter()
            .filter_map(|event| away.note(event))
            .map(|wait| (wait.sample.tid, wait.ns, wait.is_preempted))
            .collect();
        assert_eq!(waits, [(1, 50, false), (2, 80, true)]);
    }

    #[test]
    fn a_thread_that_ends_waits_for_nothing() {
        let mut away = Away::default();
        away.note(&left(1, 100));
        away.note(&Event::Exit { pid: 1, tid: 1, time: 120 });
        assert_eq!(away.note(&switch(1, 130, false, false)), None);
    }
}
