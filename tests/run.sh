#!/usr/bin/env bash
# All tests: the workspace's own, and real programs in a short form (test size,
# few seeds). The long forms are in tests/campaign/.
#
#   tests/run.sh [--seeds N]        N seeds per build of a real program (default 3)
#
# The last line counts what passed and what failed; exit code 1 if anything failed.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../spec-scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../spec-scripts/lib.sh"

LOGS=$PROJECT/test-results/run
passed=0 failed=0

seeds=3
case ${1:-} in
'') ;;
--seeds) positive "$1" "${2:-}" && seeds=$2 ;;
*) die "unknown argument '$1'; usage: run.sh [--seeds N]" ;;
esac

# count TEST-LOG: adds what cargo's test programs say about themselves.
count() {
    local counts
    counts=$(awk '/^test result:/ { ok += $4; bad += $6 } END { print ok + 0, bad + 0 }' "$1")
    passed=$((passed + ${counts% *}))
    failed=$((failed + ${counts#* }))
}

# evaluation: the paper's evaluation on the smallest program, from builds to samples to a row of
# every table. `set -e` has no effect in what `check` calls, hence the `|| return`.
evaluation() {
    local folder=$LOGS/evaluation step
    rm -rf "$folder"
    mkdir -p "$folder" || return
    cp "$SCRIPTS/RESULTS.md" "$folder/" || return
    for step in variance normality overhead levels epochs counts results; do
        "$SCRIPTS/evaluate.sh" "$step" --programs bundled --size test --runs 12 \
            --out "$folder/results" --page "$folder/RESULTS.md" || return
    done
    # Two tables of overhead, and memory from the same samples.
    [[ $(grep -c '^| bundled | [0-9*<]' "$folder/RESULTS.md") -eq 8 ]]
}

# check NAME COMMAND...: one step that passes or fails; its output is kept, and
# shown when it fails.
check() {
    local name=$1 started log=$LOGS/$1.log
    shift
    started=$(date +%s%N)
    if "$@" >"$log" 2>&1; then
        passed=$((passed + 1))
        printf 'ok      %-32s %6s s\n' "$name" "$(seconds_since "$started")"
    else
        failed=$((failed + 1))
        printf 'FAILED  %-32s %6s s, all of it in %s:\n' "$name" "$(seconds_since "$started")" \
            "$log"
        tail -n 30 "$log"
    fi
}

# workspace_tests: prints the failures of cargo test as they come.
workspace_tests() {
    local status=0
    (cd "$PROJECT" && SZC=$SZC cargo test --workspace --quiet --no-fail-fast -j"$JOBS") 2>&1 |
        tee "$LOGS/cargo-test.log" || status=$?
    count "$LOGS/cargo-test.log"
    # A test program that does not compile or crashes reports no failed test.
    if [[ $status -ne 0 ]] && ! grep -q '^test result: FAILED' "$LOGS/cargo-test.log"; then
        failed=$((failed + 1))
    fi
}

# real_program PROGRAM: identical output in every variant.
real_program() {
    check "identical-output-$1" env RESULTS="$LOGS/$1" \
        "$PROJECT/tests/campaign/identical-output.sh" \
        --runs "$seeds" --size test --programs "$1"
}

main() {
    local program
    "$SCRIPTS/setup.sh" --tests
    mkdir -p "$LOGS"
    heading "building"
    (cd "$PROJECT" && cargo build --release -j"$JOBS")

    heading "tests of the workspace"
    workspace_tests

    heading "real programs, re-randomized every millisecond, against clang"
    real_program bundled
    for program in "${REAL_PROGRAMS[@]}"; do
        if suite fetch "$program"; then
            real_program "$program"
        else
            say "skipped $program: no source"
        fi
    done

    check open-suite suite check --ci --cc "$SZC" --size test --seeds "$seeds" --interval 1
    check evaluation evaluation

    printf '\n%d passed, %d failed\n' "$passed" "$failed"
    [[ $failed -eq 0 ]]
}

main
