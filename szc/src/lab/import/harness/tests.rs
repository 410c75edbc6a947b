//! Files as harnesses write them, as groups and as blocks, whole and spoiled.

use std::path::Path;

use clap::Parser;

use super::*;
use crate::lab::exit::{EXIT_FAIL, EXIT_USAGE, EXIT_VERDICT};
use crate::lab::gate;
use crate::lab::subcommand::exit_code;
use crate::report::text::comparison_report;
use crate::samples::Verdict;

/// What Google Benchmark writes of a run in which rows take these times in nanoseconds.
fn google(rows: &[(&str, f64)]) -> String {
    let one = |(name, time): &(&str, f64)| {
        format!(
            "{{\"name\": \"{name}\", \"run_name\": \"{name}\", \"run_type\": \"iteration\", \
             \"real_time\": {time}, \"cpu_time\": {time}, \"time_unit\": \"ns\"}}"
        )
    };
    let rows: Vec<String> = rows.iter().map(one).collect();
    format!("{{\"context\": {{}}, \"benchmarks\": [{}]}}", rows.join(", "))
}

/// About 0.3 % of noise that differs from run to run and from row to row.
fn noise(run: usize, row: usize) -> f64 {
    (0.003 * ((run * 31 + row * 7) as f64 * 1.7).sin()).exp()
}

/// Twelve runs each of A and B in folders of those names; B's sum takes a tenth more, and it has a
/// row that A lacks.
fn measured(folder: &Path) -> [Vec<String>; 2] {
    ["a", "b"].map(|name| {
        fs::create_dir(folder.join(name)).unwrap();
        let path = |run: usize| {
            let noise = |row| noise(run + 100 * usize::from(name == "b"), row);
            let factor = if name == "b" { 1.1 } else { 1.0 };
            let mut rows =
                vec![("BM_Sort<int>/64", 750.0 * noise(0)), ("BM_Sum", 76.5 * factor * noise(1))];
            if name == "b" {
                rows.push(("BM_New", 5.0));
            }
            let path = folder.join(name).join(format!("{run}.json"));
            fs::write(&path, google(&rows)).unwrap();
            path.display().to_string()
        };
        (0..12).map(path).collect()
    })
}

fn options(args: &[&str]) -> Options {
    Options::try_parse_from([&["--harness", "auto"], args].concat()).unwrap()
}

fn made(args: &[&str]) -> Result<SamplesFile> {
    let command_line = ["szc", "import"].map(str::to_owned).to_vec();
    imported(&options(args), "auto", command_line)
}

