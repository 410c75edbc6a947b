//! `szc report` and `szc export` on real samples and on files that are none.

use std::fs;
use std::process::Output;

use szc_tests::tools::{Place, szc};

/// A comparison of two commands that need nothing to be built.
fn measured() -> Place {
    let place = Place::new();
    let args = ["compare", "--blocks", "6", "--json", "samples.json", "--", "true", "true ignored"];
    place.run(szc(), &args);
    place
}

fn szc_says(place: &Place, args: &[&str]) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } = place
        .command(szc())
        .args(args)
        .env_remove("GITHUB_STEP_SUMMARY")
        .output()
        .expect("szc starts");
    let text = [stdout, stderr].map(|bytes| String::from_utf8(bytes).expect("text"));
    (status.code(), text.concat())
}

#[test]
fn every_form_is_written_and_holds_every_run() {
    let place = measured();
    let args =
        ["export", "samples.json", "--csv", "runs.csv", "--json", "runs.json", "--r", "runs.R"];
    assert_eq!(szc_says(&place, &args), (Some(0), String::new()));
    let csv = String::from_utf8(place.read("runs.csv")).unwrap();
    assert_eq!(csv.lines().count(), 25);
    let rows: Vec<serde_json::Value> = serde_json::from_slice(&place.read("runs.json")).unwrap();
    let samples: serde_json::Value = serde_json::from_slice(&place.read("samples.json")).unwrap();
    assert_eq!(rows.len(), 24);
    for (row, run) in rows.iter().zip(samples["runs"].as_array().unwrap()) {
        for name in ["block", "position", "seed", "wall_ns", "user_us", "max_rss_kib"] {
            assert_eq!(row[name], run[name], "{name}");
        }
        assert!(csv.contains(&format!(",{},{},", run["seed"], run["wall_ns"])));
    }
    let args = [
        "report",
        "samples.json",
        "--html",
        "page.html",
        "--markdown",
        "page.md",
        "--junit",
        "page.xml",
    ];
    assert_eq!(szc_says(&place, &args), (Some(0), String::new()));
    assert!(place.read("page.html").starts_with(b"<!DOCTYPE html>"));
    assert!(place.read("page.xml").starts_with(b"<?xml"));
    let (code, text) = szc_says(&place, &["export", "samples.json", "--csv", "-"]);
    assert_eq!((code, text), (Some(0), csv));
}

#[test]
fn the_job_summary_is_added_to_and_annotations_are_printed() {
    let place = measured();
    place.write("summary.md", "# before\n");
    for _ in 0..2 {
        let output = place
            .command(szc())
            .args(["report", "samples.json", "--github"])
            .env("GITHUB_STEP_SUMMARY", "summary.md")
            .output()
            .unwrap();
        assert!(output.status.success());
        assert!(output.stdout.starts_with(b"::"), "{output:?}");
    }
    let summary = String::from_utf8(place.read("summary.md")).unwrap();
    assert!(summary.starts_with("# before\n## szc"), "{summary}");
    assert_eq!(summary.matches("## szc").count(), 2);
    let (code, text) = szc_says(&place, &["report", "samples.json", "--github"]);
    assert!(code == Some(0) && text.contains("GITHUB_STEP_SUMMARY is not set"), "{text}");
}

#[test]
fn files_that_are_no_samples_are_usage_errors_that_say_what_to_do() {
    let place = measured();
    let good = String::from_utf8(place.read("samples.json")).unwrap();
    place.write("newer.json", &good.replacen("\"version\": 2", "\"version\": 99", 1));
    place.write("cut.json", &good[..good.len() / 2]);
    place.write("other.json", "{\"format\": \"criterion\", \"version\": 1}");
    place.write("deep.json", &"[".repeat(100_000));
    place.write("empty.json", "");
    for (file, expected) in [
        ("newer.json", "use a newer szc"),
        ("cut.json", "cut.json"),
        ("other.json", "criterion"),
        ("deep.json", "not JSON"),
        ("empty.json", "not JSON"),
        ("missing.json", "cannot read missing.json"),
    ] {
        for args in [["report", file, "--html", "x.html"], ["export", file, "--csv", "x.csv"]] {
            let (code, text) = szc_says(&place, &args);
            assert_eq!(code, Some(2), "{args:?}: {text}");
            assert!(text.contains(expected), "{args:?}: {text}");
            assert!(!place.path.join("x.html").exists() && !place.path.join("x.csv").exists());
        }
    }
}

#[test]
fn a_call_without_an_output_or_a_place_for_it_says_so() {
    let place = measured();
    for args in
        [&["report", "samples.json"][..], &["export", "samples.json"], &["report", "--html", "x"]]
    {
        let (code, text) = szc_says(&place, args);
        assert_eq!(code, Some(2), "{text}");
        assert!(text.contains("Usage: szc"), "{text}");
    }
    fs::create_dir(place.path.join("folder")).unwrap();
    for (out, expected) in [
        ("/dev/full", "No space left"),
        ("folder", "it is a folder"),
        ("/nonexistent/x", "must exist and be writable"),
    ] {
        for args in
            [["report", "samples.json", "--html", out], ["export", "samples.json", "--r", out]]
        {
            let (code, text) = szc_says(&place, &args);
            assert_eq!(code, Some(1), "{args:?}: {text}");
            assert!(text.contains(expected), "{args:?}: {text}");
        }
    }
    for name in ["report", "export"] {
        let (code, text) = szc_says(&place, &["help", name]);
        assert!(code == Some(0) && text.contains("Exit status:"), "{text}");
    }
}
