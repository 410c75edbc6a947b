#!/usr/bin/env bash
# Is what szc causal says of other people's programs true? SQLite, pbzip2, zstd, memcached and redis
# from their sources; what is said of small ones is causal.sh's.
#
#   tests/campaign/causal-programs.sh [--only "CHECK..."] [--programs "NAME..."] [--pairs N]
#
#   change  a function is made longer by a known loop; that this takes half, or no time is
#           predicted, and then it is so: predicted less real change of the time, in points
#   coz     coz's own benchmarks: what SQLite's calls by pointers and memcached's lock of items are
#           said to be worth, by szc and by coz, where that is installed; and what their real fixes
#           bring
#   cost    time with samples alone, and with experiments, over that without szc: of those that end
#           by themselves
#   amp     a server that is asked at half a rate, by turns under a load that is virtually twice as
#           great, and that really is so: throughput and latency predicted over real
#
# Without options all checks and all programs; 10 pairs of runs for each figure (6 or more). Servers
# are asked by programs/paced.c by way of a socket in the file system. About 75 minutes, on a
# machine without other work that has at least two processors, of which programs use all but one;
# figures mean little on others, since threads that wait for a processor are delayed for nothing,
# and gain by a processor that a real change frees.
#
# Needs apt-get, for sources (causal/ has their recipes), and tclsh for SQLite's. Resumable:
# test-results/causal-programs/ has what pairs measured with an szc; what is there is not measured
# again. Builds: builds/causal-programs in the cache.
#
# Exit code 1 if more than 1 of 10 predictions of a change are off by more than 2 points; if szc
# finds nothing on a line of coz's benchmarks; if experiments cost more than 10 % in the mean; or,
# in all of an interval, if throughput under a load is off by more than 3 %, or latency by more than
# 10 %.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../spec-scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../spec-scripts/lib.sh"
# shellcheck source-path=SCRIPTDIR source=kept.sh
source "$(dirname "${BASH_SOURCE[0]}")/kept.sh"

CHECKS=(change coz cost amp)
PROGRAMS=(sqlite3 pbzip2 zstd memcached redis)
RECIPES=$PROJECT/tests/campaign/causal
export RECIPES
only="${CHECKS[*]}" programs="${PROGRAMS[*]}" pairs=10
while [[ $# -gt 0 ]]; do
    case $1 in
    --only) only=${2:?--only needs checks} ;;
    --programs) programs=${2:?--programs needs names} ;;
    --pairs) positive "$1" "${2:-}" && pairs=$2 ;;
    *) die "unknown argument '$1'; the options are described at the top of this script" ;;
    esac
    shift 2
done
all_known "$only" "${CHECKS[@]}"
all_known "$programs" "${PROGRAMS[@]}"
enough_for_interval --pairs "$pairs"
[[ -x $SZC ]] || die "no $SZC; run 'cargo build --release' first"

OWN=$PROJECT/tests/campaign/programs
BUILDS=$CACHE/builds/causal-programs
failed=0
# Recipes use these, too. A processor is for the client.
export inputs=$BUILDS/inputs processors threads
processors=$(nproc)
threads=$((processors > 1 ? processors - 1 : 1))
keep causal-programs

# coz 0.2.2 reads no newer debug information.
FLAGS=(-O2 -g -gdwarf-3 -gstrict-dwarf -pthread -w -I "$PROJECT/runtime/preload/include" -I "$OWN"
    -include longer.h -include coz.h)
CC=(gcc "${FLAGS[@]}")
# shellcheck disable=SC2034  # recipes
CXX=(g++ "${FLAGS[@]}")

# put_in FILE FUNCTION TEXT: where the function's body begins; all of them, if there are several.
put_in() {
    FUNCTION=$2 TEXT=$3 awk '
        index($0, ENVIRON["FUNCTION"]) { is_in = 1 }
        { print }
        is_in && /\{$/ { print ENVIRON["TEXT"]; found = 1; is_in = 0 }
        is_in && /[;}]/ { is_in = 0 }
        END { exit !found }' "$1" >"$1.new" || die "$1 has no '$2'"
    mv "$1.new" "$1"
}

# put_behind FILE LINE TEXT: the only such line.
put_behind() {
    [[ $(grep -cxF -- "$2" "$1") -eq 1 ]] || die "$1 has no single line '$2'"
    LINE=$2 TEXT=$3 awk '{ print } $0 == ENVIRON["LINE"] { print ENVIRON["TEXT"] }' "$1" >"$1.new"
    mv "$1.new" "$1"
}

# lengthen NUMBER FILE FUNCTION
lengthen() { put_in "$2" "$3" "longer_$1();"; }

