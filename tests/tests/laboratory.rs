//! The measuring subcommands on programs that szc built: exit codes, interruptions, bad input.

use std::time::Duration;

use szc_tests::laboratory::{
    code, errors, interrupted, laboratory, plan, run, running, samples, soon, text,
};
use szc_tests::tools::{Place, szc};

/// Some milliseconds of calls; twice as many with a `2`, and with `crash` death by SIGABRT under
/// every fourth seed.
const PROGRAM: &str = "\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
__attribute__((noinline)) static unsigned step(unsigned x) { return x * 1664525u + 1013904223u; }
__attribute__((noinline)) static unsigned turn(unsigned x) { return (x << 7) | (x >> 25); }
int main(int count, char **args) {
    long rounds = 2000000;
    if (count > 1 && !strcmp(args[1], \"2\")) rounds *= 2;
    if (count > 1 && !strcmp(args[1], \"crash\") && atoll(getenv(\"SZC_SEED\")) % 4 == 0) abort();
    unsigned x = 1, y = 0;
    for (long i = 0; i < rounds; i++) { x = step(x); y += turn(x); }
    if (y == 42) puts(\"unlikely\");
    puts(\"done\");
    return 0;
}
";

fn place() -> Place {
    let place = Place::with("p.c", PROGRAM);
    place.run(szc(), &["-O2", "p.c", "-o", "p"]);
    place
}

#[test]
fn twice_the_work_is_slower_and_a_gate_fails_on_it() {
    let place = place();
    let output = run(&place, &["compare", "--seed", "1", "--json", "c.json", "--", "./p", "./p 2"]);
    assert_eq!(code(&output), 0, "{}", errors(&output));
    assert!(text(&output).contains("B is ") && text(&output).contains("× slower than A"));
    assert!(text(&output).contains(" functions of B have the same name in A"), "{}", text(&output));
    let file = samples(&place, "c.json");
    assert_eq!(file["results"][0]["verdict"], "slower");
    assert_eq!(file["programs"][0]["randomized"], true);
    assert!(file["runs"][0]["relocations"].as_u64() > Some(0), "{}", file["runs"][0]);

    assert_eq!(code(&run(&place, &["gate", "-q", "--", "./p", "./p 2"])), 1);
    assert_eq!(code(&run(&place, &["gate", "-q", "--", "./p 2", "./p"])), 0);
    assert_eq!(code(&run(&place, &["gate", "-q", "c.json"])), 1);
    // No experiment shows so little, but by chance one in twenty decides in spite of that, or would
    // but for too few layouts: all of six, once in 60 million tests.
    let hopeless =
        ["gate", "-q", "--max-slowdown", "0.0001%", "--budget", "10", "--", "./p", "./p"];
    let undecided = || {
        let output = run(&place, &hopeless);
        code(&output) == 3 && text(&output).contains("would take")
    };
    assert!((0..6).any(|_| undecided()), "nothing is left undecided in six times");
}

#[test]
fn a_run_says_what_layouts_do_and_is_a_baseline() {
    let place = place();
    let args = ["baseline", "save", "main", "--runs", "15", "--", "./p"];
    let output = run(&place, &args);
    assert_eq!(code(&output), 0, "{}", errors(&output));
    assert!(text(&output).contains("n = 10 layouts (15 runs)"), "{}", text(&output));
    assert!(text(&run(&place, &["baseline", "list"])).contains("this one"));
    let gate = ["gate", "--baseline", "main", "--max-slowdown", "30%", "--json", "g.json", "--"];
    let output = run(&place, &[&gate[..], &["./p 2"]].concat());
    assert_eq!(code(&output), 1, "{}{}", text(&output), errors(&output));
    assert!(text(&output).contains("unpaired"), "{}", text(&output));
    assert_eq!(samples(&place, "g.json")["results"][0]["verdict"], "fail");
    assert_eq!(code(&run(&place, &["baseline", "rm", "main"])), 0);
    assert_eq!(code(&run(&place, &[&gate[..], &["./p"]].concat())), 2);
}

#[test]
fn what_is_measured_ends_with_a_laboratory_that_is_killed() {
    let place = Place::with("p.c", PROGRAM);
    let script = "sh -c 'setsid sh -c \"sleep 98123.5; true\" & sleep 98123.5 & wait'";
    let args = ["run", "-q", "--runs", "2", "--turns", "off", "--", script];
    let mut child = laboratory(&place, &args).spawn().expect("szc starts");
    // Nobody else sleeps for so long.
    let sleep = b"sleep\098123.5";
    assert!(soon(|| running(sleep) == 2));
    child.kill().expect("szc is ours");
    child.wait().expect("szc is ours");
    assert!(soon(|| running(sleep) == 0));
}

#[test]
fn a_crash_is_four_and_its_one_command_repeats_it() {
    let place = place();
    let output = run(&place, &["compare", "--seed", "4", "--", "./p", "./p crash"]);
    assert_eq!(code(&output), 4);
    let message = errors(&output);
    assert!(message.contains("B was killed by SIGABRT"), "{message}");
    let command = message.split("repeat this run: ").nth(1).expect("a command");
    let command = command.lines().next().expect("a line");
    let repeated = place.command("/bin/sh").args(["-c", command]).output().expect("a shell");
    // A shell reports a signal as 128 + 6, or dies of it itself when the command is its last.
    use std::os::unix::process::ExitStatusExt;
    let status = repeated.status;
    assert!(status.code() == Some(134) || status.signal() == Some(6), "{command}: {repeated:?}");
}

#[test]
fn programs_that_are_missing_or_not_randomized_are_told_apart() {
    let place = place();
    let output = run(&place, &["compare", "--", "./p", "./nowhere"]);
    assert_eq!(code(&output), 4);
    assert!(errors(&output).contains("B cannot be run: ./nowhere"), "{}", errors(&output));
    place.run(szc(), &["-Rnone", "-O2", "p.c", "-o", "plain"]);
    let output = run(&place, &["compare", "--fixed", "6", "--", "./p", "./plain"]);
    assert_eq!(code(&output), 0);
    assert!(errors(&output).contains("B is not randomized"), "{}", errors(&output));
    assert!(text(&output).contains("one layout only of B"), "{}", text(&output));
}

#[test]
fn samples_that_cannot_be_used_are_a_usage_error_with_the_reason() {
    let place = place();
    let args = ["compare", "-q", "--fixed", "6", "--json", "good.json", "--", "./p", "./p"];
    assert_eq!(code(&run(&place, &args)), 0);
    let good = std::fs::read_to_string(place.path.join("good.json")).expect("samples");
    let newest = szc::samples::VERSION_OF_MACHINES;
    let newer = good.replacen("\"version\": 2", &format!("\"version\": {}", newest + 1), 1);
    let foreign = good.replacen("szc-samples", "criterion", 1);
    let hostile = good.replacen("\"program\": 1", "\"program\": 99", 1);
    for (content, reason) in [
        (&good[..good.len() / 2], "it is not JSON"),
        ("", "it is not JSON"),
        (&"[".repeat(200_000), "it is not JSON"),
        (&newer, "use a newer szc"),
        (&foreign, "\"criterion\""),
        (&hostile, "is 99, and there are 2 programs"),
    ] {
        place.write("bad.json", content);
        for args in [
            &["compare", "bad.json"][..],
            &["gate", "bad.json"],
            &["run", "bad.json"],
            &["compare", "--resume", "bad.json"],
            &["gate", "bad.json", "./p"],
        ] {
            let output = run(&place, args);
            assert_eq!(code(&output), 2, "{args:?}: {}", errors(&output));
            assert!(errors(&output).contains(reason), "{args:?}: {}", errors(&output));
        }
    }
}

#[test]
fn a_full_disk_loses_nothing() {
    let place = place();
    // The folder cannot take the file: found before the first run.
    let args = ["compare", "--fixed", "6", "--json", "/proc/x.json", "--", "./p", "./p"];
    let output = run(&place, &args);
    assert_eq!(code(&output), 1);
    assert!(errors(&output).contains("cannot make /proc/x.json"), "{}", errors(&output));
    // The device is full at the end: the report is printed, and the samples are elsewhere.
    // By turns a block has half the runs, and whether a pilot finds them fit is the machine's.
    let off = ["compare", "--turns", "off", "--fixed", "6"];
    let args = [&off[..], &["--json", "/dev/full", "--", "./p", "./p"]].concat();
    let output = laboratory(&place, &args).env("TMPDIR", &place.path).output().expect("szc");
    assert_eq!(code(&output), 1);
    assert!(text(&output).contains("n = 6 blocks"), "{}", text(&output));
    assert!(errors(&output).contains("No space left"), "{}", errors(&output));
    let folder = std::fs::read_dir(&place.path).expect("readable");
    let rescued = folder.flatten().map(|entry| entry.file_name().into_string().expect("a name"));
    let rescued = rescued.into_iter().find(|name| name.starts_with("szc-samples-"));
    assert_eq!(plan(&samples(&place, &rescued.expect("rescued samples"))).len(), 24);
    // A full stdout is an error as well, and the samples are saved.
    let full = std::fs::File::options().write(true).open("/dev/full").expect("a device");
    let args = [&off[..], &["-q", "--json", "ok.json", "--", "./p", "./p"]].concat();
    let output = laboratory(&place, &args).stdout(full).output().expect("szc");
    assert_eq!(code(&output), 1);
    assert!(errors(&output).contains("cannot write the report to stdout"), "{}", errors(&output));
    assert_eq!(plan(&samples(&place, "ok.json")).len(), 24);
}

#[test]
fn ctrl_c_keeps_what_was_measured_and_resume_makes_the_rest() {
    let place = place();
    // The command notes each run, so that the test knows how far it is.
    let notes = place.path.join("notes");
    let runs = || std::fs::read_to_string(&notes).map_or(0, |text| text.lines().count());
    let command = "echo x >> notes; ./p";
    let args = ["compare", "-q", "--fixed", "8", "--seed", "9", "--metric", "wall", "--json"];
    let experiment = |file: &'static str| [&args[..], &[file, "--", command, command]].concat();
    let whole = run(&place, &experiment("whole.json"));
    assert_eq!(code(&whole), 0, "{}", errors(&whole));

    std::fs::remove_file(&notes).expect("notes");
    let warm_up = interrupted(&place, &experiment("warm-up.json"), || runs() >= 1);
    assert_eq!(code(&warm_up), 130, "{}", errors(&warm_up));
    assert!(samples(&place, "warm-up.json")["ended"]["how"] == "interrupted");

    std::fs::remove_file(&notes).expect("notes");
    let blocks = interrupted(&place, &experiment("cut.json"), || runs() >= 13);
    assert_eq!(code(&blocks), 130, "{}", errors(&blocks));
    let cut = samples(&place, "cut.json");
    let complete = cut["design"]["complete_blocks"].as_u64().expect("a number");
    assert!((1..8).contains(&complete), "{complete}");

    for file in ["warm-up.json", "cut.json"] {
        let resumed = run(&place, &["compare", "-q", "--resume", file]);
        assert_eq!(code(&resumed), 0, "{}", errors(&resumed));
        let file = samples(&place, file);
        assert_eq!(plan(&file), plan(&samples(&place, "whole.json")));
        assert_eq!(file["ended"]["how"], "complete");
    }
}

#[test]
fn a_limit_on_file_sizes_is_an_error_and_keeps_the_report() {
    let place = place();
    let script = "ulimit -f 1; exec \"$0\" compare -q --fixed 6 --json x.json -- ./p ./p";
    let mut shell = place.command("bash");
    let output = shell.args(["-c", script]).arg(szc()).output().expect("bash starts");
    assert_eq!(code(&output), 1, "{}", errors(&output));
    assert!(text(&output).contains("n = 6 blocks"), "{}", text(&output));
    assert!(errors(&output).contains("File too large"), "{}", errors(&output));
    let left = std::fs::read_dir(&place.path).expect("readable").flatten();
    let left: Vec<String> =
        left.map(|entry| entry.file_name().into_string().expect("a name")).collect();
    assert!(!left.iter().any(|name| name.contains("samples")), "{left:?}");
    // The measured programs have the signal as they would have it without szc.
    let own = "awk '/^SigIgn|^SigCgt/ { print $2 }' /proc/self/status | sort -u";
    let plain = place.command("sh").args(["-c", own]).output().expect("sh starts");
    let command = format!("test \"$({own})\" = '{}'", text(&plain).trim());
    let output = run(&place, &["run", "-q", "--runs", "2", "--metric", "wall", "--", &command]);
    assert_eq!(code(&output), 0, "{}", errors(&output));
}

#[test]
fn a_pipe_that_nobody_reads_can_be_left_by_ctrl_c() {
    use std::os::unix::process::ExitStatusExt;
    let place = place();
    nix::unistd::mkfifo(&place.path.join("pipe"), nix::sys::stat::Mode::S_IRWXU).expect("a pipe");
    let notes = place.path.join("notes");
    let args =
        ["compare", "-q", "--fixed", "6", "--metric", "wall", "--json", "pipe", "--", "./p", "./p"];
    let args = [&args[..8], &["--cleanup", "echo x >> notes"], &args[8..]].concat();
    // The last of 2 warm-up runs and 24 others, and some time to come to the pipe.
    let output = interrupted(&place, &args, || {
        let runs = std::fs::read_to_string(&notes).map_or(0, |text| text.lines().count());
        if runs == 26 {
            std::thread::sleep(Duration::from_secs(2));
        }
        runs == 26
    });
    assert_eq!(output.status.signal(), Some(2), "{output:?}");
    assert!(text(&output).contains("n = 6 blocks"), "{}", text(&output));
}

#[test]
fn the_function_that_is_slow_at_one_offset_is_named_and_confirmed() {
    let place = Place::with("p.c", include_str!("../campaign/programs/lucky-loop.c"));
    place.run(szc(), &["-O2", "p.c", "-o", "p"]);
    // How much was done has no noise: with this seed it comes out so at each try.
    let args = ["luck", "--seed", "1", "--layouts", "40", "--no-check-output", "--metric"];
    let rest = ["user:work (\\d+)", "--json", "l.json", "--", "./p 10 work"];
    let output = run(&place, &[&args[..], &rest].concat());
    assert_eq!(code(&output), 0, "{}", errors(&output));
    let planted = samples(&place, "l.json");
    assert_eq!(planted["named"][0]["function"], "lucky", "{planted}");
    assert_eq!(planted["named"][0]["feature"], "line", "{planted}");
    assert_eq!(planted["intervention"]["verdict"], "confirmed", "{planted}");
    // Ten units of work instead of nine.
    let ratio = planted["intervention"]["ratio"].as_f64().unwrap();
    assert!((ratio - 10.0 / 9.0).abs() < 0.01, "{ratio}");
}

#[test]
fn the_function_whose_frame_is_slow_at_one_offset_is_named_and_confirmed() {
    let place = Place::with("p.c", include_str!("../campaign/programs/lucky-frame.c"));
    place.run(szc(), &["-O2", "p.c", "-o", "p"]);
    let args = ["luck", "--part", "stack", "--seed", "1", "--layouts", "40", "--no-check-output"];
    let rest = [
        "--metric",
        "user:work (\\d+)",
        "--json",
        "l.json",
        "--html",
        "l.html",
        "--",
        "./p 10 work",
    ];
    let output = run(&place, &[&args[..], &rest].concat());
    assert_eq!(code(&output), 0, "{}", errors(&output));
    let planted = samples(&place, "l.json");
    // The variable lies in the frame of `walk`, which is where that of its caller puts it.
    assert_eq!(planted["named"][0]["function"], "holder", "{planted}");
    assert_eq!(planted["named"][0]["feature"], "frame-line", "{planted}");
    assert_eq!(planted["intervention"]["verdict"], "confirmed", "{planted}");
    let ratio = planted["intervention"]["ratio"].as_f64().unwrap();
    assert!((ratio - 1.1).abs() < 0.01, "{ratio}");
    assert!(text(&output).contains("holder's frame alone at offset"), "{}", text(&output));
    let page = std::fs::read_to_string(place.path.join("l.html")).unwrap();
    assert!(page.contains("frame mod 64"));
}

#[test]
fn a_pair_that_is_slow_where_it_meets_in_a_page_is_named_and_confirmed() {
    let place = Place::with("p.c", include_str!("../campaign/programs/lucky-pair.c"));
    place.run(szc(), &["-O2", "p.c", "-o", "p"]);
    let luck_of = |pairs, command| {
        let args = ["luck", "--pairs", pairs, "--seed", "1", "--layouts", "80", "--json", "l.json"];
        let rest = ["--no-check-output", "--metric", "user:work (\\d+)", "--", command];
        run(&place, &[&args[..], &rest].concat())
    };
    let luck = |pairs| luck_of(pairs, "./p 10 work");
    let output = luck("first,second,third");
    assert_eq!(code(&output), 0, "{}", errors(&output));
    let planted = samples(&place, "l.json");
    let first = &planted["named"][0];
    assert_eq!([&first["from"], &first["function"]], ["first", "second"], "{planted}");
    assert_eq!(planted["intervention"]["verdict"], "confirmed", "{planted}");
    let ratio = planted["intervention"]["ratio"].as_f64().unwrap();
    assert!((ratio - 11.0 / 9.0).abs() < 0.02, "{ratio}");
    // Long enough for samples. Where the machine has no clocks the message says what would help.
    let output = luck_of("auto", "./p 3000 work");
    if !errors(&output).contains("perf_event_paranoid of 2 or less") {
        assert_eq!(code(&output), 0, "{}", errors(&output));
        let planted = samples(&place, "l.json");
        let hottest = planted["hottest"].as_array().unwrap();
        assert!(hottest.iter().any(|one| one["function"] == "second"), "{planted}");
        assert_eq!(planted["intervention"]["verdict"], "confirmed", "{planted}");
        assert!(text(&output).contains("of the functions that take the most time"));
    }
    let unknown = luck("first,nobody");
    assert_eq!(code(&unknown), 4, "{}", text(&unknown));
    assert!(errors(&unknown).contains("nobody, of --pairs"), "{}", errors(&unknown));
}

#[test]
fn blocks_of_a_size_that_are_slow_at_some_places_are_named_and_confirmed() {
    let place = Place::with("p.c", include_str!("../campaign/programs/lucky-block.c"));
    place.run(szc(), &["-O2", "p.c", "-o", "p"]);
    let args = ["luck", "--part", "heap", "--seed", "1", "--layouts", "80", "--no-check-output"];
    let rest = ["--metric", "user:work (\\d+)", "--json", "l.json", "--", "./p 10 work"];
    let output = run(&place, &[&args[..], &rest].concat());
    assert_eq!(code(&output), 0, "{}", errors(&output));
    let planted = samples(&place, "l.json");
    assert_eq!(planted["named"][0]["function"], "1441-1568", "{planted}");
    assert_eq!(planted["named"][0]["feature"], "draw", "{planted}");
    assert_eq!(planted["named"][0]["asked_by"][0]["function"], "main", "{planted}");
    assert_eq!(planted["intervention"]["verdict"], "confirmed", "{planted}");
    let ratio = planted["intervention"]["ratio"].as_f64().unwrap();
    assert!((ratio - 10.0 / 9.0).abs() < 0.01, "{ratio}");
    assert!(text(&output).contains("blocks of 1441 to 1568 bytes alone at draw"));
    let refused =
        place.command("./p").env("SZC_BLOCKS", "1/16").env("SZC_HEAP_BASE", "tlsf").output();
    assert_eq!(refused.expect("it starts").status.code(), Some(78));
}

#[test]
fn completion_scripts_are_what_the_shell_accepts() {
    let place = Place::new();
    let output = run(&place, &["completions", "bash"]);
    assert_eq!(code(&output), 0);
    place.write("szc.bash", &text(&output));
    let script = "set -e; source ./szc.bash; complete -p szc; COMP_WORDS=(szc gate --max); \
        COMP_CWORD=2; _szc szc --max gate; printf '%s\\n' \"${COMPREPLY[@]}\"";
    let shell = place.command("bash").args(["-c", script]).output().expect("bash starts");
    assert!(text(&shell).contains("--max-slowdown"), "{shell:?}");
    assert_eq!(code(&run(&place, &["completions", "tcsh"])), 2);
}
