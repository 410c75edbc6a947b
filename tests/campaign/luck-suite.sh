#!/usr/bin/env bash
# Whose placement matters in real programs: szc luck on programs of the open suite, about code (with
# the pairs of the hottest functions), frames and blocks. Each verdict is confirmed or rejected by
# its intervention, or not decided.
#
#   tests/campaign/luck-suite.sh [--programs "NAME..."] [--parts "PART..."] [--layouts N]
#       [--budget N|T] [--size test|full]
#
# Without options lua, zstd, libquantum and x264, all parts, 200 layouts each, inputs of the size
# test. About 90 minutes.
#
# Results: test-results/luck/PROGRAM-PART.json, .html and .txt. What has a result is not done again.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../spec-scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../spec-scripts/lib.sh"

RESULTS=$PROJECT/test-results/luck
programs=(lua zstd libquantum x264) parts=(code stack heap)
layouts=200 budget=60 size=test
while [[ $# -gt 0 ]]; do
    case $1 in
    --programs) read -r -a programs <<<"${2:-}" ;;
    --parts) read -r -a parts <<<"${2:-}" ;;
    --layouts) positive "$1" "${2:-}" && layouts=$2 ;;
    --budget) budget=${2:-} ;;
    --size) size=${2:-} ;;
    *) die "unknown argument '$1'; the options are described at the top of this script" ;;
    esac
    shift 2
done
[[ -x $SZC ]] || die "no $SZC; run 'cargo build --release' first"

mkdir -p "$RESULTS"
suite build --cc "$SZC" "${programs[@]}"
for program in "${programs[@]}"; do
    mapfile -t words < <(suite words --cc "$SZC" --size "$size" "$program")
    command=$(printf '%q ' "${words[@]}")
    for part in "${parts[@]}"; do
        result=$RESULTS/$program-$part
        options=(--part "$part" --layouts "$layouts" --budget "$budget" --seed 1)
        [[ $part == code ]] && options+=(--pairs auto)
        if [[ ! -e $result.json ]]; then
            "$SZC" luck "${options[@]}" --json "$result.json" --html "$result.html" \
                -- "$command" >"$result.txt" || {
                rm -f "$result.json"
                warn "$program, $part: szc luck failed; see $result.txt"
                continue
            }
        fi
        heading "$program, $part"
        "$SZC" luck --quiet "$result.json"
    done
done
