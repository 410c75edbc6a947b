#!/usr/bin/env bash
# Is what szc causal says true? Each check compares it with what programs measure of themselves, or
# with what really happens.
#
#   tests/campaign/causal.sh [--only "CHECK..."] [--pairs N]
#
#   steps     the share of samples of a program in step with the clock of the samples
#   load      producers and consumers under a load that is virtually greater, by turns with a real
#             one: predicted less real time, in percent of that without
#   lock      what threads do outside of a lock that they are in most of the time is worth nothing
#   programs  jemalloc and tcmalloc, where they are installed, and what is left after Ctrl-C
#   start     how much longer a run of nothing takes, beside szc's own start
#   real      a function is virtually sped up, by turns with runs in which it really does so much
#             less: predicted over real time
#
# Without options all checks; 20 pairs of runs for each figure (6 or more). About 15 minutes.
#
# Exit code 1 if the share of samples is off by more than 3 points, or in all of an interval the
# time under a load by more than 3, or the time predicted over the time that it really takes by
# more than 1, for any of the speedups; if what threads do outside of the lock has a change beyond
# ± 1 point in all of its interval, or one that is wider than 100 points; if a program does not end
# as it does by itself, or has no experiments; or if a start takes more than 50 ms in the median.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../spec-scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../spec-scripts/lib.sh"

CHECKS=(steps load lock programs start real)
only="${CHECKS[*]}"
pairs=20
while [[ $# -gt 0 ]]; do
    case $1 in
    --only) only=${2:?--only needs checks} ;;
    --pairs) positive "$1" "${2:-}" && pairs=$2 ;;
    *) die "unknown argument '$1'; the options are described at the top of this script" ;;
    esac
    shift 2
done
for check in $only; do
    [[ " ${CHECKS[*]} " == *" $check "* ]] || die "no check '$check'; there are: ${CHECKS[*]}"
done
[[ -x $SZC ]] || die "no $SZC; run 'cargo build --release' first"

out=$CACHE/builds/causal
mkdir -p "$out"
cd "$out"
failed=0

# build PROGRAM...
build() {
    local program
    for program in "$@"; do
        gcc -O2 -g -pthread -I "$PROJECT/runtime/preload/include" \
            "$PROJECT/tests/campaign/programs/$program.c" -o "$program"
    done
}

# experiments FILTER: of causal.jsonl.
experiments() { jq -r "select(.type == \"experiment\") | $1" causal.jsonl; }

# distance A B
distance() { awk -v a="$1" -v b="$2" 'BEGIN { print a > b ? a - b : b - a }'; }

# elapsed COMMAND...: milliseconds.
elapsed() {
    local started
    started=$(date +%s%N)
    "$@" >/dev/null 2>&1 || true
    awk -v ns=$(($(date +%s%N) - started)) 'BEGIN { print ns / 1e6 }'
}

