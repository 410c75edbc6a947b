//! Reads all clocks, and reports what happened in the processes that are followed, in order.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::fd::RawFd;
use std::time::Duration;

use crate::clock::{Clock, Coverage, now, online_processors};
use crate::copies::Original;
use crate::descriptor::{MoreDescriptors, wait};
use crate::event::{Event, Sample};
use crate::followed::Followed;
use crate::form::{Callers, Of};
use crate::heights::map::PathMap;
use crate::heights::process::Known;
use crate::heights::training::Training;
use crate::periods::Schedule;
use crate::stack::Stack;
use crate::switches::{Away, Switches, Wait};
use crate::unwind::Unwinder;

/// How to sample.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The intervals.
    pub schedule: Schedule,
    /// What the callers of samples follow from.
    pub callers: Callers,
    /// Whether to leave the clocks of processors alone.
    pub by_thread: bool,
    /// Whether to report where threads wait.
    pub off_cpu: bool,
}

/// What is reported.
#[derive(Clone, Debug)]
pub enum Report {
    /// A sample of a process that is followed, and where its address comes from if that is in a
    /// copy. Its callers are in originals.
    Sample(Sample, Option<Original>),
    /// A thread was on no processor, and where it was then, as of samples.
    Waited(Wait, Option<Original>),
    /// A sample of a processor that was doing something else, and when.
    Elsewhere(u32, u64),
    /// Anything else that happened in a process that is followed.
    Other(Event),
}

/// Clocks that could not be had, and why.
#[derive(Debug)]
pub struct Unavailable {
    /// What the kernel answered.
    pub error: io::Error,
}

/// What was not seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Missed {
    /// Records that found no room.
    pub lost: u64,
    /// Threads that ended before their clock was started.
    pub threads: u64,
    /// From the beginning of threads to the start of their clocks, in nanoseconds, summed up.
    pub beginnings_ns: u64,
}

/// Clocks that run, and the processes that are followed.
pub struct Recorder {
    options: Options,
    coverage: Coverage,
    clocks: BTreeMap<Of, Clock>,
    switches: BTreeMap<Of, Switches>,
    away: Away,
    followed: Followed,
    unwinder: Unwinder,
    /// What callers are inferred from.
    known: Option<Known>,
    /// What followed stacks are added to.
    training: Option<Training>,
    /// Reported by a clock, but perhaps before what others will report.
    waiting: Vec<Event>,
    missed: Missed,
    opened: u64,
    /// Clocks of threads take several each, and the usual limit is 1,024.
    descriptors: Option<MoreDescriptors>,
}

impl Recorder {
    /// Starts the clocks of processors; where that is not permitted, those of threads follow with
    /// the processes.
    ///
    /// # Errors
    /// The kernel permits neither.
    pub fn start(options: Options) -> Result<Self, Unavailable> {
        let mut recorder = Self {
            options,
            coverage: Coverage::Processors,
            clocks: BTreeMap::new(),
            switches: BTreeMap::new(),
            away: Away::default(),
            followed: Followed::default(),
            unwinder: Unwinder::default(),
            known: None,
            training: None,
            waiting: Vec::new(),
            missed: Missed::default(),
            opened: 0,
            descriptors: None,
        };
        if !options.by_thread && recorder.start_processors().is_ok() {
            return Ok(recorder);
        }
        recorder.clocks.clear();
        recorder.switches.clear();
        let own = nix::unistd::gettid().as_raw().cast_unsigned();
        let periods = options.schedule.periods(0);
        let callers = options.callers;
        let start =
            |with_kernel| Clock::start(Of::Thread(own), with_kernel, callers, periods.clone());
        let with_kernel = start(true).is_ok();
        if options.off_cpu {
            Switches::start(Of::Thread(own), callers).map_err(|error| Unavailable { error })?;
        }
        if !with_kernel {
            start(false).map_err(|error| Unavailable { error })?;
        }
        recorder.coverage = Coverage::Threads { with_kernel };
        Ok(recorder)
    }

    fn start_processors(&mut self) -> io::Result<()> {
        for cpu in online_processors()? {
            self.start_clock(Of::Processor(cpu))?;
        }
        Ok(())
    }

    fn start_clock(&mut self, of: Of) -> io::Result<()> {
        let periods = self.options.schedule.periods(self.opened);
        self.opened += 1;
        let with_kernel = self.coverage != Coverage::Threads { with_kernel: false };
        let clock = Clock::start(of, with_kernel, self.options.callers, periods)?;
        self.clocks.insert(of, clock);
        if self.options.off_cpu {
            self.switches.insert(of, Switches::start(of, self.options.callers)?);
        }
        Ok(())
    }

    /// From now on callers are inferred by a path map, which must be sound. Where samples have more
    /// than two registers, what follows from the stack tells whether that is right.
    pub fn infer_by(&mut self, map: PathMap) {
        self.known = Some(Known::of(map));
    }

    /// From now on stacks are added to a path map, which [`Self::trained`] gives back.
    pub fn train(&mut self, training: Training) {
        self.training = Some(training);
    }

    /// The path map that stacks were added to.
    pub fn trained(&mut self) -> Training {
        self.training.take().unwrap_or_default()
    }

    /// Which clocks take the samples.
    #[must_use]
    pub fn coverage(&self) -> Coverage {
        self.coverage
    }

    /// What was not seen so far.
    #[must_use]
    pub fn missed(&self) -> Missed {
        self.missed
    }

