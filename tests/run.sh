#!/usr/bin/env bash
# All tests in their short form: the workspace's own, and real programs (test size, one seed). The
# long forms are in tests/campaign/nightly.sh.
#
#   tests/run.sh
#
# Two builds: the runtime and the library as they are released, since they go into programs, and all
# else in the profile `ci`, without link-time optimization. By cargo-nextest where that is
# installed, which runs tests of several programs at a time.
#
# Each step is followed by its seconds. The last line counts what passed and what failed; exit code
# 1 if anything failed. SZC: another szc to test, such as an installed one.
set -euo pipefail
asked=${SZC:-}
# shellcheck source-path=SCRIPTDIR source=../spec-scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../spec-scripts/lib.sh"

LOGS=$PROJECT/test-results/run
# The suite's tool and szc itself are those of the second build.
export SZC=${asked:-$TARGET/ci/szc} SUITE_TOOL=$TARGET/ci/szc-suite
passed=0 failed=0

[[ $# -eq 0 ]] || die "unknown argument '$1'; usage: run.sh"

# took TEXT NANOSECONDS: a step and its seconds.
took() { printf '%-40s %6s s\n' "$1" "$(seconds_since "$2")"; }

# build: both builds, and what szc takes into programs beside it.
build() {
    build_for_programs ci --quiet || return
    # The plugin is a library. Tests and programs in one command: cargo decides what crates can do
    # for all it builds at once.
    cargo build --quiet --profile ci -p szc-pass --lib -j"$JOBS" || return
    cargo build --quiet --profile ci --workspace --bins --tests -j"$JOBS"
}

# counted WORD LOG: how many of its tests nextest's summary has under WORD; it leaves out a zero.
counted() {
    awk -v word="$1" '/^ *Summary / {
        for (i = 2; i <= NF; i++) if ($i ~ "^" word ",?$") n = $(i - 1)
    }
    END { print n + 0 }' "$2"
}

# workspace_tests: prints the failures as they come, and counts.
workspace_tests() {
    local log=$LOGS/tests.log status=0
    if cargo nextest --version >/dev/null 2>&1; then
        cargo nextest run --cargo-profile ci --workspace --no-fail-fast --status-level fail \
            --final-status-level fail --hide-progress-bar 2>&1 | tee "$log" || status=$?
        passed=$((passed + $(counted passed "$log")))
        failed=$((failed + $(counted failed "$log")))
    else
        cargo test --profile ci --workspace --quiet --no-fail-fast -j"$JOBS" 2>&1 |
            tee "$log" || status=$?
        passed=$((passed + $(awk '/^test result:/ { n += $4 } END { print n + 0 }' "$log")))
        failed=$((failed + $(awk '/^test result:/ { n += $6 } END { print n + 0 }' "$log")))
    fi
    # A test program that does not compile or crashes reports no failed test.
    [[ $status -eq 0 || $failed -gt 0 ]] || failed=1
}

# evaluation: the paper's evaluation on the smallest program, from builds to samples to a row of
# every table. `set -e` has no effect in what `check` calls, hence the `|| return`.
evaluation() {
    local folder=$LOGS/evaluation step
    rm -rf "$folder"
    mkdir -p "$folder" || return
    cp "$SCRIPTS/RESULTS.md" "$folder/" || return
    for step in variance normality overhead levels epochs counts results; do
        "$SCRIPTS/evaluate.sh" "$step" --programs bundled --size test --runs 6 \
            --out "$folder/results" --page "$folder/RESULTS.md" || return
    done
    # Two tables of overhead, and memory from the same samples.
    [[ $(grep -c '^| bundled | [0-9*<]' "$folder/RESULTS.md") -eq 8 ]]
}

# other_builds: the smallest program in the ways that the suite does not build it.
other_builds() {
    RESULTS=$LOGS/identical-output "$PROJECT/tests/campaign/identical-output.sh" \
        --runs 1 --size test --programs bundled --variants "gcc lto"
}

# check NAME COMMAND...: one step that passes or fails; its output is kept, and shown when it fails.
check() {
    local name=$1 started log=$LOGS/$1.log
    shift
    started=$(date +%s%N)
    if "$@" >"$log" 2>&1; then
        passed=$((passed + 1))
        took "ok      $name" "$started"
    else
        failed=$((failed + 1))
        took "FAILED  $name" "$started"
        say "all of it is in $log:"
        tail -n 30 "$log"
    fi
}

main() {
    local started all
    "$SCRIPTS/setup.sh" --tests
    cd "$PROJECT"
    mkdir -p "$LOGS"
    all=$(date +%s%N) started=$all
    build || die "the project could not be built; see above"
    took "built" "$started"
    started=$(date +%s%N)
    workspace_tests
    took "tests of the workspace" "$started"
    check open-suite suite check --ci --cc "$SZC" --size test --seeds 1 --interval 1
    check identical-output other_builds
    check evaluation evaluation
    took "all" "$all"

    printf '\n%d passed, %d failed\n' "$passed" "$failed"
    [[ $failed -eq 0 ]]
}

main
