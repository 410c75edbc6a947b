//! Tables of runs with raw files, whole and spoiled.

use std::path::{Path, PathBuf};

use clap::Parser;

use super::*;
use crate::lab::exit::{EXIT_USAGE, EXIT_VERDICT};
use crate::lab::subcommand::exit_code;
use crate::samples::ProgramRecord;

const FIXTURES: [(&str, &str); 2] = [
    ("cpu2006", include_str!("../../../../spec-scripts/spec/fixtures/cpu2006.rsf")),
    ("cpu2017", include_str!("../../../../spec-scripts/spec/fixtures/cpu2017.rsf")),
];

/// A raw file of a level, with other times.
fn raw(text: &str, level: &str, factor: f64) -> String {
    let mut raw = String::new();
    for line in text.lines() {
        let (key, value) = line.split_once(": ").unwrap_or((line, ""));
        let value = match value {
            "O2" => level.to_owned(),
            time if key.ends_with(".reported_time") => {
                (time.parse::<f64>().unwrap() * factor).to_string()
            }
            other => other.to_owned(),
        };
        raw.push_str(&format!("{key}: {value}\n"));
    }
    raw
}

/// Seven blocks of O2 and O3, which takes a tenth less; of the last block a run is missing.
fn measured(folder: &Path, text: &str) -> PathBuf {
    let mut table = String::from("szc-spec-runs 1\n# a comment\n");
    for block in 0..7_u32 {
        for (position, level) in (0_u32..).zip(["O2", "O3", "O3", "O2"]) {
            if (block, position) == (6, 3) {
                continue;
            }
            let name = format!("{block}-{position}.rsf");
            let noise = 1.0 + f64::from((block * 7 + position * 5) % 11) / 1000.0;
            let factor = if level == "O3" { 0.9 * noise } else { noise };
            fs::write(folder.join(&name), raw(text, level, factor)).unwrap();
            table.push_str(&format!(
                "{block}\t{position}\t{level}\t{block}{position}\tyes\t{name}\n"
            ));
        }
    }
    let path = folder.join("runs.tsv");
    fs::write(&path, table).unwrap();
    path
}

fn options(table: &Path) -> Options {
    Options::try_parse_from([table.as_os_str()]).unwrap()
}

fn reason(table: &Path) -> String {
    format!("{:#}", imported(&options(table), Vec::new()).unwrap_err())
}

#[test]
fn both_suites_become_sweeps_by_wall_time() {
    for (suite, text) in FIXTURES {
        let folder = tempfile::tempdir().unwrap();
        let table = measured(folder.path(), text);
        let file = imported(&options(&table), vec!["szc".to_owned(), "import".to_owned()]).unwrap();
        assert_eq!((file.design.complete_blocks, file.programs.len()), (6, 4), "{suite}");
        assert_eq!(file.runs.len(), 6 * 4 * 2);
        let names: Vec<String> = file.programs.iter().map(ProgramRecord::title).collect();
        let second = if suite == "cpu2006" { "462.libquantum" } else { "557.xz_r" };
        assert_eq!(names[3], format!("O3 ({second})"));
        let ratios: Vec<f64> = file.deciding_results().map(|result| result.ratio).collect();
        assert_eq!(ratios.len(), 2);
        assert!(ratios.iter().all(|ratio| (ratio - 0.9).abs() < 0.01), "{ratios:?}");
        let first = file.runs.iter().find(|run| run.program == 1).unwrap();
        let seconds = if suite == "cpu2006" { 400.25 } else { 359.111_111 };
        let expected = seconds * 0.9 * 1.005;
        assert!((first.value(&Metric::Wall) / expected - 1.0).abs() < 1e-9, "{first:?}");
        // What is written is what every other command reads.
        let json = folder.path().join("suite.json");
        io::write(&json, &file).unwrap();
        assert_eq!(io::read(&json).unwrap(), file);
    }
}

#[test]
fn iterations_of_one_raw_file_are_runs_of_one_position() {
    let folder = tempfile::tempdir().unwrap();
    let (_, text) = FIXTURES[1];
    let twice: String =
        text.lines().map(|line| format!("{line}\n{}\n", line.replace(".000.", ".001."))).collect();
    let table = measured(folder.path(), &twice);
    let file = imported(&options(&table), Vec::new()).unwrap();
    assert_eq!((file.design.plan.runs_per_position, file.runs.len()), (2, 96));
    let positions: Vec<u32> = file
        .runs
        .iter()
        .filter(|run| run.block == 0 && run.program == 1)
        .map(|run| run.position)
        .collect();
    assert_eq!(positions, [2, 3, 4, 5]);
}

