//! Many samples files as one, or why they are not one.
#![forbid(unsafe_code)]

use std::path::Path;

use anyhow::{Result, bail};

use crate::samples::design::Design;
use crate::samples::machine::Machine;
use crate::samples::{
    Command, EndedRecord, ProgramRecord, Sample, SamplesFile, VERSION, VERSION_OF_MACHINES,
};

/// One program at all levels on one machine.
struct Unit {
    workload: String,
    /// Place in the list of machines.
    machine: usize,
    /// Place in the whole suite, if the file says so.
    place: Option<usize>,
    /// Which of the files it comes from.
    file: usize,
    programs: Vec<ProgramRecord>,
    /// Their `program` counts from the first of `programs`.
    runs: Vec<Sample>,
}

/// The files as one, without results. `partial`: shards may be missing, and sweeps cut off.
///
/// # Errors
/// When the files do not belong together, something was measured twice, or a part is missing.
pub(super) fn joined(files: &[(&Path, SamplesFile)], partial: bool) -> Result<SamplesFile> {
    let Some((first_path, first)) = files.first() else {
        bail!("no files, and at least one is needed: szc merge 1.json 2.json --json whole.json");
    };
    for (path, file) in files {
        check_alone(path, file, partial)?;
        check_together((first_path, first), (path, file))?;
    }
    let complete = missing_shards(files, partial)?
        && files.iter().all(|(_, file)| file.ended == EndedRecord::Complete);
    let machines = machines_of(files);
    let mut whole = first.clone();
    let mut units = Vec::new();
    for (number, (path, file)) in files.iter().enumerate() {
        for unit in units_of(path, file, number, &machines)? {
            if let Some(known) = units.iter().find(|known: &&Unit| {
                known.workload == unit.workload && known.machine == unit.machine
            }) {
                bail!(
                    "{} has two measurements, in {} and in {}, on {}: a program counts once for \
                     each machine, so leave one of the files out",
                    unit.workload,
                    files[known.file].0.display(),
                    path.display(),
                    machines[unit.machine].identity()
                );
            }
            units.push(unit);
        }
    }
    in_order(&mut units);

    whole.created = files.iter().map(|(_, file)| file.created.clone()).min().unwrap_or_default();
    whole.ended = if complete { EndedRecord::Complete } else { EndedRecord::Unfinished };
    whole.advice = advice(files, &machines, &units);
    whole.design.shard = None;
    whole.design.complete_blocks =
        files.iter().map(|(_, file)| file.design.complete_blocks).max().unwrap_or_default();
    let several = machines.len() > 1;
    whole.version = if several { VERSION_OF_MACHINES } else { VERSION };
    whole.results = Vec::new();
    whole.summaries = Vec::new();
    whole.suite = None;
    whole.over_machines = Vec::new();
    whole.programs = Vec::new();
    whole.runs = Vec::new();
    for unit in units {
        let start = whole.programs.len();
        whole.runs.extend(unit.runs.into_iter().map(|mut run| {
            run.program += start;
            run
        }));
        let host = machines[unit.machine].name();
        whole.programs.extend(unit.programs.into_iter().map(|record| ProgramRecord {
            machine: several.then_some(unit.machine),
            name: if several { Some(format!("{} on {host}", unit.workload)) } else { record.name },
            ..record
        }));
    }
    whole.machine = machines[0].clone();
    whole.machines = if several { machines } else { Vec::new() };
    Ok(whole)
}

fn check_alone(path: &Path, file: &SamplesFile, partial: bool) -> Result<()> {
    let name = path.display();
    if file.command != Command::Sweep {
        bail!(
            "{name} is of szc {}, and files of szc sweep are needed: a sweep with --fixed and two \
             levels compares two versions",
            file.command.name()
        );
    }
    match &file.ended {
        EndedRecord::Refused { reason } => {
            bail!("{name} ended because a program is unfit, and has no results: {reason}")
        }
        EndedRecord::Interrupted { .. } | EndedRecord::Unfinished if !partial => bail!(
            "{name} was cut off: go on with it by szc sweep --resume {name}, or join what there is \
             by --partial"
        ),
        _ => Ok(()),
    }
}

