//! The scripts for SPEC CPU, with stand-ins for SPEC's tools: they take the options that the tools
//! take, run a program of szc's, and write raw files.

use std::path::{Path, PathBuf};
use std::process::Output;

use szc_tests::laboratory::{code, errors, run, samples, text};
use szc_tests::tools::{Place, szc};

/// Builds by compiling a program with the szc and the flags it is given, runs by running it, and
/// writes a raw file with the times of two benchmarks, of which O3 takes 10 % less.
const TOOL: &str = r#"#!/bin/bash
set -eu
name=$(basename "$0") action=run label='' flags='' szc='' benchmarks=()
while [ $# -gt 0 ]; do
    case $1 in
    --config=*) test -s "${1#*=}" ;;
    --action=*) action=${1#*=} ;;
    --label=*) [ "$name" = runcpu ] && label=${1#*=} ;;
    --extension=*) [ "$name" = runspec ] && label=${1#*=} ;;
    --define) case $2 in flags=*) flags=${2#*=} ;; szc=*) szc=${2#*=} ;; *) exit 9 ;; esac; shift ;;
    --tune=base | --noreportable | --size=test | --nobuild | --iterations=1) ;;
    -*) echo "unknown option $1"; exit 9 ;;
    *) benchmarks+=("$1") ;;
    esac
    shift
done
if [ "$action" = build ]; then
    exec "$szc/szc" $flags program.c -o "program-$label"
fi
echo "$SZC_SEED $label" >>calls
if [ -e stop ] && [ "$(wc -l <calls)" -gt "$(cat stop)" ]; then
    echo "the program crashed"; exit 1
fi
"./program-$label"
number=$(wc -l <calls)
case $name in runcpu) suite=cpu2017 key=label ;; *) suite=cpu2006 key=ext ;; esac
raw=result/$number.rsf
mkdir -p result
echo "spec.$suite.$key: $label" >"$raw"
for benchmark in "${benchmarks[@]}"; do
    base=spec.$suite.results.${benchmark/./_}.base.000
    case $label in O3) time=90.$number ;; *) time=100.$number ;; esac
    printf '%s.benchmark: %s\n%s.reported_time: %s\n%s.valid: S\n' \
        "$base" "$benchmark" "$base" "$time" "$base" >>"$raw"
done
echo "        format: raw -> $PWD/$raw"
"#;

