#!/usr/bin/env bash
# Do the test suites of other people's programs pass under constant re-randomization?
#
# Fetches each project, builds it twice, with clang and with szc, runs its own tests with both,
# the second under all randomizations, and compares test by test. A table at the end; exit code 1
# if a test that passes with clang fails with szc, or if the tests did not run randomized.
#
#   tests/campaign/suites.sh [--suite NAME]... [--seeds N] [--interval MS] [--again szc|all|nothing]
#
# --suite NAME   one of tests/campaign/suites/ (default: all of them; hours)
# --seeds N      how often the tests run with szc, with the seeds 1 to N (default 1)
# --interval MS  time between re-randomizations (default 1)
# --again WHAT   what is run again although there are results: szc (default), all, nothing
#
# Builds and results: suites/NAME in the cache; NAME/szc/results-SEED has one line a test,
# NAME/szc/test-SEED.log what the tests said, NAME/szc/runs-SEED.jsonl the log of each randomized
# run; without randomization NAME/plain/results-0 and so on.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../spec-scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../spec-scripts/lib.sh"

RECIPES=$PROJECT/tests/campaign/suites
export RECIPES

# fetch_suite: the project, and what a suite keeps elsewhere (recipes in directories of its own).
fetch_suite() {
    local part
    "$SCRIPTS/fetch.sh" "$SUITE"
    for part in "$RECIPES/$SUITE"/*/; do
        [[ ! -d $part ]] || RECIPES=$RECIPES/$SUITE "$SCRIPTS/fetch.sh" "$(basename "$part")"
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

# in_tree FUNCTION LOG: runs a step of the recipe in the source tree, up to the first command that fails. As a bash of its
# own, because `set -e` has no effect in a function whose status is tested.
in_tree() {
    (cd "$OUT/tree" && exec "$PROJECT/tests/campaign/suites.sh" --step "$SUITE" "$1") </dev/null >"$OUT/$2" 2>&1
}

# check NAME COMMAND...: for recipes of suites that have no runner of their own.
check() {
    local name=$1
    shift
    if "$@"; then say "RESULT $name passed"; else say "RESULT $name failed"; fi
}

# automake_results DIRECTORY...: the verdicts that `make check` leaves beside the tests.
automake_results() {
    local file verdict
    while IFS= read -r file; do
        verdict=$(sed -n 's/^:test-result: \([A-Z]*\).*/\1/p' "$file" | sort | uniq -c |
            awk '{ n[$2] = $1 } END { print n["FAIL"] + n["ERROR"] ? "failed" : n["PASS"] ? "passed" : "skipped" }')
        say "${file%.trs} $verdict"
    done < <(find "$@" -name '*.trs')
}

# cargo_test OPTION...: a crate's own tests, linked by the compiler under test.
cargo_test() {
    RUSTFLAGS="-Clinker=$CC" CARGO_TARGET_DIR=$OUT/target cargo test --release --lib --tests --no-fail-fast -j"$JOBS" "$@"
}

# cargo_results LOG: the verdicts that Rust's test harness prints.
cargo_results() {
    sed -nE 's/^test (.+) \.\.\. (ok|FAILED|ignored).*/\1 \2/p' "$1" |
        sed -E 's/ - should panic / /; s/ ok$/ passed/; s/ FAILED$/ failed/; s/ ignored$/ skipped/'
}

build_suite() {
    local key
    key=$(identity | sha256sum)
    [[ $(cat "$OUT/key" 2>/dev/null) != "$key" ]] || return 0
    rm -rf "$OUT"
    mkdir -p "$OUT"
    # With its times: makefiles of automake compare them.
    cp -a "$CACHE/sources/$SUITE/tree" "$OUT/tree"
    # The programs that a build runs on its way are not the test.
    SZC_ONCE=1 in_tree suite_build build.log || {
        tail -n 15 "$OUT/build.log" >&2
        die "$SUITE: the build with $CC failed; all of it: $OUT/build.log"
    }
    say "$key" >"$OUT/key"
}