/// What has to be equal in all files, each with its name.
fn plan(file: &SamplesFile) -> [(&'static str, String); 9] {
    let Design { blocks, runs_per_position, warmup, shuffle, environment, .. } = file.design.plan;
    let option = file.design.metric_option.as_deref().unwrap_or_default();
    [
        ("the levels", levels(file).join(", ")),
        ("the metric", format!("{} {option}", file.design.metric.name()).trim_end().to_owned()),
        ("the number of blocks", blocks.to_string()),
        ("the runs per block", runs_per_position.to_string()),
        ("the tolerance", format!("{:?}", file.design.tolerance)),
        ("the warm-up", warmup.to_string()),
        ("the shuffling", shuffle.to_string()),
        ("the environment", format!("{environment:?}")),
        ("the version of szc", file.szc_version.clone()),
    ]
}

fn check_together(
    (first_path, first): (&Path, &SamplesFile),
    (path, file): (&Path, &SamplesFile),
) -> Result<()> {
    for ((what, one), (_, other)) in plan(first).into_iter().zip(plan(file)) {
        if one != other {
            bail!(
                "{} and {} differ in {what} ({one} and {other}): files of one sweep are needed, \
                 measured with the same options",
                first_path.display(),
                path.display()
            );
        }
    }
    Ok(())
}

fn levels(file: &SamplesFile) -> Vec<String> {
    let mut levels: Vec<String> = Vec::new();
    for level in file.programs.iter().filter_map(|program| program.level.clone()) {
        if !levels.contains(&level) {
            levels.push(level);
        }
    }
    levels
}

/// Whether no shard is missing; the error says which, unless parts are enough.
fn missing_shards(files: &[(&Path, SamplesFile)], partial: bool) -> Result<bool> {
    let mut shards = files.iter().filter_map(|(path, file)| Some((*path, file.design.shard?)));
    let Some((first_path, first)) = shards.next() else {
        return Ok(true);
    };
    let mut found = vec![first.number];
    for (path, shard) in shards {
        if shard.of != first.of {
            bail!(
                "{} is shard {first}, and {} is shard {shard}: shards of one division are needed",
                first_path.display(),
                path.display()
            );
        }
        found.push(shard.number);
    }
    let missing: Vec<String> = (1..=first.of)
        .filter(|number| !found.contains(number))
        .map(|number| format!("{number}/{}", first.of))
        .collect();
    if missing.is_empty() || partial {
        return Ok(missing.is_empty());
    }
    bail!(
        "shards are missing: {}: name their files as well, or join what there is by --partial",
        missing.join(", ")
    )
}

/// All machines, in the order of their first appearance.
fn machines_of(files: &[(&Path, SamplesFile)]) -> Vec<Machine> {
    let mut machines: Vec<Machine> = Vec::new();
    for (_, file) in files {
        let of_file = if file.machines.is_empty() {
            std::slice::from_ref(&file.machine)
        } else {
            &file.machines[..]
        };
        for machine in of_file {
            if !machines.iter().any(|known| known.identity() == machine.identity()) {
                machines.push(machine.clone());
            }
        }
    }
    machines
}

fn units_of(
    path: &Path,
    file: &SamplesFile,
    number: usize,
    machines: &[Machine],
) -> Result<Vec<Unit>> {
    let levels = levels(file).len();
    let mut units: Vec<Unit> = Vec::new();
    for (place, record) in file.programs.iter().enumerate() {
        let Some(workload) = &record.workload else {
            bail!(
                "{} has a program that belongs to no workload: no szc sweep wrote it",
                path.display()
            );
        };
        let identity = file.machine_of(place).identity();
        let machine = machines.iter().position(|known| known.identity() == identity);
        let machine = machine.unwrap_or_default();
        let runs = file.runs.iter().filter(|run| run.program == place).cloned();
        let index = units.len();
        match units.last_mut() {
            Some(unit) if unit.workload == *workload && unit.machine == machine => {
                let program = unit.programs.len();
                unit.programs.push(record.clone());
                unit.runs.extend(runs.map(|run| Sample { program, ..run }));
            }
            _ => units.push(Unit {
                workload: workload.clone(),
                machine,
                place: file.design.shard.map(|shard| shard.place(index)),
                file: number,
                programs: vec![record.clone()],
                runs: runs.map(|run| Sample { program: 0, ..run }).collect(),
            }),
        }
    }
    if let Some(odd) = units.iter().find(|unit| unit.programs.len() != levels) {
        bail!(
            "{} has {} of {levels} levels of {}: no szc sweep wrote it",
            path.display(),
            odd.programs.len(),
            odd.workload
        );
    }
    // Runs stand in the order of time, levels interleaved.
    for unit in &mut units {
        unit.runs.sort_by_key(|run| (run.block, run.position));
    }
    Ok(units)
}

/// The order of the whole suite, as far as the files know it, and then that of the machines.
fn in_order(units: &mut [Unit]) {
    let names: Vec<(String, Option<usize>)> =
        units.iter().map(|unit| (unit.workload.clone(), unit.place)).collect();
    let rank = |workload: &String| {
        let of_workload = || names.iter().enumerate().filter(|(_, (name, _))| name == workload);
        let place = of_workload().filter_map(|(_, (_, place))| *place).min();
        let appearance = of_workload().map(|(index, _)| index).next();
        (place.unwrap_or(usize::MAX), appearance)
    };
    units.sort_by_cached_key(|unit| (rank(&unit.workload), unit.machine));
}

/// What the files warn of, and builds that are not the same on all machines.
fn advice(files: &[(&Path, SamplesFile)], machines: &[Machine], units: &[Unit]) -> Vec<String> {
    let mut advice: Vec<String> = Vec::new();
    for (_, file) in files {
        for line in &file.advice {
            let host = file.machine.name();
            let named = machines.len() > 1 && file.machines.is_empty();
            let line = if named { format!("{host}: {line}") } else { line.clone() };
            if !advice.contains(&line) {
                advice.push(line);
            }
        }
    }
    let hash = |record: &ProgramRecord| record.executable.as_ref().map(|file| file.sha256.clone());
    for (index, unit) in units.iter().enumerate() {
        let others = units[..index].iter().filter(|other| other.workload == unit.workload);
        let differ = others.into_iter().any(|other| {
            let pairs = other.programs.iter().zip(&unit.programs);
            pairs.into_iter().any(|(one, other)| hash(one) != hash(other))
        });
        let line = format!(
            "{} was not the same file on all machines, so they may differ by their builds: build \
             once, and copy the programs",
            unit.workload
        );
        if differ && !advice.contains(&line) {
            advice.push(line);
        }
    }
    advice
}
