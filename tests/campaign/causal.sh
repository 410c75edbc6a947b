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
#   spin      where they wait for a mutex is worth nothing; where they spin, faster is slower
#   programs  jemalloc and tcmalloc, where they are installed, and what is left after Ctrl-C
#   start     how much longer a run of nothing takes, beside szc's own start
#   real      a function is virtually sped up, by turns with runs in which it really does so much
#             less: predicted over real time
#   accuracy  two threads at 7 : 10, a line of each virtually sped up, by szc and by coz, where that
#             is installed: predicted less real change
#   idle      200 lines on which nothing depends: how many are said to matter
#   cost      time with samples alone, and with experiments, over that without szc
#
# Without options all checks; 20 pairs of runs for each figure (6 or more). About 50 minutes.
#
# Resumable: test-results/causal/ has what pairs measured with an szc; what is there is not measured
# again.
#
# Exit code 1 if the share of samples is off by more than 3 points, or in all of an interval the
# time under a load by more than 3, or the time predicted over the time that it really takes by
# more than 1, or szc's accuracy is worse than 1 point, for any of the speedups; if what threads do
# outside of a lock, or where they wait for a mutex, has a change beyond ± 1 point in all of its
# interval, or one that is wider than 100 points; if the change where they spin in
# pthread_spin_lock is not below 0 in all of its interval; if a program does not end as it does by
# itself, or has no experiments; if a start takes more than 50 ms in the median; if more than 5 % of
# the idle lines are said to matter; or if experiments cost more than 10 % in the mean of programs.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../spec-scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../spec-scripts/lib.sh"
# shellcheck source-path=SCRIPTDIR source=kept.sh
source "$(dirname "${BASH_SOURCE[0]}")/kept.sh"

CHECKS=(steps load lock spin programs start real accuracy idle cost)
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
all_known "$only" "${CHECKS[@]}"
[[ -x $SZC ]] || die "no $SZC; run 'cargo build --release' first"

out=$CACHE/builds/causal
mkdir -p "$out"
cd "$out"
failed=0

keep causal

# build PROGRAM...
build() {
    local program
    for program in "$@"; do
        gcc -O2 -g -pthread -I "$PROJECT/runtime/preload/include" \
            "$PROJECT/tests/campaign/programs/$program.c" -o "$program"
    done
}

# distance A B
distance() { awk -v a="$1" -v b="$2" 'BEGIN { print a > b ? a - b : b - a }'; }

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

# load_pair CONSUMERS PERCENT: predicted less real time.
load_pair() {
    local base real
    base=$(elapsed ./tasks "$1" 400 2000 0)
    real=$(elapsed ./tasks "$1" 400 2000 "$2")
    awk -v virtual="$(under_load "$1" "$2")" -v a="$real" -v b="$base" \
        'BEGIN { if (virtual == "") exit 1; print virtual - 100 * a / b }'
}

check_load() {
    local consumers percent
    enough_for_interval --pairs "$pairs"
    build tasks
    for consumers in 2 3 4; do
        for percent in 0 25 50 75 100; do
            printf '%d consumers, made %d %% faster: predicted - real ' "$consumers" "$percent"
            of_pairs "load.$consumers.$percent" load_pair "$consumers" "$percent" | points 3 ||
                failed=1
        done
    done
}

# slope PLACE LOCK: the change for a function of that program, and its interval; open ends are far.
slope() {
    "$SZC" causal -F --fixed-line "$1" --speedups 0,25,50,75,100 --experiment-ms 100 \
        -o causal.jsonl -- ./locks "$(nproc)" 80000 "$2" >/dev/null 2>&1
    "$SZC" causal report causal.jsonl --json - |
        jq -r --arg place "$1" '.analysis.findings[] | select(.location.function == $place) |
            .slope.change | "\(.value) \(.lower // -9) \(.upper // 9)"'
}

# shown TEXT nothing|loss|any: the slope on standard input; whether it is that.
shown() {
    awk -v text="$1" -v wanted="$2" '
        {
            printf "%s: %.3f, 95 %%: %.3f to %.3f\n", text, $1, $2, $3
            is["nothing"] = $2 <= 0.01 && $3 >= -0.01 && $3 - $2 < 1
            is["loss"] = $3 < 0
            is["any"] = NF == 3
        }
        END {
            if (NR == 0) print text ": nothing was found"
            exit !is[wanted]
        }'
}

check_lock() {
    build locks
    kept outside slope outside mutex | shown 'outside of a lock' nothing || failed=1
}

