#!/usr/bin/env bash
# The evaluation of the STABILIZER paper, done again on the open suite: one command for each of its
# steps.
#
#   spec-scripts/evaluate.sh STEP [--programs NAME,NAME...] [--size full|test] [--runs N] \
#       [--out DIR] ...
#
# STEP              measures, for each program (where it is in the paper)
#   normality           CPU time with one layout for a run, and with many (table 4.1, figure 4.5)
#   variance            what the time of a run varies with: machine, code, stack, heap, bases
#   overhead            CPU time over that without randomization, and in random link
#                       order (figure 4.6)
#   levels              -O1, -O2, -O3 (figure 4.7, section 4.5.1)
#   epochs              CPU time with a new layout every 500, 100 and 20 ms, from the samples of
#                       overhead
#   counts              instructions and cache misses, by valgrind's cachegrind
#   memory              peak memory, from the samples of overhead
#   size-and-build-time sizes of executables, CPU time of builds
#   heap-randomness     NIST's tests on addresses of the heap (section 4.2.2)
#   all                 all of them, and results
#   results             makes the tables of RESULTS.md from the samples that are there
#
# Samples go to spec-scripts/results/STEP/PROGRAM.json.gz: szc's samples files, with the machine and
# what was built. What is there is not measured again (--again does), and what was interrupted is
# resumed. How long a step will take is said at its beginning; --plan says it and measures nothing.
# On a machine with processors to spare, give one to the programs alone
# (--cpu N). --help has all options.
#
# Exit code: 0 all is measured; 1 a program could not be built or measured
# (results/STEP/PROGRAM.failure.txt has the reason; the others were), or the tools of this script
# could not be built; 2 usage, or szc could not do its work; 128 + n ended by signal n.
# SZC: the szc to use (default: that of this tree's release build). SUITE: the programs; others are
# those of open-suite/others.toml, on which nothing in szc was tuned, with samples in results/others
# and tables in OTHERS.md. SZC_CACHE: where sources and builds are kept (default: .cache of the
# project). JOBS: compilers that run at a time where tools
# are built (default: number of processors).
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[[ $# -gt 0 ]] || {
    warn "what? normality, variance, overhead, levels, …; see the top of this script"
    exit 2
}
if [[ $SUITE != suite ]]; then
    [[ " $* " == *" --out"[\ =]* ]] || set -- "$@" --out "$SCRIPTS/results/$SUITE"
    [[ " $* " == *" --page"[\ =]* ]] || set -- "$@" --page "$SCRIPTS/${SUITE^^}.md"
fi
case $1 in
all | heap-randomness)
    (cd "$PROJECT" && cargo build --quiet --release -p szc-tests --bin heap-randomness -j"$JOBS") ||
        die "heap-randomness could not be built; see above"
    set -- "$@" --heap-tool "$TARGET/release/heap-randomness"
    ;;
esac
suite evaluate "$@"
