//! Stage two: the setup with the lowest value against that with the highest, on a simulated
//! processor: which of its events differ, and what shares the low bits of its address.
//!
//! Under valgrind a stack begins elsewhere than on the machine. A small program in the place of the
//! measured one tells where, so that the padding of the environment can make up for it: the
//! simulated stack begins at the same position within a page.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use anyhow::{Context as _, Result, anyhow, bail};
use object::{Object, ObjectSymbol, SymbolKind};

use crate::lab::session::{Conditions, levelling, start};
use crate::measure::child::Outcome;
use crate::measure::instrument::Instrument;
use crate::measure::lane::Lane;
use crate::measure::names::readable;
use crate::measure::program::Program;
use crate::measure::stack_start::{position, words_like};
use crate::measure::stop::Stop;
use crate::measure::valgrind::{self, Events, Simulation};
use crate::results::bias::extreme_setups;
use crate::samples::SamplesFile;
use crate::samples::bias::{EventRecord, PlaceRecord, SimulatedRecord};
use crate::samples::design::{Design, PlannedRun};
use crate::samples::setups::{PAGE_BYTES, STACK_ALIGNMENT};

/// Functions with less than this share of the instructions are not looked at.
const MIN_SHARE: f64 = 0.01;

/// Most functions of a program.
const MAX_FUNCTIONS: usize = 12;

/// How far below its start the stack is looked at for what shares its low bits.
const FRAME_BYTES: u32 = 512;

/// Most names of data that share low bits with the stack.
const MAX_NAMES: usize = 8;

/// Tries to bring the simulated stack to the machine's position.
const TRIES: u32 = 3;

/// In front of an event and of a function in figures.
const EVENT: &str = "event:";
const FUNCTION: &str = "function:";

/// Cachegrind, with all that it counts as figures.
struct Counting;

impl Instrument for Counting {
    fn another(&self) -> Box<dyn Instrument> {
        Box::new(Self)
    }

    fn command(&self, argv: Vec<String>, scratch: &Path) -> Vec<String> {
        Simulation::Cycles.argv(&argv, scratch)
    }

    fn figures(
        &mut self,
        scratch: &Path,
        _outcome: &Outcome,
    ) -> Result<BTreeMap<String, f64>, String> {
        let Events { totals, functions } =
            valgrind::events(scratch).map_err(|error| error.to_string())?;
        let named = |prefix: &str, list: Vec<(String, u64)>| {
            list.into_iter()
                .map(|(name, count)| (format!("{prefix}{name}"), count as f64))
                .collect::<Vec<_>>()
        };
        Ok(named(EVENT, totals).into_iter().chain(named(FUNCTION, functions)).collect())
    }
}

/// What a run in one setup was simulated to do.
struct Simulated {
    events: BTreeMap<String, f64>,
    /// Low bits of the address at which the stack begins.
    stack: Option<u32>,
    /// Whether it began there in the simulation.
    is_aligned: bool,
}

/// Simulates each program in the setup with the lowest value, and in that with the highest.
///
/// # Errors
/// Without valgrind, if no setups differ, or a program does not run.
pub(super) fn simulate(
    file: &SamplesFile,
    programs: &[Program],
    stop: &Stop,
) -> Result<Vec<SimulatedRecord>> {
    valgrind::available().map_err(|text| anyhow!(text))?;
    let design = Design { by_turns: file.was_by_turns(), ..file.design.plan };
    let Some((factor, setups, blocks)) = extreme_setups(file) else {
        bail!("too few setups were measured: there is no lowest and no highest value to explain");
    };
    let conditions = Conditions::new(file.design.metric.clone());
    let level = levelling(programs, design.bases);
    let mut records = Vec::new();
    for (place, program) in programs.iter().enumerate() {
        let run = |block: u32| -> Result<(PlannedRun, Simulated)> {
            let planned = design.block_runs(block).into_iter().find(|run| run.program == place);
            let mut run = planned.context("a block without a run of the program")?;
            run.padding_bytes = run.padding_bytes.map(|bytes| bytes + level[place]);
            Ok((run, simulated(programs, &conditions, run, stop)?))
        };
        let [(low_run, low), (high_run, high)] = [run(blocks[0])?, run(blocks[1])?];
        let counts = |prefix: &str, name: &str| {
            [&low, &high].map(|one| one.events.get(&format!("{prefix}{name}")).copied())
        };
        let of = |prefix: &str| -> Vec<String> {
            low.events
                .keys()
                .filter_map(|name| name.strip_prefix(prefix))
                .map(str::to_owned)
                .collect()
        };
        let events = of(EVENT).into_iter().map(|name| {
            let counts = counts(EVENT, &name).map(|count| count.unwrap_or(0.0));
            EventRecord { name, counts }
        });
        let images = [low_run, high_run].map(|run| symbols(program.of_run(&run)));
        let instructions = low.events.get(&format!("{EVENT}Ir")).copied().unwrap_or(0.0);
        let mut functions: Vec<PlaceRecord> = of(FUNCTION)
            .into_iter()
            .filter_map(|name| {
                let share = counts(FUNCTION, &name)[0]? / instructions;
                let find = |image: &[Symbol]| {
                    let found = image.iter().find(|one| one.is_code && one.name == name)?;
                    Some(low_bits(found.address))
                };
                let places = [find(&images[0])?, find(&images[1])?];
                let name = readable(&name);
                (share >= MIN_SHARE).then_some(PlaceRecord { name, share, places })
            })
            .collect();
        functions.sort_by(|one, other| other.share.total_cmp(&one.share));
        functions.truncate(MAX_FUNCTIONS);
        let near = |one: &Simulated, image: &[Symbol]| {
            one.stack.map_or_else(Vec::new, |stack| near_stack(stack, image))
        };
        records.push(SimulatedRecord {
            program: place,
            factor,
            setups: setups.clone(),
            stack: [low.stack, high.stack],
            is_aligned: low.is_aligned && high.is_aligned,
            events: events.collect(),
            near_stack: [near(&low, &images[0]), near(&high, &images[1])],
            functions,
        });
    }
    Ok(records)
}

