//! Tables of made-up samples whose statistics are known.

use std::time::Duration;

use serde_json::json;
use szc::samples::io;

use super::row::Row;
use super::*;
use crate::evaluate::record::{ConfigurationRecord, Evaluation, FileRecord, Measured, State};

/// Samples of a comparison: `times[configuration]` in milliseconds, two runs in a block.
fn measured(step: Step, times: &[&[f64]]) -> State {
    let blocks = times[0].len() / 2;
    let mut runs = Vec::new();
    for (program, list) in times.iter().enumerate() {
        assert_eq!(list.len(), 2 * blocks);
        runs.extend(list.iter().enumerate().map(|(place, time)| {
            json!({
                "block": place / 2, "position": place % 2, "program": program, "seed": 1,
                "wall_ns": 1_000_000, "sys_us": 0, "max_rss_kib": 1000 * (program + 1),
                "user_us": Duration::from_secs_f64(time / 1000.0).as_micros(),
                "minor_faults": 0, "major_faults": 0, "voluntary_switches": 0,
                "involuntary_switches": 0, "stdout_sha256": "", "relocations": 5,
                "epochs": 7 + program
            })
        }));
    }
    let configurations = step.configurations();
    let programs: Vec<_> = configurations
        .iter()
        .map(|one| json!({
            "label": one.name, "name": null, "command": "x", "via_shell": true, "executable": null,
            "randomized": true, "not_randomized_reason": null, "randomization": null
        }))
        .collect();
    let file = json!({
        "format": "szc-samples", "version": 2, "created": "2026-01-02T03:04:05Z",
        "szc_version": "0", "command": "compare", "command_line": [],
        "machine": {"cpu": "Z80", "virtual_machine": true},
        "design": {
            "programs": times.len(), "arrangement": "mirrored", "blocks": blocks,
            "runs_per_position": 1, "runs_per_layout": 1, "warmup": 1, "shuffle": true,
            "environment": "random", "seed": 1, "rule": "fixed", "tolerance": 0.01,
            "complete_blocks": blocks, "metric": "cpu", "check_output": true, "timeout_s": null
        },
        "programs": programs, "runs": runs, "ended": {"how": "complete"}
    });
    let records = configurations.iter().zip(1..).map(|(one, factor)| ConfigurationRecord {
        name: one.name.to_owned(),
        randomize: one.randomize.to_owned(),
        flags: "-O2".to_owned(),
        settings: Vec::new(),
        files: vec![FileRecord {
            sha256: String::new(),
            bytes: 1024 * factor,
            code_bytes: 100,
            loaded_bytes: 300 + 300 * factor,
        }],
    });
    let evaluation = Evaluation {
        step: step.name(),
        program: "p".to_owned(),
        size: "full".to_owned(),
        runs: 30,
        commit: Some("c0ffee".to_owned()),
        build: Some("decaf".to_owned()),
        configurations: records.collect(),
    };
    let file = io::parse(file.to_string().as_bytes()).unwrap();
    State::Measured(Box::new(Measured { evaluation, file }))
}

fn row(program: &str, state: State) -> Row {
    Row { program: program.to_owned(), state }
}

/// `count` values with this share of noise that alternates, so that means are exact.
fn around(center: f64, share: f64, count: usize) -> Vec<f64> {
    (0..count).map(|place| center * (1.0 + if place % 2 == 0 { share } else { -share })).collect()
}

/// The line of a program without its name.
fn line<'a>(table: &'a str, program: &str) -> &'a str {
    let start = format!("| {program} | ");
    let found = table.lines().find_map(|line| line.strip_prefix(&start));
    found.unwrap_or_else(|| panic!("no {program} in:\n{table}"))
}

#[test]
fn ratios_are_those_of_the_blocks_and_the_suite_is_their_median() {
    let state = |factor: f64| {
        let base = around(100.0, 0.0, 12);
        let other = |ratio: f64| around(100.0 * ratio, 0.0, 12);
        let [link, code, stack, all, often] = [0.8, 1.0, 1.1, factor, 1.7].map(other);
        measured(Step::Overhead, &[&base, &link, &code, &stack, &all, &often, &often])
    };
    let rows = [row("one", state(1.2)), row("two", state(1.4)), row("three", state(1.3))];
    let text = overhead(&rows);
    let origin = "n = 3 of 3 programs; 12 runs of each configuration, one after the other; \
                  workloads of size full; 2026-01-02; szc c0ffee (build decaf); Z80, virtual \
                  machine";
    assert!(text.starts_with(origin), "{text}");
    let first = "1.000 (1.000 to 1.000) | 1.100 (1.100 to 1.100) | 1.200 (1.200 to 1.200) | 0.800 \
                 (0.800 to 0.800) |";
    assert_eq!(line(&text, "one"), first);
    assert_eq!(
        line(&text, "**median of programs**"),
        "**1.000** | **1.100** | **1.300** | **0.800** |"
    );
    assert_eq!(line(&text, "worst program"), "1.000 | 1.100 | 1.400 | 0.800 |");
    // Against link order everything is a quarter more.
    let (_, second) = text.split_once("random link order").unwrap();
    assert!(line(second, "one").ends_with("| 1.500 (1.500 to 1.500) |"), "{second}");
    let memory = ratios::table_with_reference(&rows, NONE, &RANDOMIZED, &Metric::Rss, &ratios::MIB);
    assert!(memory.starts_with("| program | none, MiB | code |"), "{memory}");
    assert!(line(&memory, "two").starts_with("1.0 | 3.000 (3.000 to 3.000) | 4.000"), "{memory}");
    assert!(line(&memory, "**median of programs**").starts_with(" | **"), "{memory}");
}

