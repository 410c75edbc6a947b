//! How an experiment was made, and how to make it again: machine, programs, design, all runs.
#![forbid(unsafe_code)]

use maud::{Markup, html};

use super::element::{table, text};
use crate::report::number::percent;
use crate::report::text::{schedule_lines, shared_lines};
use crate::report::view::Experiment;
use crate::report::view::facts::{command_line, reproduction};
use crate::samples::runtime_log::Randomize;
use crate::samples::{EndedRecord, ProgramRecord, RuleRecord, Sample};

/// Most runs that the table holds; all of them are in the data of the page.
const MAX_RUNS: usize = 2000;

/// Facts of the experiment at `place` of the page.
pub(super) fn section(place: usize, experiment: &Experiment) -> Markup {
    let file = &experiment.file;
    html! {
        h3 { "How it was made" }
        p {
            @if file.was_measured() {
                "To repeat it, with the same order and the same layouts:"
            } @else {
                "Made of other files by:"
            }
        }
        pre { code { (reproduction(file)) } }
        details open {
            summary { "Design and machine" }
            (facts(&[design(experiment), machine(experiment)].concat()))
        }
        details {
            summary { "Programs" }
            @for program in &file.programs {
                h4 { (program.title()) }
                (facts(&program_facts(program)))
            }
        }
        details id={ "e" (place) "-runs" } {
            summary { (runs_title(file.runs.len())) }
            div.runs { (runs(experiment)) }
        }
    }
}

/// What the table of runs holds.
fn runs_title(count: usize) -> String {
    if count > MAX_RUNS {
        format!("The first {MAX_RUNS} of {count} runs with their seeds")
    } else {
        format!("All {count} runs with their seeds")
    }
}

type Fact = (&'static str, String);

fn facts(facts: &[Fact]) -> Markup {
    html! {
        table.facts {
            tbody {
                @for (name, value) in facts {
                    tr { th scope="row" { (name) } td { (value) } }
                }
            }
        }
    }
}

fn design(experiment: &Experiment) -> Vec<Fact> {
    let file = &experiment.file;
    let design = &file.design;
    let rule = match design.rule {
        RuleRecord::Fixed => "number of blocks fixed before the first",
        RuleRecord::Sequential => "sequential: looked at after every block",
    };
    let ended = match &file.ended {
        EndedRecord::Complete => "as planned".to_owned(),
        EndedRecord::Interrupted { signal } => format!("stopped by signal {signal}"),
        EndedRecord::Unfinished => "cut off; saved on the way".to_owned(),
        EndedRecord::Refused { reason } => format!("refused: {reason}"),
    };
    let mut facts = vec![
        ("Samples", experiment.source.clone()),
        ("Command line", command_line(file)),
        ("Begun", file.created.clone()),
        ("Ended", ended),
        ("Seed", design.plan.seed.to_string()),
        ("Rule", rule.to_owned()),
        (
            "Blocks",
            format!("{} complete of at most {}", design.complete_blocks, design.plan.blocks),
        ),
        ("Warm-up", format!("{} runs of each program", design.plan.warmup)),
    ];
    facts.extend(design.tolerance.map(|share| ("Tolerance", percent(share))));
    facts.extend(schedule_lines(file).into_iter().map(|line| ("Schedule", line)));
    facts.extend(shared_lines(file).into_iter().map(|line| ("Layouts", line)));
    facts.extend(design.cpu.map(|cpu| ("Pinned to CPU", cpu.to_string())));
    facts.extend(design.timeout_s.map(|seconds| ("Timeout", format!("{seconds} s"))));
    facts
}

fn machine(experiment: &Experiment) -> Vec<Fact> {
    if !experiment.file.machines.is_empty() {
        let machines = experiment.file.machines.iter();
        return machines.map(|machine| ("Machine", machine.identity())).collect();
    }
    let machine = &experiment.file.machine;
    let yes_or_no = |value: bool| if value { "yes" } else { "no" }.to_owned();
    let known = [
        ("Host", machine.hostname.clone()),
        ("CPU", machine.cpu.clone()),
        ("CPUs", machine.cores.map(|cores| cores.to_string())),
        ("Memory", machine.memory_kib.map(|kib| format!("{:.1} GiB", kib as f64 / 1_048_576.0))),
        ("Virtual machine", machine.virtual_machine.map(yes_or_no)),
        ("Kernel", machine.kernel.clone()),
        ("Governor", machine.governor.clone()),
        (
            "Address randomization",
            machine.aslr.map(|mode| format!("kernel.randomize_va_space = {mode}")),
        ),
        (
            "Load at the start",
            machine.load.map(|[one, five, fifteen]| format!("{one}, {five}, {fifteen}")),
        ),
        ("szc", Some(experiment.file.szc_version.clone())),
    ];
    known.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

fn program_facts(program: &ProgramRecord) -> Vec<Fact> {
    let mut facts = vec![("Command", program.command.clone())];
    if let Some(file) = &program.executable {
        facts.push(("File", file.path.display().to_string()));
        facts.push(("SHA-256", file.sha256.clone()));
        facts.push(("Size", format!("{} bytes", file.size_bytes)));
        facts.push(("Made by", file.compiler.join("; ")));
    }
    let random = program.randomization.as_ref().map_or_else(
        || "not known".to_owned(),
        |log| {
            let Randomize { code, stack, heap } = log.randomize;
            let parts = [("code", code), ("stack", stack), ("heap", heap)];
            let on: Vec<&str> = parts.iter().filter(|(_, on)| *on).map(|(name, _)| *name).collect();
            if on.is_empty() { "nothing".to_owned() } else { on.join(", ") }
        },
    );
    facts.push(("Randomized", random));
    if let Some(reason) = &program.not_randomized_reason {
        facts.push(("Not randomized", reason.clone()));
    } else if let Some(reason) = program.pinned() {
        facts.push(("Randomized in part", reason));
    }
    facts
}

fn runs(experiment: &Experiment) -> Markup {
    let file = &experiment.file;
    let row = |(number, run): (usize, &Sample)| {
        [
            (number + 1).to_string(),
            experiment.name(run.program),
            run.block.to_string(),
            run.position.to_string(),
            run.seed.to_string(),
            format!("{:.3}", run.wall_ns as f64 / 1e6),
            format!("{:.3}", (run.user_us.saturating_add(run.sys_us)) as f64 / 1e3),
            run.max_rss_kib.to_string(),
            run.minor_faults.saturating_add(run.major_faults).to_string(),
            run.epochs.map_or_else(|| "~".to_owned(), |count| count.to_string()),
        ]
        .map(|cell| text(&cell))
        .to_vec()
    };
    let rows: Vec<Vec<Markup>> = file.runs.iter().enumerate().take(MAX_RUNS).map(row).collect();
    let head = [
        "run",
        "program",
        "block",
        "position",
        "seed",
        "wall (ms)",
        "CPU (ms)",
        "peak (KiB)",
        "faults",
        "layouts",
    ];
    html! {
        @if file.runs.len() > MAX_RUNS {
            p.quiet {
                "A longer table would make the page slow. All " (file.runs.len()) " runs are in \
                 the page's data, and in the samples file: szc export writes them as CSV, JSON or \
                 R."
            }
        }
        (table("Runs in the order of time", &head, &rows))
    }
}