fn grouped<'a>([a, b]: &'a [Vec<String>; 2], more: &[&'a str]) -> Vec<&'a str> {
    let [a, b] = [a, b].map(|files| files.iter().map(String::as_str).collect::<Vec<_>>());
    [more, &["--a"], &a[..], &["--b"], &b[..]].concat()
}

fn verdicts(file: &SamplesFile) -> Vec<(&str, Verdict)> {
    file.deciding_results().map(|one| (one.metric.title(), one.verdict)).collect()
}

#[test]
fn files_of_two_programs_become_rows_of_two_groups() {
    let folder = tempfile::tempdir().unwrap();
    let files = measured(folder.path());
    let file = made(&grouped(&files, &[])).unwrap();
    // Twelve layouts show a difference, and not that there is none.
    let expected = [("BM_Sort<int>/64", Verdict::Unresolved), ("BM_Sum", Verdict::Slower)];
    assert_eq!(verdicts(&file), expected);
    let sum = &file.results[1];
    assert!((sum.ratio - 1.1).abs() < 0.005 && !sum.paired && sum.n == 24, "{sum:?}");
    let report = comparison_report(&file, false);
    assert!(report.contains("\nOf 2 rows: 1 slower, 1 unresolved"), "{report}");
    assert!(report.contains("Not compared: BM_New, which only B always has."), "{report}");
    assert!(!report.contains("No comparison of"), "{report}");
    assert!(file.advice[0].contains("do not tell whether"), "{:?}", file.advice);
    let file = made(&grouped(&files, &["--rows=!Sort", "--row-tolerance=BM_S*=20%"])).unwrap();
    assert_eq!(verdicts(&file), [("BM_Sum", Verdict::Slower)]);
    assert_eq!(file.results[0].tolerance, Some(0.2));
}

#[test]
fn with_a_table_they_are_blocks_and_a_gate_answers_from_them() {
    let folder = tempfile::tempdir().unwrap();
    let files = measured(folder.path());
    let mut table = "szc-runs 1\n# block, position, program, seed, randomized, file\n".to_owned();
    for (run, (a, b)) in files[0].iter().zip(&files[1]).enumerate() {
        let block = run / 2;
        let turned = run % 2 == 1;
        for (at, (level, path)) in [("old", a), ("new", b)].into_iter().enumerate() {
            let position = if turned { 3 - at } else { at };
            table.push_str(&format!("{block}\t{position}\t{level}\t{run}\tyes\t{path}\n"));
        }
    }
    let [path, json] = ["runs.tsv", "rows.json"].map(|name| folder.path().join(name));
    fs::write(&path, table).unwrap();
    let path = path.to_str().unwrap();
    let file = made(&[path]).unwrap();
    assert_eq!((file.design.complete_blocks, file.runs.len(), file.advice.len()), (6, 24, 0));
    assert_eq!(file.programs[1].title(), "B (new)");
    assert_eq!(verdicts(&file)[1], ("BM_Sum", Verdict::Slower));
    assert!(file.results[1].paired && file.results[1].n == 6);
    let json = json.to_str().unwrap();
    let args = ["-q", "--harness", "google-benchmark", path, "--json", json];
    assert_eq!(exit_code::<Options>(&args), EXIT_VERDICT.into());
    let gate = |more: &[&str]| exit_code::<gate::Options>(&[&["-q", json], more].concat());
    assert_eq!(gate(&[]), EXIT_FAIL.into());
    let wide = ["--row-tolerance=BM_Sum=50%", "--max-slowdown=20%", "--slowest-layout=1.1"];
    assert_eq!(gate(&wide), EXIT_VERDICT.into());
}

#[test]
fn folders_of_criterion_are_runs() {
    let folder = tempfile::tempdir().unwrap();
    let run = |name: &str, time: f64| {
        let new = folder.path().join(name).join("group/fib/5/new");
        fs::create_dir_all(&new).unwrap();
        fs::write(new.join("benchmark.json"), "{\"full_id\": \"group/fib/5\"}").unwrap();
        let estimates = format!("{{\"mean\": {{\"point_estimate\": {time}}}}}");
        fs::write(new.join("estimates.json"), estimates).unwrap();
        folder.path().join(name).display().to_string()
    };
    let all = [0.0, 9.0].map(|more: f64| {
        let times = [14.0, 14.1, 14.2].map(|time| time + more);
        times.map(|time| run(&time.to_string(), time)).to_vec()
    });
    let file = made(&grouped(&all, &[])).unwrap();
    assert_eq!(verdicts(&file), [("group/fib/5", Verdict::Slower)]);
}

#[test]
fn what_is_of_no_harness_is_shown_and_what_is_given_twice_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let files = measured(folder.path());
    let reason = |args: &[&str]| format!("{:#}", made(args).unwrap_err());
    let odd = folder.path().join("odd.json");
    let odd_text = odd.to_str().unwrap();
    for (text, found) in [
        ("3 tests passed\n", "its output begins with \"3 tests passed\""),
        ("", "nothing at all"),
        ("{\"benchmarks\": 3, \"run_type\": 1}", "its JSON cannot be read"),
        ("{\"benchmarks\": [], \"run_type\": 1}", "it has no rows"),
    ] {
        fs::write(&odd, text).unwrap();
        let error = reason(&["--a", odd_text, &files[0][0], "--b", &files[1][0], &files[1][1]]);
        assert!(error.contains("odd.json") && error.contains(found), "{error}");
    }
    let twice = ["--a", &files[0][0], &files[0][0], "--b", &files[1][0], &files[1][1]];
    assert!(reason(&twice).contains("0.json is given twice"));
    let few = ["--a", &files[0][0], &files[0][1], "--b", &files[1][0]];
    assert!(reason(&few).contains("--b has 1 files"), "{}", reason(&few));
    assert!(reason(&["--a", "x", "y", "--b", "z", "u"]).contains("there is no such file"));
    let options = Options::try_parse_from(["--harness", "hyperfine", "--a", "x", "--b", "y"]);
    let options = Options { a: vec![files[0][0].clone().into(); 2], ..options.unwrap() };
    let error = format!("{:#}", imported(&options, "hyperfine", Vec::new()).unwrap_err());
    assert!(error.contains("is what google-benchmark writes"), "{error}");
    let folder = folder.path().join("a").display().to_string();
    let error = reason(&["--a", &folder, &files[0][1], "--b", &files[1][0], &files[1][1]]);
    assert!(error.contains("it has no rows"), "{error}");
    for wrong in [&["--a", "x"][..], &["--a", "x", "--b", "y"], &["--rows=x", "t"], &[]] {
        assert_eq!(exit_code::<Options>(wrong), EXIT_USAGE.into(), "{wrong:?}");
    }
}
