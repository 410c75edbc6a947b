//! Round trips, older versions, refusals and dates.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use proptest::prelude::*;

use super::io::{check_writable, iso_8601, parse, read, write};
use super::machine::Machine;
use super::*;
use crate::examples::comparison;

/// What szc 0.1.0 wrote before version 2: `compare --json --seed 7 --blocks 6`, shortened to two
/// blocks.
const VERSION_1: &str = include_str!("version_1.example.json");

fn example() -> SamplesFile {
    comparison(1000, 900)
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
fn an_existing_file_is_replaced_as_a_whole_and_a_link_stays_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("samples.json");
    fs::write(&path, "x".repeat(1_000_000)).unwrap();
    let link = folder.path().join("link.json");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    write(&link, &example()).unwrap();
    assert_eq!(read(&path).unwrap(), example());
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
}

#[test]
fn a_device_is_written_to_and_not_replaced() {
    let full = Path::new("/dev/full");
    check_writable(full).unwrap();
    let error = format!("{:#}", write(full, &example()).unwrap_err());
    assert!(error.contains("No space left"), "{error}");
    assert!(!fs::metadata(full).unwrap().is_file());
    write(Path::new("/dev/null"), &example()).unwrap();
}

#[test]
fn the_fields_have_the_names_that_other_programs_rely_on() {
    let value = serde_json::to_value(example()).unwrap();
    assert_eq!(value["format"], "szc-samples");
    assert_eq!(value["version"], 2);
    assert_eq!(value["command"], "compare");
    assert_eq!(value["design"]["seed"], u64::MAX);
    assert_eq!(value["design"]["rule"], "fixed");
    assert_eq!(value["design"]["arrangement"], "mirrored");
    assert_eq!(value["programs"][1]["label"], "B");
    assert_eq!(value["runs"][1]["program"], 1);
    assert_eq!(value["runs"][0]["wall_ns"], 1_000_000_000);
    assert_eq!(value["ended"]["how"], "complete");
    assert_eq!(value["results"][0]["verdict"], "faster");
    assert_eq!(value["results"][0]["deciding"], true);
    assert_eq!(value["results"][2]["verdict"], "smaller");
    assert_eq!(value["summaries"][0]["unit"], "s");
}

#[test]
fn a_file_of_version_1_is_read_as_what_it_was() {
    let file = parse(VERSION_1.as_bytes()).unwrap();
    assert_eq!((file.version, file.command), (VERSION, Command::Compare));
    assert_eq!((file.design.plan.seed, file.design.complete_blocks), (7, 2));
    assert_eq!(file.programs[0].title(), "A (old)");
    assert_eq!(file.programs[1].label, "B");
    assert_eq!(file.runs.iter().map(|run| run.program).collect::<Vec<_>>()[..4], [1, 0, 0, 1]);
    // The plan of the seed is what was measured then.
    for block in 0..2 {
        let planned = file.design.plan.block_runs(block);
        let found: Vec<_> = file.runs.iter().filter(|run| run.block == block).collect();
        assert_eq!(planned.len(), found.len());
        for (planned, found) in planned.iter().zip(found) {
            assert_eq!((planned.program, planned.seed), (found.program, found.seed));
        }
    }
}

fn refusal_of(change: impl FnOnce(&mut serde_json::Value)) -> String {
    let mut value = serde_json::to_value(example()).unwrap();
    change(&mut value);
    format!("{:#}", parse(&serde_json::to_vec(&value).unwrap()).unwrap_err())
}

#[test]
fn a_newer_version_is_refused_with_the_way_out() {
    let text = refusal_of(|value| value["version"] = 4.into());
    assert!(text.contains("version 4") && text.contains("use a newer szc"), "{text}");
    assert!(refusal_of(|value| value["version"] = 0.into()).contains("version 0"));
}

#[test]
fn machines_need_the_version_that_keeps_them_apart() {
    let machine = serde_json::to_value(Machine::default()).unwrap();
    let text = refusal_of(|value| value["machines"] = vec![machine.clone()].into());
    assert!(text.contains("it has `machines`, which files have from version 3 on"), "{text}");
    let with = |place: Option<u64>| {
        refusal_of(|value| {
            value["version"] = 3.into();
            value["machines"] = vec![machine.clone()].into();
            value["programs"][0]["machine"] = 0.into();
            value["programs"][1]["machine"] = place.into();
        })
    };
    assert!(with(Some(1)).contains("`programs[1].machine` is 1, and there are 1 machines"));
    assert!(with(None).contains("`programs[1].machine` is missing"));
    let shard = serde_json::json!({ "number": 3, "of": 2 });
    let text = refusal_of(|value| value["design"]["shard"] = shard);
    assert!(text.contains("`design.shard` is 3/2"), "{text}");
}

