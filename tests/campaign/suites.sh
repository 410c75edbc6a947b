#!/usr/bin/env bash
# Do the test suites of other people's programs pass under constant re-randomization?
#
# Fetches each project, builds it twice, with clang and with szc, runs its own tests with both,
# the second under all randomizations, and compares test by test. A table at the end; exit code 1
# if a test that passes with clang fails with szc, or if the tests did not run randomized.
#
#   tests/campaign/suites.sh [--suite NAME]... [--seeds N] [--interval MS,...] [--again WHAT]
#       [--build]
#
# --suite NAME   one of tests/campaign/suites/ (default: all of them; hours)
# --seeds N      how often the tests run with szc, with the seeds 1 to N (default 1)
# --interval MS  time between re-randomizations, or several: `default` is what szc does unasked
#                (default: default,1)
# --again WHAT   what is run again although there are results of this szc: nothing (default), szc,
#                all
# --build        only builds, for other campaigns: suites/NAME/plain/tree and szc/tree in the cache
#
# Started again, it goes on where it was. A suite whose source cannot be had, or that does not build
# with clang, is named and left out. The tests run on the loopback alone and end with all that they
# have started.
#
# Builds and results: suites/NAME in the cache; NAME/szc/results-INTERVAL-SEED has one line a test,
# NAME/szc/test-INTERVAL-SEED.log what the tests said, NAME/szc/runs-INTERVAL-SEED.jsonl the log of
# each randomized run; without randomization NAME/plain/results and so on.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../spec-scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../spec-scripts/lib.sh"

RECIPES=$PROJECT/tests/campaign/suites
export RECIPES

# fetch_suite: the project, and what a suite keeps elsewhere (recipes in directories of its own).
fetch_suite() {
    local part
    "$SCRIPTS/fetch.sh" "$SUITE" || return 1
    for part in "$RECIPES/$SUITE"/*/; do
        [[ ! -d $part ]] || RECIPES=$RECIPES/$SUITE "$SCRIPTS/fetch.sh" "$(basename "$part")" ||
            return 1
    done
}

# identity: what a build depends on.
identity() {
    cat "$CACHE/sources/$SUITE/version" "$RECIPES/$SUITE/recipe.sh"
    say "$CC"
    if [[ $KIND == szc ]]; then
        cat "$SZC" "$(dirname "$SZC")"/libszc_*.[as]* | sha256sum
    fi
}

# set_compiler KIND: what the recipes use.
set_compiler() {
    KIND=$1 OUT=$CACHE/suites/$SUITE/$1
    case $KIND in
    plain) CC=clang-22 CXX=clang++-22 ;;
    szc) CC=$SZC CXX=$SZC++ ;;
    esac
    CFLAGS=-O2
    export CC CXX CFLAGS CXXFLAGS=$CFLAGS KIND OUT
}

# in_tree FUNCTION LOG [COMMAND...]: runs a step of the recipe in the source tree, up to the first
# command that fails; by way of COMMAND if there is one. As a bash of its own, because `set -e` has
# no effect in a function whose status is tested.
in_tree() {
    local function=$1 log=$2
    shift 2
    (cd "$OUT/tree" && exec "$@" "$PROJECT/tests/campaign/suites.sh" --step "$SUITE" "$function") \
        </dev/null >"$OUT/$log" 2>&1
}

# check NAME COMMAND...: for recipes of suites that have no runner of their own. What the runner
# says may end in the middle of a line.
check() {
    local name=$1 verdict=passed
    shift
    timeout --kill-after=10 "$test_seconds" "$@" || verdict=failed
    printf '\nRESULT %s %s\n' "$name" "$verdict"
}

# automake_results DIRECTORY...: the verdicts that `make check` leaves beside the tests.
automake_results() {
    local file verdict
    while IFS= read -r file; do
        verdict=$(sed -n 's/^:test-result: \([A-Z]*\).*/\1/p' "$file" | sort | uniq -c |
            awk '{ n[$2] = $1 }
                END { print n["FAIL"] + n["ERROR"] ? "failed" : n["PASS"] ? "passed" : "skipped" }')
        say "${file%.trs} $verdict"
    done < <(find "$@" -name '*.trs')
}

