//! `szc bias`: is an answer an artefact of the setup, and of what in it?
//!
//! Where the order of objects is a factor, the programs are built first, once for each order.
//!
//! One experiment in up to two parts, whose samples are in one file: blocks of setups, and blocks
//! of the two sizes of the environment that seemed to differ most, with something held. The second
//! part has runs of its own, so that how the sizes were chosen does not matter.
#![forbid(unsafe_code)]

mod options;
mod orders;
mod simulate;

use std::path::Path;

use anyhow::{Context as _, Result, anyhow, bail};
use object::Object as _;

pub(crate) use self::options::Options;
use super::conclusion::{Source, conclude};
use super::exit::EXIT_VERDICT;
use super::experiment::{Experiment, Stopping};
use super::options::{CommonOptions, programs_of};
use super::subcommand::Subcommand;
use super::values::Budget;
use super::{output, resume, saved};
use crate::lab::analysis::analyse;
use crate::lab::failure::Failure;
use crate::measure::child::{self, End, Invocation};
use crate::measure::program::Program;
use crate::measure::stop::{Stop, stop_on_signals};
use crate::report::bias::report;
use crate::report::bias::suite::report as suite_report;
use crate::results::bias::extreme_sizes;
use crate::results::bias::suite::suite;
use crate::samples::design::{Addresses, Bases, Design, EnvironmentSize, MAX_BLOCKS};
use crate::samples::setups::{Contrast, Setups};
use crate::samples::{Command, EndedRecord, RuleRecord, SamplesFile, io};

/// Most blocks for a cause.
const MAX_CONTRAST_BLOCKS: u32 = 100;

/// Most drawn setups where nobody says otherwise.
const USUAL_SETUPS: u32 = 1000;

impl Subcommand for Options {
    const NAME: &'static str = "bias";

    fn carry_out(self, command_line: Vec<String>) -> Result<u8, Failure> {
        if self.commands.len() > 1 && saved::are_samples_files(&self.commands) {
            return over_programs(&self.commands, &self.common);
        }
        if let Some(paths) = saved::samples_files(&self.commands).map_err(Failure::Usage)? {
            let mut file = read(&paths[0]).map_err(Failure::Usage)?;
            let mut json = self.common.json.clone();
            if self.simulate {
                let (_, programs) =
                    resume::reopened(Command::Bias, &paths[0]).map_err(Failure::Usage)?;
                simulated(&mut file, &programs)?;
                json.get_or_insert_with(|| paths[0].clone());
            }
            let saved = Source::Saved(Box::new(file), json);
            return Ok(saved.concluded(self.common.quiet, report)?.1);
        }
        let quiet = self.common.quiet;
        let setups = self.setups().map_err(|text| Failure::Usage(anyhow!(text)))?;
        let built = match (&self.resume, setups.orders, self.build.is_used()) {
            (None, orders, used) if orders > 0 || used => Some(orders::programs(&self, orders)?),
            _ => None,
        };
        let experiment =
            experiment(&self, setups, built, command_line.clone()).map_err(Failure::Usage)?;
        if !quiet {
            output::say(&experiment.header())?;
        }
        let json = experiment.json.clone();
        let programs = experiment.programs.clone();
        let measured = programs.clone();
        let mut file = experiment.carry_out()?;
        if let Some(second) = second_part(&file, programs, command_line)? {
            file = Experiment { json: json.clone(), quiet, ..second }.carry_out()?;
        }
        if self.simulate && file.ended == EndedRecord::Complete {
            simulated(&mut file, &measured)?;
        }
        Ok(conclude(json.as_ref(), &file, &report(&file, quiet))?)
    }
}

/// Adds what a simulated processor does in the two setups that differ most.
fn simulated(file: &mut SamplesFile, programs: &[Program]) -> Result<()> {
    let stop = stop_on_signals().context("cannot handle signals")?;
    let found = simulate::simulate(file, programs, stop)?;
    if let Some(bias) = &mut file.bias {
        bias.simulated = found;
    }
    Ok(())
}

/// What experiments on several programs say together.
fn over_programs(paths: &[String], common: &CommonOptions) -> Result<u8, Failure> {
    let read = |path: &String| {
        let name = Path::new(path).file_stem().unwrap_or_default().to_string_lossy();
        Ok((name.into_owned(), read(Path::new(path))?))
    };
    let files: Vec<(String, SamplesFile)> =
        paths.iter().map(read).collect::<Result<_>>().map_err(Failure::Usage)?;
    let found = suite(&files);
    if let Some(path) = &common.json {
        output::write_json(path, "the result", &found)?;
    }
    output::say(&suite_report(&files, &found, common.quiet))?;
    Ok(EXIT_VERDICT)
}

/// What was measured before, with its results.
fn read(path: &Path) -> Result<SamplesFile> {
    let mut file = io::read(path)?;
    if file.command != Command::Bias {
        bail!("{} is of szc {}: give it to that subcommand", path.display(), file.command.name());
    }
    let simulated = file.bias.take().map(|bias| bias.simulated).unwrap_or_default();
    analyse(&mut file);
    if let Some(bias) = &mut file.bias {
        bias.simulated = simulated;
    }
    Ok(file)
}

