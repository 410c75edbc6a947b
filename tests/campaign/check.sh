#!/usr/bin/env bash
# Which profilers are actionable? The table 3.1 of Mytkowicz's dissertation for profilers of native
# programs: szc profile check on programs of the open suite.
#
#   tests/campaign/check.sh [--programs "..."] [--profilers "..."] [--runs N] [--sizes N]
#       [--computations fibonacci,array] [--growth SHARE] [--size test|full]
#
# --programs    default: lua bzip2 zstd lemon gnugo libquantum minisat xerces hmmer2 sqlite3
# --profilers   default: own perf gprof coz callgrind; also: samply
# --runs        of each of --sizes lengths, default 5 and 8 as in the paper
# --growth      by how much of its time the longest makes the program slower, default 100 %: more
#               divides the error that comes from the program's own time, which varies by 15 % on a
#               shared machine
# --size        of the workload, default full
#
# Resumable: test-results/check/PROGRAM.PROFILER.json; what is there is not measured again. About
# six minutes for a program and profiler with two functions, on a machine without other work;
# callgrind takes fifty times as long, and has the short workloads. gprof and coz have builds of
# their own (-pg; DWARF 3).
#
# Exit code 1 if szc's own profiler is within 3 % of 1 for fewer than 17 of 20 functions.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../spec-scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../spec-scripts/lib.sh"

programs='lua bzip2 zstd lemon gnugo libquantum minisat xerces hmmer2 sqlite3'
profilers='own perf gprof coz callgrind'
runs=5 sizes=8 computations=fibonacci growth=100% workload=full
while [[ $# -gt 0 ]]; do
    case $1 in
    --programs) programs=${2:?--programs needs names} ;;
    --profilers) profilers=${2:?--profilers needs names} ;;
    --runs) positive "$1" "${2:-}" && runs=$2 ;;
    --sizes) positive "$1" "${2:-}" && sizes=$2 ;;
    --computations) computations=${2:?--computations needs names} ;;
    --growth) growth=${2:?--growth needs a share} ;;
    --size) workload=${2:?--size needs test or full} ;;
    *) die "unknown argument '$1'; the options are described at the top of this script" ;;
    esac
    shift 2
done
[[ -x $SZC ]] || die "no $SZC; run 'cargo build --release' first"

RESULTS=$PROJECT/test-results/check
mkdir -p "$RESULTS"

# one PROGRAM PROFILER: a table, and its file, unless that is there.
one() {
    local file=$RESULTS/$1.$2.json command flags=-O2 size=$workload
    local -a words
    [[ ! -s $file ]] || return 0
    case $2 in
    own) command='szc profile record' ;;
    perf) command='perf record -F 997' ;;
    samply) command='samply record' ;;
    gprof) command=gprof flags='-O2 -pg' ;;
    coz) command='coz run' flags='-O2 -g -gdwarf-3 -gstrict-dwarf' ;;
    callgrind) command='valgrind --tool=callgrind' size=test ;;
    *) die "--profilers: there is no $2" ;;
    esac
    mapfile -t words < <(suite words "$1" --size "$size" --cc "$SZC" --flags="$flags")
    [[ ${#words[@]} -gt 0 ]] || die "$1 could not be built; see above"
    heading "$1, $2"
    # One seed for all profilers: the same functions, where these can be made longer.
    "$SZC" profile check --quiet --seed 20261127 --runs "$runs" --sizes "$sizes" \
        --computations "$computations" --growth "$growth" --profiler "$command" \
        --json "$file" -- "${words[@]}" ||
        warn "$1, $2: not measured; see above"
}

for program in $programs; do
    for profiler in $profilers; do
        one "$program" "$profiler"
    done
done

heading 'slopes, 95 % intervals'
printf '%-10s %-12s %-24s %-10s %s\n' profiler program function computes slope
for profiler in $profilers; do
    for program in $programs; do
        file=$RESULTS/$program.$profiler.json
        [[ -s $file ]] || continue
        jq -r --arg profiler "$profiler" --arg program "$program" '
            .subjects[] | select(.slope) | [$profiler, $program, .function, .computation] + .slope
            | @tsv' "$file"
    done
done | awk -F '\t' '{
    printf "%-10s %-12s %-24.24s %-10s %.3f (%.3f to %.3f)\n", $1, $2, $3, $4, $5, $6, $7
    all[$1]++; sum[$1] += $5; near[$1] += $5 >= 0.97 && $5 <= 1.03
    if ($1 == "own") { own++; if ($5 >= 0.97 && $5 <= 1.03) own_near++ }
}
END {
    for (one in all)
        printf "%s: mean %.3f, %d of %d within 3 %%\n", one, sum[one] / all[one], near[one],
            all[one]
    exit own > 0 && 20 * own_near < 17 * own
}'
