//! Round trips, refusals and dates.

use super::*;
use crate::measure::sample::tests::sample_of;
use crate::report::comparison::tests::comparison;
use std::os::unix::fs::PermissionsExt;

fn example() -> SamplesFile {
    SamplesFile {
        format: FORMAT.to_owned(),
        version: VERSION,
        created: iso_8601(UNIX_EPOCH),
        szc_version: "0.1.0".to_owned(),
        command_line: vec!["szc".to_owned(), "compare".to_owned()],
        seed: u64::MAX,
        design: DesignRecord {
            blocks: 20,
            complete_blocks: 20,
            runs_per_position: 1,
            warmup: 1,
            check_output: true,
            timeout_s: Some(2.5),
        },
        machine: Machine::current(),
        programs: vec![ProgramRecord {
            label: Side::A,
            name: Some("old".to_owned()),
            command: "./a".to_owned(),
            via_shell: false,
            executable: Some(Executable::default()),
            randomized: true,
            not_randomized_reason: None,
            randomization: Some(RuntimeLog::default()),
        }],
        runs: vec![
            sample_of(0, 0, Side::A, 100),
            Sample { relocations: Some(12), ..sample_of(0, 1, Side::B, 90) },
        ],
        ended: EndedRecord::Complete,
        result: ResultRecord::new(&comparison(1000, 900)),
    }
}

#[test]
fn what_is_written_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("samples.json");
    write(&path, &example()).unwrap();
    assert_eq!(read(&path).unwrap(), example());
    // Only the file itself is left, readable by others as an ordinary file is.
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    let ordinary = fs::File::create(folder.path().join("other")).unwrap();
    let ordinary_mode = ordinary.metadata().unwrap().permissions().mode();
    assert_eq!(mode, ordinary_mode);
}

#[test]
fn an_existing_file_is_replaced_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("samples.json");
    fs::write(&path, "x".repeat(1_000_000)).unwrap();
    write(&path, &example()).unwrap();
    assert_eq!(read(&path).unwrap(), example());
}

#[test]
fn the_fields_have_the_names_that_other_programs_rely_on() {
    let value = serde_json::to_value(example()).unwrap();
    assert_eq!(value["format"], "szc-samples");
    assert_eq!(value["version"], 1);
    assert_eq!(value["runs"][1]["program"], "B");
    assert_eq!(value["runs"][1]["relocations"], 12);
    assert_eq!(value["runs"][0]["wall_ns"], 100_000_000);
    assert_eq!(value["ended"]["how"], "complete");
    assert_eq!(value["result"]["verdict"], "faster");
    assert_eq!(value["result"]["metrics"][2]["verdict"], "smaller");
    assert_eq!(value["programs"][0]["executable"]["size_bytes"], 0);
}

fn refusal_of(change: impl FnOnce(&mut serde_json::Value)) -> String {
    let mut value = serde_json::to_value(example()).unwrap();
    change(&mut value);
    format!("{:#}", parse(&serde_json::to_vec(&value).unwrap()).unwrap_err())
}

#[test]
fn a_newer_version_is_refused_with_the_way_out() {
    let text = refusal_of(|value| value["version"] = 2.into());
    assert!(text.contains("version 2") && text.contains("use a newer szc"), "{text}");
}

#[test]
fn another_format_is_refused() {
    let text = refusal_of(|value| value["format"] = "criterion".into());
    assert!(text.contains("\"criterion\""), "{text}");
    let text = format!("{:#}", parse(b"[1, 2]").unwrap_err());
    assert!(text.contains("szc compare --json"), "{text}");
}

#[test]
fn a_damaged_field_is_refused_and_an_unknown_one_is_skipped() {
    let text = refusal_of(|value| value["seed"] = "seven".into());
    assert!(text.contains("a field is wrong"), "{text}");
    let mut value = serde_json::to_value(example()).unwrap();
    value["later_addition"] = 1.into();
    assert_eq!(parse(&serde_json::to_vec(&value).unwrap()).unwrap(), example());
}

#[test]
fn a_place_that_cannot_be_written_is_found_before_the_end() {
    assert!(check_writable(Path::new("/nonexistent/folder/samples.json")).is_err());
    let folder = tempfile::tempdir().unwrap();
    let text = check_writable(folder.path()).unwrap_err().to_string();
    assert!(text.contains("it is a folder"), "{text}");
    check_writable(&folder.path().join("new.json")).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn dates_agree_with_date_1() {
    // `date -u -d @N +%FT%TZ`
    for (seconds, expected) in [
        (0, "1970-01-01T00:00:00Z"),
        (951_782_399, "2000-02-28T23:59:59Z"),
        (951_782_400, "2000-02-29T00:00:00Z"),
        (1_709_251_199, "2024-02-29T23:59:59Z"),
        (4_107_542_400, "2100-03-01T00:00:00Z"),
    ] {
        assert_eq!(iso_8601(UNIX_EPOCH + Duration::from_secs(seconds)), expected);
    }
}
