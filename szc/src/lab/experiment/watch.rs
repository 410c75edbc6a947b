//! Watches an experiment: shows where it stands, decides after each block whether to go on, and
//! saves on the way.
#![forbid(unsafe_code)]

use std::time::{Duration, Instant};

use anyhow::Result;
use szc_stats::describe::mean;
use szc_stats::sequential::{MIN_BLOCKS, MeanSequence, mean_sequence};

use super::pace::Pace;
use crate::lab::session::{Next, Observer};
use crate::report::number::{percent, quantities};
use crate::report::price::expectation;
use crate::report::progress::Progress;
use crate::report::text::running_estimate;
use crate::results::bias::is_answered;
use crate::results::comparison::{Criteria, criteria_of, judge, tolerances};
use crate::results::rows::{self, RowQuestion};
use crate::samples::design::Design;
use crate::samples::sample::log_ratios_of;
use crate::samples::{Command, Metric, RuleRecord, Sample, SamplesFile};

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
    /// No block is begun that would end after this time, as long as blocks have taken until now;
    /// with a fixed rule none after it.
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
    /// What is asked: each pair by the deciding metric, or each row of a harness in each pair.
    questions: Vec<RowQuestion>,
    started: Instant,
    saved: Instant,
    /// When the block under way began.
    block_began: Instant,
    pace: Pace,
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
        // What the user called, which may measure as another subcommand does.
        let called = file.command_line.get(1).map_or(file.command.name(), String::as_str);
        let progress = Progress::new(called, runs, quiet);
        for _ in 0..done {
            progress.advance();
        }
        let now = Instant::now();
        let pairs: Vec<_> = (1..file.programs.len()).map(|program| (0, program)).collect();
        let metric = file.design.metric.clone();
        Self {
            progress,
            design,
            stopping,
            criteria: criteria_of(file),
            log_ratios: Some(vec![Vec::new(); file.programs.len().saturating_sub(1)]),
            pairs: pairs.clone(),
            questions: if metric == Metric::Rows {
                Vec::new()
            } else {
                pairs.into_iter().map(|pair| (pair, metric.clone())).collect()
            },
            started: now,
            saved: now,
            block_began: now,
            pace: Pace::default(),
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
            Command::Bias => is_answered(&self.file.design, &self.design, blocks, samples),
            Command::Compare | Command::Gate | Command::Sweep => {
                self.is_judged(blocks, samples) && self.stopping.rule == RuleRecord::Sequential
            }
        }
    }

    fn is_judged(&mut self, blocks: u32, samples: &[Sample]) -> bool {
        self.see_blocks(blocks, samples);
        let metric = &self.file.design.metric;
        let lists = self.log_ratios.as_ref();
        let tolerances = tolerances(&self.file.design, &self.questions);
        let judged = lists.and_then(|lists| judge(&self.criteria, metric, lists, &tolerances));
        let Some(judged) = judged else {
            return false;
        };
        let open = judged.iter().position(|judged| !judged.verdict.is_decided());
        let shown = open.unwrap_or(0);
        let needed = judged.iter().filter_map(|judged| judged.blocks_needed).max();
        if let Some(judged) = judged.get(shown) {
            let label = |program: usize| self.file.programs[program].title_label();
            let ((reference, program), metric) = &self.questions[shown];
            let labels = (&*label(*reference), &*label(*program));
            let estimate = running_estimate(metric, labels, judged);
            self.progress.show(estimate + &self.expect(blocks, needed));
        }
        open.is_none()
    }

    /// Tells the bar how many runs there will be, as far as anybody can tell, and says what an
    /// answer takes; nothing where it is not what ends the experiment.
    fn expect(&self, blocks: u32, needed: Option<u64>) -> String {
        if self.stopping.rule == RuleRecord::Fixed {
            return String::new();
        }
        let possible = self.possible(blocks);
        let expected = needed.and_then(|needed| u32::try_from(needed).ok()).unwrap_or(u32::MAX);
        let expected = expected.max(blocks.saturating_add(1)).min(possible);
        self.progress.expect(self.design.runs_until(expected));
        needed.map_or_else(String::new, |needed| expectation(needed, possible))
    }

    /// How many blocks there may be, with the `blocks` that are complete.
    fn possible(&self, blocks: u32) -> u32 {
        let left = self.stopping.time.map(|time| time.saturating_sub(self.started.elapsed()));
        let more = left.and_then(|left| self.pace.fitting(left)).unwrap_or(u32::MAX);
        blocks.saturating_add(more).min(self.design.blocks)
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
        let needed = estimate
            .as_ref()
            .zip(self.stopping.precision)
            .map(|(found, precision)| blocks_for(half_width(found) / precision, blocks));
        let expected = self.expect(blocks, needed.filter(|_| !decided));
        let [center] = quantities(&self.file.design.metric, [center]);
        let width =
            estimate.map_or(String::new(), |found| format!(" ± {}", percent(half_width(&found))));
        let name = self.file.design.metric.title();
        self.progress.show(format!("{name} {center}{width} so far{expected}"));
        decided
    }

    /// Adds the log ratios of the blocks that are complete since the last look.
    fn see_blocks(&mut self, blocks: u32, samples: &[Sample]) {
        if self.file.design.metric == Metric::Rows {
            // A row may be missing in any run, and is then no question any more.
            let (questions, lists) = rows::answers(samples, blocks, &self.pairs);
            self.log_ratios = (!questions.is_empty()).then_some(lists);
            self.questions = questions;
            return;
        }
        let extended = |lists: &mut Vec<Vec<f64>>| {
            for (list, ((reference, program), metric)) in lists.iter_mut().zip(&self.questions) {
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

    /// Whether no further block may be begun. One look at the end must not depend on how long the
    /// runs took until then.
    fn is_late(&self, blocks: u32) -> bool {
        let over = self.stopping.time.is_some_and(|limit| self.started.elapsed() >= limit);
        over || self.stopping.rule == RuleRecord::Sequential
            && self.stopping.time.is_some()
            && self.possible(blocks) <= blocks
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

/// Blocks after which an interval is as narrow as it should be that is so many times wider after
/// `blocks`.
fn blocks_for(times: f64, blocks: u32) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "saturates, which is many all the same"
    )]
    let needed = (f64::from(blocks) * times * times).ceil() as u64;
    needed
}

impl Observer for Watch<'_> {
    fn run_done(&mut self) {
        self.progress.advance();
    }

    fn block_done(&mut self, blocks: u32, samples: &[Sample]) -> Next {
        self.pace.add(self.block_began.elapsed());
        let decided = self.is_decided(blocks, samples);
        if decided || self.is_late(blocks) {
            return Next::Stop;
        }
        self.save_on_the_way(blocks, samples);
        self.block_began = Instant::now();
        Next::Block
    }

    fn warning(&mut self, text: &str) {
        self.progress.warn(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::file_of;

    fn watch(rule: RuleRecord) -> Watch<'static> {
        let mut file = file_of(&[1000, 1000], 100);
        file.runs.clear();
        file.design.complete_blocks = 0;
        let time = Some(Duration::from_secs(3600));
        let stopping = Stopping { rule, time, ..Stopping::default() };
        Watch::new(&file, stopping, true, 0, None)
    }

    #[test]
    fn a_block_that_would_end_too_late_is_not_begun() {
        let mut watch = watch(RuleRecord::Sequential);
        assert!(!watch.is_late(0));
        watch.pace.add(Duration::from_secs(100));
        assert_eq!((watch.possible(7), watch.is_late(7)), (42, false));
        watch.pace.add(Duration::from_secs(3600));
        assert_eq!((watch.possible(7), watch.is_late(7)), (7, true));
        watch.stopping.time = None;
        assert_eq!((watch.possible(7), watch.is_late(7)), (100, false));
    }

    #[test]
    fn a_number_of_layouts_fixed_by_time_does_not_depend_on_how_long_they_took() {
        let mut watch = watch(RuleRecord::Fixed);
        watch.pace.add(Duration::from_secs(4000));
        assert!(!watch.is_late(1));
    }

    #[test]
    fn an_interval_half_as_wide_takes_four_times_the_layouts() {
        assert_eq!(blocks_for(2.0, 12), 48);
        assert_eq!(blocks_for(f64::INFINITY, 12), u64::MAX);
    }
}
