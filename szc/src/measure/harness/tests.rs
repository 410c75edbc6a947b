//! What harnesses wrote, shortened where it repeats itself.

use super::*;

fn rows(format: Format, text: &str) -> Vec<(String, f64)> {
    let rows = format.rows(text).expect("readable");
    rows.into_iter().map(|row| (row.name, row.seconds)).collect()
}

fn assert_rows(found: &[(String, f64)], expected: &[(&str, f64)]) {
    let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    let wanted: Vec<&str> = expected.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, wanted);
    for ((name, seconds), (_, wanted)) in found.iter().zip(expected) {
        assert!((seconds / wanted - 1.0).abs() < 1e-12, "{name}: {seconds}");
    }
}

/// Version 1.7.1.
const GOOGLE: &str = r#"{"context": {"executable": "./gb", "num_cpus": 2}, "benchmarks": [
{"name": "BM_Sort/64", "run_name": "BM_Sort/64", "run_type": "iteration", "repetitions": 1,
 "iterations": 18047, "real_time": 8.19e-01, "cpu_time": 7.5e-01, "time_unit": "us"},
{"name": "BM_Sum/repeats:2", "run_name": "BM_Sum/repeats:2", "run_type": "iteration",
 "repetition_index": 1, "real_time": 98.7, "cpu_time": 76.5, "time_unit": "ns"},
{"name": "BM_Sum/repeats:2_mean", "run_name": "BM_Sum/repeats:2", "run_type": "aggregate",
 "aggregate_name": "mean", "real_time": 104.2, "cpu_time": 77.0, "time_unit": "ns"},
{"name": "BM_Wall/real_time", "run_name": "BM_Wall/real_time", "run_type": "iteration",
 "real_time": 80.5, "cpu_time": 70.1, "time_unit": "ns"},
{"name": "BM_Skipped", "run_name": "BM_Skipped", "run_type": "iteration",
 "error_occurred": true, "error_message": "no data", "real_time": 0.0, "cpu_time": 0.0,
 "time_unit": "ns"}]}"#;

#[test]
fn google_benchmark_gives_cpu_time_or_what_the_name_asks_for_and_no_aggregates() {
    let expected =
        [("BM_Sort/64", 7.5e-7), ("BM_Sum/repeats:2", 76.5e-9), ("BM_Wall/real_time", 80.5e-9)];
    assert_rows(&rows(Format::GoogleBenchmark, GOOGLE), &expected);
    assert!(Format::GoogleBenchmark.rows("{}").unwrap_err().contains("benchmarks"));
}

/// Version 0.5: `new/benchmark.json` and `new/estimates.json`.
const CRITERION: (&str, &str) = (
    r#"{"group_id":"group","function_id":"fib","value_str":"5","throughput":null,
        "full_id":"group/fib/5","directory_name":"group/fib/5","title":"group/fib/5"}"#,
    r#"{"mean":{"confidence_interval":{"confidence_level":0.95,"lower_bound":14.1,
        "upper_bound":14.5},"point_estimate":14.25,"standard_error":0.08},
        "median":{"confidence_interval":{"confidence_level":0.95,"lower_bound":14.1,
        "upper_bound":14.3},"point_estimate":14.2,"standard_error":0.05},
        "slope":{"confidence_interval":{"confidence_level":0.95,"lower_bound":14.1,
        "upper_bound":14.3},"point_estimate":14.125,"standard_error":0.05}}"#,
);

#[test]
fn criterion_gives_the_slope_of_each_benchmark_in_its_folder() {
    let home = tempfile::tempdir().expect("a folder");
    let folder = home.path().join("group/fib/5/new");
    fs::create_dir_all(&folder).expect("writable");
    fs::create_dir_all(home.path().join("group/fib/5/base")).expect("writable");
    fs::write(folder.join("benchmark.json"), CRITERION.0).expect("writable");
    fs::write(folder.join("estimates.json"), CRITERION.1).expect("writable");
    fs::write(home.path().join("group/fib/5/base/estimates.json"), "{}").expect("writable");
    let found = criterion(home.path());
    assert_eq!(found, [Row { name: "group/fib/5".to_owned(), seconds: 14.125e-9 }]);
}

