#!/usr/bin/env bash
# Do real programs compute the same under constant re-randomization of code, stack and heap?
#
# Builds each program with clang and, in several ways, with szc; runs every szc
# build once per seed at a very short interval; compares standard output and exit
# code with those of the clang build, byte for byte. The seeds of failures and
# their messages are kept. A table at the end; exit code 1 if anything failed.
#
#   tests/campaign/identical-output.sh [--runs N] [--size full|test] [--interval MS]
#                                      [--programs "..."] [--variants "..."]
#
# --runs N       seeds 1..N per build and workload (default 200; hours at full size)
# --size         workload of 1 to 2 s (full, default) or about 0.15 s (test)
# --interval MS  time between re-randomizations (default 1)
# --programs     of: lua sqlite3 bzip2 zstd bundled (default: the first four)
# --variants     of: O2 O3 gcc lto (default: all); gcc: objects by gcc, linked by szc
#
# Results: test-results/identical-output/, or the directory RESULTS names. At full size a run of a
# main workload must relocate more than 1,000 functions, or the comparison has shown nothing.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../spec-scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../spec-scripts/lib.sh"

RESULTS=${RESULTS:-$PROJECT/test-results/identical-output}
MINIMUM_RELOCATIONS=1000
RUN_TIMEOUT_S=120

# one_run LABEL WORKLOAD SEED: called through xargs, in its own process.
# Writes one line to LABEL.runs: seed, verdict, relocations, epochs.
one_run() {
    local label=$1 workload=$2 seed=$3 verdict=ok command status
    local log=$RESULTS/logs/$label-$seed.json errors=$RESULTS/logs/$label-$seed.stderr
    mapfile -t command <"$RESULTS/$label.command"
    rm -f "$log"
    set +e
    SZC_SEED=$seed SZC_INTERVAL_MS=$INTERVAL_MS SZC_LOG=$log \
        timeout "$RUN_TIMEOUT_S" "${command[@]}" 2>"$errors" </dev/null |
        cmp -s - "$RESULTS/$workload.expected"
    status=("${PIPESTATUS[@]}")
    set -e
    if [[ ${status[0]} -ne 0 ]]; then
        verdict="exit-code-${status[0]}"
    elif [[ ${status[1]} -ne 0 ]]; then
        verdict=output-differs
    elif [[ ! -s $log ]]; then
        verdict=no-log
    elif ! grep -q "$(randomized "$label")" "$log"; then
        verdict=not-randomized
    fi
    local relocations epochs
    relocations=$(number relocations "$log")
    epochs=$(number epochs "$log")
    if [[ $verdict == ok && $SIZE == full && $workload != *-decompress &&
        $relocations -le $MINIMUM_RELOCATIONS ]]; then
        verdict=too-few-relocations
    fi
    [[ $verdict != ok ]] || rm -f "$errors" "$log"
    # One short write, so that lines of parallel runs do not mix.
    printf '%s %s %s %s\n' "$seed" "$verdict" "$relocations" "$epochs" >>"$RESULTS/$label.runs"
}

# randomized LABEL: what the log of a run must say. Objects of gcc have no stack pads.
randomized() {
    case $1 in
    *-gcc) echo '"code":true,"stack":false,"heap":true' ;;
    *) echo '"code":true,"stack":true,"heap":true' ;;
    esac
}

# number NAME FILE: a number from the log of a run, 0 if there is none.
number() {
    local value
    value=$(sed -n "s/.*\"$1\": *\([0-9][0-9]*\).*/\1/p" "$2" 2>/dev/null | head -n 1)
    echo "${value:-0}"
}

# compiler_of VARIANT: options of the suite's tool, into the array COMPILER.
compiler_of() {
    case $1 in
    clang) COMPILER=(--cc clang-22 --flags=-O2) ;;
    O2 | O3) COMPILER=(--cc "$SZC" "--flags=-$1") ;;
    gcc) COMPILER=(--cc gcc --link-cc "$SZC" --flags=-O2) ;;
    lto) COMPILER=(--cc "$SZC" "--flags=-O2 -flto" --ldflags=-flto) ;;
    *) die "unknown variant '$1'; known: O2 O3 gcc lto" ;;
    esac
}

# workloads_of PROGRAM
workloads_of() {
    case $1 in
    bzip2 | zstd) echo "$1 $1-decompress" ;;
    *) echo "$1" ;;
    esac
}

