#!/usr/bin/env bash
# Are the laboratory's verdicts right? SQLite against itself, and with a known amount of work
# planted in it, judged by szc, by Welch's t test and by hyperfine.
#
#   tests/campaign/verdicts.sh [--experiments N] [--plants N] [--blocks N] [--budget N] [--rows N]
#       [--cpu N]
#
# --experiments N  A/A experiments of szc compare (default 100)
# --plants N       experiments of szc gate in each situation, and of each rival (default 20)
# --blocks N       budget of an A/A experiment, in blocks of four runs (default 40)
# --budget N       budget of szc gate, in blocks (default 400)
# --rows N         rows of the workload (default 3000: about 25 ms a run; a run has one layout, so
#                  many short ones say more than a few long ones)
# --cpu N          CPU that everything runs on (default 0)
#
# The situations:
#   same    the same source, built twice by szc in two folders: szc compare, whose verdict "faster"
#           or "slower" is wrong, and szc gate --max-slowdown 1%, whose FAIL is
#   order   the same for the rivals: the same objects linked in two orders of functions; every
#           difference is one of layout
#   large   sqlite3BtreeTableMoveto does more, by 3 % of the program's CPU time: szc gate
#           --max-slowdown 1%
#   small   by 1 %: szc gate --max-slowdown 0.25%, since a limit of 1 % is what such a change is
#           within
# A share is one of the CPU time of the build in question: randomization takes time as well, most in
# short runs. Rivals see programs of clang without randomization; plants are linked in random
# orders, too, because a change of the code moves what lies behind it. They have as many runs as szc
# gate took in the experiment of the same number: Welch's test on CPU times of interleaved runs;
# hyperfine's statement, read as a difference if its ± does not reach 1; and Welch's test on
# hyperfine's times, as the script does that comes with it.
#
# Each experiment adds a line to test-results/verdicts/results.tsv: situation, method, number,
# verdict (a difference is slower, faster, fail), ratio, ends of its interval, runs, seconds. Those
# that are there are not made again, so the script can be stopped and started again; delete the file
# to begin anew. Ends with the table of rates, each with its exact 95 % interval (Clopper and
# Pearson). Where other programs compete, begin it by `nice -n -15`.
#
# Exit code 1 if more than 5 % of the verdicts on the same source are wrong.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../spec-scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../spec-scripts/lib.sh"

BUILDS=$CACHE/builds/verdicts
RESULTS=$PROJECT/test-results/verdicts
TABLE=$RESULTS/results.tsv
RATES=$(dirname "$SZC")/verdict-rates

experiments=100 plants=20 blocks=40 budget=400 rows=3000 cpu=0
while [[ $# -gt 0 ]]; do
    [[ ${2:-} =~ ^[0-9]+$ ]] ||
        die "$1 needs a number; the options are described at the top of this script"
    case $1 in
    --experiments) experiments=$2 ;;
    --plants) plants=$2 ;;
    --blocks) blocks=$2 ;;
    --budget) budget=$2 ;;
    --rows) rows=$2 ;;
    --cpu) cpu=$2 ;;
    *) die "unknown argument '$1'; the options are described at the top of this script" ;;
    esac
    shift 2
done

# objects FOLDER CC...: sqlite3.o and shell.o of a tree.
objects() {
    local folder=$1 file
    shift
    for file in sqlite3 shell; do
        [[ -s $folder/$file.o ]] ||
            (cd "$folder" &&
                "$@" -O2 -DSQLITE_OMIT_LOAD_EXTENSION -I. -c "$file.c" -o "$file.tmp" &&
                mv "$file.tmp" "$file.o")
    done
}

# link FOLDER ROUNDS NAME CC...: a program with that much planted work.
link() {
    local folder=$1 rounds=$2 name=$3
    shift 3
    [[ -x $BUILDS/$name ]] && return
    (cd "$folder" && "$@" -O2 "-DROUNDS=$rounds" "$PROJECT/tests/campaign/programs/planted.c" \
        sqlite3.o shell.o -lm -o "$BUILDS/$name.tmp")
    mv "$BUILDS/$name.tmp" "$BUILDS/$name"
}

PLAIN=(clang-22 -ffunction-sections)

# plain_order NAME ROUNDS SEED: a program without randomization, its functions in an order of their
# own.
plain_order() {
    link "$BUILDS/plain" "$2" "$1" "${PLAIN[@]}" -fuse-ld=lld "-Wl,--shuffle-sections=.text*=$3"
}

