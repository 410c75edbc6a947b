#!/usr/bin/env bash
# Does one process of a harness measure hundreds of layouts? The book's examples of in-process
# layouts (szc/docs/examples/in-process), one by Google Benchmark and one by criterion.
#
# Built by clang or cargo alone each must run with no layouts. Built by szc, each iteration must
# have had a layout of its own, and there must be hundreds: without layouts by time, with one every
# millisecond, so that an epoch is often under way when one is asked for, and by default. And `szc
# run --harness auto` must read a row of each.
#
#   tests/campaign/in-process.sh [--harnesses "NAME..."]
#
# --harnesses    google-benchmark, criterion (default: both)
#
# Needs a network, or criterion where cargo keeps crates, and Debian's libbenchmark-dev. About 3
# minutes. Results: test-results/in-process/
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../spec-scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../spec-scripts/lib.sh"

EXAMPLES=$PROJECT/szc/docs/examples/in-process
RESULTS=$PROJECT/test-results/in-process
MIN_LAYOUTS=200

harnesses=(google-benchmark criterion)
while [[ $# -gt 0 ]]; do
    case $1 in
    --harnesses) read -ra harnesses <<<"${2:-}" ;;
    *) die "unknown argument '$1'; usage: in-process.sh [--harnesses \"NAME...\"]" ;;
    esac
    shift 2
done
[[ -x $SZC ]] || die "no $SZC; run 'cargo build --release' first"
PATH=$(dirname "$SZC"):$PATH

# A harness NAME has NAME_build, which leaves the programs `plain` and `szc` in the current folder;
# NAME_run PROGRAM, which runs one with NAME_options; and NAME_counts, which prints how many
# iterations that run had and how many layouts it says.

google_benchmark_build() {
    echo '#include <benchmark/benchmark.h>' | clang++-22 -E -xc++ - -o /dev/null ||
        die "Google Benchmark is missing: apt-get install libbenchmark-dev"
    local program=("$EXAMPLES/google_benchmark.cpp" -O2 "-I$PROJECT/runtime/control/include"
        -lbenchmark -pthread)
    clang++-22 "${program[@]}" -o plain
    "$SZC++" "${program[@]}" -o szc
}

google_benchmark_options=(--benchmark_min_time=0.3)
google_benchmark_run() {
    "$1" "${google_benchmark_options[@]}" --benchmark_out=run.json
}

google_benchmark_counts() {
    awk -F'[:,]' '$1 ~ /"iterations"/ { iterations = $2 } $1 ~ /"layouts"/ { layouts = $2 }
        END { print iterations + 0, layouts + 0 }' run.json
}

criterion_build() {
    local kind
    for kind in plain szc; do
        local cargo=(cargo)
        [[ $kind == plain ]] || cargo=(cargo szc)
        (cd "$EXAMPLES/criterion" && CARGO_TARGET_DIR=$RESULTS/criterion/target \
            "${cargo[@]}" bench --no-run --message-format=json) >"$kind.json"
        ln -sf "$(sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' "$kind.json" | tail -n 1)" "$kind"
    done
}

# Each sample has one iteration or more, however slow the machine is.
criterion_options=(--measurement-time 0.3 --warm-up-time 0.1 --sample-size 250 --nresamples 1000)
criterion_run() {
    rm -rf home
    CRITERION_HOME=$PWD/home "$1" --bench "${criterion_options[@]}" | tee run.text
}

criterion_counts() {
    local iterations
    iterations=$(sed 's/.*"iters":\[\([^]]*\)\].*/\1/' home/parse/new/sample.json | tr , '\n' |
        awk '{ n += $1 } END { print n }')
    say "$iterations $(sed -n 's/^parse: \([0-9]*\) layouts$/\1/p' run.text)"
}

# check NAME: builds and runs one example.
check() (
    name=$1 function=${1//-/_}
    declare -n options=${function}_options
    folder=$RESULTS/$name
    declare -F "${function}_build" >/dev/null ||
        die "no harness '$name'; there are: google-benchmark criterion"
    rm -rf "$folder"
    mkdir -p "$folder"
    cd "$folder"
    ("${function}_build") >build.log 2>&1 || die "$name: it does not build; see $folder/build.log"
    "${function}_run" ./plain >plain.log 2>&1 || die "$name: it does not run; see $folder/plain.log"
    read -r iterations layouts < <("${function}_counts")
    ((iterations > 0 && layouts == 0)) ||
        die "$name without szc: $iterations iterations, $layouts layouts"
    for interval in 0 1 500; do
        SZC_INTERVAL_MS=$interval SZC_LOG=$PWD/log "${function}_run" ./szc >run.log 2>&1 ||
            die "$name: it does not run at $interval ms; see $folder/run.log"
        grep -q '"code":true' log || die "$name: nothing moved; see $folder/log"
        epochs=$(sed -n 's/.*"epochs":\([0-9]*\).*/\1/p' log | sort -n | tail -n 1)
        rm log
        read -r iterations layouts < <("${function}_counts")
        ((iterations >= MIN_LAYOUTS && layouts >= iterations && epochs >= layouts)) ||
            die "$name at $interval ms: $iterations iterations, $layouts layouts, $epochs epochs" \
                "where $MIN_LAYOUTS or more layouts were expected, one for each iteration"
        say "$name, SZC_INTERVAL_MS=$interval: one process, $iterations iterations," \
            "$layouts layouts"
    done
    "$SZC" run --harness auto --runs 4 -- "$PWD/szc ${options[*]}" >rows 2>rows.err ||
        die "$name: szc cannot run it; see $folder/rows.err"
    grep -iE '^(BM_)?parse ' rows || die "$name: no row in $folder/rows"
)

mkdir -p "$RESULTS"
for name in "${harnesses[@]}"; do
    # Not as a condition, in which `set -e` would not hold.
    check "$name"
done
