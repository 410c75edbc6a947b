#!/usr/bin/env bash
# Does szc luck name what makes a program slow, and nothing else?
#
#   loop   one that is slow at one offset in 64, by CPU time: its function is named first
#   frame  a loop over a variable that is slow at one offset in 64: its caller's frame is named
#   pair   a function that is slow where it begins behind another in a page: both are named
#   auto   the same, where samples choose the functions of pairs
#   block  a loop over a block that is slow in one quarter of a page: its size is named
#   alike  a figure that no layout has to do with: no function is named
#
#   tests/campaign/luck.sh [--tries N] [--layouts N] [--only "loop frame ..."]
#
# Without options 20 tries of the first five and three times as many of the last, of code, frames
# and blocks by turns, 60 layouts each, 120 of pairs and blocks. About 70 minutes.
#
# Exit code 1 if one that was planted is named first in fewer than 17 of 20, or nothing is named in
# fewer than 54 of 60: the bars of 95 % procedures.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../spec-scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../spec-scripts/lib.sh"

tries=20 layouts=60 only='loop frame pair auto block alike'
while [[ $# -gt 0 ]]; do
    case $1 in
    --tries) positive "$1" "${2:-}" && tries=$2 ;;
    --layouts) positive "$1" "${2:-}" && layouts=$2 ;;
    --only) only=${2:?--only needs names} ;;
    *) die "unknown argument '$1'; the options are described at the top of this script" ;;
    esac
    shift 2
done
[[ -x $SZC ]] || die "no $SZC; run 'cargo build --release' first"

out=$CACHE/builds/luck
mkdir -p "$out"
cd "$out"

# build PROGRAM
build() { "$SZC" -O2 "$PROJECT/tests/campaign/programs/$1.c" -o "$1"; }

# is_asked WHAT
is_asked() { [[ " $only " == *" $1 "* ]]; }

# planted WHAT FUNCTION ARGS...: how often FUNCTION, or FIRST+SECOND of a pair, is named first, and
# confirmed; an error if it is not named in 17 of 20
planted() {
    local what=$1 function=$2 named=0 confirmed=0
    shift 2
    is_asked "$what" || return 0
    for ((try = 1; try <= tries; try++)); do
        "$SZC" luck --quiet --seed "$try" --json luck.json "$@"
        [[ $(jq -r '.named[0] | [.function, .from | values] | sort | join("+")' luck.json) == \
            "$function" ]] && named=$((named + 1))
        [[ $(jq -r '.intervention.verdict' luck.json) == confirmed ]] &&
            confirmed=$((confirmed + 1))
    done
    echo "$what: named first in $named of $tries, confirmed in $confirmed"
    ((20 * named >= 17 * tries)) || failed=1
}

failed=0
build lucky-loop
build lucky-frame
build lucky-pair
build lucky-block
planted loop lucky --layouts "$layouts" -- "./lucky-loop 50000"
planted frame holder --part stack --layouts "$layouts" -- "./lucky-frame 50000"
planted pair first+second --pairs first,second,third --layouts $((2 * layouts)) \
    -- "./lucky-pair 50000"
planted auto first+second --pairs auto --layouts $((2 * layouts)) -- "./lucky-pair 50000"
planted block 1441-1568 --part heap --layouts $((2 * layouts)) -- "./lucky-block 100000"

if is_asked alike; then
    alike=$((3 * tries)) silent=0
    for ((try = 1; try <= alike; try++)); do
        case $((try % 3)) in
        0) part=code program=./lucky-loop ;;
        1) part=stack program=./lucky-frame ;;
        2) part=heap program=./lucky-block ;;
        esac
        "$SZC" luck --quiet --part "$part" --seed "$try" --layouts "$layouts" --json luck.json \
            --no-check-output --metric 'user:work (\d+)' -- "$program 10 noise" >said
        [[ $(jq '.named | length' luck.json) == 0 ]] && silent=$((silent + 1))
    done
    echo "alike: nothing named in $silent of $alike"
    ((60 * silent >= 54 * alike)) || failed=1
fi
exit "$failed"