# workload PROGRAM: its command as one line.
workload() { printf '%q -batch -init %q :memory: .quit' "$BUILDS/$1" "$RESULTS/bench-$rows.sql"; }

# share_of KIND ROUNDS: CPU time that the planted loop adds to a program of this kind (szc, plain),
# as a share. Without randomization it depends on where the loop lies, so it is the mean over ten
# orders of functions.
share_of() {
    local file=$RESULTS/share-$1-$2-$rows order first second
    if [[ ! -s $file ]]; then
        for ((order = 1; order <= 10; order++)); do
            first=$1-0 second=$1-$2
            if [[ $1 == plain ]]; then
                first=order-$order-0 second=order-$order-$2
                plain_order "$first" 0 "$order"
                plain_order "$second" "$2" "$order"
            fi
            "$SZC" compare --quiet --fixed 20 --cpu "$cpu" --seed "$order" \
                --json "$RESULTS/share.json" -- \
                "$(workload "$first")" "$(workload "$second")" >/dev/null 2>"$RESULTS/stderr" ||
                die "szc compare failed: $(tail -n 3 "$RESULTS/stderr")"
            "$RATES" szc "$RESULTS/share.json" || die "$RATES could not read $RESULTS/share.json"
        done >"$file.ratios"
        # Whole or not at all: it is kept.
        awk -F '\t' '{ sum += $2 } END { print sum / NR - 1; exit NR != 10 }' "$file.ratios" \
            >"$file.new" ||
            die "$file.ratios has not ten ratios, one a line"
        mv "$file.new" "$file"
    fi
    cat "$file"
}

# rounds_for KIND SHARE: the rounds that take this share of CPU time, by the straight line through
# two loops that are long enough to be measured well. It does not go through 0: the end of a loop is
# mispredicted, however short it is.
rounds_for() {
    local short long
    # Neither `set -e` nor awk would notice that there is no share.
    short=$(share_of "$1" 1000) && long=$(share_of "$1" 10000) || return
    awk -v short="$short" -v long="$long" -v wanted="$2" \
        'BEGIN { printf "%d", 1000 + 9000 * (wanted - short) / (long - short) + 0.5 }'
}

build() {
    local folder
    mkdir -p "$BUILDS" "$RESULTS"
    printf 'CREATE TEMP TABLE scale AS SELECT %d AS n;\n' "$rows" |
        cat - "$SCRIPTS/open-suite/programs/sqlite3/bench.sql" >"$RESULTS/bench-$rows.sql"
    heading "building SQLite: twice by szc, once by clang"
    for folder in first second plain; do
        planted_sqlite "$BUILDS/$folder"
    done
    objects "$BUILDS/plain" "${PLAIN[@]}"
    objects "$BUILDS/first" "$SZC"
    objects "$BUILDS/second" "$SZC"
    # The second build is the one that work is planted in.
    link "$BUILDS/first" 0 szc-0 "$SZC"
    link "$BUILDS/second" 0 szc-second "$SZC"
    link "$BUILDS/second" 1000 szc-1000 "$SZC"
    link "$BUILDS/second" 10000 szc-10000 "$SZC"
    SMALL=$(rounds_for szc 0.01)
    LARGE=$(rounds_for szc 0.03)
    PLAIN_SMALL=$(rounds_for plain 0.01)
    PLAIN_LARGE=$(rounds_for plain 0.03)
    link "$BUILDS/second" "$SMALL" "szc-$SMALL" "$SZC"
    link "$BUILDS/second" "$LARGE" "szc-$LARGE" "$SZC"
    printf 'Of 1000 and 10000 rounds, %s and %s of the CPU time of the build by szc, ' \
        "$(share_of szc 1000)" "$(share_of szc 10000)"
    printf '%s and %s of that by clang: 1 %% are %d and %d, 3 %% are %d and %d\n' \
        "$(share_of plain 1000)" "$(share_of plain 10000)" \
        "$SMALL" "$PLAIN_SMALL" "$LARGE" "$PLAIN_LARGE"
    [[ $SMALL -gt 0 && $PLAIN_SMALL -gt 0 ]] ||
        die "the machine is too busy to measure the plant by; try again later"
}

# is_there SITUATION METHOD NUMBER
is_there() { grep -q "^$1	$2	$3	" "$TABLE" 2>/dev/null; }

# note SITUATION METHOD NUMBER RESULT
note() { printf '%s\t%s\t%s\t%s\n' "$@" >>"$TABLE"; }