# cargo_test OPTION...: a crate's own tests, linked by the compiler under test.
cargo_test() {
    RUSTFLAGS="-Clinker=$CC" CARGO_TARGET_DIR=$OUT/target cargo test --release --lib --tests \
        --no-fail-fast -j"$JOBS" "$@"
}

# cargo_results LOG: the verdicts that Rust's test harness prints.
cargo_results() {
    sed -nE 's/^test (.+) \.\.\. (ok|FAILED|ignored).*/\1 \2/p' "$1" |
        sed -E 's/ - should panic / /; s/ ok$/ passed/; s/ FAILED$/ failed/; s/ ignored$/ skipped/'
}

# build_suite: fails if it does not build, with a message.
build_suite() {
    local key
    key=$(identity | sha256sum)
    [[ $(cat "$OUT/key" 2>/dev/null) != "$key" ]] || return 0
    heading "$SUITE: builds with $KIND"
    rm -rf "$OUT"
    mkdir -p "$OUT"
    # With its times: makefiles of automake compare them.
    cp -a "$CACHE/sources/$SUITE/tree" "$OUT/tree"
    # The programs that a build runs on its way are not the test.
    SZC_INTERVAL_MS=0 in_tree suite_build build.log || {
        tail -n 15 "$OUT/build.log" >&2
        warn "$SUITE: the build with $CC failed; all of it: $OUT/build.log"
        return 1
    }
    say "$key" >"$OUT/key"
}

# is_done RESULTS
is_done() {
    [[ $AGAIN == nothing || ($AGAIN == szc && $KIND == plain) ]] && [[ -s $OUT/results$1 ]]
}

# run_suite NAME [VARIABLE=VALUE...]: with these in the environment. NAME tells this run's files
# from others.
run_suite() {
    local name=$1 status=0 contained=("$PROJECT/tests/campaign/contained.pl" "$suite_seconds")
    shift
    ! is_done "$name" || return 0
    heading "$SUITE: runs with $KIND $*"
    rm -f "$OUT/runs$name.jsonl" "$OUT/results$name"
    # Some tests become another user, whose processes write it, too.
    install -m 666 /dev/null "$OUT/runs$name.jsonl"
    in_tree suite_run "test$name.log" env "$@" SZC_LOG="$OUT/runs$name.jsonl" "${contained[@]}" ||
        status=$?
    [[ $status -ne 143 && $status -ne 130 ]] ||
        die "ended from outside; started again, it goes on here"
    [[ $status -ne 124 ]] ||
        warn "$SUITE: ended after $suite_seconds s; what had not run by then counts as failed"
    # One line a test: its name and `passed`, `failed` or `skipped`.
    (cd "$OUT/tree" && suite_results "$OUT/test$name.log") | LC_ALL=C sort >"$OUT/results.new" ||
        true
    if [[ ! -s $OUT/results.new ]]; then
        warn "$SUITE: no test ran with $CC (exit code $status); see $OUT/test$name.log"
        return 1
    fi
    mv "$OUT/results.new" "$OUT/results$name"
}

# run_randomized SEED INTERVAL
run_randomized() {
    local interval=()
    [[ $2 == default ]] || interval=(SZC_INTERVAL_MS="$2")
    run_suite "-$2-$1" SZC_SEED="$1" "${interval[@]}"
}

# count VERDICT FILE
count() { LC_ALL=C grep -c " $1\$" "$2" || true; }

# not_as_plain PLAIN SZC: the tests whose verdict is worse with szc, or that did not run.
not_as_plain() {
    LC_ALL=C comm -13 "$1" "$2" | grep -v ' passed$' | cut -d' ' -f1
    LC_ALL=C comm -23 <(cut -d' ' -f1 "$1" | LC_ALL=C sort) <(cut -d' ' -f1 "$2" | LC_ALL=C sort)
}

# of_logs FIELD FILE: its sum over the processes that the log of a run has.
of_logs() {
    sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" "$2" 2>/dev/null | awk '{ n += $1 } END { print n + 0 }'
}

# row TEXT...: of the table at the end.
row() { printf '%-11s %-14s %7s %7s %8s %5s %7s %9s %9s %12s\n' "$@"; }

