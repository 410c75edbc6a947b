#!/usr/bin/env bash
# Does szc causal predict what a faster function would bring? Against the truth: a function of one
# thread is virtually sped up, by turns with runs in which it really does so much less.
#
#   tests/campaign/causal.sh [--pairs N]
#
# Without options 20 pairs of runs for each speedup (6 or more). About two minutes.
#
# Exit code 1 if the time predicted over the time that it really takes is off by more than 1 point
# in all of an interval, for any of the speedups.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../spec-scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../spec-scripts/lib.sh"

pairs_of 20 "$@"
[[ -x $SZC ]] || die "no $SZC; run 'cargo build --release' first"

out=$CACHE/builds/causal
mkdir -p "$out"
cd "$out"
gcc -O2 -g -pthread "$PROJECT/tests/campaign/programs/two-workers.c" -o two-workers
failed=0

# effective PERCENT FEWER: nanoseconds of a run less the delays in it.
effective() {
    "$SZC" causal --end-to-end -F --fixed-line work_longer --fixed-speedup "$1" -n 1 \
        -o causal.jsonl -- ./two-workers 200000 "$2" >/dev/null 2>&1
    jq -r 'select(.type == "experiment") | .duration_ns - .delay_ns' causal.jsonl
}

for percent in 10 20 30 40 50; do
    ratios=''
    for ((pair = 1; pair <= pairs; pair++)); do
        virtual=$(effective "$percent" 0)
        real=$(effective 0 "$percent")
        ratios+=$(awk -v a="$virtual" -v b="$real" 'BEGIN { print a / b }')$'\n'
    done
    read -ra ends < <(printf %s "$ratios" | median_interval)
    printf 'sped up by %d %%: predicted over real %.4f, 95 %%: %.4f to %.4f, %d pairs\n' \
        "$percent" "$(printf %s "$ratios" | median)" "${ends[@]}" "$pairs"
    if ! is_at_most "${ends[0]}" 1.01 || ! is_at_most 0.99 "${ends[1]}"; then
        failed=1
    fi
done
exit "$failed"
