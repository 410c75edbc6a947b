#!/usr/bin/env bash
# Does szc luck name what makes a program slow, and nothing else?
#
#   planted  a loop that is slow at one offset in 64, by CPU time: it is named first
#   frames   a loop over a variable that is slow at one offset in 64: its caller's frame is named
#   alike    a figure that no layout has to do with: no function is named
#
#   tests/campaign/luck.sh [--tries N] [--layouts N]
#
# Without options 20 tries of the first two and three times as many of the third, in half of them
# frames, 60 layouts each. About 30 minutes.
#
# Exit code 1 if loop or frame are named first in fewer than 17 of 20, or nothing is named in fewer
# than 54 of 60: the bars of 95 % procedures.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../spec-scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../spec-scripts/lib.sh"

tries=20 layouts=60
while [[ $# -gt 0 ]]; do
    case $1 in
    --tries) positive "$1" "${2:-}" && tries=$2 ;;
    --layouts) positive "$1" "${2:-}" && layouts=$2 ;;
    *) die "unknown argument '$1'; the options are described at the top of this script" ;;
    esac
    shift 2
done
[[ -x $SZC ]] || die "no $SZC; run 'cargo build --release' first"

out=$CACHE/builds/luck
mkdir -p "$out"
cd "$out"
"$SZC" -O2 "$PROJECT/tests/campaign/programs/lucky-loop.c" -o lucky

named=0 confirmed=0
for ((try = 1; try <= tries; try++)); do
    "$SZC" luck --quiet --seed "$try" --layouts "$layouts" --json luck.json -- ./lucky
    [[ $(jq -r '.named[0].function' luck.json) == lucky ]] && named=$((named + 1))
    [[ $(jq -r '.intervention.verdict' luck.json) == confirmed ]] && confirmed=$((confirmed + 1))
done
"$SZC" -O2 "$PROJECT/tests/campaign/programs/lucky-frame.c" -o frame
frames=0 held=0
for ((try = 1; try <= tries; try++)); do
    "$SZC" luck --quiet --part stack --seed "$try" --layouts "$layouts" --json luck.json -- ./frame
    [[ $(jq -r '.named[0].function' luck.json) == holder ]] && frames=$((frames + 1))
    [[ $(jq -r '.intervention.verdict' luck.json) == confirmed ]] && held=$((held + 1))
done
alike=$((3 * tries)) silent=0
for ((try = 1; try <= alike; try++)); do
    part=code program=./lucky
    ((try % 2)) || part=stack program=./frame
    "$SZC" luck --quiet --part "$part" --seed "$try" --layouts "$layouts" --json luck.json \
        --no-check-output --metric 'user:work (\d+)' -- "$program 10 noise" >said
    [[ $(jq '.named | length' luck.json) == 0 ]] && silent=$((silent + 1))
done
echo "planted: named first in $named of $tries, confirmed in $confirmed"
echo "frames: named first in $frames of $tries, confirmed in $held"
echo "alike: nothing named in $silent of $alike"
((20 * named >= 17 * tries && 20 * frames >= 17 * tries && 60 * silent >= 54 * alike))