    /// Follows a process that is there, with all its threads. Programs that are started afterwards
    /// may inherit a higher limit of descriptors, until the recorder is gone.
    ///
    /// # Errors
    /// There is no such process, or its clocks cannot be started.
    pub fn follow(&mut self, pid: u32, mut report: impl FnMut(Report)) -> io::Result<()> {
        if self.coverage != Coverage::Processors {
            if self.descriptors.is_none() {
                self.descriptors = MoreDescriptors::take();
            }
            for entry in fs::read_dir(format!("/proc/{pid}/task"))? {
                let name = entry?.file_name();
                if let Some(tid) = name.to_str().and_then(|name| name.parse().ok()) {
                    self.start_clock(Of::Thread(tid))?;
                }
            }
        }
        self.followed.add(pid)?.into_iter().map(Report::Other).for_each(&mut report);
        Ok(())
    }

    /// Waits for what clocks report, and reports it. `is_last` once nothing will follow.
    ///
    /// # Errors
    /// What poll(2) reports, or a clock that cannot go on.
    pub fn read(
        &mut self,
        timeout: Duration,
        is_last: bool,
        mut report: impl FnMut(Report),
    ) -> io::Result<()> {
        let mut ended = Vec::new();
        if !is_last {
            let clocks: Vec<RawFd> = self.clocks.values().flat_map(Clock::descriptors).collect();
            ended = wait(&clocks, timeout)?;
        }
        // What is reported from here on may come before something that another clock has not
        // reported yet.
        let horizon = if is_last { u64::MAX } else { now() };
        self.drain()?;
        let has_ended =
            |clock: &Clock| clock.descriptors().next().is_some_and(|first| ended.contains(&first));
        self.clocks.retain(|_, clock| !has_ended(clock));
        if !is_last {
            self.clocks.values_mut().try_for_each(|clock| clock.keep_random(horizon))?;
        }
        self.waiting.sort_by_key(Event::time);
        let ready = self.waiting.partition_point(|event| event.time() <= horizon);
        for event in self.waiting.drain(..ready).collect::<Vec<_>>() {
            self.hand_on(event, &mut report);
        }
        Ok(())
    }

    fn drain(&mut self) -> io::Result<()> {
        let mut begun = Vec::new();
        let mut ended = Vec::new();
        for clock in self.clocks.values_mut() {
            clock.read(|event| {
                match &event {
                    Event::Fork { tid, time, .. } => begun.push((*tid, *time)),
                    Event::Exit { tid, .. } => ended.push(*tid),
                    _ => {}
                }
                self.waiting.push(event);
            })?;
        }
        for switches in self.switches.values_mut() {
            switches.read(|event| self.waiting.push(event));
        }
        if self.coverage == Coverage::Processors {
            return Ok(());
        }
        for (tid, time) in begun {
            match self.start_clock(Of::Thread(tid)) {
                Ok(()) => self.missed.beginnings_ns += now().saturating_sub(time),
                // It is gone.
                Err(error) if error.raw_os_error() == Some(nix::libc::ESRCH) => {
                    self.missed.threads += 1;
                }
                Err(error) => return Err(error),
            }
        }
        for tid in ended {
            self.clocks.remove(&Of::Thread(tid));
            self.switches.remove(&Of::Thread(tid));
        }
        Ok(())
    }

    fn hand_on(&mut self, event: Event, report: &mut impl FnMut(Report)) {
        let is_followed = self.followed.note(&event);
        if is_followed && let Some(mut wait) = self.away.note(&event) {
            let original = self.in_originals(&mut wait.sample);
            report(Report::Waited(wait, original));
        }
        match event {
            Event::Lost(count) => self.missed.lost += count,
            Event::Sample(sample) if !is_followed => {
                report(Report::Elsewhere(sample.cpu, sample.time));
            }
            Event::Sample(mut sample) => {
                let original = self.in_originals(&mut sample);
                report(Report::Sample(sample, original));
            }
            Event::Left(_) | Event::Switch { .. } => {}
            event if is_followed => report(Report::Other(event)),
            _ => {}
        }
    }

    /// Where a sample in a copy comes from; its callers are changed to originals.
    fn in_originals(&mut self, sample: &mut Sample) -> Option<Original> {
        let pid = sample.pid;
        let original = self.followed.original(pid, sample.ip);
        if let Some(stack) = sample.stack.take() {
            self.follow_stack(sample, &stack);
            return original;
        }
        for caller in &mut sample.callers {
            // A return address may be the first one behind its function.
            if let Some(original) = self.followed.original(pid, *caller - 1) {
                *caller = original.address + 1;
            }
        }
        original
    }

    /// The callers of a sample with more than its instruction pointer.
    fn follow_stack(&mut self, sample: &mut Sample, stack: &Stack) {
        let (followed, unwinder) = (&mut self.followed, &mut self.unwinder);
        let has_stack = matches!(self.options.callers, Callers::Tables { .. });
        let chain = has_stack.then(|| followed.chain(sample.pid, stack, unwinder));
        if let Some(known) = &self.known {
            let (callers, inferred) =
                followed.infer(sample, (stack, chain.as_ref()), unwinder, known);
            (sample.callers, sample.inferred) = (callers, Some(inferred));
            return;
        }
        let chain = chain.unwrap_or_default();
        if let Some(training) = &mut self.training {
            // What cannot be used is counted.
            let _ = followed.train(sample, (stack, &chain), unwinder, training);
        }
        (sample.callers, sample.cut) = (chain.callers, chain.cut);
    }
}
