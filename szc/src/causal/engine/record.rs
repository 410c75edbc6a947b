//! `szc causal -- CMD`: runs the program as often as asked, and writes a causal profile.
#![forbid(unsafe_code)]

use std::thread;

use anyhow::{Context as _, Result, anyhow};
use perf_event::events::Software;
use perf_event::{Builder, Counter};
use szc_sampler::clock::now;

use super::experiments::Experiments;
use super::options::RecordOptions;
use super::outcome::{Outcome, exit_code, explain};
use super::plan::Plan;
use super::run::Run;
use super::spaces::Spaces;
use crate::causal::file::{Header, VERSION, Writer};
use crate::drive::parts::find_own;
use crate::lab::exit::{EXIT_SIGNAL_BASE, EXIT_VERDICT};
use crate::lab::failure::Failure;
use crate::measure::child::guardian;
use crate::measure::stop::stop_on_signals;

/// Time between samples of a thread.
const PERIOD_NS: u64 = 1_000_000;

/// Carries it out. The exit code is one of [`crate::lab::exit`].
///
/// # Errors
/// Nothing could be recorded.
pub(crate) fn record(options: RecordOptions) -> Result<u8, Failure> {
    let speedups = options.speedups().map_err(Failure::Usage)?;
    let scope = options.scope();
    let seed = options.seed.unwrap_or_else(now);
    let processors = thread::available_parallelism().map_or(0, std::num::NonZero::get);
    let mut experiments = Experiments::new(seed, &speedups, options.shortest_ns());
    let mut spaces = Spaces::new(scope.clone(), options.by_function());
    let load = options.load();
    let (runs, is_load_alone) = (options.runs(), options.is_load_alone());
    let mut loads = Experiments::new(seed, &[0, 100], 0);
    let library = find_own(szc_abi::causal::LIBRARY)?;
    let stop = stop_on_signals().context("cannot handle signals")?;
    guardian::start().context("cannot start what ends programs if szc is killed")?;
    // While one such clock is there, the kernel is fast to give others.
    let _clock = clock().map_err(|error| anyhow!(why_unavailable(&error)))?;
    let plan = Plan {
        header: Header {
            version: VERSION,
            command: options.command,
            seed,
            period_ns: PERIOD_NS,
            processors: u32::try_from(processors).unwrap_or_default(),
            end_to_end: options.end_to_end,
            load,
            scope: scope.describe(),
        },
        library,
        arrival: options.arrival,
        is_load_alone,
        progress: options.progress,
        fixed: options.fixed_line,
        end_to_end: options.end_to_end,
    };
    let shown = options.output.display();
    let mut writer = Writer::create(&options.output, &plan.header)
        .with_context(|| format!("cannot write {shown}"))?;
    let mut candidates = Candidates::default();
    let mut pair = None;
    let (mut made, mut code) = (0, EXIT_VERDICT);
    for number in 0..runs {
        let name;
        let throughout = if plan.end_to_end && !is_load_alone {
            let percent = experiments.speedup_of_run(number, &mut pair);
            name = plan.fixed.clone().or_else(|| candidates.draw(&mut experiments, number));
            Some((name.as_deref(), percent))
        } else {
            None
        };
        let is_amplified = plan.header.load.is_some()
            && (!is_load_alone || is_amplified(&mut loads, number, &mut pair));
        let run = Run::new(&plan, (number, is_amplified), &mut spaces)?;
        let outcome = run
            .carry_out(&mut experiments, throughout, &mut writer, stop)
            .map_err(|error| if number == 0 { Failure::Usage(error) } else { error.into() })?;
        made += outcome.experiments;
        candidates.learn(&outcome);
        explain(&outcome, &plan, &spaces);
        code = exit_code(&outcome);
        if stop.signal().is_some() || code != EXIT_VERDICT {
            break;
        }
    }
    eprintln!("szc: {made} experiments in {shown}");
    let by_signal = |signal: i32| EXIT_SIGNAL_BASE + u8::try_from(signal).unwrap_or_default();
    Ok(stop.signal().map_or(code, by_signal))
}

/// Whether a run has the greater load, as one of each pair has. The first one has not: what arrives
/// there says which load there can be.
fn is_amplified(loads: &mut Experiments, number: u32, pair: &mut Option<u32>) -> bool {
    match number {
        0 => false,
        1 => true,
        _ => loads.speedup_of_run(number, pair) != 0,
    }
}

/// What runs may speed up that are an experiment each: what earlier runs were sampled in.
#[derive(Default)]
struct Candidates {
    /// By name, with all samples up to it.
    sums: Vec<(String, u64)>,
    /// Of the first run of a pair.
    last: Option<String>,
}

impl Candidates {
    fn learn(&mut self, outcome: &Outcome) {
        if !self.sums.is_empty() {
            return;
        }
        let mut sum = 0;
        for samples in outcome.samples.by_location() {
            sum += samples.count;
            self.sums.push((samples.location.to_string(), sum));
        }
    }

    /// One by random, as likely as it is sampled; the same in both runs of a pair.
    fn draw(&mut self, experiments: &mut Experiments, number: u32) -> Option<String> {
        if number % 2 == 1 && self.last.is_some() {
            return self.last.take();
        }
        let all = self.sums.last()?.1;
        let drawn = experiments.below(all);
        let name = self.sums.iter().find(|(_, sum)| drawn < *sum)?.0.clone();
        self.last = Some(name.clone());
        Some(name)
    }
}

fn clock() -> std::io::Result<Counter> {
    let mut builder = Builder::new(Software::TASK_CLOCK);
    builder.sample_period(1_000_000_000).exclude_kernel(true).exclude_hv(true);
    builder.remove_on_exec(true).sigtrap(true).enabled(false).build()
}

fn why_unavailable(error: &std::io::Error) -> String {
    let level = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid");
    let level = level.map_or_else(|_| "unknown".into(), |level| level.trim().to_owned());
    format!(
        "the kernel gives no clocks that signal threads: {error}. They need Linux 5.13, \
         perf_event_open(2), which containers often forbid (docker: --cap-add PERFMON), and \
         kernel.perf_event_paranoid of 2 or less, which is {level}: \
         sysctl kernel.perf_event_paranoid=2"
    )
}