fetch_program() {
    local part
    [[ -n $debian_source ]] || return 0
    "$SCRIPTS/fetch.sh" "$1" >&2
    for part in "$RECIPES/$1"/*/; do
        [[ ! -d $part ]] || RECIPES=$RECIPES/$1 "$SCRIPTS/fetch.sh" "$(basename "$part")" >&2
    done
}

# use NAME [fixed]: the recipe; the program is built, with its fix or as it is, and this is its
# folder. Fails if it cannot be had.
use() {
    local folder=$BUILDS/$1/${2:-plain} key
    functions=() longer=() lines=() protocol='' command=()
    load_recipe "$1"
    key=$(cat "$RECIPES/$1/recipe.sh" "$OWN"/{longer,sqlite-threads}.* | sha256sum)
    if [[ $(cat "$folder/key" 2>/dev/null) != "$key" ]]; then
        fetch_program "$1" || return 1
        rm -rf "$folder"
        mkdir -p "$(dirname "$folder")"
        if [[ -n $debian_source ]]; then
            cp -a "$CACHE/sources/$1/tree" "$folder"
        else
            mkdir "$folder"
        fi
        (
            set -e
            cd "$folder"
            [[ -n $debian_source ]] || get_source
            [[ -z ${2:-} ]] || fix
            "${CC[@]}" -c "$OWN/longer.c"
            build_program
        ) >"$folder.log" 2>&1 &
        # By itself, since `set -e` has no effect where a status is tested.
        wait $! || {
            warn "$1 does not build; see $folder.log"
            return 1
        }
        say "$key" >"$folder/key"
    fi
    cd "$folder"
}

if [[ ! -s $inputs/text ]]; then
    mkdir -p "$inputs"
    awk -v bytes=24000000 -f "$SCRIPTS/open-suite/programs/shared/corpus.awk" >"$inputs/text.new"
    mv "$inputs/text.new" "$inputs/text"
fi

gcc -O2 -pthread "$OWN/paced.c" -o "$BUILDS/paced"

# client REQUESTS [RATE]: of the server in the current folder; what it says is in `said`.
client() { timeout --foreground 120 "$BUILDS/paced" "$protocol" socket 8 "$@" >said; }

# with_client REQUESTS RATE RUNS COMMAND...: clients for so many runs of a server in the command;
# for other programs just the command.
with_client() {
    local requests=$1 rate=$2 runs=$3 asking='' status=0
    shift 3
    if [[ -n $protocol ]]; then
        # shellcheck disable=SC2086 # None, or one.
        (while ((runs-- > 0)); do client "$requests" $rate; done) &
        asking=$!
    fi
    timeout --foreground --kill-after=10 600 "$@" >/dev/null 2>stderr || status=$?
    [[ -z $asking ]] || wait "$asking" || status=$?
    return "$status"
}

# effective NUMBER PERCENT LEFT: nanoseconds of a run less the delays in it, with the loop virtually
# so much faster, if it has so much of its rounds.
effective() {
    local every rounds
    read -r every rounds <<<"${longer[$1 - 1]}"
    rm -f causal.jsonl
    with_client 40000 '' 1 env "LONGER_$1=$every $((rounds * $3 / 100))" "$SZC" causal \
        --end-to-end -F --fixed-line "longer_$1" --fixed-speedup "$2" -n 1 -o causal.jsonl \
        -- "${command[@]}" || return 1
    experiments '.duration_ns - .delay_ns'
}

# change_pair NUMBER: predicted less real change by half of the loop, and by all of it, in percent
# of the time with all of it; then the last real change.
change_pair() {
    local base half all real_half real_all
    base=$(effective "$1" 0 100) && half=$(effective "$1" 50 100) &&
        real_half=$(effective "$1" 0 50) && all=$(effective "$1" 100 100) &&
        real_all=$(effective "$1" 0 0) || return 1
    awk -v base="$base" -v a="$half" -v b="$real_half" -v c="$all" -v d="$real_all" 'BEGIN {
        if (base == "" || a == "" || b == "" || c == "" || d == "") exit 1
        print 100 * (b - a) / base, 100 * (d - c) / base, 100 * (1 - d / base) }'
}

check_change() {
    local name number said column of=0 off=0 real parts=('' 'half of it' 'all of it')
    for name in $programs; do
        use "$name" || { failed=1 && continue; }
        for ((number = 1; number <= ${#functions[@]}; number++)); do
            said=$(of_pairs "change.$name.$number" change_pair "$number")
            real=$(cut -d' ' -f3 <<<"$said" | median)
            for column in 1 2; do
                printf '%s, what was added to %s, %s (really %.1f %%): predicted - real ' \
                    "$name" "${functions[number - 1]}" "${parts[column]}" \
                    "$(awk -v all="${real:-0}" -v part="$column" 'BEGIN { print all * part / 2 }')"
                of=$((of + 1))
                cut -d' ' -f"$column" <<<"$said" | points 2 || off=$((off + 1))
            done
        done
    done
    printf '%d of %d predictions of a change are off by more than 2 points\n' "$off" "$of"
    ((10 * off <= of)) || failed=1
}

# slope TOOL FILE LINE: change of the time if the line took none, and its interval, in percent; open
# ends are far.
slope() {
    local run profile=causal.jsonl
    rm -f causal.jsonl profile.coz
    for ((run = 0; run < 3; run++)); do
        case $1 in
        szc)
            with_client 40000 '' 10 "$SZC" causal --fixed-line "$2:$3" --speedups 0-100:25 \
                --experiment-ms 100 -n 10 -o causal.jsonl -- "${command[@]}" || true
            break
            ;;
        coz)
            profile=profile.coz
            with_client 40000 '' 1 coz run --fixed-line "$2:$3" -o "$PWD/profile.coz" \
                --- "${command[@]}" || true
            ;;
        esac
    done
    "$SZC" causal report "$profile" --json - 2>stderr |
        jq -r --argjson line "$3" '.analysis.findings[] | select(.location.line == $line) |
            .slope.change | "\(100 * .value) \(100 * (.lower // -9)) \(100 * (.upper // 9))"' |
        head -n 1
}

# first_line FUNCTION: the line of its first instruction. That of its name has none today.
first_line() {
    local address
    address=$(nm program | awk -v name="$1" '$3 == name { print $1; exit }')
    [[ -n $address ]] || die "there is no '$1' in $PWD/program"
    addr2line -e program "0x$address" | sed 's,^.*/,,'
}

