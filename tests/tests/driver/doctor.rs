//! What `szc doctor` says where everything is there, and where a part is missing.

use serde_json::Value;
use szc_tests::laboratory::code;
use szc_tests::tools::{Place, szc};

/// How the names of findings begin that every machine has.
const LOOKED_AT: [&str; 11] = [
    "clang",
    "lld",
    "plugin",
    "runtime",
    "/proc/self/mem",
    "membarrier",
    "perf events",
    "hardware counters",
    "cgroup v2",
    "valgrind",
    "governor",
];

fn doctor(home: Option<&str>) -> (i32, Vec<Value>) {
    let place = Place::new();
    let mut command = place.command(szc());
    command.args(["doctor", "--quick", "--json"]);
    if let Some(home) = home {
        command.env("SZC_HOME", home);
    }
    let output = command.output().expect("szc starts");
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    (code(&output), report["findings"].as_array().expect("a list").clone())
}

#[test]
fn the_doctor_finds_that_programs_can_be_built_here_and_move() {
    let (code, findings) = doctor(None);
    let missing: Vec<_> = findings.iter().filter(|found| found["status"] == "missing").collect();
    assert!(code == 0 && missing.is_empty(), "{missing:?}");
    let program = findings.iter().find(|found| found["name"] == "a program").expect("built");
    assert!(program["found"].as_str().is_some_and(|text| text.contains(" layouts, ")));
    for name in LOOKED_AT {
        let is_it = |found: &&Value| found["name"].as_str().is_some_and(|n| n.starts_with(name));
        assert!(findings.iter().any(|found| is_it(&found)), "{name}: {findings:?}");
    }
    let works = |found: &Value| found["status"] == "ok";
    let says_what_to_do = |found: &Value| found["next"].as_str().is_some_and(|n| !n.is_empty());
    let silent: Vec<_> = findings.iter().filter(|f| !works(f) && !says_what_to_do(f)).collect();
    assert!(silent.is_empty(), "{silent:?}");
}

#[test]
fn the_doctor_names_a_missing_part_and_what_to_do() {
    let (code, findings) = doctor(Some("."));
    assert_eq!(code, 1);
    for name in ["plugin", "runtime", "a program"] {
        let found = findings.iter().find(|found| found["name"] == name).expect(name);
        assert_eq!(found["status"], "missing", "{found}");
        assert!(found["next"].as_str().is_some_and(|next| !next.is_empty()), "{found}");
    }
}
