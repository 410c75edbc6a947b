//! Made-up samples for tests, and what is made of them.

use crate::report::sentence::put_into_words;
use crate::report::view::Experiment;
use crate::results;
use crate::samples::design::{Bases, Design, Part};
use crate::samples::machine::Machine;
use crate::samples::runtime_log::RuntimeLog;
use crate::samples::{
    Command, DesignRecord, EndedRecord, Metric, ProgramRecord, RuleRecord, Sample, SamplesFile,
    VERSION_OF_MACHINES,
};

/// A sample whose three metrics all follow from one number of milliseconds.
pub fn sample_of(block: u32, position: u32, program: usize, milliseconds: u64) -> Sample {
    Sample {
        block,
        position,
        program,
        seed: 1,
        wall_ns: milliseconds * 1_000_000,
        user_us: milliseconds * 600,
        sys_us: milliseconds * 400,
        max_rss_kib: milliseconds,
        ..Sample::default()
    }
}

/// A program called by its label and name.
pub fn program(label: &str, name: &str) -> ProgramRecord {
    ProgramRecord {
        label: label.to_owned(),
        name: Some(name.to_owned()),
        workload: None,
        level: None,
        machine: None,
        command: "./program".to_owned(),
        via_shell: false,
        folder: None,
        executable: None,
        orders: Vec::new(),
        randomized: true,
        not_randomized_reason: None,
        randomization: Some(RuntimeLog::default()),
        schedule: None,
        shared: None,
    }
}

/// Two programs that a harness measured, of which the second takes so many times the first's time,
/// row by row, with about 0.3 % of noise that is none of the program.
pub fn rows_file(rows: &[(&str, f64)], blocks: u32) -> SamplesFile {
    let mut file = file_of(&[1000, 1000], blocks);
    file.design.metric = Metric::Rows;
    for run in &mut file.runs {
        for (place, (name, ratio)) in (1..).zip(rows) {
            let phase = f64::from(run.block * 31 + run.position * 17 + place * 7);
            let time = 50e-9 * f64::from(place) * (0.003 * (phase * 1.7).sin()).exp();
            let times = if run.program == 1 { *ratio } else { 1.0 };
            run.figures.insert(format!("row:{name}"), time * times);
        }
    }
    file
}

/// Blocks of all programs in order and reverse, each program with its number of milliseconds and
/// about 1 % of noise that is no function of the program.
pub fn file_of(milliseconds: &[u64], blocks: u32) -> SamplesFile {
    let programs = milliseconds.len();
    let mut runs = Vec::new();
    for block in 0..blocks {
        let noise = |position: u32| u64::from((block * 7 + position * 5) % 11);
        let order = (0..programs).chain((0..programs).rev());
        for (position, program) in (0..).zip(order) {
            runs.push(sample_of(block, position, program, milliseconds[program] + noise(position)));
        }
    }
    let names = ["-O2", "-O3", "-Os", "-O1"];
    let design = DesignRecord {
        tolerance: Some(0.01),
        slowest_layout: Some(1.05),
        complete_blocks: blocks,
        timeout_s: Some(2.5),
        ..DesignRecord::new(
            Design::mirrored(programs, blocks, u64::MAX),
            RuleRecord::Fixed,
            Metric::Cpu,
        )
    };
    let args = ["szc", "compare"].map(str::to_owned).to_vec();
    let records = ["A", "B", "C", "D"].iter().zip(names).take(programs);
    let records = records.map(|(label, name)| program(label, name)).collect();
    SamplesFile {
        created: "1970-01-01T00:00:00Z".to_owned(),
        runs,
        ended: EndedRecord::Complete,
        ..SamplesFile::new(Command::Compare, args, design, Machine::default(), records)
    }
}

/// Twenty blocks of A and B, analysed.
pub fn comparison(milliseconds_a: u64, milliseconds_b: u64) -> SamplesFile {
    analysed(file_of(&[milliseconds_a, milliseconds_b], 20))
}

/// With its results.
pub fn analysed(mut file: SamplesFile) -> SamplesFile {
    results::analyse(&mut file);
    put_into_words(&mut file);
    file
}

/// Layouts of one program, every second one run twice: each layout has its own time, each run of
/// it a deviation from that, in milliseconds.
pub fn layouts_of(times: &[(u64, u64)]) -> SamplesFile {
    let mut file = file_of(&[1000], 1);
    file.command = Command::Run;
    file.design.tolerance = None;
    file.design.plan = Design::layouts(u32::try_from(times.len()).unwrap(), 2, 3);
    file.design.complete_blocks = file.design.plan.blocks;
    file.runs.clear();
    for (block, (time, deviation)) in (0..).zip(times) {
        file.runs.push(sample_of(block, 0, 0, time + deviation));
        if block % 2 == 0 {
            file.runs.push(sample_of(block, 1, 0, time - deviation));
        }
    }
    analysed(file)
}

/// Pairs of runs of one program: 1000 ms, and what `time` says of the part that they are about.
pub fn parts_of(blocks: u32, time: impl Fn(Part) -> u64) -> SamplesFile {
    let mut file = layouts_of(&[(1000, 0)]);
    file.design.plan = Design { bases: Bases::Drawn, ..Design::parts(blocks, 3) };
    file.design.complete_blocks = blocks;
    file.runs.clear();
    for run in (0..blocks).flat_map(|block| file.design.plan.block_runs(block)) {
        let milliseconds = if run.position % 2 == 0 { 1000 } else { time(Part::at(run.position)) };
        file.runs.push(sample_of(run.block, run.position, 0, milliseconds));
    }
    analysed(file)
}

/// Programs with these times in milliseconds at levels -O1, -O2 …, 20 blocks each.
pub fn suite_of(programs: &[&[u64]]) -> SamplesFile {
    let mut whole: Option<SamplesFile> = None;
    for (index, times) in programs.iter().enumerate() {
        let mut file = file_of(times, 20);
        for (level, record) in file.programs.iter_mut().enumerate() {
            record.workload = Some(format!("program {index}"));
            record.level = Some(format!("-O{}", level + 1));
        }
        match &mut whole {
            None => whole = Some(file),
            Some(whole) => {
                let before = whole.programs.len();
                whole.programs.extend(file.programs);
                whole.runs.extend(file.runs.into_iter().map(|mut run| {
                    run.program += before;
                    run
                }));
            }
        }
    }
    let mut file = whole.unwrap();
    file.command = Command::Sweep;
    results::analyse(&mut file);
    put_into_words(&mut file);
    file
}

/// Programs `(name, machine, times at the levels)`.
pub fn suite_on(programs: &[(&str, usize, &[u64])]) -> SamplesFile {
    let times: Vec<&[u64]> = programs.iter().map(|(_, _, times)| *times).collect();
    let mut file = suite_of(&times);
    let levels = file.programs.len() / programs.len();
    for (place, record) in file.programs.iter_mut().enumerate() {
        let (name, machine, _) = programs[place / levels];
        record.workload = Some(name.to_owned());
        record.machine = Some(machine);
    }
    let count = programs.iter().map(|(_, machine, _)| machine + 1).max().unwrap();
    let host = |number| Machine { hostname: Some(format!("host-{number}")), ..Machine::default() };
    file.machines = (1..=count).map(host).collect();
    file.machine = file.machines[0].clone();
    file.version = VERSION_OF_MACHINES;
    results::analyse(&mut file);
    put_into_words(&mut file);
    file
}

/// As read from `folder/lua.json`.
pub fn experiment(file: SamplesFile) -> Experiment {
    Experiment::new("folder/lua.json".to_owned(), file)
}