/// Version 0.1.21, with its pattern of blanks.
const DIVAN: &str = "\
Timer precision: 20 ns
div        fastest       │ slowest       │ median        │ mean          │ samples │ iters
├─ fib                   │               │               │               │         │
│  ├─ 5    14.12 ns      │ 14.16 ns      │ 14.16 ns      │ 14.14 ns      │ 5       │ 1280
│  ╰─ 10   152.9 ns      │ 153.6 ns      │ 153.6 ns      │ 153.5 ns      │ 5       │ 80
├─ fib15   1.722 µs      │ 1.768 µs      │ 1.727 µs      │ 1.733 µs      │ 5       │ 10
╰─ inner                 │               │               │               │         │
   ╰─ vec  23.07 ns      │ 373.7 ns      │ 24.98 ns      │ 96.03 ns      │ 5       │ 160
           43.33 GB/s    │ 2.675 GB/s    │ 40.02 GB/s    │ 10.41 GB/s    │         │
";

#[test]
fn divan_gives_the_median_of_each_leaf_with_the_names_above_it() {
    let expected =
        [("fib/5", 14.16e-9), ("fib/10", 153.6e-9), ("fib15", 1.727e-6), ("inner/vec", 24.98e-9)];
    assert_rows(&rows(Format::Divan, DIVAN), &expected);
}

/// Tables with and without counters, another title, and an unstable row.
const NANOBENCH: &str = "\
|               ns/op |                op/s |    err% |          ins/op |     total | benchmark
|--------------------:|--------------------:|--------:|----------------:|----------:|:----------
|              118.30 |        8,452,987.49 |    0.6% |          233.62 |      0.01 | `find`
|            7,157.27 |                0.14 |    6.5% |           12.00 |     80.64 | :wavy_dash: \
`rebuild` (Unstable with ~1.0 iters. Increase `minEpochIterations` to e.g. 10)

| relative |               ms/op |                op/s |    err% |     total | Index query
|---------:|--------------------:|--------------------:|--------:|----------:|:------------
|   100.0% |                1.10 |              907.70 |    0.4% |      1.33 | `query 0`
";

#[test]
fn nanobench_gives_the_column_of_time_in_its_unit() {
    let expected = [("find", 118.3e-9), ("rebuild", 7157.27e-9), ("Index query/query 0", 1.1e-3)];
    assert_rows(&rows(Format::Nanobench, NANOBENCH), &expected);
}

/// Version 2.13.10.
const CATCH2: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<Catch name="c2"><Group name="c2"><TestCase name="fibonacci" filename="c2.cpp" line="5">
<BenchmarkResults name="fib 15" samples="10" resamples="100000" iterations="7761">
<!--All values in nano seconds-->
<mean value="0.990117" lowerBound="0.958652" upperBound="1.03672" ci="0.95"/>
<standardDeviation value="0.06" lowerBound="0.03" upperBound="0.09" ci="0.95"/>
</BenchmarkResults>
<Section name="deep" filename="c2.cpp" line="5">
<BenchmarkResults name="fib 18 &lt;deep>" samples="10" resamples="100000" iterations="43311">
<mean value="0.936686" lowerBound="0.926617" upperBound="0.964344" ci="0.95"/>
</BenchmarkResults>
<OverallResults successes="0" failures="0" expectedFailures="0"/></Section>
<OverallResult success="true"/></TestCase></Group></Catch>"#;

#[test]
fn catch2_gives_the_mean_of_each_benchmark_with_test_case_and_sections() {
    let expected =
        [("fibonacci/fib 15", 0.990117e-9), ("fibonacci/deep/fib 18 <deep>", 0.936686e-9)];
    assert_rows(&rows(Format::Catch2, CATCH2), &expected);
}

/// Version 3.2.2.
const PYTEST: &str = r#"{"machine_info": {"node": "vm"}, "commit_info": {}, "benchmarks": [
{"group": null, "name": "test_sum", "fullname": "test_b.py::test_sum", "params": null,
 "stats": {"min": 7.0e-06, "max": 0.02, "mean": 4.1e-05, "rounds": 3588, "median": 7.125e-06,
 "outliers": "8;672", "ops": 24367.2, "iterations": 1}}], "version": "3.2.2"}"#;

