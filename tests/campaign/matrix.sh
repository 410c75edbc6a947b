#!/usr/bin/env bash
# Every test program below tests/programs with each randomization alone and all together, at
# intervals of 1, 20 and 500 ms and once: each run must behave as the program built by clang does.
# Four builds of each: one for all three randomizations, of which two or none are switched off by
# SZC_CODE=0, SZC_STACK=0, SZC_HEAP=0; and one with each of -Rcode, -Rstack and -Rheap alone. The
# two ways differ: pads of a program whose code may move come from its copies, also with SZC_CODE=0;
# with -Rstack they come from tables and no code is ever copied. Then recursion as deep as without
# szc, at every level of optimization with every kind of frame.
#
#   tests/campaign/matrix.sh [--seeds N] [--programs TEXT] [--jobs N]
#
# --seeds N        layouts for each of the 28 settings (default 20)
# --programs TEXT  only programs whose name contains the text
# --jobs N         programs that run at a time (default: number of processors; most run for a set
#                  time, so that more of them take less time, and see fewer rounds each)
#
# Takes about two hours with a job for each of two processors, one with --jobs 6. The last lines say
# how many runs there were; exit code 1 if one misbehaved, with the command that repeats it.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../spec-scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../spec-scripts/lib.sh"

seeds=20 programs='' jobs=$(nproc)
while [[ $# -gt 0 ]]; do
    [[ $# -gt 1 ]] || die "$1 needs a value"
    case $1 in
    --seeds) positive "$1" "$2" && seeds=$2 ;;
    --programs) programs=$2 ;;
    --jobs) positive "$1" "$2" && jobs=$2 ;;
    *) die "unknown argument '$1'; the options are described at the top of this script" ;;
    esac
    shift 2
done
[[ -x $SZC ]] || die "no $SZC; run 'cargo build --release' first"
cd "$PROJECT"
SZC_TEST_MATRIX=$seeds SZC_TEST_PROGRAM=$programs SZC_TEST_JOBS=$jobs SZC=$SZC \
    cargo test --package szc-tests --test programs -- --nocapture
SZC_TEST_LONG=1 SZC=$SZC cargo test --package szc-tests --test running recursion
