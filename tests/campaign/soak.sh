#!/usr/bin/env bash
# A long run of everything that leaves references to code: threads, exceptions, jumps, signals,
# fork.
#
#   tests/campaign/soak.sh [--minutes N] [--threads N] [--seed N] [--interval MS] \
#       [--reclaim 1|stress]
#
# Runs tests/campaign/programs/soak.cpp with all randomizations for N minutes (default 10; 8
# threads, 1 ms), and shows its memory and the number of its threads every ten seconds. It fails if
# the program finds a difference or dies, if old copies of code were not freed to the end, if
# layouts become rare (less than one in a hundred intervals, or more than one in a hundred without
# room), or if memory grows:
# - that of heap, stacks and records, if its median in the second half is more than 1.1 times that
#   in the first, without the first minute (or half of the first half, if that is less);
# - that of layouts, if the least in the second half is more than 1.1 times the least in the first
#   after four minutes. The least, because a busy machine makes the runtime use more places for a
#   while, and gives them back; after four minutes, because places get unpadded clones one by one,
#   when a call first needs them. Runs of less than 10 minutes do not judge it.
#
# Exit code 1 if it fails. The seed is in the last line: with it the layouts are the same again.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../spec-scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../spec-scripts/lib.sh"

minutes=10 threads=8 seed=$RANDOM interval=1 reclaim=1
while [[ $# -gt 0 ]]; do
    [[ $# -gt 1 ]] || die "$1 needs a value; the options are described at the top of this script"
    case $1 in
    --minutes) minutes=$2 ;;
    --threads) threads=$2 ;;
    --seed) seed=$2 ;;
    --interval) interval=$2 ;;
    --reclaim) reclaim=$2 ;;
    *) die "unknown argument '$1'; the options are described at the top of this script" ;;
    esac
    shift 2
done

seconds=$(awk -v minutes="$minutes" 'BEGIN { print int(minutes * 60) }')
((seconds >= 30)) ||
    die "--minutes $minutes is too short to see whether memory grows: 0.5 or more is needed"

RESULTS=$PROJECT/test-results/soak
mkdir -p "$RESULTS"
rm -f "$RESULTS"/log-*
"${SZC}++" -std=c++20 -O2 -w -pthread "$PROJECT/tests/campaign/programs/soak.cpp" -o "$RESULTS/soak"

# status NAME: a number of the running program's status.
status() { awk -v name="$1:" '$1 == name { print $2 }' "/proc/$program/status" 2>/dev/null ||
    true; }

SZC_SEED=$seed SZC_INTERVAL_MS=$interval SZC_CODE_RECLAIM=$reclaim SZC_LOG="$RESULTS/log-%p" \
    "$RESULTS/soak" "$seconds" "$threads" >"$RESULTS/stdout" 2>"$RESULTS/stderr" &
program=$!
# Ctrl-C ends this script alone: what a shell starts behind itself ignores that signal.
trap 'kill "$program" 2>/dev/null || true' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# memory PART FROM TO: in KiB, each time that it was looked at between these times; 2 is the
# program's own, 3 that of layouts.
memory() { awk -v part="$1" -v from="$2" -v to="$3" '$1 > from && $1 <= to { print $part }' \
    "$RESULTS/memory"; }

: >"$RESULTS/memory"
printf '%8s %10s %12s %8s\n' seconds "MiB, own" "of layouts" threads
for ((elapsed = 0; elapsed < seconds; elapsed += 10)); do
    sleep 10
    own=$(status RssAnon) layouts=$(status RssShmem)
    [[ -n $own && -n $layouts ]] || break
    say $((elapsed + 10)) "$own" "$layouts" >>"$RESULTS/memory"
    printf '%8d %10d %12d %8d\n' $((elapsed + 10)) $((own / 1024)) $((layouts / 1024)) \
        "$(status Threads)"
done
code=0
wait "$program" || code=$?
trap - EXIT
cat "$RESULTS/stdout"
((code == 0)) || die "seed $seed: exit code $code ($(tail -n 1 "$RESULTS/stderr"))"
log=$RESULTS/log-$program
reclaimed=$(grep -o '"epochs":[0-9]*' "$log") || die "no log"
printf '%s %s\n' "$reclaimed" "$(grep -o '"code_reclaim":{[^}]*}' "$log")"
printf 'children: %d logs, %d epochs\n' "$(cat "$RESULTS"/log-* | wc -l)" \
    "$(cat "$RESULTS"/log-* | grep -o '"epochs":[0-9]*' | awk -F: '{ n += $2 } END { print n }')"
! grep -q '"blocked"' "$log" || die "seed $seed: old copies are not freed any more"
! grep -q '"exhausted":true' "$log" || die "seed $seed: there is no room for another layout"
grep -q '"code_reclaim":{"freed":[1-9]' "$log" || die "seed $seed: nothing was freed"
epochs=${reclaimed#*:} skipped=$(grep -o '"skipped":[0-9]*' "$log" | grep -o '[0-9]*$')
((epochs * interval * 100 >= seconds * 1000)) || die "seed $seed: only $epochs layouts"
((skipped * 100 <= epochs)) || die "seed $seed: $skipped layouts had no room, $epochs had"
half=$((seconds / 2))
# within WHAT EARLY LATE: fails if memory has grown.
within() {
    printf '%s: %.0f KiB in the first half, %.0f KiB in the second\n' "$@"
    awk -v early="$2" -v late="$3" 'BEGIN { exit !(early > 0 && late <= 1.1 * early) }' ||
        die "seed $seed: memory grows ($1)"
}
within "memory of heap, stacks and records, medians" \
    "$(memory 2 $((seconds < 240 ? half / 2 : 60)) $half | median)" \
    "$(memory 2 $half "$seconds" | median)"
if ((seconds >= 600)); then
    within "memory of layouts, least" "$(memory 3 240 $half | quantile 0)" \
        "$(memory 3 $half "$seconds" | quantile 0)"
fi
printf 'seed %d: ok\n' "$seed"
