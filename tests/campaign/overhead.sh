#!/usr/bin/env bash
# What does randomization cost? CPU time (user + system) of each program built by
# szc, over that of the same compiler and flags without randomization, in interleaved pairs
# whose order alternates; the median of the ratios.
#
#   tests/campaign/overhead.sh [--randomize WORDS] [--pairs N] [--interval MS] [--programs "..."]
#
# --randomize    what the measured build randomizes, in the words of SZC_BUILD: code (default),
#                stack, heap, stack=per-function, all, or several with commas between them
# --pairs N      pairs per program (default 15)
# --interval MS  time between re-randomizations (default 500)
# --programs     of: fib lua sqlite3 bzip2 zstd startup build (default: all).
#                startup: SQLite doing nothing, 50 times a measurement, in ms;
#                build: compiling and linking SQLite, against clang itself
#
# Results: test-results/overhead/, one line a pair. The limits are those the
# project holds itself to; exit code 1 if a median is above one of them.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../spec-scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../spec-scripts/lib.sh"

BUILDS=$CACHE/builds
RESULTS=$PROJECT/test-results/overhead
STARTUPS=50

# limit_of WORKLOAD: the highest acceptable median; a ratio, but ms for startup.
limit_of() {
    case $1:$RANDOMIZE in
    fib:*) echo 1.15 ;;
    startup:*) echo 3.0 ;;
    build:*) echo 1.10 ;;
    lua:code) echo 1.06 ;;
    lua:all) echo 1.10 ;;
    *:all) echo 1.06 ;;
    *) echo 1.03 ;;
    esac
}

# build WORKLOAD WORDS: leaves the executable, built with these words of SZC_BUILD, in its place.
build() {
    local program=$1 out=$BUILDS/overhead-$2/$1
    # Not -Rnone: libtool takes -R for an option of its own.
    local -x SZC_BUILD=$2
    case $program in
    fib)
        mkdir -p "$out"
        "$SZC" -O2 "$PROJECT/tests/campaign/programs/fib.c" -o "$out/fib"
        ;;
    *)
        suite build "$program" --cc "$SZC" --flags=-O2
        ;;
    esac
}

# command_of WORKLOAD WORDS: into the array COMMAND.
command_of() {
    local out=$BUILDS/overhead-$2 words
    local -x SZC_BUILD=$2
    case $1 in
    fib) COMMAND=("$out/fib/fib" 43) ;;
    startup)
        mapfile -t words < <(suite words sqlite3 --cc "$SZC" --flags=-O2)
        # shellcheck disable=SC2016  # the inner shell expands these
        COMMAND=(bash -c 'for ((i = 0; i < $1; i++)); do "$2" -init /dev/null :memory: .quit; done'
            startup "$STARTUPS" "${words[0]}")
        ;;
    build)
        local compiler=$SZC
        [[ $2 != none ]] || compiler=clang-22
        COMMAND=("$compiler" -O2 -DSQLITE_OMIT_LOAD_EXTENSION -I"$RESULTS/amalgamation"
            "$RESULTS/amalgamation/sqlite3.c" "$RESULTS/amalgamation/shell.c" -lm -o "$RESULTS/built")
        ;;
    *) mapfile -t COMMAND < <(suite words "$1" --cc "$SZC" --flags=-O2) ;;
    esac
}

# cpu_ms COMMAND...: CPU time of the command in milliseconds.
cpu_ms() {
    local times TIMEFORMAT='%U %S'
    times=$({ time "$@" >/dev/null 2>"$RESULTS/stderr"; } 2>&1) ||
        die "failed: $* ($(tail -n 1 "$RESULTS/stderr"))"
    awk '{ printf "%d", ($1 + $2) * 1000 + 0.5 }' <<<"$times"
}

