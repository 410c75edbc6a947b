#!/usr/bin/env bash
# What do programs that szc never saw pay beside their speed: for children, memory, and doing
# nothing? bash 5.2 and CPython 3.11, built from their sources by clang and by szc.
#
#   substitution  bash: CPU time of 500 command substitutions, with that of their processes
#   fork          CPython after 8 s of work, with and without the module ssl, whose library has a
#                 switch of stacks that never runs: fork and wait, median of 40
#   idle          CPython sleeps for 10 s: CPU time
#   start         peak memory of a start of bash and of CPython; CPython's resident memory behind it
#   growth        CPython with ssl works for some minutes at 1 ms: memory a minute after the start,
#                 at half of the time and at the end; layouts
#
#   tests/campaign/footprint.sh [--pairs N] [--minutes N] [CHECK...]
#
# --pairs N    runs of each kind, by turns (default 11; 6 or more)
# --minutes N  of growth (default 10)
#
# Without checks all of them: about half an hour, and ten minutes for the builds the first time.
# Brackets are 95 % intervals of medians.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../spec-scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../spec-scripts/lib.sh"

CHECKS=(substitution fork idle start growth)
pairs=11 minutes=10 checks=()
while [[ $# -gt 0 ]]; do
    case $1 in
    --pairs) positive "$1" "${2:-}" && pairs=$2 && shift ;;
    --minutes) positive "$1" "${2:-}" && minutes=$2 && shift ;;
    *)
        [[ " ${CHECKS[*]} " == *" $1 "* ]] || die "no check '$1'; there are: ${CHECKS[*]}"
        checks+=("$1")
        ;;
    esac
    shift
done
enough_for_interval --pairs "$pairs"
[[ ${#checks[@]} -gt 0 ]] || checks=("${CHECKS[@]}")

"$PROJECT/tests/campaign/suites.sh" --build --suite bash --suite cpython
RESULTS=$PROJECT/test-results/footprint
mkdir -p "$RESULTS"
PROGRAMS=$PROJECT/tests/campaign/programs

# program NAME KIND: the one that clang (plain) or szc built.
program() {
    case $1 in
    bash) say "$CACHE/suites/bash/$2/tree/bash" ;;
    cpython) say "$CACHE/suites/cpython/$2/tree/python" ;;
    esac
}

# Kinds of runs: clang's program, szc's with nothing randomized, with one layout, and with new ones.
# Memory is resident memory; what is mapped twice, as copies are, counts twice in it.
KINDS=(plain off once default 1ms)
# set_kind KIND: the array ENVIRONMENT, and BUILT, whose program it is.
set_kind() {
    BUILT=szc
    case $1 in
    plain) BUILT=plain ENVIRONMENT=() ;;
    off) ENVIRONMENT=(SZC_CODE=0 SZC_STACK=0 SZC_HEAP=0) ;;
    once) ENVIRONMENT=(SZC_INTERVAL_MS=0) ;;
    default) ENVIRONMENT=() ;;
    1ms) ENVIRONMENT=(SZC_INTERVAL_MS=1) ;;
    esac
}

# by_turns CHECK UNIT MEASURE PROGRAM ARGUMENT...: each kind once a round, the order drawn anew;
# prints a line for each kind. MEASURE is a function that prints a number for a command.
by_turns() {
    local check=$1 unit=$2 measure=$3 name=$4 round kind ends
    shift 4
    for kind in "${KINDS[@]}"; do : >"$RESULTS/$check-$kind"; done
    for ((round = 1; round <= pairs; round++)); do
        while read -r kind; do
            set_kind "$kind"
            "$measure" env SZC_SEED="$round" "${ENVIRONMENT[@]}" "$(program "$name" "$BUILT")" \
                "$@" </dev/null >>"$RESULTS/$check-$kind"
        done < <(in_random_order "$check $round" "${KINDS[@]}")
    done
    for kind in "${KINDS[@]}"; do
        read -ra ends < <(median_interval <"$RESULTS/$check-$kind")
        printf '%-22s %-8s %s %s (%s to %s)\n' "$check" "$kind" \
            "$(median <"$RESULTS/$check-$kind")" "$unit" "${ends[@]}"
    done
}

says() { "$@"; }

# peak_kib COMMAND...: peak memory.
peak_kib() {
    perl -e 'use strict; use warnings;
        my $child = fork // die $!;
        if (!$child) { open STDOUT, ">", "/dev/null"; exec @ARGV or die "$ARGV[0]: $!" }
        my $usage = "\0" x 144;
        # wait4 on x86-64: the fifth number of its struct rusage is ru_maxrss.
        syscall(61, $child, my $status = pack("i", 0), 0, $usage) == $child or die "wait4: $!";
        die "the command failed\n" if unpack "i", $status;
        print +(unpack "q18", $usage)[4], "\n"' "$@"
}

cpu() {
    cpu_ms "$@"
    echo
}

growth() {
    local kind process at status
    for kind in plain 1ms; do
        set_kind "$kind"
        rm -f "$RESULTS/growth.log"
        env SZC_SEED=1 SZC_LOG="$RESULTS/growth.log" "${ENVIRONMENT[@]}" \
            "$(program cpython "$BUILT")" "$PROGRAMS/forks.py" "$((minutes * 60))" ssl \
            >"$RESULTS/growth.out" &
        process=$!
        for at in 60 "$((minutes * 30))" "$((minutes * 60 - 5))"; do
            while (($(ps -o etimes= -p "$process" || echo 999999) < at)); do sleep 1; done
            status=$(sed -n 's/^VmRSS:\t *//p' "/proc/$process/status")
            printf 'growth                 %-8s after %4d s: %s\n' "$kind" "$at" "$status"
        done
        wait "$process"
        printf 'growth                 %-8s then a fork and wait: %s ms\n' "$kind" \
            "$(cat "$RESULTS/growth.out")"
        [[ ! -s $RESULTS/growth.log ]] ||
            grep -oE '"(epochs|skipped|exhausted)":[^,]*' "$RESULTS/growth.log" | head -n 3
    done
}

for check in "${checks[@]}"; do
    case $check in
    substitution)
        # shellcheck disable=SC2016
        by_turns substitution ms cpu bash -c \
            'i=0; while [ $i -lt 500 ]; do x=$(echo $i); i=$((i+1)); done'
        ;;
    fork)
        by_turns fork ms says cpython "$PROGRAMS/forks.py" 8
        by_turns fork-ssl ms says cpython "$PROGRAMS/forks.py" 8 ssl
        ;;
    idle) by_turns idle ms cpu cpython -c 'import time; time.sleep(10)' ;;
    start)
        by_turns start-bash KiB peak_kib bash -c :
        by_turns start-cpython KiB peak_kib cpython -c 'pass'
        by_turns started-cpython KiB says cpython -c "import re
print(re.search(r'VmRSS:\\s*(\\d+)', open('/proc/self/status').read()).group(1))"
        ;;
    growth) growth ;;
    esac
done
