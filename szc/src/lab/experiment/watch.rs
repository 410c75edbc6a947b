//! Watches an experiment: shows where it stands, decides after each block whether to go on, and
//! saves on the way.
#![forbid(unsafe_code)]

use std::time::{Duration, Instant};

use anyhow::Result;
use szc_stats::describe::mean;
use szc_stats::sequential::{MIN_BLOCKS, MeanSequence, mean_sequence};

use crate::lab::session::{Next, Observer};
use crate::report::number::{percent, quantities};
use crate::report::progress::Progress;
use crate::report::text::running_estimate;
use crate::results::comparison::{Criteria, Judged, criteria_of, judge};
use crate::samples::design::Design;
use crate::samples::sample::log_ratios_of;
use crate::samples::{Command, RuleRecord, Sample, SamplesFile};

/// When to stop, and by what rule to judge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stopping {
    /// When the data are looked at.
    pub rule: RuleRecord,
    /// Tolerated change as a share, for questions about two programs.
    pub tolerance: Option<f64>,
    /// How many times slower than the others a layout is assumed to be at most.
    pub slowest_layout: Option<f64>,
    /// Half the width of the interval to reach, as a share of the mean.
    pub precision: Option<f64>,
    /// No further block is begun after this time.
    pub time: Option<Duration>,
}

impl Default for Stopping {
    /// After the blocks of the design.
    fn default() -> Self {
        Self {
            rule: RuleRecord::Fixed,
            tolerance: None,
            slowest_layout: None,
            precision: None,
            time: None,
        }
    }
}

/// Keeps what an experiment has measured so far.
pub type Keep<'a> = Box<dyn FnMut(&SamplesFile) -> Result<()> + 'a>;

/// Time between two savings: losing a minute is bearable, and writing costs little.
const SAVING_INTERVAL: Duration = Duration::from_secs(60);

/// The observer of an experiment.
pub(in crate::lab) struct Watch<'a> {
    progress: Progress,
    design: Design,
    stopping: Stopping,
    criteria: Criteria,
    pairs: Vec<(usize, usize)>,
    started: Instant,
    saved: Instant,
    /// Of one program: the mean of each complete block.
    layout_means: Vec<f64>,
    /// Of several: the log ratios of the complete blocks, one list for each pair; none once a block
    /// has none.
    log_ratios: Option<Vec<Vec<f64>>>,
    /// What keeps the file on the way.
    keep: Option<Keep<'a>>,
    /// The file as it will be, with the runs of the last look.
    file: SamplesFile,
}

impl<'a> Watch<'a> {
    /// Of an experiment whose file, still without runs, is `file`, and of which `done` runs were
    /// made before an interruption; `keep` is called about every minute.
    pub(in crate::lab) fn new(
        file: &SamplesFile,
        stopping: Stopping,
        quiet: bool,
        done: usize,
        keep: Option<Keep<'a>>,
    ) -> Self {
        let design = file.design.plan;
        let runs = if stopping.time.is_some() { 0 } else { design.total_runs() };
        let progress = Progress::new(file.command.name(), runs, quiet);
        for _ in 0..done {
            progress.advance();
        }
        let now = Instant::now();
        Self {
            progress,
            design,
            stopping,
            criteria: criteria_of(file),
            log_ratios: Some(vec![Vec::new(); file.programs.len().saturating_sub(1)]),
            pairs: (1..file.programs.len()).map(|program| (0, program)).collect(),
            started: now,
            saved: now,
            layout_means: Vec::new(),
            keep,
            file: file.clone(),
        }
    }

    /// A warning to the user.
    pub(super) fn warn(&self, text: &str) {
        self.progress.warn(text);
    }

    /// Removes the bar.
    pub(super) fn finish(&self) {
        self.progress.finish();
    }

    /// Whether the rule says that the question is answered.
    pub(super) fn is_decided(&mut self, blocks: u32, samples: &[Sample]) -> bool {
        match self.file.command {
            Command::Run if self.stopping.precision.is_none() && !self.progress.is_visible() => {
                false
            }
            Command::Run => self.is_precise(blocks, samples),
            Command::Compare | Command::Gate | Command::Sweep => {
                self.is_judged(blocks, samples) && self.stopping.rule == RuleRecord::Sequential
            }
        }
    }

    fn is_judged(&mut self, blocks: u32, samples: &[Sample]) -> bool {
        self.see_blocks(blocks, samples);
        let metric = &self.file.design.metric;
        let lists = self.log_ratios.as_ref();
        let judged = lists.and_then(|lists| judge(&self.criteria, metric, lists));
        let Some(judged) = judged else {
            return false;
        };
        let open = judged.iter().position(|judged| !judged.verdict.is_decided());
        let shown = open.unwrap_or(0);
        if let Some(judged) = judged.get(shown) {
            let label = |program: usize| self.file.programs[program].title_label();
            let (reference, program) = self.pairs[shown];
            let labels = (&*label(reference), &*label(program));
            self.progress.show(running_estimate(metric, labels, judged));
        }
        self.expect(blocks, &judged);
        open.is_none()
    }