# amalgamation: sqlite3.c and shell.c as files, for the build measurement.
amalgamation() {
    [[ -s $RESULTS/amalgamation/shell.c ]] && return
    local source
    source=$(suite source sqlite3)
    rm -rf "$RESULTS/amalgamation"
    cp -r "$source" "$RESULTS/amalgamation"
    if [[ ! -s $RESULTS/amalgamation/sqlite3.c ]]; then
        (cd "$RESULTS/amalgamation" && ./configure --disable-tcl && make sqlite3.c shell.c) >"$RESULTS/amalgamation.log" 2>&1 ||
            die "could not make sqlite3.c; see $RESULTS/amalgamation.log"
    fi
}

# measure WORKLOAD PAIRS: one line a pair: off ms, on ms, and the ratio or the
# difference per start.
measure() {
    local pair off on
    local -a command_off command_on
    command_of "$1" none
    command_off=("${COMMAND[@]}")
    command_of "$1" "$RANDOMIZE"
    command_on=("${COMMAND[@]}")
    : >"$RESULTS/$1.pairs"
    for ((pair = 0; pair < $2; pair++)); do
        # A layout of its own for each pair, the same ones on every machine.
        export SZC_SEED=$((pair + 1))
        if ((pair % 2)); then
            on=$(cpu_ms "${command_on[@]}")
            off=$(cpu_ms "${command_off[@]}")
        else
            off=$(cpu_ms "${command_off[@]}")
            on=$(cpu_ms "${command_on[@]}")
        fi
        case $1 in
        startup) awk -v on="$on" -v off="$off" -v n="$STARTUPS" 'BEGIN { print off, on, (on - off) / n }' ;;
        *) awk -v on="$on" -v off="$off" 'BEGIN { print off, on, on / off }' ;;
        esac >>"$RESULTS/$1.pairs"
    done
}

# report WORKLOAD: one row; fails above the limit.
report() {
    sort -g -k 3 "$RESULTS/$1.pairs" | awk -v name="$1" -v limit="$(limit_of "$1")" '
        { value[NR] = $3; off += $1; on += $2 }
        END {
            median = NR % 2 ? value[(NR + 1) / 2] : (value[NR / 2] + value[NR / 2 + 1]) / 2
            printf "%-10s %6d %10.0f %10.0f %8.3f %8.3f %8.3f %8.2f %s\n", name, NR, off / NR, on / NR,
                median, value[int((NR + 3) / 4)], value[int((3 * NR + 3) / 4)], limit,
                median <= limit ? "ok" : "ABOVE"
            exit median > limit
        }'
}

main() {
    local pairs=15 interval=500 programs="fib lua sqlite3 bzip2 zstd startup build"
    RANDOMIZE=code
    while [[ $# -gt 0 ]]; do
        [[ $# -gt 1 ]] || die "$1 needs a value"
        case $1 in
        --randomize) RANDOMIZE=$2 ;;
        --pairs) pairs=$2 ;;
        --interval) interval=$2 ;;
        --programs) programs=$2 ;;
        *) die "unknown argument '$1'; the options are described at the top of this script" ;;
        esac
        shift 2
    done
    export SZC_INTERVAL_MS=$interval SZC_BUILD=$RANDOMIZE
    [[ -x $SZC ]] || die "no $SZC; run 'cargo build --release' first"
    mkdir -p "$RESULTS"

    local program words above=0
    for program in $programs; do
        case $program in
        build) amalgamation ;;
        *)
            for words in none "$RANDOMIZE"; do
                build "${program/startup/sqlite3}" "$words"
            done
            ;;
        esac
    done

    heading "CPU time with randomization ($RANDOMIZE) every $interval ms over the same without (startup: ms more per start)"
    printf '%-10s %6s %10s %10s %8s %8s %8s %8s\n' program pairs "off ms" "on ms" median "25 %" "75 %" limit
    for program in $programs; do
        measure "$program" "$pairs"
        report "$program" || above=1
    done
    return "$above"
}

main "$@"
