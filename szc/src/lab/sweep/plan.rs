//! A sweep as a whole: which experiments it consists of, and the one file that they make.
//!
//! The file names all programs from its beginning, so that what is missing of an interrupted sweep
//! is known from it alone; the runs of each program are those of its complete blocks.
#![forbid(unsafe_code)]

use std::io::{Write, stderr};
use std::path::PathBuf;

use anyhow::Result;

use crate::lab::analysis::analyse;
use crate::lab::experiment::{Experiment, Keep, Measurement, Stopping};
use crate::lab::options::MetricChoice;
use crate::lab::output::save;
use crate::lab::resume::schedule_of;
use crate::lab::session::Conditions;
use crate::measure::program::Program;
use crate::samples::design::Design;
use crate::samples::shard::Shard;
use crate::samples::{Command, EndedRecord, ProgramRecord, SamplesFile, io};

/// A program of the suite: the same command at all levels, the reference first.
pub(super) struct Workload {
    pub(super) name: String,
    pub(super) levels: Vec<(String, Program)>,
}

/// Everything about a sweep that is known before its first run, or before what is missing of it.
pub(super) struct Sweep {
    /// At least one, all with the same levels.
    pub(super) workloads: Vec<Workload>,
    /// Of each program; the seed is the sweep's.
    pub(super) design: Design,
    pub(super) conditions: Conditions,
    /// The part of the suite that the workloads are.
    pub(super) shard: Option<Shard>,
    /// The value of --metric.
    pub(super) metric: String,
    pub(super) tolerance: Option<f64>,
    /// The command line, word by word.
    pub(super) command_line: Vec<String>,
    pub(super) json: Option<PathBuf>,
    pub(super) quiet: bool,
    /// What was measured before an interruption.
    pub(super) earlier: Option<SamplesFile>,
}

impl Sweep {
    /// Measures one program of the suite after the other, and saves after each and about every
    /// minute; the file that it returns is analysed, and not saved yet.
    ///
    /// # Errors
    /// When szc itself cannot work. A program that fails is [`EndedRecord::Refused`].
    pub(super) fn carry_out(&self) -> Result<SamplesFile> {
        if let Some(path) = &self.json {
            io::check_writable(path)?;
        }
        let mut whole = self.file()?;
        for (place, workload) in self.workloads.iter().enumerate() {
            let earlier = self.part(&whole, place);
            if earlier.design.complete_blocks >= self.design.blocks {
                continue;
            }
            if !self.quiet && self.workloads.len() > 1 {
                let count = self.workloads.len();
                // Nothing measured is to be lost because nobody reads this.
                let _ = writeln!(stderr(), "{} ({} of {count})", workload.name, place + 1);
            }
            let programs = workload.levels.iter().map(|(_, program)| program.clone()).collect();
            // Seeds one apart have nothing in common: each is hashed with the index of a run. A
            // shard has those that its programs have in the whole suite.
            let place_in_suite = self.shard.map_or(place, |shard| shard.place(place));
            let seed = self.design.seed.wrapping_add(place_in_suite as u64);
            let earlier = (earlier.design.complete_blocks > 0).then_some(earlier);
            let experiment = self.experiment(programs, seed, earlier)?;
            let part = experiment.carry_out_keeping(self.keep(&whole, place))?;
            let ended = part.ended.clone();
            self.put_back(&mut whole, place, part);
            if ended != EndedRecord::Complete {
                whole.ended = ended;
                analyse(&mut whole);
                return Ok(whole);
            }
            if let Some(path) = self.file_on_the_way()
                && place + 1 < self.workloads.len()
                && let Err(error) = save(path, &whole)
            {
                // A disk that is full now may have room at the end.
                let _ = writeln!(stderr(), "szc sweep: warning: {error:#}");
            }
        }
        whole.ended = EndedRecord::Complete;
        analyse(&mut whole);
        Ok(whole)
    }