    /// Tells the bar how many runs there will be, as far as anybody can tell.
    fn expect(&self, blocks: u32, judged: &[Judged]) {
        if self.stopping.rule == RuleRecord::Fixed || self.stopping.time.is_some() {
            return;
        }
        let needed = judged.iter().filter_map(|judged| judged.blocks_needed).max();
        let needed = needed.and_then(|blocks| u32::try_from(blocks).ok()).unwrap_or(u32::MAX);
        let expected = needed.max(blocks.saturating_add(1)).min(self.design.blocks);
        self.progress.expect(self.design.runs_until(expected));
    }

    /// Of one program: whether its mean is known as precisely as asked.
    fn is_precise(&mut self, blocks: u32, samples: &[Sample]) -> bool {
        self.see_layouts(blocks, samples);
        let Some(center) = mean(&self.layout_means).filter(|center| *center > 0.0) else {
            return false;
        };
        // Measured in means, so that the precision is a share.
        let shares: Vec<f64> = self.layout_means.iter().map(|value| value / center).collect();
        let estimate = (shares.len() >= MIN_BLOCKS)
            .then(|| mean_sequence(&shares).ok())
            .flatten()
            .filter(|found| found.mean.is_finite() && found.standard_deviation.is_finite());
        let half_width = |found: &MeanSequence| (found.interval.upper - found.interval.lower) / 2.0;
        let decided = match (&estimate, self.stopping.precision) {
            (Some(found), Some(precision)) => {
                half_width(found) <= precision || blocks >= self.design.blocks
            }
            _ => false,
        };
        let [center] = quantities(&self.file.design.metric, [center]);
        let width =
            estimate.map_or(String::new(), |found| format!(" ± {}", percent(half_width(&found))));
        self.progress.show(format!("{} {center}{width} so far", self.file.design.metric.title()));
        decided
    }

    /// Adds the log ratios of the blocks that are complete since the last look.
    fn see_blocks(&mut self, blocks: u32, samples: &[Sample]) {
        let metric = &self.file.design.metric;
        let extended = |lists: &mut Vec<Vec<f64>>| {
            for (list, (reference, program)) in lists.iter_mut().zip(&self.pairs) {
                let seen = u32::try_from(list.len()).ok()?;
                let new = log_ratios_of(samples, seen..blocks, *reference, *program, metric)?;
                list.extend(new);
            }
            Some(())
        };
        if self.log_ratios.as_mut().and_then(extended).is_none() {
            self.log_ratios = None;
        }
    }

    /// Adds the means of the blocks that are complete since the last look: short runs come by the
    /// ten thousand, and all of them are not to be read after each.
    fn see_layouts(&mut self, blocks: u32, samples: &[Sample]) {
        let metric = &self.file.design.metric;
        while let Ok(block) = u32::try_from(self.layout_means.len())
            && block < blocks
        {
            let start = samples.partition_point(|run| run.block < block);
            let of_block = samples[start..].iter().take_while(|run| run.block == block);
            let values: Vec<f64> = of_block.map(|run| run.value(metric)).collect();
            // A run too short for the clock leaves nothing to be precise about.
            let all_positive = values.iter().all(|value| *value > 0.0);
            self.layout_means.push(mean(&values).filter(|_| all_positive).unwrap_or(f64::NAN));
        }
    }

    /// Saves what there is, if it is time. A disk that is full now may have room at the end.
    fn save_on_the_way(&mut self, blocks: u32, samples: &[Sample]) {
        let Some(keep) = &mut self.keep else {
            return;
        };
        if self.saved.elapsed() < SAVING_INTERVAL {
            return;
        }
        self.saved = Instant::now();
        self.file.design.complete_blocks = blocks;
        self.file.runs = samples.to_vec();
        if let Err(error) = keep(&self.file) {
            self.progress.warn(&format!("{error:#}"));
        }
    }
}

impl Observer for Watch<'_> {
    fn run_done(&mut self) {
        self.progress.advance();
    }

    fn block_done(&mut self, blocks: u32, samples: &[Sample]) -> Next {
        let decided = self.is_decided(blocks, samples);
        let late = self.stopping.time.is_some_and(|limit| self.started.elapsed() >= limit);
        if decided || late {
            return Next::Stop;
        }
        self.save_on_the_way(blocks, samples);
        Next::Block
    }

    fn warning(&mut self, text: &str) {
        self.progress.warn(text);
    }
}