#[test]
fn the_reference_is_the_level_that_the_user_names() {
    let folder = tempfile::tempdir().unwrap();
    let table = measured(folder.path(), FIXTURES[1].1);
    let options = Options { reference: Some("O3".to_owned()), ..options(&table) };
    let file = imported(&options, Vec::new()).unwrap();
    assert!(file.deciding_results().all(|result| result.ratio > 1.05));
    let options = Options { reference: Some("O9".to_owned()), ..options };
    let error = format!("{:#}", imported(&options, Vec::new()).unwrap_err());
    assert!(error.contains("--reference O9 is no level: there are O2, O3"), "{error}");
}

#[test]
fn programs_that_left_no_log_are_not_called_randomized() {
    let folder = tempfile::tempdir().unwrap();
    let table = measured(folder.path(), FIXTURES[1].1);
    let text = fs::read_to_string(&table).unwrap();
    fs::write(&table, text.replace("1\tO3\t01\tyes", "1\tO3\t01\tno")).unwrap();
    let file = imported(&options(&table), Vec::new()).unwrap();
    let randomized: Vec<bool> = file.programs.iter().map(|program| program.randomized).collect();
    assert_eq!(randomized, [true, false, true, false]);
}

#[test]
fn spoiled_tables_and_raw_files_are_refused_with_the_place() {
    let folder = tempfile::tempdir().unwrap();
    let table = measured(folder.path(), FIXTURES[1].1);
    let good = fs::read_to_string(&table).unwrap();
    for (from, to, words) in [
        ("szc-spec-runs 1", "szc-spec-runs 2", "does not begin with the line"),
        ("0\t1\tO3\t01\tyes", "0\t1\tO3\t01\tmaybe", "runs.tsv:4: block, position"),
        ("0\t1\tO3", "x\t1\tO3", "runs.tsv:4:"),
        ("0\t1\tO3", "0\t0\tO3", "runs.tsv:4: block 0 has two runs at position 0"),
        ("0-1.rsf", "0-0.rsf", "0-0.rsf is the file of block 0, too"),
        ("0-1.rsf", "none.rsf", "cannot read"),
        ("0\t1\tO3", "0\t1\tO4", "no complete block"),
        ("O3", "O2", "1 levels in the table"),
    ] {
        assert!(good.contains(from), "{from}");
        let everywhere = from == "O3";
        let spoiled = if everywhere { good.replace(from, to) } else { good.replacen(from, to, 1) };
        fs::write(&table, spoiled).unwrap();
        let error = reason(&table);
        assert!(error.contains(words), "{words}: {error}");
    }
    fs::write(&table, &good).unwrap();
    let path = folder.path().join("1-1.rsf");
    let whole = fs::read_to_string(&path).unwrap();
    for (from, to, words) in [
        (
            "557_xz_r.base.000.valid: S",
            "557_xz_r.base.000.valid: RE",
            "557.xz_r, base, iteration 0: the run failed",
        ),
        ("557_xz_r.base", "557_xz_r.peak", "both base and peak"),
        ("label: O3", "label: O2", "its label is O2, and the table says O3"),
        ("557.xz_r", "541.leela_r", "the same benchmarks are needed in all runs"),
    ] {
        fs::write(&path, whole.replace(from, to)).unwrap();
        let error = reason(&table);
        assert!(error.contains(words), "{words}: {error}");
    }
    // A raw file in the place of the table.
    assert!(
        reason(&folder.path().join("0-0.rsf")).contains("which names raw files such as this one")
    );
}

#[test]
fn the_command_tells_and_saves() {
    let folder = tempfile::tempdir().unwrap();
    let table = measured(folder.path(), FIXTURES[0].1);
    let json = folder.path().join("suite.json");
    let args = ["-q".into(), table.into_os_string(), "--json".into(), json.clone().into()];
    assert_eq!(exit_code::<Options>(&args), EXIT_VERDICT.into());
    assert!(io::read(&json).unwrap().suite.is_some());
    assert_eq!(exit_code::<Options>(&["nothing.tsv"]), EXIT_USAGE.into());
    assert_eq!(exit_code::<Options>(&[""; 0]), EXIT_USAGE.into());
    assert_eq!(exit_code::<Options>(&["--help"]), EXIT_VERDICT.into());
}