check_steps() {
    local truth found
    build lockstep
    truth=$("$SZC" causal -F --fixed-speedup 0 -o causal.jsonl -- ./lockstep 6000 1000 cpu \
        2>/dev/null)
    found=$(jq -r 'select(.type == "run") | .samples |
        map({ (.location.function): .count }) | add | 100 * .early / (.early + .late)' causal.jsonl)
    printf 'in step: %.2f %% of the samples, %.2f %% of the time; limit 3 points\n' \
        "$found" "$truth"
    is_at_most "$(distance "$found" "$truth")" 3 || failed=1
}

# under_load CONSUMERS PERCENT: predicted time if tasks take so much less to make, in percent of the
# time without that.
under_load() {
    local speedup=$((20000 * $2))
    if ((speedup == 0)); then speedup=1; fi
    "$SZC" causal --end-to-end --fixed-speedup 0 --arrival-speedup "$speedup" -n 2 \
        -o causal.jsonl -- ./tasks "$1" 400 2000 0 >/dev/null 2>&1
    jq -rs 'map(select(.type == "load") | .duration_ns - .delay_ns) | 100 * .[1] / .[0]' \
        causal.jsonl
}

check_load() {
    local consumers percent pair differences base real ends
    enough_for_interval --pairs "$pairs"
    build tasks
    for consumers in 2 3 4; do
        for percent in 0 25 50 75 100; do
            differences=''
            for ((pair = 1; pair <= pairs; pair++)); do
                base=$(elapsed ./tasks "$consumers" 400 2000 0)
                real=$(elapsed ./tasks "$consumers" 400 2000 "$percent")
                differences+=$(awk -v virtual="$(under_load "$consumers" "$percent")" \
                    -v a="$real" -v b="$base" 'BEGIN { print virtual - 100 * a / b }')$'\n'
            done
            read -ra ends < <(printf %s "$differences" | median_interval)
            printf '%d consumers, made %d %% faster: predicted - real %.2f points, 95 %%:' \
                "$consumers" "$percent" "$(printf %s "$differences" | median)"
            printf ' %.2f to %.2f, %d pairs\n' "${ends[@]}" "$pairs"
            if ! is_at_most "${ends[0]}" 3 || ! is_at_most -3 "${ends[1]}"; then
                failed=1
            fi
        done
    done
}

check_lock() {
    local change
    build locks
    "$SZC" causal -F --fixed-line outside --speedups 0,25,50,75,100 --experiment-ms 100 \
        -o causal.jsonl -- ./locks "$(nproc)" 80000 >/dev/null 2>&1
    change=$("$SZC" causal report causal.jsonl --json - |
        jq -r '.analysis.findings[] | select(.location.function == "outside") | .slope.change |
            "\(.value) \(.lower // -9) \(.upper // 9)"')
    awk '{ printf "outside of a lock: %.3f, 95 %%: %.3f to %.3f; limit 0.01\n", $1, $2, $3
        exit !(NF == 3 && $2 <= 0.01 && $3 >= -0.01 && $3 - $2 < 1) }' <<<"$change" || failed=1
}

# made EXPECTED_END: whether causal.jsonl has experiments, and ends so.
made() {
    local count end
    count=$(experiments .speedup | wc -l)
    end=$(jq -r 'select(.type == "end") | .reason' causal.jsonl)
    printf '%d experiments, %s\n' "$count" "$end"
    [[ $count -gt 0 && $end == "$1" ]] || failed=1
}

check_programs() {
    local library path
    build allocating-threads two-workers
    for library in libjemalloc.so.2 libtcmalloc_minimal.so.4; do
        path=$(/sbin/ldconfig -p | awk -v library="$library" '$1 == library { print $NF; exit }')
        if [[ -z $path ]]; then
            printf '%s: not installed\n' "$library"
            continue
        fi
        printf '%s: ' "$library"
        LD_PRELOAD=$path "$SZC" causal -F --experiment-ms 50 -o causal.jsonl \
            -- ./allocating-threads >/dev/null 2>&1 || true
        made 'exit 0'
    done
    printf 'Ctrl-C: '
    # In a session of its own, all of which gets the signal.
    setsid timeout --foreground 60 "$SZC" causal -F --experiment-ms 50 -o causal.jsonl \
        -- ./two-workers 3000000 >/dev/null 2>&1 &
    local session=$!
    sleep 3
    kill -INT -- "-$session"
    wait "$session" || true
    made 'signal 2'
}

check_start() {
    local pair plain ends times=''
    enough_for_interval --pairs "$pairs"
    build nothing
    for ((pair = 1; pair <= pairs; pair++)); do
        plain=$(elapsed "$SZC" version)
        times+=$(awk -v a="$(elapsed "$SZC" causal -o causal.jsonl -- ./nothing)" -v b="$plain" \
            'BEGIN { print a - b }')$'\n'
    done
    read -ra ends < <(printf %s "$times" | median_interval)
    printf 'start: %.1f ms, 95 %%: %.1f to %.1f, %d pairs; limit 50\n' \
        "$(printf %s "$times" | median)" "${ends[@]}" "$pairs"
    is_at_most "$(printf %s "$times" | median)" 50 || failed=1
}

# effective PERCENT FEWER: nanoseconds of a run less the delays in it.
effective() {
    "$SZC" causal --end-to-end -F --fixed-line work_longer --fixed-speedup "$1" -n 1 \
        -o causal.jsonl -- ./two-workers 200000 "$2" >/dev/null 2>&1
    experiments '.duration_ns - .delay_ns'
}

check_real() {
    local percent pair ratios virtual real ends
    enough_for_interval --pairs "$pairs"
    build two-workers
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
}

for check in $only; do "check_$check"; done
[[ $failed == 0 ]]