# by_szc SITUATION NUMBER PROGRAM SUBCOMMAND OPTION...: the first build against a program.
by_szc() {
    local situation=$1 number=$2 program=$3 status=0
    shift 3
    is_there "$situation" "$1" "$number" && return
    # A seed for each experiment: its number, and what it is called.
    local seed
    seed=$number$(printf '%s' "$situation$1" | cksum | cut -c1-4)
    "$SZC" "$@" --quiet --cpu "$cpu" --seed "$seed" --json "$RESULTS/szc.json" -- \
        "$(workload szc-0)" "$(workload "$program")" \
        >"$RESULTS/szc.txt" 2>"$RESULTS/stderr" || status=$?
    # gate answers by 1 and 3.
    [[ $status -eq 0 ||
        ($1 == gate && -s $RESULTS/szc.txt && ($status -eq 1 || $status -eq 3)) ]] ||
        die "szc $1 ended with $status, seed $seed: $(tail -n 3 "$RESULTS/stderr")"
    note "$situation" "$1" "$number" "$("$RATES" szc "$RESULTS/szc.json")"
}

# pair SITUATION NUMBER: into FIRST and SECOND, two programs without randomization.
pair() {
    local situation=$1 number=$2 rounds=0
    case $situation in
    small) rounds=$PLAIN_SMALL ;;
    large) rounds=$PLAIN_LARGE ;;
    esac
    FIRST=order-$number-0 SECOND=order-$((number + 1000))-$rounds
    plain_order "$FIRST" 0 "$number"
    plain_order "$SECOND" "$rounds" $((number + 1000))
}

# by_rivals SITUATION NUMBER RUNS: RUNS of each program.
by_rivals() {
    local situation=$1 number=$2 runs=$3
    if ! is_there "$situation" welch "$number"; then
        pair "$situation" "$number"
        "$SZC" compare --quiet --fixed $(((runs + 1) / 2)) --cpu "$cpu" --seed "$number" \
            --env-size fixed \
            --json "$RESULTS/plain.json" -- "$(workload "$FIRST")" "$(workload "$SECOND")" \
            >/dev/null 2>"$RESULTS/stderr" ||
            die "szc compare failed: $(tail -n 3 "$RESULTS/stderr")"
        note "$situation" welch "$number" "$("$RATES" welch "$RESULTS/plain.json")"
    fi
    if ! is_there "$situation" hyperfine "$number"; then
        pair "$situation" "$number"
        taskset -c "$cpu" hyperfine -N --warmup 1 --runs "$runs" --style none \
            --export-json "$RESULTS/hyperfine.json" \
            "$(workload "$FIRST")" "$(workload "$SECOND")" >/dev/null 2>"$RESULTS/stderr" ||
            die "hyperfine failed: $(tail -n 3 "$RESULTS/stderr")"
        note "$situation" hyperfine-welch "$number" \
            "$("$RATES" hyperfine-welch "$RESULTS/hyperfine.json")"
        note "$situation" hyperfine "$number" "$("$RATES" hyperfine "$RESULTS/hyperfine.json")"
    fi
    [[ ${FIRST:-none} == none ]] || rm -f "$BUILDS/$FIRST" "$BUILDS/$SECOND"
}

# runs_each SITUATION NUMBER: runs of each program in that experiment of szc gate.
runs_each() {
    awk -F '\t' -v situation="$1" -v number="$2" \
        '$1 == situation && $2 == "gate" && $3 == number { print $8 / 2 }' "$TABLE"
}

main() {
    local number
    [[ -x $SZC && -x $RATES ]] || die "no $SZC or no $RATES; run 'cargo build --release' first"
    command -v hyperfine >/dev/null ||
        die "hyperfine is needed, with which szc is compared: apt-get install hyperfine"
    build
    heading "experiments, each a line of $TABLE"
    for ((number = 1; number <= experiments; number++)); do
        by_szc same "$number" szc-second compare --budget "$blocks"
    done
    for ((number = 1; number <= plants; number++)); do
        by_szc large "$number" "szc-$LARGE" gate --max-slowdown 1% --budget "$budget"
        by_rivals large "$number" "$(runs_each large "$number")"
        by_szc same "$number" szc-second gate --max-slowdown 1% --budget "$budget"
        by_rivals order "$number" "$(runs_each same "$number")"
        by_szc small "$number" "szc-$SMALL" gate --max-slowdown 0.25% --budget "$budget"
        by_rivals small "$number" "$(runs_each small "$number")"
    done
    "$RATES" table "$TABLE"
}

main
