//! Histories of made files, read through the public entry.

use std::process::ExitCode;

use szc_stats::change_points::Search;

use super::*;
use crate::examples::comparison;
use crate::lab::exit::{EXIT_INTERNAL, EXIT_USAGE};
use crate::lab::subcommand::exit_code;
use crate::samples::Metric;

/// Files of one comparison each; B takes as many milliseconds as `times` say, A takes 1000.
fn write(folder: &Path, times: &[u64]) {
    for (day, time) in times.iter().enumerate() {
        let mut file = comparison(1000, *time);
        file.created = format!("2026-11-{:02}T00:00:00Z", day + 1);
        // Names must not decide about the order.
        io::write(&folder.join(format!("{}.json", times.len() - day)), &file).unwrap();
    }
}

fn run(args: &[&str]) -> ExitCode {
    exit_code::<Options>(args)
}

fn read(folder: &Path) -> Vec<Series> {
    let mut files = Vec::new();
    read_folder(folder, &mut files).unwrap();
    let search = Search { least: 3, significance: 0.05 };
    series_of(&files, None, &search).unwrap()
}

#[test]
fn the_day_of_a_slowdown_is_found() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[1000, 1004, 998, 1002, 1001, 1050, 1054, 1049, 1051, 1048]);
    let series = read(folder.path());
    assert_eq!(series.len(), 1);
    assert!(series[0].name.starts_with("B / A of "), "{}", series[0].name);
    assert_eq!(series[0].changes.len(), 1);
    assert_eq!(series[0].points[series[0].changes[0].point].created, "2026-11-06T00:00:00Z");
    let sentences = series[0].sentences(3);
    assert!(sentences[0].starts_with("Since 2026-11-06T00:00:00Z ("), "{sentences:?}");
    assert!(sentences[0].contains("): +4.") || sentences[0].contains("): +5."), "{sentences:?}");
    let table = series[0].table();
    assert_eq!(table.lines().filter(|line| line.starts_with('>')).count(), 1, "{table}");
}

#[test]
fn a_quiet_history_and_a_short_one_have_no_change_point_and_say_so() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[1000, 1004, 998, 1002, 1001, 1003, 999]);
    assert!(read(folder.path())[0].sentences(3)[0].starts_with("No change point was found"));
    let short = tempfile::tempdir().unwrap();
    write(short.path(), &[1000, 2000]);
    assert!(read(short.path())[0].sentences(3)[0].contains("2 experiments, and 6 are needed"));
}

#[test]
fn pairs_of_other_commands_are_series_of_their_own_wherever_they_were_built() {
    let folder = tempfile::tempdir().unwrap();
    let commands = ["/builds/1/lua x", "/builds/2/lua x", "/builds/3/sqlite3 x"];
    for (number, command) in commands.iter().enumerate() {
        let mut file = comparison(1000, 1000);
        file.programs[1].command = (*command).to_owned();
        io::write(&folder.path().join(format!("{number}.json")), &file).unwrap();
    }
    let series = read(folder.path());
    let points: Vec<usize> = series.iter().map(|series| series.points.len()).collect();
    assert_eq!(points, [2, 1]);
    assert!(series[0].name.contains("lua x") && !series[0].name.contains("builds"));
}

#[test]
fn a_comparison_that_was_cut_off_is_no_history_of_its_programs() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[1000]);
    let mut file = comparison(1000, 1000);
    file.results.clear();
    io::write(&folder.path().join("cut.json"), &file).unwrap();
    let series = read(folder.path());
    assert!(series.iter().all(|series| series.is_ratio), "{series:?}");
}

#[test]
fn names_of_files_may_be_any_bytes() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9.json");
    io::write(&folder.path().join(name), &comparison(1000, 1000)).unwrap();
    let out = folder.path().join("out.txt");
    let args = ["--quiet", "--json", out.to_str().unwrap(), folder.path().to_str().unwrap()];
    assert_eq!(run(&args), EXIT_VERDICT.into());
    assert!(std::fs::read_to_string(out).unwrap().contains("caf\u{fffd}.json"));
}

#[test]
fn machines_and_metrics_are_series_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[1000, 1000]);
    let mut file = comparison(1000, 1000);
    file.machine.cpu = Some("another".to_owned());
    io::write(&folder.path().join("other.json"), &file).unwrap();
    assert_eq!(read(folder.path()).len(), 2);
    let mut files = Vec::new();
    read_folder(folder.path(), &mut files).unwrap();
    let search = Search { least: 2, significance: 0.05 };
    let wall = series_of(&files, Some("wall"), &search).unwrap();
    assert!(wall.iter().all(|series| series.metric == Metric::Wall));
    assert!(series_of(&files, Some("instructions"), &search).unwrap().is_empty());
}

#[test]
fn files_that_are_no_samples_are_left_out_of_folders_and_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[1000, 1000, 1000]);
    let broken = folder.path().join("broken.json");
    std::fs::write(&broken, "{\"format\":").unwrap();
    let place = folder.path().to_str().unwrap();
    let out = folder.path().join("out.txt");
    assert_eq!(run(&["--quiet", "--json", out.to_str().unwrap(), place]), EXIT_VERDICT.into());
    let written: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(out).unwrap()).unwrap();
    assert_eq!(written["series"][0]["points"].as_array().unwrap().len(), 3);
    assert_eq!(run(&[broken.to_str().unwrap()]), EXIT_USAGE.into());
    assert_eq!(run(&["/no/such/file.json"]), EXIT_USAGE.into());
    let empty = tempfile::tempdir().unwrap();
    assert_eq!(run(&[empty.path().to_str().unwrap()]), EXIT_USAGE.into());
    assert_eq!(run(&["--store", empty.path().to_str().unwrap()]), EXIT_USAGE.into());
}

#[test]
fn options_out_of_range_are_usage_errors() {
    for args in [&["--least=1", "x"][..], &["--significance=1", "x"], &["--metric=no", "x"]] {
        assert_eq!(run(args), EXIT_USAGE.into(), "{args:?}");
    }
    assert_eq!(run(&["--help"]), EXIT_VERDICT.into());
}

#[test]
fn an_output_that_cannot_be_written_is_szc_s_failure() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[1000]);
    let place = folder.path().to_str().unwrap();
    assert_eq!(run(&["--json=/dev/full", place]), EXIT_INTERNAL.into());
}
