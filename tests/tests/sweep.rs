//! `szc sweep` from sources to the report, interrupted and gone on with.

use std::fs;

use szc_tests::laboratory::{code, errors, interrupted, laboratory, plan, run, samples, text};
use szc_tests::tools::{Place, szc};

/// Some milliseconds of calls, in as many parts as the first word says. What they do is bound by
/// the number of instructions: a chain of results is as fast without optimization, where processors
/// forward what was stored at once.
const PROGRAM: &str = "\
#include <stdio.h>
#include <stdlib.h>
static unsigned lanes[16];
__attribute__((noinline)) static void step(void) {
    for (unsigned i = 0; i < 16; i++) lanes[i] = lanes[i] * 1664525u + i;
}
int main(int count, char **args) {
    long rounds = 200000 * (count > 1 ? atol(args[1]) : 1);
    for (long i = 0; i < rounds; i++) step();
    puts(lanes[3] == 42 ? \"unlikely\" : \"done\");
    return 0;
}
";

/// How many metrics runs have must not depend on what a pilot sees of a busy machine.
const BUILD: [&str; 6] = [
    "sweep",
    "--fixed=6",
    "--turns=off",
    "--build=szc {flags} p.c -o p",
    "--flags=-O0,-O1,-O2",
    "--seed=5",
];

#[test]
fn levels_are_built_measured_and_shown_by_every_report() {
    let place = Place::with("p.c", PROGRAM);
    let args = [&BUILD[..], &["--json", "s.json", "--", "./p 2", "./p 5"]].concat();
    let output = run(&place, &args);
    assert_eq!(code(&output), 0, "{}", errors(&output));
    assert!(text(&output).contains("Analysis of variance within programs: F(2, 2)"), "{output:?}");
    let file = samples(&place, "s.json");
    let suite = &file["suite"];
    assert_eq!(suite["degrees_of_freedom"], serde_json::json!([2, 2]));
    assert!(suite["levels"][1]["ratio"].as_f64() < Some(1.0), "{suite}");
    assert_eq!(file["programs"][5]["randomized"], true);

    let report = ["report", "s.json", "--html=s.html", "--markdown=s.md", "--junit=s.xml"];
    assert_eq!(code(&run(&place, &report)), 0);
    let page = String::from_utf8(place.read("s.html")).expect("text");
    let variance = page.split("Analysis of variance within programs, of mean log values").nth(2);
    let variance = variance.expect("a table with a caption").split("</table>").next();
    let variance = variance.expect("its end");
    for (field, shown) in [
        ("f", format!("{:.3}", suite["f"].as_f64().expect("a number"))),
        ("degrees_of_freedom/1", "2".to_owned()),
        ("partial_eta_squared", format!("{:.3}", suite["partial_eta_squared"].as_f64().unwrap())),
    ] {
        let cell = format!("samples/suite/{field}\">{shown}</data>");
        assert!(variance.contains(&cell), "{cell}: {variance}");
    }
    assert!(page.contains("p #2 -O1"), "every program and level has a name of its own");
    let markdown = String::from_utf8(place.read("s.md")).expect("text");
    assert!(markdown.contains("- Analysis of variance within programs: F(2, 2)"), "{markdown}");

    assert_eq!(code(&run(&place, &["export", "s.json", "--csv=s.csv"])), 0);
    let rows = String::from_utf8(place.read("s.csv")).expect("text");
    assert_eq!(rows.lines().count(), 1 + 2 * 3 * 2 * 6);
    assert_eq!(
        rows.lines().filter(|row| row.starts_with("\"s\",\"p #2\",\"-O1\",")).count(),
        12,
        "{rows}"
    );
    assert_eq!(code(&run(&place, &["compare", "-q", "s.json"])), 0);
}

#[test]
fn ctrl_c_while_building_measures_nothing_and_the_next_sweep_builds() {
    let place = Place::with("p.c", PROGRAM);
    let folder = place.path.display();
    let slow =
        format!("--build=touch '{folder}/begun'; test -e '{folder}/go' || sleep 3; szc p.c -o p");
    let args =
        ["sweep", "-q", "--fixed=6", &slow, "--param=n=1,2", "--json=s.json", "--", "./p {n}"];
    let output = interrupted(&place, &args, || place.path.join("begun").exists());
    assert_eq!(code(&output), 130, "{}", errors(&output));
    assert!(errors(&output).contains("nothing was measured"), "{}", errors(&output));
    assert!(!place.path.join("s.json").exists());
    place.write("go", "");
    assert_eq!(code(&run(&place, &args)), 0);
}

#[test]
fn ctrl_c_keeps_complete_blocks_and_resume_makes_the_rest() {
    let place = Place::with("p.c", PROGRAM);
    place.run(szc(), &["-O2", "p.c", "-o", "p"]);
    // The command notes each run, so that the test knows how far it is.
    let notes = place.path.join("notes");
    let runs = || fs::read_to_string(&notes).map_or(0, |text| text.lines().count());
    let command = "echo x >> notes; ./p {n}";
    let args = ["sweep", "-q", "--fixed=7", "--seed=9", "--metric=wall", "--param=n=1,3"];
    let experiment = |file: &'static str| {
        [&args[..], &[file, "--name=one", "--name=two", "--", command, command]].concat()
    };
    let whole = run(&place, &experiment("--json=whole.json"));
    assert_eq!(code(&whole), 0, "{}", errors(&whole));
    // A program has 2 runs of warm-up and 7 blocks of 4.
    for (file, option, enough) in
        [("first.json", "--json=first.json", 12), ("second.json", "--json=second.json", 45)]
    {
        fs::remove_file(&notes).expect("notes");
        let cut = interrupted(&place, &experiment(option), || runs() >= enough);
        assert_eq!(code(&cut), 130, "{}", errors(&cut));
        let cut = samples(&place, file);
        assert_eq!(cut["ended"]["how"], "interrupted");
        assert_eq!(cut["programs"].as_array().map(Vec::len), Some(4));
        assert!(plan(&cut).len() >= 4 && plan(&cut).len() < 56, "{}", plan(&cut).len());
        assert_eq!(code(&run(&place, &["report", file, "--html=cut.html"])), 0);
        let resumed = run(&place, &["sweep", "--resume", file]);
        assert_eq!(code(&resumed), 0, "{}", errors(&resumed));
        assert!(text(&resumed).contains("Analysis of variance"), "{}", text(&resumed));
        assert_eq!(plan(&samples(&place, file)), plan(&samples(&place, "whole.json")));
    }
    place.write("p", "another program");
    let resumed = run(&place, &["sweep", "--resume", "second.json"]);
    assert_eq!(code(&resumed), 0, "the shell ran it: szc does not know which file that was");
}

