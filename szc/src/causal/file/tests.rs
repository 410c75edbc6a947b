//! The form of the file, and what is read of a damaged one.

use super::*;
use std::fs;

pub fn header() -> Header {
    Header {
        version: VERSION,
        command: vec!["./a".into(), "input".into()],
        seed: 5,
        period_ns: 1_000_000,
        processors: 2,
        ..Header::default()
    }
}

pub fn line(file: &str, line: u32) -> Location {
    Location::Line { file: file.into(), line }
}

/// An experiment of `effective_ns` with one throughput point.
pub fn experiment(selected: Location, speedup: f64, effective_ns: u64, visits: u64) -> Experiment {
    Experiment {
        run: 0,
        process: 7,
        selected,
        speedup,
        start_ns: 0,
        duration_ns: effective_ns,
        delay_ns: 0,
        samples: 0,
        selected_samples: 0,
        runnable_mean: 0.0,
        points: vec![Point { name: "p".into(), progress: Progress::Throughput { visits } }],
    }
}

fn whole() -> CausalProfile {
    let mut second = experiment(Location::Function { function: "f".into() }, 0.25, 500, 7);
    let latency = Progress::Latency { arrivals: 5, departures: 4, mean_length: 0.8 };
    second.points.push(Point { name: "q".into(), progress: latency });
    CausalProfile {
        header: header(),
        experiments: vec![experiment(line("a.c", 12), 0.0, 400, 9), second],
        runs: vec![Run {
            elapsed_ns: 9_000,
            samples: vec![LocationSamples {
                location: line("a.c", 12),
                count: 3,
                unaltered: Some(2),
            }],
            samples_without_line: Some(4),
            ..Run::default()
        }],
        loads: vec![LoadRun {
            run: 1,
            process: 7,
            is_amplified: true,
            start_ns: 1,
            duration_ns: 9,
            delay_ns: 2,
            runnable_mean: 1.5,
            arrivals: ArrivalCounts { count: 3, least_ns: Some(2), ..Default::default() },
            points: Vec::new(),
        }],
        ends: vec![End { reason: "exit 0".into(), ..End::default() }],
    }
}

fn written() -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("profile");
    Writer::create(&path, &header()).unwrap();
    let mut writer = Writer::append(&path).unwrap();
    for line in whole().lines().skip(1) {
        writer.add(&line).unwrap();
    }
    (folder, path)
}

fn read_text(text: &str) -> Result<CausalProfile> {
    read_from(text.as_bytes(), "FILE")
}

#[test]
fn what_was_written_is_read_again() {
    assert_eq!(read(&written().1).unwrap(), whole());
}

#[test]
fn lines_have_the_form_that_the_book_describes() {
    let text = [
        r#"{"type":"header","version":1,"command":["./a","b"],"seed":9,"period_ns":1000000,"#,
        r#""processors":2,"later":1}"#,
        "\n",
        r#"{"type":"experiment","run":1,"process":77,"selected":{"file":"a.c","line":12},"#,
        r#""speedup":0.25,"start_ns":10,"duration_ns":500,"delay_ns":100,"samples":40,"#,
        r#""selected_samples":4,"runnable_mean":1.3,"points":["#,
        r#"{"name":"p","kind":"throughput","visits":7},"#,
        r#"{"name":"q","kind":"latency","arrivals":5,"departures":5,"mean_length":0.8}]}"#,
        "\n",
        r#"{"type":"experiment","selected":{"function":"f"},"speedup":0,"duration_ns":5,"#,
        r#""delay_ns":0,"points":[]}"#,
        "\n",
        r#"{"type":"weather","sun":true}"#,
        "\n",
        r#"{"type":"run","run":0,"elapsed_ns":900,"#,
        r#""samples":[{"location":{"function":"f"},"count":3}]}"#,
        "\n",
        r#"{"type":"end","reason":"exit 0"}"#,
        "\n",
    ]
    .concat();
    let found = read_text(&text).unwrap();
    assert_eq!((found.header.seed, found.header.processors), (9, 2));
    let [first, second] = &found.experiments[..] else { panic!("{found:?}") };
    assert_eq!((first.run, first.process, first.effective_ns()), (1, 77, 400));
    assert_eq!(first.selected.to_string(), "a.c:12");
    assert_eq!(first.points[0].progress, Progress::Throughput { visits: 7 });
    let latency = Progress::Latency { arrivals: 5, departures: 5, mean_length: 0.8 };
    assert_eq!(first.points[1].progress, latency);
    assert_eq!(second.selected.to_string(), "f");
    assert_eq!(found.runs[0].samples[0].count, 3);
    assert_eq!(found.ends[0].reason, "exit 0");
}

#[test]
fn wherever_a_file_is_cut_off_its_whole_lines_are_read() {
    let (_folder, path) = written();
    let text = fs::read_to_string(&path).unwrap();
    let first = text.find('\n').unwrap();
    for end in first + 1..=text.len() {
        let found = read_text(&text[..end]).unwrap();
        let lines = text[..end].matches('\n').count();
        assert_eq!(
            found.lines().collect::<Vec<_>>(),
            whole().lines().take(lines).collect::<Vec<_>>()
        );
    }
}

#[test]
fn a_file_that_is_no_profile_or_of_a_newer_szc_or_damaged_is_refused() {
    let (_folder, path) = written();
    let text = fs::read_to_string(&path).unwrap();
    let refused = |text: &str| format!("{:#}", read_text(text).unwrap_err());
    for other in ["", "{}\n", "startup\ttime=1\n", "{\"type\":\"end\",\"reason\":\"\"}\n"] {
        assert!(refused(other).contains("is no causal profile"), "{other}");
    }
    let newer = text.replace("\"version\":1", "\"version\":2");
    assert!(refused(&newer).contains("reads up to 1"));
    assert!(refused(&(text.clone() + &newer)).contains("reads up to 1"));
    assert!(refused(&text.replace("\"speedup\":0.25", "\"speedup\":")).contains("line 3 of FILE"));
}