# run_suite SEED
run_suite() {
    local seed=$1 status=0
    [[ $AGAIN == nothing || ($AGAIN == szc && $KIND == plain) ]] && [[ -s $OUT/results-$seed ]] && return
    rm -f "$OUT/runs-$seed.jsonl" "$OUT/results-$seed"
    if [[ $KIND == szc ]]; then
        SZC_SEED=$seed SZC_INTERVAL_MS=$INTERVAL_MS SZC_LOG=$OUT/runs-$seed.jsonl \
            in_tree suite_run "test-$seed.log" || status=$?
    else
        in_tree suite_run "test-$seed.log" || status=$?
    fi
    # One line a test: its name and `passed`, `failed` or `skipped`.
    (cd "$OUT/tree" && suite_results "$OUT/test-$seed.log") | LC_ALL=C sort >"$OUT/results.new"
    [[ -s $OUT/results.new ]] ||
        die "$SUITE: no test ran with $CC (exit code $status); see $OUT/test-$seed.log"
    mv "$OUT/results.new" "$OUT/results-$seed"
}

# count VERDICT FILE
count() { LC_ALL=C grep -c " $1\$" "$2" || true; }

# not_as_plain PLAIN SZC: the tests whose verdict is worse with szc, or that did not run.
not_as_plain() {
    LC_ALL=C comm -13 "$1" "$2" | grep -v ' passed$' | cut -d' ' -f1
    LC_ALL=C comm -23 <(cut -d' ' -f1 "$1" | LC_ALL=C sort) <(cut -d' ' -f1 "$2" | LC_ALL=C sort)
}

# summary SUITE SEED: one row of the table; fails if szc's results are worse.
summary() (
    local at=$CACHE/suites/$1 seed=$2 different runs randomized='"code":true,"stack":true,"heap":true'
    load_recipe "$1"
    mapfile -t different < <(not_as_plain "$at/plain/results-0" "$at/szc/results-$seed")
    runs=$(grep -c "$randomized" "$at/szc/runs-$seed.jsonl" || true)
    printf '%-17s %-14s %5d %7d %13d %11d %13d %11d %12d\n' "$1" "$(source_version "$1")" "$seed" \
        "$(wc -l <"$at/plain/results-0")" "$(count passed "$at/plain/results-0")" \
        "$(count passed "$at/szc/results-$seed")" "${#different[@]}" "$runs" \
        "$(sed -n 's/.*"relocations":\([0-9]*\).*/\1/p' "$at/szc/runs-$seed.jsonl" | awk '{ n += $1 } END { print n + 0 }')"
    [[ ${#different[@]} -eq 0 ]] || say "           not as plain: ${different[*]:0:20}"
    [[ ${#different[@]} -eq 0 && $runs -gt 0 ]]
)

main() {
    local suites=() seeds=1 failed=0 kind seed
    AGAIN=szc INTERVAL_MS=1
    while [[ $# -gt 0 ]]; do
        [[ $# -gt 1 ]] || die "$1 needs a value"
        case $1 in
        --suite) suites+=("$2") ;;
        --seeds) positive "$1" "$2" && seeds=$2 ;;
        --interval) INTERVAL_MS=$2 ;;
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
    for SUITE in "${suites[@]}"; do
        fetch_suite
        for kind in plain szc; do
            load_recipe "$SUITE"
            set_compiler "$kind"
            build_suite
            if [[ $kind == plain ]]; then
                run_suite 0
            else
                for ((seed = 1; seed <= seeds; seed++)); do run_suite "$seed"; done
            fi
        done
    done
    heading "test suites of others, all randomizations, every $INTERVAL_MS ms"
    printf '%-17s %-14s %5s %7s %13s %11s %13s %11s %12s\n' suite version seed tests "passed plain" "passed szc" \
        "not as plain" runs relocations
    for SUITE in "${suites[@]}"; do
        for ((seed = 1; seed <= seeds; seed++)); do
            summary "$SUITE" "$seed" || failed=1
        done
    done
    return "$failed"
}

case ${1:-} in
--step)
    load_recipe "$2"
    "$3"
    ;;
*) main "$@" ;;
esac
