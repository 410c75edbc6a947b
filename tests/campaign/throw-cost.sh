#!/usr/bin/env bash
# What does a throw cost through moved frames? CPU time of 100,000 throws over that of the same
# program built by clang, all randomizations; the median over interleaved pairs, with an interval of
# 95 %.
#
#   tests/campaign/throw-cost.sh [--pairs N] [--interval MS] [--unwinder libgcc|libunwind]
#
# Without options 11 pairs (6 or more), 500 ms, and the unwinder that clang takes by itself
# (libgcc's).
#
# Exit code 1 if the median is above 2.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../spec-scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../spec-scripts/lib.sh"

LIMIT=2
pairs=11 interval=500 libraries=()
while [[ $# -gt 0 ]]; do
    case $1 in
    --pairs) positive "$1" "${2:-}" && pairs=$2 ;;
    --interval) interval=${2:?--interval needs milliseconds} ;;
    --unwinder)
        case ${2:?--unwinder needs a name} in
        libgcc) libraries=() ;;
        libunwind) libraries=(-lunwind) ;;
        *) die "unknown unwinder '$2'; libgcc or libunwind (LLVM's) is meant" ;;
        esac
        ;;
    *) die "unknown argument '$1'; the options are described at the top of this script" ;;
    esac
    shift 2
done
enough_for_interval --pairs "$pairs"
[[ -x $SZC ]] || die "no $SZC; run 'cargo build --release' first"

out=$CACHE/builds/throw-cost
mkdir -p "$out"
source=$PROJECT/tests/campaign/programs/throws.cpp
clang++-22 -O2 "$source" "${libraries[@]}" -o "$out/plain"
"$SZC++" -O2 "$source" "${libraries[@]}" -o "$out/szc"
ratios=$(
    for ((pair = 1; pair <= pairs; pair++)); do
        plain=$("$out/plain")
        moved=$(SZC_SEED=$pair SZC_INTERVAL_MS=$interval "$out/szc")
        awk -v plain="$plain" -v moved="$moved" 'BEGIN { print moved / plain }'
    done
)
median=$(median <<<"$ratios")
read -ra ends < <(median_interval <<<"$ratios")
printf 'a throw over one without szc: median %.2f, 95 %%: %.2f to %.2f, %d pairs; limit %d\n' \
    "$median" "${ends[@]}" "$pairs" "$LIMIT"
is_at_most "$median" "$LIMIT"