#[test]
fn another_format_is_refused() {
    let text = refusal_of(|value| value["format"] = "criterion".into());
    assert!(text.contains("\"criterion\""), "{text}");
    let text = format!("{:#}", parse(b"[1, 2]").unwrap_err());
    assert!(text.contains("written by szc with --json"), "{text}");
}

#[test]
fn a_damaged_field_is_refused_and_an_unknown_one_is_skipped() {
    let text = refusal_of(|value| value["design"]["seed"] = "seven".into());
    assert!(text.contains("a field is wrong"), "{text}");
    let mut value = serde_json::to_value(example()).unwrap();
    value["later_addition"] = 1.into();
    assert_eq!(parse(&serde_json::to_vec(&value).unwrap()).unwrap(), example());
}

#[test]
fn what_no_experiment_writes_is_refused_by_name() {
    let changes: [(&str, serde_json::Value, &str); 10] = [
        ("/design/runs_per_position", u32::MAX.into(), "1 to 1000 is possible"),
        ("/design/programs", 1000.into(), "32 is the most"),
        ("/design/tolerance", serde_json::json!(-0.5), "a share of at most 1"),
        ("/runs/3/program", 2.into(), "`runs[3].program` is 2"),
        ("/programs", serde_json::json!([]), "`programs` is empty"),
        ("/design/complete_blocks", u32::MAX.into(), "there are fewer runs"),
        ("/design/blocks", u32::MAX.into(), "more than 1000000 blocks"),
        ("/results/0/reference", 9.into(), "a result names program 9"),
        ("/design/metric", "<b>".into(), "a field is wrong"),
        ("/runs/0/wall_ns", serde_json::json!(-1), "a field is wrong"),
    ];
    for (place, value, part) in changes {
        let text = refusal_of(|file| *file.pointer_mut(place).unwrap() = value.clone());
        assert!(text.contains(part), "{place}: {text}");
    }
    let figures = serde_json::json!({"\u{1b}[1m": 1.0});
    let text = refusal_of(|file| file["runs"][0]["figures"] = figures);
    assert!(text.contains("names no metric"), "{text}");
}

#[test]
fn hostile_nesting_and_numbers_are_errors() {
    let deep = "[".repeat(100_000);
    assert!(parse(deep.as_bytes()).is_err());
    let huge = VERSION_1.replacen("\"wall_ns\": ", "\"wall_ns\": 1e999, \"x\": ", 1);
    assert!(parse(huge.as_bytes()).is_err());
    let negative = VERSION_1.replacen("\"wall_ns\": ", "\"wall_ns\": -", 1);
    assert!(parse(negative.as_bytes()).is_err());
}

#[test]
fn the_largest_times_do_not_overflow() {
    let mut value = serde_json::to_value(example()).unwrap();
    for run in value["runs"].as_array_mut().unwrap() {
        run["user_us"] = u64::MAX.into();
        run["sys_us"] = u64::MAX.into();
        run["block"] = (run["block"].as_u64().unwrap() + 4_294_967_000).into();
    }
    value["design"]["complete_blocks"] = 0.into();
    let mut file = parse(&serde_json::to_vec(&value).unwrap()).unwrap();
    crate::results::analyse(&mut file);
    assert!(file.results.is_empty());
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_truncated_file_is_an_error_and_never_a_panic(share in 0.0..1.0_f64) {
        for text in [VERSION_1.to_owned(), serde_json::to_string(&example()).unwrap()] {
            let end = text.trim_end().len();
            #[expect(clippy::cast_possible_truncation, reason = "a place in the text")]
            let cut = (share * end as f64) as usize;
            prop_assert!(parse(&text.as_bytes()[..cut]).is_err());
        }
    }

    #[test]
    fn a_file_with_a_changed_byte_is_read_or_refused_and_can_be_analysed(
        share in 0.0..1.0_f64, byte: u8,
    ) {
        let mut bytes = serde_json::to_vec(&example()).unwrap();
        #[expect(clippy::cast_possible_truncation, reason = "a place in the text")]
        let place = (share * bytes.len() as f64) as usize;
        bytes[place] = byte;
        if let Ok(mut file) = parse(&bytes) {
            crate::results::analyse(&mut file);
        }
    }
}
