#!/usr/bin/env bash
# How often is a small slowdown found, and at what price? Work planted in SQLite, Lua, zstd and a
# Rust program, by a half, one and three percent of their CPU time, and none; looked for by
#   turns      szc compare as it is: by turns, blocks that share places and layouts
#   abba       szc compare --turns off --independent: runs one after the other, layouts of their own
#   hyperfine  its wall times, one program after the other, with Welch's t test
#   duet       both programs at once on two processors, with the t test of pairs
# The first two build the programs, the others see those of clang, linked in orders of their own.
#
#   tests/campaign/power.sh [--blocks N] [--plants "0 0.5 1 3"]
#       [--programs "sqlite3 lua zstd words"] [--methods "turns abba hyperfine duet"]
#       [--real N] [--work N] [--cpu N]
#
# --blocks N  runs of each version in a pool, 12 or more (default 200)
# --real N    experiments of szc compare made in full, at each plant that is not 0 (default 10)
# --work N    so many times as much work in each run (default 1: 0.3 s)
# --cpu N     processor for all but duet (default 1)
#
# Each pool is measured once, kept in test-results/power (with --work N in power-N), and not made
# again there; rates come from 1,000 experiments drawn from it (tests/src/bin/power.rs). Three
# hours in full; one program with --blocks 50 --plants "0 1" takes ten minutes. Results: power.txt
# and power.svg beside the pools.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../spec-scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../spec-scripts/lib.sh"
# shellcheck source-path=SCRIPTDIR source=planted.sh
source "$PROJECT/tests/campaign/planted.sh"

RESULTS=$PROJECT/test-results/power
POWER=$(dirname "$SZC")/power
# Runs of each version in a part of a rival's pool, which has links of its own.
PART=25

blocks=200 plants="0 0.5 1 3" programs="sqlite3 lua zstd words" real=10 cpu=1
methods="turns abba hyperfine duet"
while [[ $# -gt 0 ]]; do
    [[ -n ${2:-} ]] || die "$1 needs a value; the options are described at the top of this script"
    case $1 in
    --blocks) positive "$1" "$2" && enough_for_interval "half of $1" $(($2 / 2)) && blocks=$2 ;;
    --plants) plants=$2 ;;
    --programs) programs=$2 ;;
    --methods) methods=$2 ;;
    --real) [[ $2 =~ ^[0-9]+$ ]] || die "--real needs a number"; real=$2 ;;
    --work) positive "$1" "$2" && WORK=$2 && RESULTS=$PROJECT/test-results/power-$2 ;;
    --cpu) [[ $2 =~ ^[0-9]+$ ]] || die "--cpu needs a number"; cpu=$2 ;;
    *) die "unknown argument '$1'; the options are described at the top of this script" ;;
    esac
    shift 2
done
[[ -x $SZC && -x $POWER ]] || die "no $SZC or no $POWER; run 'cargo build --release' first"

# compare OUTPUT OPTION... A B: an experiment of szc.
compare() {
    local output=$1
    shift
    "$SZC" compare --quiet --cpu "$cpu" --json "$output.new" "${@:1:$#-2}" -- "${@: -2}" \
        >/dev/null 2>"$RESULTS/stderr" ||
        die "szc compare failed: $(tail -n 3 "$RESULTS/stderr")"
    mv "$output.new" "$output"
}

# share PROGRAM ROUNDS BLOCKS: CPU time that so many rounds add, as a share.
share() {
    local file=$RESULTS/$1,$2-$3.share.json
    [[ -s $file ]] || compare "$file" --turns 20ms --fixed "$3" --seed 7 \
        "$(workload szc "$1" 0)" "$(workload szc "$1" "$2")"
    jq '[.results[] | select(.metric == "cpu")][0].ratio - 1' "$file"
}

# on_line PROGRAM PERCENT: what takes this share, by the straight line through two loops that are
# long enough to be measured well.
on_line() {
    local many=1000 high low
    while high=$(share "$1" "$many" 12) && ! is_at_most 0.2 "$high"; do
        ((many *= 4, many < 10 ** 9)) || die "$1: no plant is long enough to be seen"
    done
    low=$(share "$1" $((many / 4)) 12) || return
    awk -v many="$many" -v high="$high" -v low="$low" -v wanted="$2" 'BEGIN {
        short = many / 4
        rounds = short + (many - short) * (wanted / 100 - low) / (high - low)
        printf "%d", rounds < 1 ? 1 : rounds + 0.5
    }'
}