# summary SUITE INTERVAL SEED: one row of the table, and the tests that differ; fails if szc's
# results are worse.
summary() (
    local at=$CACHE/suites/$1 name=-$2-$3 plain tests different=() runs=0
    local randomized='"code":true,"stack":true,"heap":true'
    load_recipe "$1"
    plain=$at/plain/results
    tests=$(wc -l <"$plain")
    if [[ ! -s $at/szc/results$name ]]; then
        row "$1" "$(source_version "$1")" "$tests" "$(count passed "$plain")" "$2" "$3" none \
            "$tests" 0 0
        exit 1
    fi
    mapfile -t different < <(not_as_plain "$plain" "$at/szc/results$name")
    runs=$(grep -c "$randomized" "$at/szc/runs$name.jsonl" || true)
    row "$1" "$(source_version "$1")" "$tests" "$(count passed "$plain")" "$2" "$3" \
        "$(count passed "$at/szc/results$name")" "${#different[@]}" "$runs" \
        "$(of_logs relocations "$at/szc/runs$name.jsonl")"
    [[ ${#different[@]} -eq 0 ]] || say "    not as plain: ${different[*]:0:40}"
    [[ ${#different[@]} -eq 0 && $runs -gt 0 ]]
)

# run_all SUITE: everything of one suite; fails if it cannot be compared.
run_all() {
    local interval seed
    SUITE=$1
    load_recipe "$SUITE"
    fetch_suite || return 1
    set_compiler plain
    build_suite || return 1
    [[ $BUILD_ONLY == yes ]] || run_suite '' || return 1
    set_compiler szc
    if [[ $BUILD_ONLY == yes ]]; then
        build_suite
        return
    fi
    # What does not build or run shows in the table.
    build_suite || return 0
    for interval in "${intervals[@]}"; do
        for ((seed = 1; seed <= seeds; seed++)); do run_randomized "$seed" "$interval" || true; done
    done
}

main() {
    local suites=() left_out=() intervals seeds=1 failed=0 suite interval seed
    AGAIN=nothing BUILD_ONLY=no
    IFS=, read -ra intervals <<<default,1
    while [[ $# -gt 0 ]]; do
        if [[ $1 == --build ]]; then
            BUILD_ONLY=yes
            shift
            continue
        fi
        [[ $# -gt 1 ]] || die "$1 needs a value"
        case $1 in
        --suite) suites+=("$2") ;;
        --seeds) positive "$1" "$2" && seeds=$2 ;;
        --interval)
            [[ $2 =~ ^(default|[0-9.]+)(,(default|[0-9.]+))*$ ]] ||
                die "--interval is default or a time in ms, or several with commas; found '$2'"
            IFS=, read -ra intervals <<<"$2"
            ;;
        --again)
            [[ $2 =~ ^(szc|all|nothing)$ ]] || die "--again is szc, all or nothing; found '$2'"
            AGAIN=$2
            ;;
        *) die "unknown argument '$1'; the options are described at the top of this script" ;;
        esac
        shift 2
    done
    [[ -x $SZC ]] || die "no $SZC; run 'cargo build --release' first"
    [[ ${#suites[@]} -gt 0 ]] || mapfile -t suites < <(cd "$RECIPES" && ls)
    for suite in "${suites[@]}"; do
        run_all "$suite" || left_out+=("$suite")
    done
    if [[ $BUILD_ONLY == yes ]]; then
        [[ ${#left_out[@]} -eq 0 ]] || die "not built: ${left_out[*]}"
        return
    fi
    heading "test suites of others, with all randomizations"
    row suite version tests plain interval seed szc different processes relocations
    for suite in "${suites[@]}"; do
        [[ " ${left_out[*]} " != *" $suite "* ]] || continue
        for interval in "${intervals[@]}"; do
            for ((seed = 1; seed <= seeds; seed++)); do
                summary "$suite" "$interval" "$seed" || failed=1
            done
        done
    done
    [[ ${#left_out[@]} -eq 0 ]] || say "left out, for what was said above: ${left_out[*]}"
    return "$failed"
}

case ${1:-} in
--step)
    load_recipe "$2"
    "$3"
    ;;
*) main "$@" ;;
esac
