#!/usr/bin/env bash
# Which of -O1, -O2 and -O3 is fastest, over four real programs? `szc sweep` from sources to the
# report.
#
#   tests/campaign/levels.sh [--fixed N] [--size test|full] [--programs "..."] [--cpu N]
#
# --fixed N   blocks of each program, six runs each (default 20)
# --size      of the workloads: test (default, about 0.15 s a run) or full
# --programs  of the open suite (default: lua sqlite3 bzip2 zstd)
# --cpu N     CPU to run them on (default: any)
#
# Samples, text and page are written to test-results/levels/. Samples that an interruption cut off
# are resumed: remove test-results/levels/suite.json to begin anew.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../spec-scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../spec-scripts/lib.sh"

RESULTS=$PROJECT/test-results/levels

fixed=20 size="test" programs="lua sqlite3 bzip2 zstd" options=()
while [[ $# -gt 0 ]]; do
    [[ $# -gt 1 ]] || die "$1 needs a value"
    case $1 in
    --fixed) fixed=$2 ;;
    --size) size=$2 ;;
    --programs) programs=$2 ;;
    --cpu) options+=(--cpu "$2") ;;
    *) die "unknown argument '$1'; the options are described at the top of this script" ;;
    esac
    shift 2
done
[[ -x $SZC ]] || die "no $SZC; run 'cargo build --release' first"

mkdir -p "$RESULTS"
if [[ -s $RESULTS/suite.json ]]; then
    "$SZC" sweep --resume "$RESULTS/suite.json"
else
    # shellcheck disable=SC2086  # a list of names
    suite measure $programs --cc "$SZC" --flags=-O1 --flags=-O2 --flags=-O3 --size "$size" \
        --results "$RESULTS" \
        --szc "$SZC" -- --fixed "$fixed" "${options[@]}"
fi | tee "$RESULTS/report.txt"
"$SZC" report "$RESULTS/suite.json" --html "$RESULTS/report.html"
say "page with plots and all samples: $RESULTS/report.html"
