#!/usr/bin/env bash
# Are the samples of szc profile fair, and what do they cost? Against what programs measure of
# themselves: pairs of threads shorter than an interval, a program in step with a clock of 10 ms.
# The autocorrelation of the intervals. And CPU time of a program that is sampled over that of the
# same one that is not, by turns, and of one whose call paths are inferred over that of one that is
# sampled without callers.
#
#   tests/campaign/profile.sh [--pairs N]
#
# Without options 40 blocks of two pairs (6 or more). About fifteen minutes.
#
# Exit code 1 if a share of short threads is off by more than 2 points at 1,000 samples a
# second, one of the program in step by more than 3, if fewer than 36 of 40 lags are within
# 2/√n, or if the cost is above 1.01 at 100 or 1.03 at 1,000 samples a second, or that of call paths
# above 1.005.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../spec-scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../spec-scripts/lib.sh"

read_pairs 40 "$@"
[[ -x $SZC ]] || die "no $SZC; run 'cargo build --release' first"

out=$CACHE/builds/profile
mkdir -p "$out"
cd "$out"
for program in short-threads lockstep timed; do
    gcc -O2 -g -pthread "$PROJECT/tests/campaign/programs/$program.c" -o "$program"
done
failed=0

# share FIRST SECOND: the first function's percentage of the seconds of both, in profile.jsonl.
share() {
    "$SZC" profile report profile.jsonl --folded - |
        awk -v first="$1" -v second="$2" '
            $0 ~ ";" first "[ ;]" { a += $NF }
            $0 ~ ";" second "[ ;]" { b += $NF }
            END { print 100 * a / (a + b) }'
}

# check NAME FREQUENCY POINTS FIRST SECOND COMMAND...
check() {
    local name=$1 frequency=$2 points=$3 first=$4 second=$5 truth found
    shift 5
    truth=$("$SZC" profile record -F "$frequency" -o profile.jsonl -- "$@" 2>/dev/null)
    found=$(share "$first" "$second")
    printf '%-16s %5d Hz: %.2f %% of the samples, %.2f %% of the time; limit %d points\n' \
        "$name" "$frequency" "$found" "$truth" "$points"
    is_at_most "$(awk -v a="$found" -v b="$truth" 'BEGIN { print a > b ? a - b : b - a }')" \
        "$points" || failed=1
}

# cost NAME LIMIT PLAIN SAMPLED: CPU time by the program's own clock, by turns with the same program
# sampled less or not at all.
cost() {
    local name=$1 limit=$2
    local -a found
    "$SZC" compare --quiet --turns 3ms --seed 1 --fixed "$pairs" --no-check-output \
        --json cost.json --metric 'user:([0-9.]+) s' "$3" "$4" >/dev/null ||
        die "szc compare failed; see above"
    read -ra found < <(jq -r '.results[0] | [.ratio] + .interval | @tsv' cost.json)
    printf 'cost %s: %.4f (95 %%: %.4f to %.4f), %d pairs by turns; limit %s\n' \
        "$name" "${found[@]}" "$pairs" "$limit"
    is_at_most "${found[0]}" "$limit" || failed=1
}

# recorded FILE FREQUENCY [OPTION...]: Each thread has a clock: that of the processor, which
# programs by turns share, would interrupt both.
recorded() { say "$SZC profile record --per-thread -o $1 -F ${*:2} --"; }

check 'short threads' 1000 2 longer shorter ./short-threads 8000
check 'in step' 100 3 early late ./lockstep 6000
lags=$("$SZC" profile report profile.jsonl | sed -n 's/^Autocorr.*: \([0-9]*\) of 40 lags.*/\1/p')
printf 'intervals: %d of 40 lags are within 2/√n; at least 36\n' "$lags"
[[ $lags -ge 36 ]] || failed=1
cost 'at 100 Hz' 1.01 './timed 1000' "$(recorded timed.jsonl 100) ./timed 1000"
cost 'at 1000 Hz' 1.03 './timed 1000' "$(recorded timed.jsonl 1000) ./timed 1000"
"$SZC" profile train -F 2000 -o timed.paths -- ./timed 50 paths >/dev/null ||
    die "szc profile train failed; see above"
cost 'of call paths at 1000 Hz' 1.005 "$(recorded flat.jsonl 1000) ./timed 50 paths" \
    "$(recorded paths.jsonl 1000 --call-graph icpp --paths timed.paths) ./timed 50 paths"
exit "$failed"
