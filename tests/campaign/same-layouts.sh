#!/usr/bin/env bash
# Do two builds of szc make the same layouts from the same seeds? Builds programs by both and
# compares where their functions were, by what SZC_MAP says: the distance between the copies of a
# function in the same epoch has to be the same for all of them, since only the arena may lie
# elsewhere.
#
#   tests/campaign/same-layouts.sh OLD_SZC NEW_SZC [--seeds N] [--programs "..."]
#
# --seeds N   seeds 1 to N, with one layout and with one every 20 ms (default 3)
# --programs  of the open suite (default: lua sqlite3)
#
# Exit code 1 if a layout differs.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../spec-scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../spec-scripts/lib.sh"

RESULTS=$PROJECT/test-results/same-layouts

# run SZC PROGRAM SEED INTERVAL FILE: leaves the map of a run, a line "EPOCH NAME ADDRESS" for each
# copy; of functions that share a name and an epoch, those that are told apart by their order.
run() {
    local command
    mapfile -t command < <(suite words "$2" --cc "$1" --flags=-O2 --size test)
    rm -f "$5.map"
    SZC_SEED=$3 SZC_INTERVAL_MS=$4 SZC_MAP=$5.map "${command[@]}" >"$5.out" 2>"$5.err" </dev/null ||
        die "$2, seed $3: ${command[0]} failed: $(tail -n 1 "$5.err")"
    sed -E 's/^([0-9a-f]+) [0-9a-f]+ (.*) \[epoch ([0-9]+)[^]]*\]$/\3 \2 \1/' "$5.map" |
        awk '{ name = $0; sub(/ [0-9a-f]+$/, "", name); print name "#" ++n[name], $NF }' >"$5"
}

# distances OLD NEW: for each distance between the copies of both runs, how many have it.
distances() {
    python3 - "$1" "$2" <<'PYTHON'
import collections, sys
read = lambda file: dict(line.rstrip("\n").rsplit(" ", 1) for line in open(file))
old, new = map(read, sys.argv[1:])
both = old.keys() & new.keys()
found = collections.Counter(int(new[key], 16) - int(old[key], 16) for key in both)
print(len(both), len(found))
PYTHON
}

# compare PROGRAM SEED INTERVAL: one row; fails if the layouts differ.
compare() {
    local file=$RESULTS/$1-$2-$3 common distances
    run "$OLD" "$1" "$2" "$3" "$file.old"
    run "$NEW" "$1" "$2" "$3" "$file.new"
    read -r common distances < <(distances "$file.old" "$file.new")
    printf '%-10s %5d %8d ms %8d copies ' "$1" "$2" "$3" "$common"
    if [[ $common -ge 20 && $distances -eq 1 ]]; then
        say same
    else
        say "DIFFERENT: $distances distances"
        return 1
    fi
}

main() {
    local seeds=3 programs="lua sqlite3" program seed interval different=0
    [[ $# -ge 2 ]] || die "two builds of szc are needed; see the top of this script"
    OLD=$(realpath -sm "$1") NEW=$(realpath -sm "$2")
    shift 2
    while [[ $# -gt 0 ]]; do
        [[ $# -gt 1 ]] || die "$1 needs a value"
        case $1 in
        --seeds) positive "$1" "$2" && seeds=$2 ;;
        --programs) programs=$2 ;;
        *) die "unknown argument '$1'; the options are described at the top of this script" ;;
        esac
        shift 2
    done
    mkdir -p "$RESULTS"
    for program in $programs; do
        suite build "$program" --cc "$OLD" --flags=-O2
        suite build "$program" --cc "$NEW" --flags=-O2
        for ((seed = 1; seed <= seeds; seed++)); do
            for interval in 0 20; do
                compare "$program" "$seed" "$interval" || different=1
            done
        done
    done
    return "$different"
}

main "$@"
