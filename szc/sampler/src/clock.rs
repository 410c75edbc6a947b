//! Clocks that take samples: one for each processor where the kernel permits that, else one for
//! each thread.
//!
//! A processor's clock runs whatever runs there. Its samples are a fair sample of the processor's
//! time, however short-lived threads are; those of other programs are counted, so that intervals
//! can be told, and their addresses dropped. A thread's clock runs while the thread does. It can
//! only be opened once the thread is there, so what a thread does before that is missed.
#![forbid(unsafe_code)]

use std::fs;
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::fd::RawFd;
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};
use perf_event::events::Software;
use perf_event::{Builder, Sampler};

use crate::descriptor::start_period;
use crate::event::Event;
use crate::form::{Callers, Of, in_one_form, with_ring};
use crate::periods::Periods;

/// Which clocks take the samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// Those of processors.
    Processors,
    /// Those of threads.
    Threads {
        /// Whether they run while the thread is in the kernel.
        with_kernel: bool,
    },
}

/// A clock that runs.
pub struct Clock {
    /// What it runs for.
    pub of: Of,
    sampler: Sampler,
    periods: Periods,
    /// Samples that have one interval, and are read at once.
    batch: usize,
    /// How many of them there were.
    taken: usize,
    /// When the interval that runs was started.
    started: u64,
    /// What was reported before is of the first interval, which may be much shorter than others: it
    /// ends once, whenever the next one is started.
    first_until: Option<u64>,
}

impl Clock {
    /// Starts a clock, whose samples have what callers follow from.
    ///
    /// # Errors
    /// What perf_event_open(2) reports.
    pub fn start(
        of: Of,
        with_kernel: bool,
        callers: Callers,
        mut periods: Periods,
    ) -> io::Result<Self> {
        let batch = match of {
            Of::Processor(_) => periods.in_a_batch(),
            // A new thread's clock is started at once: every record wakes the reader.
            Of::Thread(_) => 1,
        };
        let mut builder = match of {
            Of::Processor(cpu) => {
                let mut builder = Builder::new(Software::CPU_CLOCK);
                builder.any_pid().one_cpu(cpu as usize);
                builder
            }
            Of::Thread(tid) => {
                let mut builder = Builder::new(Software::TASK_CLOCK);
                builder.observe_pid(tid.cast_signed()).any_cpu();
                builder
            }
        };
        let first = match of {
            // It has been running for long.
            Of::Processor(_) => periods.following(),
            Of::Thread(_) => periods.first(),
        };
        in_one_form(&mut builder, callers)
            .sample_period(first)
            .exclude_kernel(!with_kernel)
            .mmap(true)
            .mmap2(true)
            .comm(true)
            .comm_exec(true)
            .task(true)
            .wakeup_watermark(callers.sample_bytes() * (batch - 1) + 1)
            .enabled(true);
        let sampler = with_ring(&builder, callers.ring_bytes(of), callers.least_bytes(batch))?;
        Ok(Self { of, sampler, periods, batch, taken: 0, started: now(), first_until: None })
    }

    /// Its descriptor, which can be polled.
    #[must_use]
    pub fn descriptor(&self) -> RawFd {
        self.sampler.as_raw_fd()
    }

    /// Takes all that it has reported, and, if there was a sample, starts the next interval.
    ///
    /// # Errors
    /// The next interval cannot be started.
    pub fn read(&mut self, mut report: impl FnMut(Event)) -> io::Result<()> {
        let descriptor = self.descriptor();
        let (mut last, before) = (None, now());
        while let Some(record) = self.sampler.next_record() {
            let event = Event::read(record.ty(), record.misc(), &record.to_contiguous());
            let Some(event) = event else { continue };
            if matches!(event, Event::Lost(_))
                && self.first_until.is_none_or(|until| until > before)
            {
                // Repetitions of the first sample.
                continue;
            }
            if let Event::Sample(sample) = &event {
                if self.first_until.is_none() {
                    // At once: a short interval may end faster than its samples are read.
                    start_period(descriptor, self.periods.following())?;
                    self.first_until = Some(now());
                } else if self.first_until.is_some_and(|until| sample.time <= until) {
                    continue;
                } else {
                    last = Some(sample.time);
                    self.taken += 1;
                }
            }
            report(event);
        }
        if let Some(last) = last.filter(|_| self.taken >= self.batch) {
            // From the last sample on: when the reader comes depends on what the program does.
            let next = self.periods.rest(now().saturating_sub(last), self.batch);
            self.start_next(next)?;
        }
        Ok(())
    }

    /// Starts another interval on a processor's clock that has not reported for long: the kernel
    /// takes no samples of an idle processor, and the interval of its clock stays what it is.
    ///
    /// # Errors
    /// The next interval cannot be started.
    pub fn keep_random(&mut self, now: u64) -> io::Result<()> {
        let silent = now.saturating_sub(self.started);
        let is_silent = silent > 2 * self.batch as u64 * self.periods.mean();
        if matches!(self.of, Of::Processor(_)) && is_silent {
            let next = self.periods.following();
            self.start_next(next)?;
        }
        Ok(())
    }

    fn start_next(&mut self, period: u64) -> io::Result<()> {
        start_period(self.descriptor(), period)?;
        (self.started, self.taken) = (now(), 0);
        Ok(())
    }
}

/// Now, by the clock of [`Event::time`].
#[must_use]
pub fn now() -> u64 {
    let time = clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(Duration::ZERO, Duration::from);
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// The processors that run.
///
/// # Errors
/// The kernel does not say which.
pub fn online_processors() -> io::Result<Vec<u32>> {
    let text = fs::read_to_string("/sys/devices/system/cpu/online")?;
    parse_list(text.trim())
        .ok_or_else(|| io::Error::other(format!("no list of processors: {}", text.trim())))
}

/// A list of numbers and ranges, as `0-3,8`.
fn parse_list(text: &str) -> Option<Vec<u32>> {
    let mut numbers = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        numbers.extend(first.parse().ok()?..=last.parse::<u32>().ok()?);
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Sample;
    use crate::periods::Schedule;
    use std::time::Instant;

    #[test]
    fn a_list_of_processors_has_numbers_and_ranges() {
        assert_eq!(parse_list("0-2,5"), Some(vec![0, 1, 2, 5]));
        assert_eq!(parse_list("0"), Some(vec![0]));
        assert_eq!(parse_list("a"), None);
    }

    #[test]
    fn a_thread_that_computes_is_sampled_where_it_is() {
        let schedule = Schedule { period_ns: 1_000_000, jitter: 0.3, seed: 1 };
        let tid = nix::unistd::gettid().as_raw().cast_unsigned();
        let clock = Clock::start(Of::Thread(tid), false, Callers::None, schedule.periods(0));
        // Containers may forbid it altogether; whoever records is told so.
        let Ok(mut clock) = clock else { return };
        let begin = Instant::now();
        let mut samples: Vec<Sample> = Vec::new();
        while samples.len() < 3 && begin.elapsed() < Duration::from_secs(20) {
            clock
                .read(|event| {
                    if let Event::Sample(sample) = event {
                        samples.push(sample);
                    }
                })
                .unwrap();
        }
        assert_eq!(samples.len(), 3);
        for sample in &samples {
            assert!(sample.tid == tid && sample.ip != 0 && !sample.in_kernel, "{sample:?}");
        }
        assert!(samples.is_sorted_by_key(|sample| sample.time));
    }
}