# speed NAME VERSION: what is done in a second.
speed() {
    use "$1" "$2"
    if [[ -z $protocol ]]; then
        awk -v ms="$(elapsed "${command[@]}")" 'BEGIN { print 1000 / ms }'
    else
        with_client 40000 '' 1 "${command[@]}" && cut -d' ' -f1 said
    fi
}

# fix_pair NAME: by how many percent more is done with the fix.
fix_pair() {
    awk -v a="$(speed "$1" '')" -v b="$(speed "$1" fixed)" \
        'BEGIN { if (a == "" || b == "") exit 1; print 100 * (b / a - 1) }'
}

check_coz() {
    local name tool place file line said threads=$processors
    for name in $programs; do
        [[ $name == sqlite3 || $name == memcached ]] || continue
        if ! use "$name" fixed || ! use "$name"; then failed=1 && continue; fi
        for place in "${lines[@]}"; do
            file=$(first_line "$place")
            line=${file##*:} file=${file%:*}
            for tool in szc coz; do
                command -v coz >/dev/null || [[ $tool == szc ]] || continue
                said=$(kept "slope.$name.$tool.$line" slope "$tool" "$file" "$line")
                printf '%s, %s:%d, %s, by %s: ' "$name" "$file" "$line" "$place" "$tool"
                if [[ -n $said ]]; then
                    awk '{ printf "%+.1f %%, 95 %%: %+.1f to %+.1f\n", $1, $2, $3 }' <<<"$said"
                else
                    say 'nothing'
                    [[ $tool == coz ]] || failed=1
                fi
            done
        done
        printf '%s: what the fix brings: ' "$name"
        of_pairs "fix.$name" fix_pair "$name" | points 100 || failed=1
    done
}

check_cost() {
    local name
    for name in $programs; do
        use "$name" || { failed=1 && continue; }
        [[ -n $protocol ]] || cost "$name" "${command[@]}"
    done
    [[ -z $ratios ]] || mean_cost || failed=1
}

# load_of FILTER: of the run of causal.jsonl that is so: throughput a second, and the mean time of a
# request in microseconds.
load_of() {
    jq -r "select(.type == \"load\" and $1) |
        (.duration_ns - .delay_ns) as \$time | .points[] | select(.kind == \"latency\") |
        \"\\(1e9 * .departures / \$time) \\(.mean_length * \$time / .departures / 1000)\"" \
        causal.jsonl
}

# under_load RATE REQUESTS RUNS: what the server does at that rate; with 2 runs under twice the load
# in the second one.
under_load() {
    rm -f causal.jsonl
    with_client "$2" "$1" "$3" "$SZC" causal --fixed-speedup 0 --load 2x -n "$3" -o causal.jsonl \
        -- "${command[@]}"
}

# amp_pair: predicted over real throughput and latency, less 1, in percent.
amp_pair() {
    local virtual
    under_load 1000 10000 2 || return 1
    virtual=$(load_of .is_amplified)
    under_load 2000 10000 1 || return 1
    awk -v virtual="$virtual" -v real="$(load_of '(.is_amplified | not)')" 'BEGIN {
        if (split(virtual, a, " ") != 2 || split(real, b, " ") != 2) exit 1
        print 100 * (a[1] / b[1] - 1), 100 * (a[2] / b[2] - 1) }'
}

check_amp() {
    # As memcached has by itself; at this rate they hardly run.
    local name said threads=4
    for name in $programs; do
        [[ $name == memcached || $name == redis ]] || continue
        use "$name" || { failed=1 && continue; }
        said=$(of_pairs "amp.$name" amp_pair)
        printf '%s, 1000 to 2000 requests a second: throughput predicted / real - 1: ' "$name"
        cut -d' ' -f1 <<<"$said" | points 3 || failed=1
        printf '%s, latency predicted / real - 1: ' "$name"
        cut -d' ' -f2 <<<"$said" | points 10 || failed=1
    done
}

for check in $only; do "check_$check"; done
[[ $failed == 0 ]]
