#!/usr/bin/env bash
# Everything that takes too long for every change, in one command: all tests in their long form,
# foreign test suites, soaks and the project's figures. A table of what passed at the end.
#
#   tests/campaign/nightly.sh [--only "NAME..."] [--again]
#
# --only NAME...  only these steps; the table names them all
# --again         also what has passed in this state of the sources
#
# Resumable: what has passed is not done again until the sources or the szc under test change, and
# what was stopped begins anew or, where its script can, goes on. The steps from many-functions on
# measure, and want a machine to themselves.
#
# Results: test-results/nightly/, with a log of each step. Exit code 1 if one failed.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../spec-scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../spec-scripts/lib.sh"

RESULTS=$PROJECT/test-results/nightly
CAMPAIGN=$PROJECT/tests/campaign
RUNTIME_CRATES=(
    szc-abi szc-sys szc-layout szc-paths szc-heap szc-stack szc-code szc-runtime szc-library
)

# Names in the order in which they are done; `step_NAME`, with "-" as "_", does it.
STEPS=(
    build runtime-as-released tests-in-long-form matrix real-programs open-suite options languages
    cargo harnesses in-process heap-torture soak soak-stress foreign-suites cluster
    book installation from-source profile-consumers
    many-functions relocation-cost throw-cost footprint profile check icpp paths heap-memory
    heap-speed overhead
    levels variance verdicts power luck bias perturb causal
    causal-programs
)

step_build() { cargo build --release -j"$JOBS"; }

# The short form runs them with debug assertions and with checks of overflows. Without link-time
# optimization, which takes a test's own `main` for another binding of the one that a crate names.
step_runtime_as_released() {
    CARGO_PROFILE_RELEASE_LTO=off cargo test --release -j"$JOBS" "${RUNTIME_CRATES[@]/#/--package=}"
}

step_tests_in_long_form() {
    SZC_TEST_LONG=1 SZC_TEST_SEEDS=5 SZC=$SZC \
        cargo test --profile ci --workspace --no-fail-fast -j"$JOBS"
}

step_matrix() { "$CAMPAIGN/matrix.sh" --seeds 5; }
step_real_programs() {
    local program programs=(bundled)
    for program in "${REAL_PROGRAMS[@]}"; do
        if suite fetch "$program"; then programs+=("$program"); fi
    done
    "$CAMPAIGN/identical-output.sh" --runs 20 --size test --programs "${programs[*]}"
}
step_open_suite() { suite check --cc "$SZC" --size test --seeds 3 --interval 1; }
step_options() { "$CAMPAIGN/options.sh"; }
step_languages() { "$CAMPAIGN/languages.sh"; }
step_cargo() { "$CAMPAIGN/cargo.sh"; }
step_harnesses() { "$CAMPAIGN/harnesses.sh"; }
step_in_process() { "$CAMPAIGN/in-process.sh"; }
step_heap_torture() { "$CAMPAIGN/heap.sh" torture; }
step_soak() { "$CAMPAIGN/soak.sh" --minutes 10; }
step_soak_stress() { "$CAMPAIGN/soak.sh" --minutes 10 --reclaim stress --seed 2; }
step_foreign_suites() { "$CAMPAIGN/suites.sh"; }
step_cluster() { "$CAMPAIGN/slurm.sh"; }
step_book() { "$CAMPAIGN/book.sh"; }
step_installation() { "$CAMPAIGN/install.sh"; }
step_from_source() { "$CAMPAIGN/from-source.sh"; }
step_many_functions() { "$CAMPAIGN/many-functions.sh"; }
step_relocation_cost() { "$CAMPAIGN/relocation-cost.sh"; }
step_throw_cost() { "$CAMPAIGN/throw-cost.sh"; }
step_footprint() { "$CAMPAIGN/footprint.sh"; }
step_profile() { "$CAMPAIGN/profile.sh"; }
step_profile_consumers() { "$CAMPAIGN/profile-consumers.sh"; }
step_check() { "$CAMPAIGN/check.sh" --profilers own; }
step_causal() { "$CAMPAIGN/causal.sh"; }
step_causal_programs() { "$CAMPAIGN/causal-programs.sh"; }
step_luck() { "$CAMPAIGN/luck.sh"; }
step_bias() { "$CAMPAIGN/bias.sh"; }
step_paths() { "$CAMPAIGN/paths.sh"; }
step_icpp() { "$CAMPAIGN/icpp.sh"; }
step_heap_memory() { "$CAMPAIGN/heap.sh" memory; }
step_heap_speed() { "$CAMPAIGN/heap.sh" speed; }
step_overhead() { "$CAMPAIGN/overhead.sh" --randomize "code heap all"; }
step_levels() { "$CAMPAIGN/levels.sh"; }
step_variance() { "$CAMPAIGN/variance.sh"; }
step_verdicts() { "$CAMPAIGN/verdicts.sh"; }
step_power() { "$CAMPAIGN/power.sh"; }
step_perturb() { "$CAMPAIGN/perturb.sh"; }

# state: what the results are of: the sources as they are, committed or not, and another szc if one
# is named.
state() {
    {
        git rev-parse HEAD
        git diff HEAD
        [[ $SZC == "$TARGET/release/szc" ]] || sha256sum "$SZC"
    } | sha256sum | cut -d' ' -f1
}

# run NAME: does a step and keeps its verdict, its state and its seconds.
run() {
    local started verdict=passed
    started=$(date +%s%N)
    printf '%-22s ' "$1"
    rm -f "$RESULTS/$1.verdict"
    # In a process of its own, where `set -e` holds.
    "$0" --step "$1" >"$RESULTS/$1.log" 2>&1 </dev/null || verdict=FAILED
    say "$verdict $STATE $(seconds_since "$started")" >"$RESULTS/$1.verdict"
    printf '%-8s %9s s\n' "$verdict" "$(seconds_since "$started")"
}

# has_passed NAME
has_passed() { grep -q "^passed $STATE " "$RESULTS/$1.verdict" 2>/dev/null; }

# table: one row a step; fails if one has not passed.
table() {
    local name verdict at seconds complete=0
    heading "what passed"
    for name in "${STEPS[@]}"; do
        verdict='' at='' seconds=''
        read -r verdict at seconds 2>/dev/null <"$RESULTS/$name.verdict" || verdict=''
        case $verdict:$at in
        :*) verdict='not done' ;;
        *:"$STATE") ;;
        *) verdict="$verdict, of other sources" ;;
        esac
        printf '%-22s %9s s  %s\n' "$name" "${seconds:--}" "$verdict"
        [[ $verdict == passed ]] || complete=1
    done
    return "$complete"
}

main() {
    local name chosen="${STEPS[*]}" again=no
    while [[ $# -gt 0 ]]; do
        case $1 in
        --only) chosen=${2:?--only needs names} && shift ;;
        --again) again=yes ;;
        *) die "unknown argument '$1'; the options are described at the top of this script" ;;
        esac
        shift
    done
    for name in $chosen; do
        [[ " ${STEPS[*]} " == *" $name "* ]] || die "no step '$name'; there are: ${STEPS[*]}"
    done
    mkdir -p "$RESULTS"
    STATE=$(state)
    for name in $chosen; do
        if [[ $again == yes ]] || ! has_passed "$name"; then run "$name"; fi
    done
    table
}

cd "$PROJECT"
case ${1:-} in
--step) "step_${2//-/_}" ;;
*) main "$@" ;;
esac
