#!/usr/bin/env bash
# What does one relocation cost? First calls of 2,048 functions, less second
# calls, less the same without randomization; the median over interleaved pairs.
#
#   tests/campaign/relocation-cost.sh [--pairs N]     N pairs (default 15)
#
# Exit code 1 if the median is above 5 microseconds.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../spec-scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../spec-scripts/lib.sh"

LIMIT_NS=5000
pairs=15
case ${1:-} in
'') ;;
--pairs) pairs=${2:?--pairs needs a number} ;;
*) die "unknown argument '$1'; usage: relocation-cost.sh [--pairs N]" ;;
esac
[[ -x $SZC ]] || die "no $SZC; run 'cargo build --release' first"

out=$CACHE/builds/relocation-cost
mkdir -p "$out"
"$SZC" -O2 "$PROJECT/tests/campaign/programs/first-calls.c" -o "$out/first-calls"
for ((pair = 1; pair <= pairs; pair++)); do
    off=$(SZC_CODE=0 "$out/first-calls")
    on=$(SZC_SEED=$pair "$out/first-calls")
    say "$((on - off))"
done | sort -n | awk -v limit="$LIMIT_NS" '
    { value[NR] = $1 }
    END {
        median = NR % 2 ? value[(NR + 1) / 2] : (value[NR / 2] + value[NR / 2 + 1]) / 2
        printf "one relocation: median %.0f ns, from %d to %d, %d pairs; limit %d ns\n",
            median, value[1], value[NR], NR, limit
        exit median > limit
    }'