fn experiment(
    options: &Options,
    setups: Setups,
    built: Option<Vec<Program>>,
    command_line: Vec<String>,
) -> Result<Experiment> {
    if let Some(path) = &options.resume {
        let rest = resume::rest_of(Command::Bias, path, None, command_line)?;
        return Ok(Experiment { quiet: options.common.quiet, ..rest });
    }
    let programs = match built {
        Some(programs) => programs,
        None => programs_of(&options.commands, &options.names)?,
    };
    if !(1..=2).contains(&programs.len()) {
        bail!(
            "{} commands, and one or two are needed, each quoted as a whole: -- './a input' './b \
             input'",
            programs.len()
        );
    }
    if let Some(program) = programs.iter().find(|program| program.via_shell) {
        bail!(
            "a shell would execute {}, and the setup would be the shell's: give a command without \
             pipes, variables and the like",
            program.title()
        );
    }
    if options.common.env_size == EnvironmentSize::Fixed || options.common.bases == Bases::Kernel {
        bail!("--env-size fixed and --bases kernel leave nothing to vary: leave them out");
    }
    check_start_of_stack()?;
    if setups.has_layouts() {
        programs.iter().try_for_each(check_built_by_szc)?;
    }
    let blocks = if setups.drawn {
        options.budget.map_or(USUAL_SETUPS, Budget::blocks)
    } else {
        setups.blocks()
    };
    if blocks > MAX_BLOCKS {
        bail!("{blocks} blocks, and at most {MAX_BLOCKS} are possible: ask for fewer setups");
    }
    let design = Design {
        coupled: true,
        runs_per_position: options.runs_per_block.unwrap_or(1 + u32::from(setups.drawn)),
        setups: Some(setups),
        ..Design::mirrored(programs.len(), blocks, 0)
    };
    let drawn = options.common.experiment(Command::Bias, command_line, programs, design)?;
    let bases = if setups.drawn { Bases::Drawn } else { Bases::Stack };
    Ok(Experiment {
        stopping: Stopping {
            rule: RuleRecord::Sequential,
            precision: options.precision,
            tolerance: options.delta,
            time: options.budget.and_then(Budget::time),
            ..Stopping::default()
        },
        design: Design { bases, ..drawn.design },
        ..drawn
    })
}

/// Whether a program has a table of szc, and so layouts.
fn check_built_by_szc(program: &Program) -> Result<()> {
    let path = program.executable_path();
    let image = path.as_ref().and_then(|path| std::fs::read(path).ok()).unwrap_or_default();
    let file = object::File::parse(&*image);
    if file.is_ok_and(|file| file.section_by_name(szc_abi::TABLE_SECTION).is_some()) {
        return Ok(());
    }
    bail!(
        "{} was not built by szc, and code, stack and heap are factors only of programs that szc \
         lays out: build it with CC=szc, or leave them out of --factors",
        program.title()
    )
}

/// Whether the start of a stack can be chosen here.
fn check_start_of_stack() -> Result<()> {
    let argv = ["true".to_owned()];
    let addresses = Some(Addresses { mapping_pages: None, lowered_bytes: 16 });
    let outcome = child::run(&Invocation { addresses, ..Invocation::new(&argv) }, &Stop::new());
    let found = match outcome {
        Ok(outcome) if outcome.end == End::Exited(0) => return Ok(()),
        Ok(outcome) => format!("{:?}", outcome.end),
        Err(error) => error.to_string(),
    };
    Err(anyhow!(
        "where the stack of a program begins cannot be chosen here ({found}), and szc bias needs \
         that: personality(2) and ptrace(2) have to be allowed, as they are outside of most \
         containers"
    ))
}

/// The blocks that look for causes, if they were asked for and the first part is complete.
fn second_part(
    file: &SamplesFile,
    programs: Vec<Program>,
    command_line: Vec<String>,
) -> Result<Option<Experiment>> {
    let plan = file.design.plan;
    let Some(setups) = plan.setups else { return Ok(None) };
    let wanted = setups.contrast.filter(|_| setups.chosen_contrast().is_none());
    let complete =
        file.ended == EndedRecord::Complete && file.design.complete_blocks >= setups.blocks();
    let (Some(contrast), Some(sizes_bytes), true) = (wanted, extreme_sizes(file), complete) else {
        return Ok(None);
    };
    let setups = Setups { contrast: Some(Contrast { sizes_bytes, ..contrast }), ..setups };
    let mut file = file.clone();
    file.design.plan.setups = Some(setups);
    file.design.plan.blocks = setups.blocks() + MAX_CONTRAST_BLOCKS;
    resume::continued(file, programs, Path::new("the first part"), None, command_line).map(Some)
}

#[cfg(test)]
mod tests;