const PROGRAM: &str = "\
#include <stdio.h>
__attribute__((noinline)) static int twice(int x) { return 2 * x; }
int main(int count, char **args) { (void)args; printf(\"%d\\n\", twice(count)); return 0; }
";

fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec-scripts/spec")
}

/// A folder that stands for an installed suite.
fn suite(tool: &str) -> Place {
    let place = Place::with("program.c", PROGRAM);
    place.run("mkdir", &["bin"]);
    place.write(&format!("bin/{tool}"), TOOL);
    place.run("chmod", &["+x", &format!("bin/{tool}")]);
    place
}

fn measure(place: &Place, args: &[&str]) -> Output {
    let mut command = place.command(scripts().join("measure.sh"));
    command.args(args).env("SPEC", &place.path).env("SZC", szc());
    command.output().expect("the script starts")
}

const LEVELS: [&str; 6] = ["--level", "O2=-O2", "--level", "O3=-O3 -fno-plt", "--size", "test"];

#[test]
fn the_script_measures_both_suites_in_blocks_and_hands_over_a_sweep() {
    for (tool, benchmarks) in
        [("runcpu", ["505.mcf_r", "557.xz_r"]), ("runspec", ["429.mcf", "462.libquantum"])]
    {
        let place = suite(tool);
        let args = [&LEVELS[..], &["--blocks", "6"], &benchmarks].concat();
        let output = measure(&place, &args);
        assert_eq!(code(&output), 0, "{}{}", text(&output), errors(&output));
        let file = samples(&place, "spec-results/suite.json");
        let names: Vec<&str> = file["programs"]
            .as_array()
            .expect("programs")
            .iter()
            .map(|program| program["workload"].as_str().expect("a name"))
            .collect();
        assert_eq!(names, [benchmarks[0], benchmarks[0], benchmarks[1], benchmarks[1]]);
        assert_eq!(file["programs"][1]["randomized"], true, "{file}");
        assert_eq!(file["runs"].as_array().map(Vec::len), Some(6 * 4 * 2));
        assert_eq!(file["design"]["metric"], "wall");
        let ratio = file["results"][0]["ratio"].as_f64().expect("a ratio");
        assert!((0.88..0.92).contains(&ratio), "{ratio}");
        // Every call has a layout of its own, and blocks are mirrored.
        let calls = String::from_utf8(place.read("calls")).expect("text");
        let calls: Vec<(&str, &str)> =
            calls.lines().filter_map(|line| line.split_once(' ')).collect();
        let seeds: std::collections::HashSet<&str> = calls.iter().map(|(seed, _)| *seed).collect();
        assert_eq!((calls.len(), seeds.len()), (24, 24));
        for block in calls.chunks(4) {
            assert_eq!((block[0].1, block[1].1), (block[3].1, block[2].1), "{block:?}");
        }
        assert!(place.path.join("spec-results/report.html").exists());
        assert_eq!(code(&run(&place, &["compare", "-q", "spec-results/suite.json"])), 0);
    }
}

#[test]
fn what_was_stopped_is_gone_on_with_and_another_plan_is_not_mixed_in() {
    let place = suite("runcpu");
    let args = [&LEVELS[..], &["--blocks", "6", "505.mcf_r"]].concat();
    place.write("stop", "9");
    let output = measure(&place, &args);
    assert_eq!(code(&output), 4, "{}", errors(&output));
    assert!(errors(&output).contains("the program crashed"), "{}", errors(&output));
    let table = String::from_utf8(place.read("spec-results/runs.tsv")).expect("text");
    assert_eq!(table.lines().count(), 2 + 9, "{table}");
    place.write("stop", "1000");
    assert_eq!(code(&measure(&place, &args)), 0);
    let whole = String::from_utf8(place.read("spec-results/runs.tsv")).expect("text");
    assert!(whole.starts_with(&table) && whole.lines().count() == 2 + 24, "{whole}");
    let other = measure(&place, &[&args[..], &["557.xz_r"]].concat());
    assert_eq!(code(&other), 1, "{}", errors(&other));
    assert!(errors(&other).contains("is of another measurement"), "{}", errors(&other));
}

#[test]
fn what_makes_no_sense_is_a_usage_error_before_anything_is_built() {
    let place = suite("runcpu");
    for args in [
        &[][..],
        &["--level", "O2=-O2", "505.mcf_r"],
        &["--level", "O2=-O2", "--level", "O2=-O3", "505.mcf_r"],
        &["--level", "O2=-O2", "--level", "O3=-O3"],
        &["--level", "O/2=-O2", "--level", "O3=-O3", "505.mcf_r"],
        &["--level", "O2=-O2", "--level", "O3=-O3", "--blocks", "5", "505.mcf_r"],
        &["--level", "O2=-O2", "--level", "O3=-O3", "--size", "huge", "505.mcf_r"],
        &["--what", "now", "505.mcf_r"],
        &["--level"],
    ] {
        let output = measure(&place, args);
        assert_eq!(code(&output), 2, "{args:?}: {}", errors(&output));
        assert!(!place.path.join("spec-results").exists());
    }
    let empty = Place::new();
    let output = measure(&empty, &[&LEVELS[..], &["505.mcf_r"]].concat());
    assert_eq!(code(&output), 2);
    assert!(errors(&output).contains("neither bin/runcpu"), "{}", errors(&output));
}

/// The names of SPEC's benchmarks that the configurations may mention.
const BENCHMARKS: [&[&str]; 2] = [
    &[
        "400.perlbench",
        "401.bzip2",
        "403.gcc",
        "410.bwaves",
        "416.gamess",
        "429.mcf",
        "433.milc",
        "434.zeusmp",
        "435.gromacs",
        "436.cactusADM",
        "437.leslie3d",
        "444.namd",
        "445.gobmk",
        "447.dealII",
        "450.soplex",
        "453.povray",
        "454.calculix",
        "456.hmmer",
        "458.sjeng",
        "459.GemsFDTD",
        "462.libquantum",
        "464.h264ref",
        "465.tonto",
        "470.lbm",
        "471.omnetpp",
        "473.astar",
        "481.wrf",
        "482.sphinx3",
        "483.xalancbmk",
    ],
    &[
        "500.perlbench_r",
        "502.gcc_r",
        "503.bwaves_r",
        "505.mcf_r",
        "507.cactuBSSN_r",
        "508.namd_r",
        "510.parest_r",
        "511.povray_r",
        "519.lbm_r",
        "520.omnetpp_r",
        "521.wrf_r",
        "523.xalancbmk_r",
        "525.x264_r",
        "526.blender_r",
        "527.cam4_r",
        "531.deepsjeng_r",
        "538.imagick_r",
        "541.leela_r",
        "544.nab_r",
        "548.exchange2_r",
        "549.fotonik3d_r",
        "554.roms_r",
        "557.xz_r",
        "600.perlbench_s",
        "602.gcc_s",
        "603.bwaves_s",
        "605.mcf_s",
        "607.cactuBSSN_s",
        "619.lbm_s",
        "620.omnetpp_s",
        "621.wrf_s",
        "623.xalancbmk_s",
        "625.x264_s",
        "627.cam4_s",
        "628.pop2_s",
        "631.deepsjeng_s",
        "638.imagick_s",
        "641.leela_s",
        "644.nab_s",
        "648.exchange2_s",
        "649.fotonik3d_s",
        "654.roms_s",
        "657.xz_s",
    ],
];

/// What is wrong with a configuration, by SPEC's public description of its syntax: comments,
/// directives with %, sections `benchmark[,…][=tune=ext=mach]:`, and assignments.
fn problems(text: &str, benchmarks: &[&str]) -> Vec<String> {
    let (mut problems, mut open, mut macros) = (Vec::new(), 0_i32, Vec::new());
    for (number, line) in (1..).zip(text.lines()) {
        let mut problem = |what: &str| problems.push(format!("line {number}: {what}: {line}"));
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(directive) = line.strip_prefix('%').filter(|rest| !rest.starts_with('{')) {
            let directive = directive.trim();
            let (word, rest) = directive.split_once(' ').unwrap_or((directive, ""));
            match word {
                "ifdef" | "ifndef" | "if" => {
                    open += 1;
                    macros.push(rest.trim_start_matches("%{").trim_end_matches('}').to_owned());
                }
                "endif" => open -= 1,
                "else" | "error" | "define" if open > 0 || word == "define" => {}
                _ => problem("no directive"),
            }
            continue;
        }
        if let Some(section) = line.strip_suffix(':') {
            let parts: Vec<&str> = section.split('=').collect();
            let known = |name: &str| name == "default" || benchmarks.contains(&name);
            if !parts[0].split(',').all(known) || parts[1..].iter().any(|part| *part != "default") {
                problem("no section");
            }
            continue;
        }
        let name = line.split_once('=').map(|(name, _)| name.trim()).unwrap_or_default();
        if name.is_empty() || !name.chars().all(|one| one.is_ascii_alphanumeric() || one == '_') {
            problem("no assignment");
        }
        for part in line.split("%{").skip(1) {
            let used = part.split('}').next().unwrap_or_default();
            if !macros.iter().any(|known| known == used) {
                problem("a macro that nobody checks");
            }
        }
    }
    if open != 0 {
        problems.push(format!("{open} directives are not closed"));
    }
    problems
}

#[test]
fn the_configurations_keep_to_the_syntax_and_name_benchmarks_that_exist() {
    for (file, benchmarks) in ["cpu2006.cfg", "cpu2017.cfg"].iter().zip(BENCHMARKS) {
        let text = std::fs::read_to_string(scripts().join(file)).expect("a configuration");
        assert_eq!(problems(&text, benchmarks), Vec::<String>::new(), "{file}");
        for spoiled in [
            text.replacen("%endif\n", "", 1),
            text.replacen("%ifndef", "%ifnodef", 1),
            text.replacen("perlbench", "perlbank", 1),
            text.replacen("OPTIMIZE ", "OPTI MIZE ", 1),
            text.replacen("= %{flags}", "= %{flag}", 1),
            text.replacen("reportable  ", "reportable: ", 1),
        ] {
            assert_ne!(spoiled, text);
            assert!(!problems(&spoiled, benchmarks).is_empty(), "{file}");
        }
    }
}
