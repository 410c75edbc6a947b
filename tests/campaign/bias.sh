#!/usr/bin/env bash
# Does szc bias name why the environment changes a time, and nothing else?
#
#   stack         a program that is slow at some positions of its stack: the stack is confirmed, the
#                 contents of the environment and the start of the heap are rejected
#   heap          one that copies its environment: the heap is confirmed, the stack rejected
#   contents      one that reads a variable: the contents are confirmed, the stack rejected
#   none          one that does neither: no cause is named
#   micro-kernel  figure 1 a of Mytkowicz et al. (2009), by CPU time at all 256 positions: the
#                 stack is confirmed, the contents of the environment rejected
#
#   tests/campaign/bias.sh [--tries N] [--by work|time] [--kernels N] [--compiler CC]
#
# --tries N      tries of each of the first three, three times as many of `none` (default 20)
# --by work      by a figure that the programs print (default), which no load disturbs; `time`: by
#                CPU time, on a machine of its own
# --kernels N    tries of the micro-kernel, about 3 minutes each, on a machine of its own (default
#                0)
# --compiler CC  for all of them (default gcc)
#
# Without options about 25 minutes; --tries 2 about 3.
#
# Exit code 1 if a cause is found in fewer than 17 of 20, or nothing is named in fewer than 54 of
# 60: the bars of 95 % procedures.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../spec-scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../spec-scripts/lib.sh"

tries=20 by=work kernels=0 compiler=gcc
while [[ $# -gt 0 ]]; do
    case $1 in
    --tries) positive "$1" "${2:-}" && tries=$2 ;;
    --kernels) positive "$1" "${2:-}" && kernels=$2 ;;
    --by)
        by=${2:-}
        [[ $by == work || $by == time ]] || die "--by needs work or time"
        ;;
    --compiler) compiler=${2:-} ;;
    *) die "unknown argument '$1'; the options are described at the top of this script" ;;
    esac
    shift 2
done
[[ -x $SZC ]] || die "no $SZC; run 'cargo build --release' first"

out=$CACHE/builds/bias
mkdir -p "$out"
cd "$out"
"$compiler" -O0 "$PROJECT/tests/campaign/programs/micro-kernel.c" -o micro-kernel
"$compiler" -O2 "$PROJECT/tests/campaign/programs/positions.c" -o positions

# cause NAME: its verdict in bias.json, `-` without one.
cause() {
    jq -r --arg cause "$1" \
        '[.bias.causal.causes[]? | select(.cause == $cause) | .verdict][0] // "-"' bias.json
}

# looked_at WHAT SEED: measures it.
looked_at() {
    local count=20000000 last='' metric=cpu
    [[ $by == time ]] || { count=20 last=' work' metric='user:work (\d+)'; }
    "$SZC" bias --quiet --seed "$2" --positions 16 --intervene stack,heap --metric "$metric" \
        --warmup 0 --no-check-output --json bias.json -- "./positions $1 $count$last" >said
}

# tried WHAT CAUSE...: how often its first cause was confirmed, and the others were rejected.
tried() {
    local what=$1 first=$2 found=0 try other is_right
    shift 2
    for ((try = 1; try <= tries; try++)); do
        looked_at "$what" "$try"
        is_right=yes
        [[ $(cause "$first") == confirmed ]] || is_right=no
        for other in "$@"; do [[ $(cause "$other") == rejected ]] || is_right=no; done
        [[ $is_right == no ]] || found=$((found + 1))
    done
    say "$what: $first confirmed and the others ($*) rejected in $found of $tries"
    ((20 * found >= 17 * tries)) || failed=yes
}

failed=no
tried stack stack contents heap
tried heap heap stack
tried contents contents stack heap
silent=0 alike=$((3 * tries))
for ((try = 1; try <= alike; try++)); do
    looked_at none "$try"
    named=$(jq '[.bias.causal.causes[]? | select(.verdict == "confirmed")] | length' bias.json)
    ((named > 0)) || silent=$((silent + 1))
done
say "none: no cause named in $silent of $alike"
((60 * silent >= 54 * alike)) || failed=yes

confirmed=0
for ((try = 1; try <= kernels; try++)); do
    "$SZC" bias --seed "$try" --intervene stack --json bias.json -- './micro-kernel 200'
    [[ $(cause stack) == confirmed && $(cause contents) == rejected ]] &&
        confirmed=$((confirmed + 1))
done
if ((kernels > 0)); then
    "$SZC" report bias.json --html micro-kernel.html
    say "micro-kernel: stack confirmed and contents rejected in $confirmed of $kernels;" \
        "$out/micro-kernel.html"
    ((20 * confirmed >= 17 * kernels)) || failed=yes
fi
[[ $failed == no ]]
