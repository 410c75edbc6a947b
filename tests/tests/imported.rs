//! `szc import --harness`: what harnesses wrote elsewhere, through table, gate and page.

use szc_tests::laboratory::{code, errors, run, text};
use szc_tests::tools::Place;

/// Rows of the made-up harness: every tenth takes 8 % more in B.
const ROWS: usize = 60;

/// What Google Benchmark writes of a run, with about 1 % of noise.
fn written(run: usize, is_b: bool) -> String {
    let row = |row: usize| {
        let phase = (run * 31 + row * 17 + usize::from(is_b) * 7) as f64;
        let factor = if is_b && row.is_multiple_of(10) { 1.08 } else { 1.0 };
        let time = 12.5 * (row + 1) as f64 * factor * (0.01 * (phase * 1.7).sin()).exp();
        let name = format!("parse/{}<char>/{row:02}", if row < 30 { "small" } else { "large" });
        format!(
            "{{\"name\": \"{name}\", \"run_name\": \"{name}\", \"run_type\": \"iteration\", \
             \"cpu_time\": {time}, \"real_time\": {time}, \"time_unit\": \"ns\"}}"
        )
    };
    let rows: Vec<String> = (0..ROWS).map(row).collect();
    format!("{{\"context\": {{}}, \"benchmarks\": [{}]}}", rows.join(",\n"))
}

/// The arguments that import twenty runs of each program, in blocks or as groups, to `rows.json`.
pub fn import(place: &Place, in_blocks: bool) -> Vec<String> {
    let mut table = "szc-runs 1\n".to_owned();
    let mut files = [Vec::new(), Vec::new()];
    for run in 0..20 {
        for (program, name) in ["old", "new"].into_iter().enumerate() {
            let file = format!("{name}-{run}.json");
            place.write(&file, &written(run, program == 1));
            let position = if run % 2 == 0 { program } else { 3 - program };
            table.push_str(&format!("{}\t{position}\t{name}\t{run}\tyes\t{file}\n", run / 2));
            files[program].push(file);
        }
    }
    place.write("runs.tsv", &table);
    let mut args =
        ["import", "--harness", "auto", "--json", "rows.json"].map(str::to_owned).to_vec();
    args.extend(["--row-tolerance", "parse/large*=5%"].map(str::to_owned));
    if in_blocks {
        args.push("runs.tsv".to_owned());
    } else {
        let [old, new] = files;
        args.extend(["--a".to_owned()].into_iter().chain(old));
        args.extend(["--b".to_owned()].into_iter().chain(new));
    }
    args
}

#[test]
fn files_of_a_harness_give_a_table_a_gate_and_a_page() {
    let place = Place::new();
    for in_blocks in [true, false] {
        let args = import(&place, in_blocks);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let output = run(&place, &args);
        assert_eq!(code(&output), 0, "{}", errors(&output));
        let table = text(&output);
        assert!(table.contains("Of 60 rows: 6 slower"), "{table}");
        assert_eq!(errors(&output).contains("do not tell whether"), !in_blocks);
        let gate = |more: &[&str]| {
            let output = run(&place, &[&["gate", "-q"], more, &["rows.json"]].concat());
            (code(&output), text(&output))
        };
        // Each tenth row takes 8 % more: too much for both tolerances, but not for 20 %.
        let strict = ["--max-slowdown=3%", "--row-tolerance=parse/large*=5%"];
        let (failed, table) = gate(&strict);
        assert!(failed == 1 && table.contains("Of 60 rows: 6 fail"), "{table}");
        let wide = ["--max-slowdown=20%", "--slowest-layout=1.2", "--row-tolerance=parse/s*=15%"];
        assert_eq!(gate(&wide).0, 0);
        let output = run(&place, &["report", "rows.json", "--html", "rows.html"]);
        assert_eq!(code(&output), 0, "{}", errors(&output));
    }
    place.write("odd.json", "{\"name\": \"what a tool of one's own writes\"}");
    let odd = ["import", "--harness", "auto", "--a", "old-1.json", "odd.json", "--b", "x", "y"];
    let output = run(&place, &odd);
    let found = "cannot use odd.json: nothing that a harness writes was found: its output begins";
    assert!(code(&output) == 2 && errors(&output).contains(found), "{}", errors(&output));
}