#[test]
fn a_full_disk_loses_nothing_of_a_sweep() {
    let place = Place::new();
    let args = ["sweep", "-q", "--fixed=6", "--metric=wall", "--param=n=1,2", "--json=/dev/full"];
    let args = [&args[..], &["--", "true {n}", "true x {n}"]].concat();
    let output = laboratory(&place, &args).env("TMPDIR", &place.path).output().expect("szc");
    assert_eq!(code(&output), 1, "{}", errors(&output));
    assert!(errors(&output).contains("No space left"), "{}", errors(&output));
    let rescued = fs::read_dir(&place.path).expect("readable").flatten();
    let mut rescued = rescued.map(|entry| entry.file_name().into_string().expect("a name"));
    let rescued = rescued.find(|name| name.starts_with("szc-samples-")).expect("rescued samples");
    assert_eq!(plan(&samples(&place, &rescued)).len(), 2 * 2 * 2 * 6);
}

#[test]
fn spoiled_files_of_sweeps_are_refused_or_shown_but_never_believed() {
    let place = Place::new();
    let args = ["sweep", "-q", "--fixed=6", "--metric=wall", "--param=n=1,2", "--json=good.json"];
    let args = [&args[..], &["--", "true {n}", "true x {n}"]].concat();
    assert_eq!(code(&run(&place, &args)), 0);
    let good = String::from_utf8(place.read("good.json")).expect("text");
    for (from, to, reason) in [
        ("\"program\": 3", "\"program\": 4", "and there are 4 programs"),
        ("\"complete_blocks\": 6", "\"complete_blocks\": 4000000000", "fewer runs"),
        ("\"f\": ", "\"f\": \"", "not JSON"),
        ("\"degrees_of_freedom\": [", "\"degrees_of_freedom\": [-1,", "a field is wrong"),
        ("\"programs\": [", "\"programs\": [], \"more\": [", "`programs` is empty"),
    ] {
        assert!(good.contains(from), "{from}");
        place.write("bad.json", &good.replace(from, to));
        for args in [
            &["report", "bad.json", "--html=x.html"][..],
            &["export", "bad.json", "--csv=x.csv"],
            &["sweep", "--resume", "bad.json"],
        ] {
            let output = run(&place, args);
            assert_eq!(code(&output), 2, "{args:?}: {}", errors(&output));
            assert!(errors(&output).contains(reason), "{args:?}: {}", errors(&output));
        }
    }
    // A level that is markup is text in every report.
    place.write("odd.json", &good.replace("n=2", "<img src=x onerror=alert(1)>"));
    assert_eq!(code(&run(&place, &["report", "odd.json", "--html=x.html"])), 0);
    assert!(!String::from_utf8(place.read("x.html")).expect("text").contains("<img"));
}