/// Version 1.15.0.
const HYPERFINE: &str = r#"{"results": [
{"command": "true", "mean": 0.0015, "stddev": 0.0009, "median": 0.001, "user": 0.0005,
 "system": 0.0003, "min": 0.001, "max": 0.002, "times": [0.002, 0.001], "exit_codes": [0, 0]},
{"command": "sleep 0.01", "mean": 0.0145, "stddev": null, "median": 0.0145, "user": 0.0005,
 "system": 0.001, "min": 0.01, "max": 0.018, "times": [0.0145], "exit_codes": [0]}]}"#;

#[test]
fn pytest_gives_medians_and_hyperfine_means_in_seconds() {
    assert_rows(&rows(Format::Pytest, PYTEST), &[("test_b.py::test_sum", 7.125e-6)]);
    assert_rows(&rows(Format::Hyperfine, HYPERFINE), &[("true", 0.0015), ("sleep 0.01", 0.0145)]);
}

#[test]
fn every_format_is_recognised_by_what_it_writes() {
    for (text, format) in [
        (GOOGLE, Format::GoogleBenchmark),
        (DIVAN, Format::Divan),
        (NANOBENCH, Format::Nanobench),
        (CATCH2, Format::Catch2),
        (PYTEST, Format::Pytest),
        (HYPERFINE, Format::Hyperfine),
    ] {
        assert_eq!(of_output(text), Some(format), "{}", format.name());
    }
    assert_eq!(of_output("elapsed: 3 s\n"), None);
}

#[test]
fn programs_are_recognised_by_their_name_or_by_what_was_linked_into_them() {
    let argv = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    assert_eq!(of_program(&argv(&["python3", "-m", "pytest", "x.py"])), Some(Format::Pytest));
    assert_eq!(of_program(&argv(&["/usr/bin/hyperfine", "true"])), Some(Format::Hyperfine));
    assert_eq!(of_program(&argv(&["true"])), None);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("bench");
    fs::write(&file, b"\x7fELF\0_ZN9benchmark22RunSpecifiedBenchmarksEv\0").expect("writable");
    let path = file.display().to_string();
    assert_eq!(of_program(&argv(&[&path])), Some(Format::GoogleBenchmark));
}

#[test]
fn a_harness_is_told_where_to_write_also_through_the_shell_and_once() {
    let harness = Harness::new("catch2").expect("known");
    let command = |words: &[&str]| {
        harness.command(words.iter().map(|w| (*w).to_owned()).collect(), Path::new("/s"))
    };
    assert_eq!(command(&["./b", "x"]), ["./b", "x", "-r", "xml", "-o", "/s/harness"]);
    let shell = command(&["/bin/sh", "-c", "N=3 ./b"]);
    assert_eq!(shell[2], "N=3 ./b '-r' 'xml' '-o' '/s/harness'");
    let divan = Harness::new("divan").expect("known");
    let argv = ["./b", "--bench"].map(str::to_owned).to_vec();
    assert_eq!(divan.command(argv.clone(), Path::new("/s")), argv);
}

#[test]
fn an_unknown_harness_or_output_is_an_error_that_shows_what_was_found() {
    assert!(Harness::new("junit").unwrap_err().contains("google-benchmark, criterion"));
    assert!(Harness::new("auto:(").unwrap_err().contains("regular expression"));
    let scratch = tempfile::tempdir().expect("a folder");
    let read = |text: &str| Harness::new("auto").unwrap().read(scratch.path(), text.as_bytes());
    assert_eq!(
        read("\n3 tests passed\n").unwrap_err(),
        "its output begins with \"3 tests passed\""
    );
    assert!(read("").unwrap_err().contains("nothing at all"));
    assert_eq!(read(DIVAN).expect("divan").len(), 4);
}

#[test]
fn repetitions_of_a_row_become_their_geometric_mean_and_the_filter_chooses_rows() {
    let row = |name: &str, seconds| Row { name: name.to_owned(), seconds };
    let found = means(&[row("a", 1.0), row("b", 5.0), row("a", 4.0), row("c", 0.0)]);
    let found: Vec<(&str, f64)> = found.iter().map(|(name, s)| (name.as_str(), *s)).collect();
    assert_eq!(found.len(), 2);
    assert!(found[0].0 == "row:a" && (found[0].1 - 2.0).abs() < 1e-12, "{found:?}");
    let harness = Harness::new("divan:^fib/").expect("known");
    let kept = tables::divan(DIVAN).into_iter().filter(|row| harness.wanted(row)).count();
    assert_eq!(kept, 2);
}