check_spin() {
    build locks
    kept take.mutex slope take mutex | shown 'waiting for a mutex' nothing || failed=1
    kept take.spin slope take spin | shown 'in pthread_spin_lock' loss || failed=1
    # Where no call says that a thread waits nobody can tell that from work.
    kept take.own slope take own | shown 'in a loop without calls' any || failed=1
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

# start_pair: by how much a run of nothing is longer than szc's own start.
start_pair() {
    local plain
    plain=$(elapsed "$SZC" version)
    awk -v a="$(elapsed "$SZC" causal -o causal.jsonl -- ./nothing)" -v b="$plain" \
        'BEGIN { print a - b }'
}

check_start() {
    local ends times
    enough_for_interval --pairs "$pairs"
    build nothing
    times=$(of_pairs start start_pair)
    read -ra ends < <(median_interval <<<"$times")
    printf 'start: %.1f ms, 95 %%: %.1f to %.1f, %d pairs; limit 50\n' \
        "$(median <<<"$times")" "${ends[@]}" "$pairs"
    is_at_most "$(median <<<"$times")" 50 || failed=1
}

# effective PERCENT FEWER: nanoseconds of a run less the delays in it.
effective() {
    "$SZC" causal --end-to-end -F --fixed-line work_longer --fixed-speedup "$1" -n 1 \
        -o causal.jsonl -- ./two-workers 200000 "$2" >/dev/null 2>&1
    experiments '.duration_ns - .delay_ns'
}

# real_pair PERCENT: predicted over real time.
real_pair() {
    awk -v a="$(effective "$1" 0)" -v b="$(effective 0 "$1")" \
        'BEGIN { if (a == "" || b == "") exit 1; print a / b }'
}

check_real() {
    local percent ratios ends
    enough_for_interval --pairs "$pairs"
    build two-workers
    for percent in 10 20 30 40 50; do
        ratios=$(of_pairs "real.$percent" real_pair "$percent")
        read -ra ends < <(median_interval <<<"$ratios")
        printf 'sped up by %d %%: predicted over real %.4f, 95 %%: %.4f to %.4f, %d pairs\n' \
            "$percent" "$(median <<<"$ratios")" "${ends[@]}" "$(wc -l <<<"$ratios")"
        if ! is_at_most "${ends[0]}" 1.01 || ! is_at_most 0.99 "${ends[1]}"; then
            failed=1
        fi
    done
}

# took TOOL LINE PERCENT: nanoseconds of a run less the delays in it, as the tool has it; nothing if
# it has none.
took() {
    local source=$PROJECT/tests/campaign/programs/two-workers.c line options
    line=$(awk -v mark="/* $2 */" 'index($0, mark) { print NR }' "$source")
    options=(--end-to-end --fixed-line "two-workers.c:$line" --fixed-speedup "$3")
    rm -f causal.jsonl profile.coz
    case $1 in
    szc) "$SZC" causal "${options[@]}" -n 1 -o causal.jsonl -- ./two-workers-coz 300000 0 70 ;;
    coz) timeout --foreground 60 coz run "${options[@]}" -o "$PWD/profile.coz" \
        --- ./two-workers-coz 300000 0 70 ;;
    esac >/dev/null 2>&1 || true
    case $1 in
    szc) experiments '.duration_ns - .delay_ns' ;;
    coz) sed -n 's/^experiment\t.*\tduration=\([0-9]*\).*/\1/p' profile.coz 2>/dev/null ;;
    esac | tail -n 1
}

# accuracy_pair TOOL LINE PERCENT REAL: predicted less real change, in percent of the time.
accuracy_pair() {
    awk -v a="$(took "$1" "$2" "$3")" -v b="$(took "$1" "$2" 0)" -v real="$4" \
        'BEGIN { if (a == "" || b == "" || b == 0) exit 1; print 100 * (1 - a / b) - real }'
}

check_accuracy() {
    local tool line percent real
    enough_for_interval --pairs "$pairs"
    # coz 0.2.2 reads no newer debug information.
    gcc -O2 -g -gdwarf-3 -gstrict-dwarf -pthread \
        "$PROJECT/tests/campaign/programs/two-workers.c" -o two-workers-coz
    for tool in szc coz; do
        if ! command -v "$tool" >/dev/null && [[ $tool == coz ]]; then
            printf 'coz: not installed (coz-profiler)\n'
            continue
        fi
        for line in longer shorter; do
            for percent in 10 20 30 40 50; do
                # The other thread takes 70 % of the time.
                real=0
                if [[ $line == longer ]]; then real=$((percent < 30 ? percent : 30)); fi
                printf '%s, %s line made %d %% faster, in truth %d %%: predicted - real ' \
                    "$tool" "$line" "$percent" "$real"
                of_pairs "accuracy.$tool.$line.$percent" accuracy_pair "$tool" "$line" \
                    "$percent" "$real" | points 1 || [[ $tool == coz ]] || failed=1
            done
        done
    done
}

# idle_lines: lines with a finding, and those that are said to matter.
idle_lines() {
    "$SZC" causal -s %idle-lines.h --speedups 0,50,100 --experiment-ms 20 -o causal.jsonl \
        -- ./idle-lines 240 >/dev/null 2>&1
    "$SZC" causal report causal.jsonl --json - | jq -r '.analysis.findings |
        "\(length) \(map(select(.verdict.word | . == "gain" or . == "contention")) | length)"'
}

check_idle() {
    local lines wrong
    awk 'BEGIN { for (i = 0; i < 200; i++) print "MIX" }' >idle-lines.h
    CPATH=. build idle-lines
    read -r lines wrong < <(kept idle idle_lines) || true
    printf 'idle lines: %d are said to matter of %d; limit 5 %%\n' "${wrong:-0}" "${lines:-0}"
    ((${lines:-0} >= 100 && 20 * wrong <= lines)) || failed=1
}

check_cost() {
    local program words
    build two-workers locks tasks allocating-threads
    for program in 'two-workers 1000000' 'locks 2 4000' 'tasks 2 1000 2000' allocating-threads; do
        read -ra words <<<"./$program"
        cost "${words[0]#./}" "${words[@]}"
    done
    mean_cost || failed=1
}

for check in $only; do "check_$check"; done
[[ $failed == 0 ]]