# rounds PROGRAM PERCENT: what takes this share, within a quarter of it. The line does not go
# through 0, since the end of a loop is mispredicted, but that of a short loop is not: from the line
# on it is a search by halves.
rounds() {
    local file=$RESULTS/$1,$2.rounds below=0 above='' count seen step
    [[ $2 != 0 ]] || { say 0 && return; }
    [[ ! -s $file ]] || { cat "$file" && return; }
    count=$(on_line "$1" "$2") || return
    for ((step = 1; step <= 8; step++)); do
        seen=$(share "$1" "$count" 24) || return
        if is_at_most "$(awk "BEGIN { print $2 * 0.0125 }")" "$seen"; then
            above=$count
        elif is_at_most "$seen" "$(awk "BEGIN { print $2 * 0.0075 }")"; then
            below=$count
        else
            break
        fi
        if [[ -z $above ]]; then
            count=$((2 * below))
        elif ((above - below > 1)); then
            count=$(((above + below) / 2))
        else
            break
        fi
    done
    say "$count" | tee "$file"
}

# pool PROGRAM PLANT METHOD
pool() {
    local program=$1 plant=$2 method=$3 name=$RESULTS/$1,$2,$3 count part pairs
    count=$(rounds "$program" "$plant")
    case $method in
    turns)
        [[ -s $name,1.json ]] || compare "$name,1.json" --turns 20ms --fixed "$blocks" --seed 11 \
            "$(workload szc "$program" 0)" "$(workload szc "$program" "$count")"
        ;;
    abba)
        [[ -s $name,1.json ]] || compare "$name,1.json" --turns off --independent \
            --fixed $(((blocks + 1) / 2)) --seed 11 \
            "$(workload szc "$program" 0)" "$(workload szc "$program" "$count")"
        ;;
    *)
        for ((part = 1, pairs = PART < blocks ? PART : blocks; part * pairs <= blocks; part++)); do
            rival "$method" "$name,$part" "$pairs" \
                "$(workload "plain-$part" "$program" 0)" \
                "$(workload "plain-$((part + 1000))" "$program" "$count")"
        done
        ;;
    esac
}

# rival METHOD NAME PAIRS A B
rival() {
    case $1 in
    hyperfine)
        [[ -s $2.json ]] || {
            taskset -c "$cpu" hyperfine -N --warmup 1 --runs "$3" --style none \
                --export-json "$2.new" "$4" "$5" >/dev/null 2>"$RESULTS/stderr" ||
                die "hyperfine failed: $(tail -n 3 "$RESULTS/stderr")"
            mv "$2.new" "$2.json"
        }
        ;;
    duet)
        [[ -s $2.tsv ]] || {
            "$PROJECT/tests/campaign/duet.pl" "$3" "$4" "$5" >"$2.new"
            mv "$2.new" "$2.tsv"
        }
        ;;
    *) die "there is no method '$1'; known are turns, abba, hyperfine and duet" ;;
    esac
}

# confirm PROGRAM PLANT: experiments of szc compare with a budget of 12 blocks, of 30 where less
# than a percent is planted.
confirm() {
    local number file found=0 count budget=12
    count=$(rounds "$1" "$2")
    is_at_most 1 "$2" || budget=30
    for ((number = 1; number <= real; number++)); do
        file=$RESULTS/$1,$2.real-$number.json
        [[ -s $file ]] || compare "$file" --budget "$budget" --seed "$((100 + number))" \
            "$(workload szc "$1" 0)" "$(workload szc "$1" "$count")"
        [[ $(jq -r '[.results[] | select(.metric == "cpu")][0].verdict' "$file") != slower ]] ||
            found=$((found + 1))
    done
    say "$1, $2 % planted: szc compare --budget $budget says slower in $found of $real"
}

if [[ $methods == *hyperfine* ]] && ! command -v hyperfine >/dev/null; then
    die "hyperfine is needed, with which szc is compared: apt-get install hyperfine"
fi
mkdir -p "$RESULTS"
: >"$RESULTS/real.txt"
for program in $programs; do
    for plant in $plants; do
        for method in $methods; do
            pool "$program" "$plant" "$method"
        done
    done
    for plant in $plants; do
        [[ $plant != 0 && $real -gt 0 ]] || continue
        confirm "$program" "$plant" >>"$RESULTS/real.txt"
    done
done
"$POWER" "$RESULTS" --svg "$RESULTS/power.svg" >"$RESULTS/power.txt"
cat "$RESULTS/power.txt" "$RESULTS/real.txt"