#[test]
fn what_was_not_measured_or_failed_is_said_and_counts_for_nothing() {
    let base = around(100.0, 0.0, 12);
    let rows = [
        row("there", measured(Step::Overhead, &[&base[..]; 7])),
        row("later", State::Missing),
        row("broken", State::Failed("NOT BUILT: needs | cmake\nmore".to_owned())),
    ];
    let text = table::origin(&rows) + &ratios::table(&rows, NONE, &["20 ms"], &Metric::Cpu);
    assert!(text.starts_with("n = 1 of 3 programs"), "{text}");
    assert_eq!(line(&text, "later"), "not measured yet |");
    assert_eq!(line(&text, "broken"), "failed: NOT BUILT: needs \\| cmake |");
    assert_eq!(line(&text, "**median of programs**"), "**1.000** |");
    let nothing = [row("later", State::Missing)];
    for text in [
        normality::section(&nothing),
        levels::section(&nothing),
        sizes::section(&nothing),
        variance::section(&nothing),
        overhead(&nothing),
    ] {
        assert!(text.contains("1 programs: not measured yet."), "{text}");
        assert!(line(&text, "later").starts_with("not measured yet"), "{text}");
    }
    assert!(normality::picture(&nothing).is_none());
    assert_eq!(heap::section(None), "not measured yet\n");
}

#[test]
fn skewed_times_are_told_from_normal_ones_and_wide_from_narrow() {
    // Quantiles of the normal and of the exponential distribution.
    let place = |index: usize| (index as f64 + 0.5) / 30.0;
    let normal = |spread: f64| -> Vec<f64> {
        (0..30)
            .map(|index| 100.0 + spread * szc_stats::fixed::normal_quantile(place(index)))
            .collect()
    };
    let skewed: Vec<f64> = (0..30).map(|index| 100.0 - 8.0 * (1.0 - place(index)).ln()).collect();
    // The machine doubles its speed and halves it again; both runs of a block are alike.
    let machine = |index: usize| if index.is_multiple_of(2) { 1.0 } else { 2.0 };
    let times: Vec<Vec<f64>> =
        [&vec![100.0; 30], &skewed, &normal(2.0), &normal(2.0), &normal(8.0)]
            .iter()
            .map(|list| {
                let drifted = |(index, time): (usize, &f64)| [time * machine(index); 2];
                list.iter().enumerate().flat_map(drifted).collect()
            })
            .collect();
    let times: Vec<&[f64]> = times.iter().map(Vec::as_slice).collect();
    let rows = [row("p", measured(Step::Normality, &times))];
    let text = normality::section(&rows);
    let cells: Vec<&str> = line(&text, "p").trim_end_matches(" |").split(" | ").collect();
    let [code, all] = [&cells[..6], &cells[6..]];
    assert!(code[0].starts_with("**") && !code[2].contains('*'), "{text}");
    assert!(code[3] == "0.28" && code[4].starts_with("**") && code[5] == "9", "{text}");
    assert!(!all[0].contains('*') && all[1] == "1.99 %" && !all[2].contains('*'), "{text}");
    assert!(all[3] == "4.00" && all[4].starts_with("**") && all[5] == "11", "{text}");
    for sentence in [
        "code once: 1 of 1 not normal at 5 % (1 after Holm). code every 20 ms: 0 of 1 not normal \
         at 5 % (0 after Holm); the variance is lower for 1, higher for 0",
        "all once: 0 of 1 not normal at 5 % (0 after Holm). all every 20 ms: 0 of 1 not normal at \
         5 % (0 after Holm); the variance is lower for 0, higher for 1",
    ] {
        assert!(text.contains(sentence), "{text}");
    }
    let picture = normality::picture(&rows).unwrap();
    assert_eq!(picture.matches("class=\"line s").count(), 4);
}

