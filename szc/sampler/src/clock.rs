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
use crate::form::{Callers, MAX_BATCH_OF_THREAD, Of, counter_of, in_one_form, with_ring};
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
    form: Form,
    /// Reports what threads do and map, and takes the first sample of a thread, or all of them
    /// where they do not come in batches.
    records: Sampler,
    /// Takes the samples. A ring buffer counts all that is in it: with records in between, its
    /// reader would come, and begin an interval, when the program does something.
    samples: Option<Sampler>,
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

/// What the samples of a clock are.
#[derive(Clone, Copy)]
struct Form {
    with_kernel: bool,
    callers: Callers,
}

/// As an interval: 146 years.
const NEVER: u64 = 1 << 62;

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
        let form = Form { with_kernel, callers };
        let (batch, records, samples, first_until) = match of {
            Of::Processor(_) => {
                let (batch, period) = (periods.in_a_batch(), periods.following());
                let samples = form.samples(of, period, batch)?;
                // It has been running for long.
                (batch, form.records(of)?, Some(samples), Some(0))
            }
            Of::Thread(_) => {
                let (batch, period) = (periods.in_a_batch(), periods.first());
                (batch.min(MAX_BATCH_OF_THREAD), form.of_new_thread(of, period)?, None, None)
            }
        };
        let (taken, started) = (0, now());
        Ok(Self { of, form, records, samples, periods, batch, taken, started, first_until })
    }

    /// Its descriptors, which can be polled. The first one hangs up when its thread ends.
    pub fn descriptors(&self) -> impl Iterator<Item = RawFd> {
        let all = [Some(&self.records), self.samples.as_ref()];
        all.into_iter().flatten().map(Sampler::as_raw_fd)
    }

    /// Takes all that it has reported, and, if there was a sample, starts the next interval.
    ///
    /// # Errors
    /// The next interval cannot be started.
    pub fn read(&mut self, mut report: impl FnMut(Event)) -> io::Result<()> {
        let (mut last, before) = (None, now());
        while let Some(event) = next_event(&mut self.records) {
            if matches!(event, Event::Lost(_))
                && self.first_until.is_none_or(|until| until > before)
            {
                // Repetitions of the first sample.
                continue;
            }
            if let Event::Sample(sample) = &event {
                if self.first_until.is_none() {
                    // At once: a short interval may end faster than its samples are read.
                    self.end_first(sample.time)?;
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
        while let Some(event) = self.samples.as_mut().and_then(next_event) {
            if let Event::Sample(sample) = &event {
                last = Some(sample.time);
                self.taken += 1;
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

    /// Starts the next interval behind a thread's first sample, which was at that time.
    fn end_first(&mut self, time: u64) -> io::Result<()> {
        let next = self.periods.rest(now().saturating_sub(time), self.batch);
        if self.batch > 1 {
            match self.form.samples(self.of, next, self.batch) {
                Ok(samples) => {
                    self.samples = Some(samples);
                    return start_period(self.records.as_raw_fd(), NEVER);
                }
                // No descriptor or memory is left for another ring, or the thread is gone.
                Err(_) => self.batch = 1,
            }
        }
        start_period(self.records.as_raw_fd(), next)
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
        let sampler = self.samples.as_ref().unwrap_or(&self.records);
        start_period(sampler.as_raw_fd(), period)?;
        (self.started, self.taken) = (now(), 0);
        Ok(())
    }
}

impl Form {
    /// Starts the clock of a new thread, of which every record wakes the reader: it may begin
    /// others, whose clocks are to be started at once.
    fn of_new_thread(self, of: Of, period: u64) -> io::Result<Sampler> {
        let mut builder = self.clock(of, period);
        with_records(&mut builder);
        self.start(&mut builder, of, 1)
    }

    /// Starts a clock that wakes the reader by so many samples.
    fn samples(self, of: Of, period: u64, batch: usize) -> io::Result<Sampler> {
        self.start(&mut self.clock(of, period), of, batch)
    }

    fn start(self, builder: &mut Builder<'_>, of: Of, batch: usize) -> io::Result<Sampler> {
        // The kernel wakes the reader each time that more bytes than so many are there, and counts
        // on from these, not from where it is: less would be one sample less each time.
        let bytes = self.callers.sample_bytes() * batch;
        builder.wakeup_watermark(if batch == 1 { 1 } else { bytes });
        with_ring(builder, self.callers.ring_bytes(of), self.callers.least_bytes(batch))
    }

    /// Reports what threads of a processor do; the reader comes for samples, or when a quarter of
    /// the ring is full.
    fn records(self, of: Of) -> io::Result<Sampler> {
        let mut builder = counter_of(of, Software::DUMMY);
        let callers = Callers::None;
        with_records(in_one_form(&mut builder, callers))
            .wakeup_watermark(callers.ring_bytes(of) / 4)
            .enabled(true);
        with_ring(&builder, callers.ring_bytes(of), callers.least_bytes(1))
    }

    fn clock(self, of: Of, period: u64) -> Builder<'static> {
        let counter = match of {
            Of::Processor(_) => Software::CPU_CLOCK,
            Of::Thread(_) => Software::TASK_CLOCK,
        };
        let mut builder = counter_of(of, counter);
        in_one_form(&mut builder, self.callers)
            .sample_period(period)
            .exclude_kernel(!self.with_kernel)
            .enabled(true);
        builder
    }
}

/// Lets a counter report threads, names and maps.
fn with_records<'a, 'b>(builder: &'b mut Builder<'a>) -> &'b mut Builder<'a> {
    builder.mmap(true).mmap2(true).comm(true).comm_exec(true).task(true)
}

/// The next that a ring buffer has.
fn next_event(sampler: &mut Sampler) -> Option<Event> {
    loop {
        let record = sampler.next_record()?;
        let event = Event::read(record.ty(), record.misc(), &record.to_contiguous());
        if event.is_some() {
            return event;
        }
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
    use crate::descriptor::wait;
    use crate::event::Sample;
    use crate::periods::Schedule;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Arc, mpsc};
    use std::thread;
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

    #[test]
    fn samples_of_a_thread_wake_their_reader_once_for_several() {
        let schedule = Schedule { period_ns: 1_000_000, jitter: 0.3, seed: 2 };
        let (send, receive) = mpsc::channel();
        let is_over = Arc::new(AtomicBool::new(false));
        let thread = thread::spawn({
            let is_over = Arc::clone(&is_over);
            move || {
                send.send(nix::unistd::gettid().as_raw().cast_unsigned()).unwrap();
                while !is_over.load(Ordering::Relaxed) {}
            }
        });
        let of = Of::Thread(receive.recv().unwrap());
        let mut batches = Vec::new();
        // Containers may forbid it altogether.
        if let Ok(mut clock) = Clock::start(of, false, Callers::None, schedule.periods(0)) {
            while batches.len() < 9 {
                let all: Vec<RawFd> = clock.descriptors().collect();
                wait(&all, Duration::from_secs(20)).unwrap();
                let mut samples = 0;
                clock
                    .read(|event| samples += u32::from(matches!(event, Event::Sample(_))))
                    .unwrap();
                batches.extend(Some(samples).filter(|&samples| samples > 0));
            }
        }
        is_over.store(true, Ordering::Relaxed);
        thread.join().unwrap();
        // The first one by itself. A reader that is late finds more, and fewer the next time.
        for read in 1..batches.len() {
            let samples: u32 = batches[1..=read].iter().sum();
            assert!(samples as usize >= 4 * read, "{read} of {batches:?}");
        }
    }
}
