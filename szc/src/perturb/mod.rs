//! `szc perturb`: does measuring disturb what is measured?
//!
//! A run is traced from outside (`outside`) at equal intervals (`trace`), and with probes inside
//! (`probe`, `image`, `blocks`) or under a tool. `experiment` carries all runs out in random order;
//! what follows (`results`) is computed from the record of the traces alone, and shown by `text`
//! and `page`. `advice` tries how probes can be split over runs.
#![forbid(unsafe_code)]

mod advice;
mod blocks;
mod experiment;
mod image;
mod metric;
mod options;
mod outside;
mod page;
mod plot;
mod probe;
mod record;
mod results;
mod text;
mod trace;

use anyhow::{Context as _, Result, anyhow};
use jiff::Timestamp;
use szc_stats::perturbation::smallest_adjusted_p;

use self::experiment::{Experiment, Session};
use self::metric::Inside;
pub(crate) use self::options::Options;
use self::record::{Record, Step, VERSION};
use self::results::{ALPHA, judge};
use crate::lab::exit::EXIT_VERDICT;
use crate::lab::failure::Failure;
use crate::lab::output::say;
use crate::lab::subcommand::Subcommand;
use crate::measure::stop::stop_on_signals;
use crate::samples::io::write_whole;

impl Subcommand for Options {
    const NAME: &'static str = "perturb";

    fn carry_out(self, command_line: Vec<String>) -> Result<u8, Failure> {
        if let Some(path) = &self.read {
            let record = Record::read(path).map_err(Failure::Usage)?;
            let judged = judge(&record).map_err(Failure::Usage)?;
            self.write_page(&record, &judged)?;
            say(&text::report(&record, &judged, self.quiet))?;
            return Ok(EXIT_VERDICT);
        }
        let experiment = self.experiment().map_err(Failure::Usage)?;
        let earlier = self.earlier().map_err(Failure::Usage)?;
        let seed = earlier.as_ref().map(|earlier| earlier.seed);
        let record = self.record(&experiment, command_line, seed)?;
        if let Some(earlier) = &earlier {
            record.check_same(earlier).map_err(Failure::Usage)?;
        }
        let stop = stop_on_signals().context("cannot handle signals")?;
        let mut session = Session::begin(&experiment, record, earlier, stop)?;
        if !self.quiet {
            say(&header(&session, &experiment))?;
        }
        let measured = session.measure();
        session.save()?;
        measured?;
        let judged = judge(&session.record)?;
        self.write_page(&session.record, &judged)?;
        say(&text::report(&session.record, &judged, self.quiet))?;
        if self.advise {
            let tried = self.advise(&mut session, &judged);
            session.save()?;
            say(&tried?)?;
        }
        Ok(EXIT_VERDICT)
    }
}

impl Options {
    fn advise(
        &self,
        session: &mut Session<'_>,
        judged: &[results::Judged],
    ) -> Result<String, Failure> {
        let of_probes: Vec<results::Judged> = judged
            .iter()
            .filter(|one| session.record.steps[one.step].tool.is_none())
            .cloned()
            .collect();
        if !advice::perturbs(&of_probes) {
            return Ok("No split is needed: all can be measured in one run.\n".to_owned());
        }
        Ok(text::advice(&advice::split(session)?))
    }

    fn record(
        &self,
        experiment: &Experiment,
        command_line: Vec<String>,
        seed: Option<u64>,
    ) -> Result<Record> {
        let seed = match seed.or(self.seed) {
            Some(seed) => seed,
            None => crate::lab::options::draw_seed()?,
        };
        let mut steps = vec![Step {
            name: "baseline".to_owned(),
            probes: Vec::new(),
            tool: None,
            for_advice: false,
        }];
        let mut probes: Vec<String> = Vec::new();
        for inside in &experiment.inside {
            probes.push(Inside::to_string(inside));
            let sign = if probes.len() > 1 { "+ " } else { "" };
            steps.push(Step {
                name: format!("{sign}{inside}"),
                probes: probes.clone(),
                tool: None,
                for_advice: false,
            });
        }
        if let Some(tool) = &experiment.tool {
            let tool = tool.join(" ");
            steps.push(Step {
                name: tool.clone(),
                probes: Vec::new(),
                tool: Some(tool),
                for_advice: false,
            });
        }
        check_power(experiment, steps.len() - 1)?;
        Ok(Record {
            szc_perturb: VERSION,
            command_line,
            command: experiment.command.clone(),
            date: Timestamp::now().to_string(),
            seed,
            interval_ms: experiment.interval.as_secs_f64() * 1e3,
            clock: Some(experiment.clock),
            metrics: experiment.outside.iter().map(ToString::to_string).collect(),
            steps,
            arms: Vec::new(),
            runs: Vec::new(),
        })
    }

    fn write_page(&self, record: &Record, judged: &[results::Judged]) -> Result<()> {
        let Some(path) = &self.html else { return Ok(()) };
        let page = page::page(record, judged).context("cannot write the result into the page")?;
        write_whole(path, "the page", page.as_bytes())
    }
}

/// Whether so many runs could show anything.
fn check_power(experiment: &Experiment, steps: usize) -> Result<()> {
    let metrics = experiment.outside.len();
    let least =
        |runs: usize| smallest_adjusted_p(experiment.baselines, runs, metrics) * steps as f64;
    if least(experiment.runs) <= ALPHA {
        return Ok(());
    }
    let enough = (1..=50).find(|runs| least(*runs) <= ALPHA);
    let advice = enough.map_or_else(
        || "more baselines are needed (--baseline)".to_owned(),
        |runs| format!("--runs {runs} or more are needed"),
    );
    Err(anyhow!(
        "{} baselines and {} runs could show nothing among so many metrics: {advice}",
        experiment.baselines,
        experiment.runs
    ))
}

fn header(session: &Session<'_>, experiment: &Experiment) -> String {
    let record = &session.record;
    let runs = experiment.baselines + experiment.runs * (record.steps.len() - 1);
    format!(
        "{}: {} runs, a record every {} ms, seed {}\n",
        session.executable().display(),
        runs * record.arms.len(),
        record.interval_ms,
        record.seed
    )
}

#[cfg(test)]
mod tests;