#[test]
fn speedups_have_the_tests_of_the_paper_and_the_verdicts_of_compare() {
    let state = |two: f64, three: f64| {
        let list = |center: f64, share: f64| around(center, share, 30);
        measured(Step::Levels, &[&list(100.0, 0.01), &list(two, 0.01), &list(three, -0.01)])
    };
    let rows = [row("p", state(80.0, 100.0)), row("q", state(50.0, 50.0))];
    let text = levels::section(&rows);
    let p = line(&text, "p");
    // Two values alternate, which is not normal.
    assert!(
        p.starts_with("1.250 | **< 0.001** (W) | 1.250 (1.250 to 1.250) faster | 0.800 | "),
        "{p}"
    );
    assert!(p.ends_with("**slower** |"), "{p}");
    assert!(line(&text, "q").ends_with("1.000 (1.000 to 1.000) equivalent |"), "{text}");
    assert!(
        text.contains(
            "-O2 over -O1, 2 programs: the paper's tests see 2 differences at 5 %, 0 \
                           of them slower (by chance alone 0.1 would be seen); `szc compare` says \
                           faster 2, slower 0, equivalent 0, unresolved 0."
        ),
        "{text}"
    );
    // For two levels, F is the square of the paired t.
    let (one, two) = (1.25_f64.ln(), 2.0_f64.ln());
    let t = (one + two) / (one - two).abs();
    assert!(
        line(&text, "-O2 and -O1").starts_with(&format!("F(1, 1) = {:.3}, p = ", t * t)),
        "{text}"
    );
}

#[test]
fn the_mean_of_programs_has_the_interval_of_their_blocks() {
    let state = |share: f64| {
        let base = around(100.0, 0.0, 12);
        measured(
            Step::Overhead,
            &[&base, &base, &around(100.0, share, 12), &base, &base, &base, &base],
        )
    };
    let rows = [row("one", state(0.01)), row("two", state(0.02))];
    let text = ratios::table(&rows, NONE, &["code"], &Metric::Cpu);
    // Two runs of each in a block: their mean is the same in all blocks.
    assert_eq!(line(&text, "one"), "1.000 (1.000 to 1.000) |", "{text}");
    let logs = [vec![-0.01, 0.01, -0.01, 0.01], vec![-0.03, 0.03, -0.03, 0.03]];
    assert_eq!(ratios::mean_of_programs(&logs).unwrap(), "1.000 (0.974 to 1.027)");
    assert_eq!(ratios::mean_of_programs(&logs[..1]).unwrap(), "1.000");
}

#[test]
fn sizes_and_build_times_are_ratios_to_an_ordinary_build() {
    let (plain, all) = (around(2000.0, 0.0, 12), around(2500.0, 0.0, 12));
    let rows = [row("p", measured(Step::SizeAndBuildTime, &[&plain, &all]))];
    assert_eq!(line(&sizes::section(&rows), "p"), "1 | 2.000 | 1.000 | 1.500 | 2.0 | 1.250 |");
}

#[test]
fn the_page_of_the_project_has_a_place_for_every_step() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("RESULTS.md");
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../RESULTS.md");
    fs::copy(&shipped, &page).unwrap();
    let suite = crate::suite::load(&shipped.with_file_name("open-suite/suite.toml")).unwrap();
    let programs = suite.select(&[], false).unwrap();
    write(&Archive::new(&folder.path().join("results")), &programs, &page).unwrap();
    let text = fs::read_to_string(&page).unwrap();
    for program in &programs {
        // One row in the table of each step about programs, and two in that of the overhead.
        let rows = text.matches(&format!("\n| {} | not measured yet |", program.name())).count();
        assert_eq!(rows, Step::all().len(), "{}", program.name());
    }
}

#[test]
fn counts_are_told_over_those_of_the_plain_program() {
    let events = |instructions: u64, misses: u64| {
        [("Ir", instructions), ("I1mr", misses), ("D1mr", 0), ("D1mw", 2 * misses)]
            .into_iter()
            .chain([("ILmr", 1), ("DLmr", 1), ("DLmw", 0)])
            .map(|(name, count)| (name.to_owned(), count))
            .collect()
    };
    let counts_on = |cpu: &str| {
        let State::Measured(model) = measured(Step::Counts, &[&[], &[], &[]]) else {
            unreachable!()
        };
        let mut machine = model.file.machine;
        machine.cpu = Some(cpu.to_owned());
        crate::evaluate::counts::Counts {
            evaluation: model.evaluation,
            machine,
            created: String::new(),
            counter: vec!["counter".to_owned()],
            events: vec![events(2_000_000, 1000), events(2_100_000, 1500), events(2_200_000, 3000)],
        }
    };
    let row = |program: &str, counts, failure: Option<&str>| counts::Counted {
        program: program.to_owned(),
        counts,
        failure: failure.map(str::to_owned),
    };
    let text = counts::section(&[
        row("one", Some(counts_on("Z80")), None),
        row("two", None, Some("why\nx")),
        row("three", None, None),
        row("four", Some(counts_on("6502")), None),
    ]);
    assert!(
        text.contains("of szc; 6502, ") && text.contains("; and on another machine: Z80, "),
        "{text}"
    );
    assert!(
        text.starts_with(
            "n = 2 of 4 programs, one run of each configuration, workloads of \
                              size full; `counter`; build decaf of szc; 6502"
        ),
        "{text}"
    );
    assert_eq!(
        line(&text, "one"),
        "2 | 1.050 | 1.100 | 0.50 / 0.75 / 1.50 | 1.00 / 1.50 / 3.00 | 0.00 / 0.00 / 0.00 |"
    );
    assert!(line(&text, "two").starts_with("failed: why |"));
    assert!(
        line(&text, "**median of programs**").starts_with(" | **1.050** | **1.100** |"),
        "{text}"
    );
}
