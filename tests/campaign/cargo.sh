#!/usr/bin/env bash
# Does cargo szc build and measure crates of the registry as their authors left them?
#
# Of each crate: its own tests say the same by cargo, by `cargo szc` and by `cargo szc --pads`, with
# code (and pads) that moved; and of two commits, the second with a planted slowdown, `cargo szc
# compare` calls the rows that are concerned slower, and no other row different. (By chance it calls
# one so in 5 of 100 times.)
#
#   tests/campaign/cargo.sh [--crates "NAME..."] [--blocks N]
#
# --crates     of those in tests/campaign/cargo/ (default: all)
# --blocks N   of each comparison (default 10)
#
# Needs a network. About 45 minutes, half of them httparse. Results: test-results/cargo/
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../spec-scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../spec-scripts/lib.sh"
# shellcheck source-path=SCRIPTDIR source=rows.sh
source "$(dirname "${BASH_SOURCE[0]}")/rows.sh"

export RECIPES=$PROJECT/tests/campaign/cargo
RESULTS=$PROJECT/test-results/cargo
usage='usage: cargo.sh [--crates "NAME..."] [--blocks N]'

blocks=10
mapfile -t crates < <(cd "$RECIPES" && ls)
while [[ $# -gt 0 ]]; do
    case $1 in
    --crates) read -ra crates <<<"${2:-}" ;;
    --blocks) positive "$1" "${2:-}" && blocks=$2 ;;
    *) die "unknown argument '$1'; $usage" ;;
    esac
    shift 2
done
enough_for_interval --blocks "$blocks"
[[ -x $SZC ]] || die "no $SZC; run 'cargo build --release' first"
PATH=$(dirname "$SZC"):$PATH

prepare() { :; }

commit() {
    git add --all --force .
    git -c user.name=szc -c user.email=szc@example.org commit --quiet --message "$1"
}

# make_repository FOLDER: the crate of the loaded recipe, in two commits.
make_repository() {
    cp -r "$CACHE/sources/$1/tree" "$RESULTS/$1/tree"
    cd "$RESULTS/$1/tree"
    # Below this project, git would find the project's own repository.
    git init --quiet --initial-branch main .
    rm -f .cargo_vcs_info.json .cargo-checksum.json
    prepare
    cargo generate-lockfile --quiet
    commit as-published
    slow_down
    [[ -n $(git status --porcelain) ]] || die "$1: the slowdown was planted nowhere"
    commit slow
    git checkout --quiet HEAD~1
}

# verdicts LOG: of each test of a crate.
verdicts() { grep -E '^test .* \.\.\. ' "$1" | sort; }

# tests NAME LABEL EXPECTED-IN-LOG COMMAND...: a crate's own tests.
tests() {
    local name=$1 label=$2 expected=$3 log=$RESULTS/$1/$2
    shift 3
    rm -f "$log.szc"
    SZC_LOG=$log.szc SZC_INTERVAL_MS=1 "$@" --release --lib --tests >"$log" 2>&1 ||
        die "$name: $* failed; see $log"
    [[ -z $expected ]] || grep -q "$expected" "$log.szc" ||
        die "$name: nothing moved in $*; see $log.szc"
    [[ $label == plain ]] ||
        diff <(verdicts "$RESULTS/$name/plain") <(verdicts "$log") >"$log.diff" ||
        die "$name: its tests say something else by $*; see $log.diff"
}

run() (
    name=$1 bench='' bench_args=() slow_rows=''
    load_recipe "$name"
    "$SCRIPTS/fetch.sh" "$name"
    rm -rf "${RESULTS:?}/$name"
    mkdir -p "$RESULTS/$name"
    make_repository "$name"
    tests "$name" plain '' cargo test
    tests "$name" moves '"code":true' cargo szc test
    tests "$name" pads '"code":true,"stack":true' cargo szc --pads test
    git checkout --quiet main
    log=$RESULTS/$name/comparison
    cargo szc compare --rev HEAD~1 --bench "$bench" --fixed "$blocks" --cache "$RESULTS/builds" \
        --json "$log.json" -- "${bench_args[@]}" >"$log" 2>"$log.err" ||
        die "$name: cannot be compared; see $log.err"
    cat "$log"
    check_rows "$name" "$slow_rows" "$log"
    check_gate "$name" "$slow_rows" "$log.json"
    say "$name $crate_version: $(verdicts "$RESULTS/$name/plain" | wc -l) tests," \
        "of $((planted + others)) rows $planted slower"
)

mkdir -p "$RESULTS"
for name in "${crates[@]}"; do
    # Not as a condition, in which `set -e` would not hold.
    run "$name"
done
