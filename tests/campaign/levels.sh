#!/usr/bin/env bash
# Which of -O1, -O2 and -O3 is fastest, over four real programs? `szc sweep` from sources to the report.
#
#   tests/campaign/levels.sh [--fixed N] [--size test|full] [--programs "..."] [--cpu N]
#
# --fixed N   blocks of each program, six runs each (default 20)
# --size      of the workloads: test (default, about 0.15 s a run) or full
# --programs  of: lua sqlite3 bzip2 zstd bundled (default: the first four)
# --cpu N     CPU to run them on (default: any)
#
# Samples, text and page are written to test-results/levels/. Builds are kept by szc, as for every --build. Samples that an
# interruption cut off are gone on with: remove test-results/levels/samples.json to begin anew.
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

# command_of PROGRAM: its workload as one line, with {out} where szc will have built it.
command_of() {
    local words stand_in=$RESULTS/not-built-yet/$1
    # To print a command, workload.sh wants to see that there is something to run.
    mkdir -p "$stand_in"
    ln -sf /bin/true "$stand_in/$1"
    mapfile -t words < <("$SCRIPTS/workload.sh" "$1" "$stand_in" --size "$size" --print)
    printf '{out}/%s/%s' "$1" "$1"
    printf ' %q' "${words[@]:1}"
}

mkdir -p "$RESULTS"
commands=() names=()
for program in $programs; do
    [[ $program == bundled ]] || "$SCRIPTS/fetch.sh" "$program"
    commands+=("$(command_of "$program")")
    names+=(--name "$program")
done

# The tree is that of the recipes; sources and inputs stay where they are.
export SZC_CACHE=$CACHE
szc_sweep() { "$SZC" sweep "$@" | tee "$RESULTS/report.txt"; }
if [[ -s $RESULTS/samples.json ]]; then
    szc_sweep --resume "$RESULTS/samples.json"
else
    szc_sweep --tree "$SCRIPTS" --build "set -e; for program in $programs; do ./build.sh \$program {out}/\$program szc {flags}; done" \
        --flags=-O1,-O2,-O3 --fixed "$fixed" "${options[@]}" "${names[@]}" --json "$RESULTS/samples.json" -- "${commands[@]}"
fi
"$SZC" report "$RESULTS/samples.json" --html "$RESULTS/report.html"
say "page with plots and all samples: $RESULTS/report.html"