/// One run under cachegrind, its stack where it was on the machine.
fn simulated(
    programs: &[Program],
    conditions: &Conditions,
    run: PlannedRun,
    stop: &Stop,
) -> Result<Simulated> {
    let mut plain = Lane::new(Vec::new())?;
    let mut counted = Lane::new(vec![Box::new(Counting)])?;
    let folder = tempfile::Builder::new().prefix("szc-stack-").tempdir()?;
    let like = words_like(&programs[run.program].of_run(&run).argv, folder.path())?;
    let at = |lane: &mut Lane, run: PlannedRun| -> Result<Option<u32>> {
        let Some(argv) = &like else { return Ok(None) };
        let mut started = start(programs, conditions, run);
        started.invocation.argv = argv;
        started.invocation.folder = Some(folder.path());
        let ran = lane.run(&started.invocation, &one_layout(started.variables), stop)?;
        Ok(ran.outcome.ok().as_ref().and_then(position))
    };
    let there = at(&mut plain, run)?;
    let mut shifted = run;
    let mut is_aligned = false;
    for _ in 0..TRIES {
        let (Some(wanted), Some(found)) = (there, at(&mut counted, shifted)?) else { break };
        let more = STACK_ALIGNMENT * ((found + 256 - wanted) % 256);
        is_aligned = more == 0;
        if is_aligned {
            break;
        }
        let padding = |bytes: u32| (bytes + more) % PAGE_BYTES;
        shifted.padding_bytes = shifted.padding_bytes.map(padding);
    }
    let started = start(programs, conditions, shifted);
    let ran = counted.run(&started.invocation, &one_layout(started.variables), stop)?;
    let title = programs[run.program].title();
    if let Err(error) = &ran.outcome {
        bail!("{title} cannot be run under valgrind: {error}");
    }
    let events = ran.figures.map_err(|text| anyhow!("{title} under valgrind: {text}"))?;
    if events.is_empty() {
        bail!("{title} fails under valgrind: try it with valgrind --tool=cachegrind");
    }
    Ok(Simulated { events, stack: there.map(|place| place * STACK_ALIGNMENT), is_aligned })
}

/// When another layout would be due depends on the time, which passes slowly under valgrind.
fn one_layout(mut variables: Vec<(String, OsString)>) -> Vec<(String, OsString)> {
    let (name, value) = crate::measure::program::ONE_LAYOUT;
    if !variables.iter().any(|(known, _)| known == name) {
        variables.push((name.to_owned(), value.into()));
    }
    variables
}

/// A function or a global variable.
struct Symbol {
    name: String,
    address: u64,
    bytes: u64,
    is_code: bool,
}

fn symbols(program: &Program) -> Vec<Symbol> {
    let image = program.executable_path().and_then(|path| std::fs::read(path).ok());
    let image = image.unwrap_or_default();
    let Ok(file) = object::File::parse(&*image) else { return Vec::new() };
    file.symbols()
        .filter(ObjectSymbol::is_definition)
        .filter(|symbol| matches!(symbol.kind(), SymbolKind::Text | SymbolKind::Data))
        .filter_map(|symbol| {
            Some(Symbol {
                name: symbol.name().ok()?.to_owned(),
                address: symbol.address(),
                bytes: symbol.size().max(1),
                is_code: symbol.kind() == SymbolKind::Text,
            })
        })
        .collect()
}

fn low_bits(address: u64) -> u32 {
    u32::try_from(address % u64::from(PAGE_BYTES)).unwrap_or(0)
}

/// Names of data whose addresses have low bits as the first frames on a stack that begins there.
fn near_stack(stack: u32, image: &[Symbol]) -> Vec<String> {
    let shares = |symbol: &&Symbol| {
        let distance = (stack + PAGE_BYTES - low_bits(symbol.address)) % PAGE_BYTES;
        let bytes = u32::try_from(symbol.bytes.min(u64::from(PAGE_BYTES))).unwrap_or(PAGE_BYTES);
        (1..FRAME_BYTES + bytes).contains(&distance)
    };
    let data = image.iter().filter(|symbol| !symbol.is_code && symbol.bytes < 4096);
    data.filter(shares).map(|symbol| readable(&symbol.name)).take(MAX_NAMES).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_that_shares_low_bits_with_the_first_frames_is_named() {
        let symbol = |name: &str, address, is_code| Symbol {
            name: name.to_owned(),
            address,
            bytes: 4,
            is_code,
        };
        let image = [
            symbol("i", 0x7f10, false),
            symbol("_ZN5space5aboveE", 0x8010, false),
            symbol("far below", 0x7c00, false),
            symbol("code", 0x7f10, true),
        ];
        assert_eq!(near_stack(0, &image), ["i"]);
        assert_eq!(near_stack(0x20, &image), ["i", "space::above"]);
    }
}
