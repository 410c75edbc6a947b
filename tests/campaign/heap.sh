#!/usr/bin/env bash
# The shuffled heap in the large.
#
#   tests/campaign/heap.sh torture [--operations N] [--seed S]
#   tests/campaign/heap.sh memory [--seeds N] [--programs "..."]
#   tests/campaign/heap.sh speed [--pairs N]
#
# torture   with each base N random operations (default 100,000,000) of malloc's family on sizes
#           from 0 to 64 MiB and alignments up to 2 MiB, divided among runs with 1, 2, 4 and 8
#           threads, with the contents checked
# memory    (with GNU time) peak memory of SQLite, Lua and zstd over that with glibc's malloc, the
#           median over N seeds (default 11); the limit is 1.35. And what a program that does
#           nothing takes more: at most 1024 KiB
# speed     CPU time of two allocation-bound programs (one of our own; Lua that makes garbage) over
#           that with glibc's malloc, with each base, in interleaved pairs (default 15; the limit
#           for segregated is 1.15), and the rate of two threads over that of one, which should be
#           1.7 on two idle processors
#
# Exit code 1 if a limit is exceeded.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../spec-scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../spec-scripts/lib.sh"

RESULTS=$PROJECT/test-results/heap
BASES=(segregated tlsf diehard)

# compile WORDS SOURCE NAME [OPTION...]: builds a program of the tests with these words of
# SZC_BUILD.
compile() {
    local words=$1 source=$2 name=$3
    shift 3
    SZC_BUILD=$words "$SZC" -O2 -w -pthread "$@" "$PROJECT/tests/$source" -o "$RESULTS/$name"
}

# peak_kib COMMAND...: peak memory in KiB.
peak_kib() {
    /usr/bin/time -f %M -o "$RESULTS/peak" "$@" >/dev/null 2>"$RESULTS/stderr" ||
        die "failed: $* ($(tail -n 1 "$RESULTS/stderr"))"
    cat "$RESULTS/peak"
}

# within VALUE LIMIT NAME: one row; fails above the limit.
within() {
    awk -v value="$1" -v limit="$2" -v name="$3" 'BEGIN {
        printf "%-28s %10.3f %10s %s\n", name, value, limit, value <= limit ? "ok" : "ABOVE"
        exit value > limit
    }'
}

torture() {
    local operations=100000000 seed=1 base threads
    while [[ $# -gt 0 ]]; do
        case $1 in
        --operations) positive "$1" "${2:-}" && operations=$2 ;;
        --seed) positive "$1" "${2:-}" && seed=$2 ;;
        *) die "unknown argument '$1'; the options are described at the top of this script" ;;
        esac
        shift 2
    done
    compile heap programs/heap/torture.c torture
    local each=$((operations / 4))
    for base in "${BASES[@]}"; do
        for threads in 1 2 4 8; do
            SZC_HEAP_BASE=$base SZC_SEED=$seed "$RESULTS/torture" "$threads" "$each" "$seed" \
                >/dev/null ||
                die "failed: $base, $threads threads, $each operations, seed $seed"
            say "$base, $threads threads: $each operations"
        done
    done
}

memory() {
    local seeds=11 programs="sqlite3 lua zstd" above=0 program words seed plain value
    while [[ $# -gt 0 ]]; do
        case $1 in
        --seeds) positive "$1" "${2:-}" && seeds=$2 ;;
        --programs) programs=${2:?--programs needs names} ;;
        *) die "unknown argument '$1'; the options are described at the top of this script" ;;
        esac
        shift 2
    done
    [[ -x /usr/bin/time ]] ||
        die "no /usr/bin/time, which says how much memory a program took: apt-get install time"
    for program in $programs; do
        for words in none heap; do
            SZC_BUILD=$words suite build "$program" --cc "$SZC" --flags=-O2
        done
    done
    heading "Peak memory over that with glibc's malloc"
    for program in $programs; do
        mapfile -t command < <(SZC_BUILD=none suite words "$program" --cc "$SZC" --flags=-O2)
        plain=$(for ((seed = 1; seed <= seeds; seed++)); do peak_kib "${command[@]}"; done | median)
        mapfile -t command < <(SZC_BUILD=heap suite words "$program" --cc "$SZC" --flags=-O2)
        for ((seed = 1; seed <= seeds; seed++)); do
            value=$(SZC_SEED=$seed peak_kib "${command[@]}")
            awk -v value="$value" -v plain="$plain" 'BEGIN { print value / plain }'
        done >"$RESULTS/$program.peaks"
        within "$(median <"$RESULTS/$program.peaks")" 1.35 "$program" || above=1
    done
    compile none campaign/programs/nothing.c nothing-plain
    compile heap campaign/programs/nothing.c nothing
    value=$(($(peak_kib "$RESULTS/nothing") - $(peak_kib "$RESULTS/nothing-plain")))
    within "$value" 1024 "nothing (KiB more)" || above=1
    return "$above"
}

# against NAME PAIRS PLAIN SHUFFLED WORD...: CPU time of SHUFFLED over that of PLAIN, both with
# these words, with each base.
against() {
    local name=$1 pairs=$2 plain=$3 shuffled=$4 above=0 base pair off on limit
    shift 4
    for base in "${BASES[@]}"; do
        for ((pair = 0; pair < pairs; pair++)); do
            off=$(cpu_ms "$plain" "$@")
            on=$(SZC_HEAP_BASE=$base SZC_SEED=$((pair + 1)) cpu_ms "$shuffled" "$@")
            awk -v on="$on" -v off="$off" 'BEGIN { print on / off }'
        done >"$RESULTS/$name.$base.pairs"
        limit=inf
        [[ $base != segregated ]] || limit=1.15
        within "$(median <"$RESULTS/$name.$base.pairs")" "$limit" "$name, $base" || above=1
    done
    return "$above"
}

speed() {
    local pairs=15 above=0 words
    while [[ $# -gt 0 ]]; do
        case $1 in
        --pairs) positive "$1" "${2:-}" && pairs=$2 ;;
        *) die "unknown argument '$1'; the options are described at the top of this script" ;;
        esac
        shift 2
    done
    compile none campaign/programs/allocations.c allocations-plain
    compile heap campaign/programs/allocations.c allocations
    for words in none heap; do
        SZC_BUILD=$words suite build lua --cc "$SZC" --flags=-O2
        mapfile -t command < <(SZC_BUILD=$words suite words lua --cc "$SZC" --flags=-O2)
        ln -sfn "${command[0]}" "$RESULTS/lua-$words"
    done
    heading "CPU time over that with glibc's malloc"
    against allocations "$pairs" "$RESULTS/allocations-plain" "$RESULTS/allocations" 100 || above=1
    against lua "$pairs" "$RESULTS/lua-none" "$RESULTS/lua-heap" \
        "$PROJECT/tests/campaign/programs/garbage.lua" 200 || above=1
    compile none campaign/programs/allocating-threads.c threads-plain
    compile heap campaign/programs/allocating-threads.c threads
    heading "Rate of two threads over that of one"
    say "glibc:"
    "$RESULTS/threads-plain"
    say "segregated:"
    SZC_SEED=1 "$RESULTS/threads"
    return "$above"
}

main() {
    [[ -x $SZC ]] || die "no $SZC; run 'cargo build --release' first"
    mkdir -p "$RESULTS"
    case ${1:-} in
    torture | memory | speed) "$@" ;;
    *) die "what? torture, memory or speed; see the top of this script" ;;
    esac
}

main "$@"
