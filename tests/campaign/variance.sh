#!/usr/bin/env bash
# What the time of a program varies with: machine, places of functions, pads, places of blocks,
# bases of stack and mappings, by szc run --split, of Lua, SQLite, zstd, xerces and a Rust program.
#
#   tests/campaign/variance.sh [--runs N] [PROGRAM...]
#
# --runs N  runs of a program, twelve for a pair of each part; 72 or more (default 240)
#
# About ten minutes, on a machine of its own. What is measured already, in test-results/variance, is
# not measured again.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../spec-scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../spec-scripts/lib.sh"
# shellcheck source-path=SCRIPTDIR source=planted.sh
source "$PROJECT/tests/campaign/planted.sh"

RESULTS=$PROJECT/test-results/variance

runs=240
programs=()
while [[ $# -gt 0 ]]; do
    case $1 in
    --runs) positive "$1" "${2:-}" && runs=$2 && shift ;;
    -*) die "unknown argument '$1'; the options are described at the top of this script" ;;
    *) programs+=("$1") ;;
    esac
    shift
done
[[ ${#programs[@]} -gt 0 ]] || programs=(lua sqlite3 zstd xerces words)
[[ -x $SZC ]] || die "no $SZC; run 'cargo build --release' first"

# command_of PROGRAM: without a plant; what power.sh does not plant in, from the open suite.
command_of() {
    local words
    case $1 in
    lua | sqlite3 | zstd | words) workload szc "$1" 0 ;;
    *)
        suite build "$1" --cc "$SZC" --flags=-O2 >&2
        mapfile -t words < <(suite words "$1" --cc "$SZC" --flags=-O2 --size test)
        printf '%q ' "${words[@]}"
        ;;
    esac
}

mkdir -p "$RESULTS"
for program in "${programs[@]}"; do
    file=$RESULTS/$program.json
    [[ -s $file ]] || {
        "$SZC" run --split --quiet --runs "$runs" --seed 1 --json "$file.new" -- \
            "$(command_of "$program")" >/dev/null 2>"$RESULTS/stderr" ||
            die "szc run failed: $(tail -n 3 "$RESULTS/stderr")"
        mv "$file.new" "$file"
    }
    heading "$program"
    "$SZC" run "$file" | sed -n '/^variance of/,/^$/p; /^Advice/p'
done
