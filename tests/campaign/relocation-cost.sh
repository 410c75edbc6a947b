#!/usr/bin/env bash
# What does one relocation cost? First calls of 2,048 functions, less second calls, less the same
# without randomization; the median over interleaved pairs, with an interval of 95 %.
#
#   tests/campaign/relocation-cost.sh [--pairs N]     N pairs (default 15, 6 or more)
#
# Exit code 1 if the median is above 5 microseconds.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../spec-scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../spec-scripts/lib.sh"

LIMIT_NS=5000
read_pairs 15 "$@"
[[ -x $SZC ]] || die "no $SZC; run 'cargo build --release' first"

out=$CACHE/builds/relocation-cost
mkdir -p "$out"
"$SZC" -O2 "$PROJECT/tests/campaign/programs/first-calls.c" -o "$out/first-calls"
costs=$(
    for ((pair = 1; pair <= pairs; pair++)); do
        # With the stack on, functions are copied for their pads though code stays.
        off=$(SZC_CODE=0 SZC_STACK=0 "$out/first-calls")
        on=$(SZC_SEED=$pair "$out/first-calls")
        say "$((on - off))"
    done
)
median=$(median <<<"$costs")
read -ra ends < <(median_interval <<<"$costs")
printf 'one relocation: median %.0f ns, 95 %%: %.0f to %.0f, %d pairs; limit %d ns\n' \
    "$median" "${ends[@]}" "$pairs" "$LIMIT_NS"
is_at_most "$median" "$LIMIT_NS"