#[test]
fn shards_are_joined_to_the_whole_sweep_and_machines_are_kept_apart() {
    let place = Place::new();
    let args = ["sweep", "-q", "--fixed=6", "--warmup=0", "--metric=wall", "--seed=4"];
    let commands = ["--param=n=1,2", "--", "true {n}", "true x {n}", "true y {n}"];
    let sweep = |more: &[&str]| {
        let output = run(&place, &[&args[..], more, &commands[..]].concat());
        assert_eq!(code(&output), 0, "{}", errors(&output));
    };
    sweep(&["--json=whole.json"]);
    sweep(&["--shard=1/2", "--json=1.json"]);
    sweep(&["--shard=2/2", "--json=2.json"]);
    let output = run(&place, &["merge", "2.json", "1.json", "--json=merged.json"]);
    assert_eq!(code(&output), 0, "{}", errors(&output));
    let (whole, merged) = (samples(&place, "whole.json"), samples(&place, "merged.json"));
    assert_eq!(plan(&merged), plan(&whole));
    assert_eq!(merged["version"], 2);
    let missing = run(&place, &["merge", "2.json"]);
    assert_eq!(code(&missing), 2);
    assert!(errors(&missing).contains("shards are missing: 1/2"), "{}", errors(&missing));

    // The second shard as if it came from another machine.
    let second = String::from_utf8(place.read("2.json")).expect("text");
    let host = merged["machine"]["hostname"].as_str().expect("a name");
    place.write("other.json", &second.replace(&format!("\"{host}\""), "\"elsewhere\""));
    let output = run(&place, &["merge", "1.json", "other.json", "--json=two.json"]);
    assert_eq!(code(&output), 0, "{}", errors(&output));
    assert!(text(&output).contains("2 machines, which are blocks"), "{output:?}");
    let two = samples(&place, "two.json");
    assert_eq!((&two["version"], two["machines"].as_array().map(Vec::len)), (&3.into(), Some(2)));
    assert_eq!(two["suite"]["block_of"], serde_json::json!([0, 1, 0]));
    assert_eq!(two["suite"]["by_block"]["degrees_of_freedom"], serde_json::json!([1, 1]));
    assert_eq!(code(&run(&place, &["report", "two.json", "--html=two.html"])), 0);
    let page = String::from_utf8(place.read("two.html")).expect("text");
    assert!(page.contains("levels by machines") && page.contains("on elsewhere"), "{page}");
    // An older szc would look for the reference on the wrong machine.
    let older = String::from_utf8(place.read("two.json")).expect("text");
    place.write("older.json", &older.replacen("\"version\": 3", "\"version\": 2", 1));
    assert_eq!(code(&run(&place, &["compare", "-q", "older.json"])), 2);
    assert_eq!(code(&run(&place, &["sweep", "--resume", "two.json"])), 2);
}