    /// The file to save to before the end.
    fn file_on_the_way(&self) -> Option<&PathBuf> {
        self.json.as_ref().filter(|path| !io::is_special(path))
    }

    /// Saves what there is of the program at `place` as a part of `whole`.
    fn keep<'a>(&'a self, whole: &'a SamplesFile, place: usize) -> Option<Keep<'a>> {
        let path = self.file_on_the_way()?;
        Some(Box::new(move |part| {
            let mut so_far = whole.clone();
            self.put_back(&mut so_far, place, part.clone());
            save(path, &so_far)
        }))
    }

    fn experiment(
        &self,
        programs: Vec<Program>,
        seed: u64,
        earlier: Option<SamplesFile>,
    ) -> Result<Experiment> {
        let choice = MetricChoice::new(&self.metric)?;
        let measurement = Measurement {
            conditions: self.conditions.clone(),
            instruments: choice.instruments,
            metric_option: choice.option,
        };
        let design = Design { programs: self.levels(), seed, ..self.design };
        let command_line = self.command_line.clone();
        Ok(Experiment {
            stopping: Stopping { tolerance: self.tolerance, ..Stopping::default() },
            quiet: self.quiet,
            schedule: earlier.as_ref().and_then(schedule_of),
            earlier,
            ..Experiment::new(Command::Sweep, command_line, programs, design, measurement)
        })
    }

    /// How many levels each program has.
    fn levels(&self) -> usize {
        self.workloads.first().map_or(0, |workload| workload.levels.len())
    }

    /// The file with all programs: without runs, or with those from before the interruption.
    fn file(&self) -> Result<SamplesFile> {
        if let Some(earlier) = &self.earlier {
            return Ok(SamplesFile {
                ended: EndedRecord::Unfinished,
                results: Vec::new(),
                summaries: Vec::new(),
                suite: None,
                over_machines: Vec::new(),
                ..earlier.clone()
            });
        }
        let levels = || self.workloads.iter().flat_map(|workload| &workload.levels);
        let all = levels().map(|(_, program)| program.clone()).collect();
        let mut file = self.experiment(all, self.design.seed, None)?.empty_file();
        let names = self.workloads.iter().flat_map(|workload| {
            workload.levels.iter().map(|(level, _)| (workload.name.clone(), level.clone()))
        });
        file.design.shard = self.shard;
        for (record, (workload, level)) in file.programs.iter_mut().zip(names) {
            record.workload = Some(workload);
            record.level = Some(level);
        }
        Ok(file)
    }

    /// What `whole` has of the program at `place`, as a file of its own.
    fn part(&self, whole: &SamplesFile, place: usize) -> SamplesFile {
        let start = place * self.levels();
        let end = start + self.levels();
        let mut part = SamplesFile {
            programs: whole.programs[start..end].to_vec(),
            runs: Vec::new(),
            ..whole.clone()
        };
        part.runs.extend(whole.runs.iter().filter(|run| (start..end).contains(&run.program)).map(
            |run| {
                let mut run = run.clone();
                run.program -= start;
                run
            },
        ));
        let last = part.runs.iter().map(|run| run.block).max();
        part.design.complete_blocks = last.map_or(0, |last| last.saturating_add(1));
        part
    }

    /// The complete blocks of the program at `place` become those of `part`.
    fn put_back(&self, whole: &mut SamplesFile, place: usize, part: SamplesFile) {
        let start = place * self.levels();
        let range = start..start + self.levels();
        let blocks = part.design.complete_blocks;
        for (record, found) in whole.programs[range.clone()].iter_mut().zip(part.programs) {
            *record = ProgramRecord {
                workload: record.workload.take(),
                level: record.level.take(),
                ..found
            };
        }
        whole.runs.retain(|run| !range.contains(&run.program));
        whole.runs.extend(part.runs.into_iter().filter(|run| run.block < blocks).map(|mut run| {
            run.program += start;
            run
        }));
        whole.design.complete_blocks = whole.design.complete_blocks.max(blocks);
    }
}