# summary LABEL: one row of the table from the lines of its runs.
summary() {
    sort -n "$RESULTS/$1.runs" | awk -v label="$1" '
        { runs++; relocations[runs] = $3; epochs[runs] = $4 }
        $2 != "ok" { failed++ }
        function sorted(a, n,    i, j, x) {
            for (i = 2; i <= n; i++) {
                x = a[i]
                for (j = i - 1; j > 0 && a[j] > x; j--) a[j + 1] = a[j]
                a[j + 1] = x
            }
        }
        END {
            sorted(relocations, runs); sorted(epochs, runs)
            middle = int((runs + 1) / 2)
            printf "%-20s %6d %7d %14d %14d %11d %11d\n", label, runs, failed,
                relocations[1], relocations[middle], epochs[1], epochs[middle]
        }'
}

main() {
    local runs=200 programs="${REAL_PROGRAMS[*]}" variants="O2 O3 gcc lto"
    SIZE=full INTERVAL_MS=1
    while [[ $# -gt 0 ]]; do
        [[ $# -gt 1 ]] || die "$1 needs a value"
        case $1 in
        --runs) positive "$1" "$2" && runs=$2 ;;
        --size)
            [[ $2 =~ ^(full|test)$ ]] || die "--size is full or test; found '$2'"
            SIZE=$2
            ;;
        --interval)
            [[ $2 =~ ^[0-9]+$ ]] || die "--interval needs milliseconds; found '$2'"
            INTERVAL_MS=$2
            ;;
        --programs) programs=$2 ;;
        --variants) variants=$2 ;;
        *) die "unknown argument '$1'; the options are described at the top of this script" ;;
        esac
        shift 2
    done
    export SIZE INTERVAL_MS RESULTS
    [[ -x $SZC ]] || die "no $SZC; run 'cargo build --release' first"
    mkdir -p "$RESULTS/logs"

    local program variant workload label command labels=() COMPILER=()
    for variant in $variants; do compiler_of "$variant"; done
    for program in $programs; do
        # SQLite is one file, which one compiler is busy with for long: so several builds at a time.
        suite fetch "$program"
        # shellcheck disable=SC2086  # a list of names
        printf '%s\n' clang $variants | xargs -P "$JOBS" -I '{}' "$0" --build "$program" '{}' ||
            die "$program was not built in every variant; see above"
        for workload in $(workloads_of "$program"); do
            compiler_of clang
            mapfile -t command < <(suite words "$workload" "${COMPILER[@]}" --size "$SIZE")
            "${command[@]}" >"$RESULTS/$workload.expected"
            for variant in $variants; do
                label=$workload-$variant
                labels+=("$label")
                compiler_of "$variant"
                # Nothing else: the folder may be somebody's who keeps more in it.
                rm -f "$RESULTS/$label.runs" "$RESULTS/logs/$label"-*.json \
                    "$RESULTS/logs/$label"-*.stderr
                suite words "$workload" "${COMPILER[@]}" --size "$SIZE" >"$RESULTS/$label.command"
                seq "$runs" | xargs -P 2 -I '{}' "$0" --one "$label" "$workload" '{}'
                say "$label: $(grep -c ' ok ' "$RESULTS/$label.runs" || true) of $runs runs" \
                    "identical"
            done
        done
    done

    heading "standard output and exit code against clang, every ${INTERVAL_MS} ms, size $SIZE"
    printf '%-20s %6s %7s %14s %14s %11s %11s\n' workload runs failed "min moves" "median moves" \
        "min epochs" "med epochs"
    for label in "${labels[@]}"; do
        summary "$label"
    done | tee "$RESULTS/table.txt"

    # Failures by seed, so that each can be run again alone.
    : >"$RESULTS/failures.txt"
    for label in "${labels[@]}"; do
        awk -v label="$label" '$2 != "ok" { print label, "seed", $1, $2 }' "$RESULTS/$label.runs" \
            >>"$RESULTS/failures.txt"
    done
    if [[ -s $RESULTS/failures.txt ]]; then
        heading "failures (messages in $RESULTS/logs)"
        head -n 40 "$RESULTS/failures.txt"
        exit 1
    fi
    say "all identical"
}

case ${1:-} in
--one)
    shift
    one_run "$@"
    ;;
--build)
    compiler_of "$3"
    suite build "$2" "${COMPILER[@]}"
    ;;
*) main "$@" ;;
esac
