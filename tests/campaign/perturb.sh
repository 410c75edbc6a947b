#!/usr/bin/env bash
# Does szc perturb find what disturbs, and nothing else? A planted walk through 32 KiB in a probe
# must be found, and left out of the advised split; a tool that does nothing must not be found, on
# the planted program and on real ones. And does a perturbation go where another probe is added, as
# in the paper? That is looked for and told, either way.
#
#   tests/campaign/perturb.sh [--tries N] [--programs "..."]
#
# --tries N     experiments of each kind (default 20)
# --programs    of: phases bzip2 phalanx lemon sqlite3 (default: all); but for the first those of
#               the open suite, by clang, with their short workloads
#
# Resumable: results are in test-results/perturb/, a file of traces for each experiment and a line
# in table.tsv; what is there is not done again. About 15 seconds an experiment, half an hour for
# all. With the seeds 1 to N. Each experiment has 26 baselines, 5 runs of each step and 8 metrics.
#
# Exit code 1 if the walk is found in fewer than all tries, the split keeps it, or false alarms are
# more than chance allows at 5 % (1 in 1,000).
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../spec-scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../spec-scripts/lib.sh"

tries=20
programs='phases bzip2 phalanx lemon sqlite3'
while [[ $# -gt 0 ]]; do
    case $1 in
    --tries) positive "$1" "${2:-}" && tries=$2 ;;
    --programs) programs=${2:?--programs needs names} ;;
    *) die "unknown argument '$1'; the options are described at the top of this script" ;;
    esac
    shift 2
done
[[ -x $SZC ]] || die "no $SZC; run 'cargo build --release' first"

RESULTS=$PROJECT/test-results/perturb
METRICS=cpu,faults,switches,rss,read,written,read-calls,write-calls
out=$CACHE/builds/perturb
mkdir -p "$out" "$RESULTS"
touch "$RESULTS/table.tsv"
cd "$out"
gcc -O2 -fno-builtin "$PROJECT/tests/campaign/programs/phases.c" -o phases
gcc -O2 -fno-builtin -shared -fPIC "$PROJECT/tests/campaign/programs/probe.c" -o count.so
gcc -O2 -fno-builtin -shared -fPIC -DWALK "$PROJECT/tests/campaign/programs/probe.c" -o walk.so

# command_of PROGRAM: into the array COMMAND, and INTERVAL, of which it runs some dozens.
command_of() {
    INTERVAL=5ms
    case $1 in
    phases) COMMAND=(./phases 800) ;;
    bzip2 | phalanx | lemon | sqlite3)
        if [[ $1 == lemon ]]; then INTERVAL=2ms; fi
        suite build "$1" --cc clang-22 --flags=-O2 >/dev/null
        mapfile -t COMMAND < <(suite words "$1" --cc clang-22 --flags=-O2 --size test)
        ;;
    *) die "--programs: there is no $1" ;;
    esac
}

# try KIND SEED FOUND-WHEN OPTIONS...: one experiment; a line of the table, 1 if it was found.
try() {
    local kind=$1 seed=$2 pattern=$3 found=0 said
    shift 3
    if grep -q "^$kind	$seed	" "$RESULTS/table.tsv"; then return; fi
    said=$("$SZC" perturb --quiet --clock cpu --interval "$INTERVAL" --seed "$seed" \
        --json "$RESULTS/$kind-$seed.json" "$@" -- "${COMMAND[@]}")
    if grep -q -- "$pattern" <<<"$said"; then found=1; fi
    printf '%s\t%s\t%s\n' "$kind" "$seed" "$found" >>"$RESULTS/table.tsv"
    printf '%-20s seed %s: %s\n' "$kind" "$seed" "${said%%$'\n'*}"
}

# count KIND: how many of its tries have found something.
count() { awk -v kind="$1" -v n="$tries" '$1 == kind && $2 <= n && $3 { c++ } END { print c + 0 }' \
    "$RESULTS/table.tsv"; }

# chance N: the most false alarms of N at 5 % that are not rarer than 1 in 1,000.
chance() {
    awk -v n="$1" 'BEGIN {
        p = 0.95 ^ n; sum = p
        for (k = 0; 1 - sum > 0.001; k++) { p *= (n - k) / (k + 1) * 0.05 / 0.95; sum += p }
        print k }'
}

failed=0
limit=$(chance "$tries")
for program in $programs; do
    command_of "$program"
    for ((seed = 1; seed <= tries; seed++)); do
        try "nothing-$program" "$seed" 'it perturbs' --metrics "$METRICS" --with env
    done
    alarms=$(count "nothing-$program")
    printf '%s: %s false alarms in %s; limit %s\n' "$program" "$alarms" "$tries" "$limit"
    is_at_most "$alarms" "$limit" || failed=1
done
if [[ " $programs " == *' phases '* ]]; then
    command_of phases
    for ((seed = 1; seed <= tries; seed++)); do
        try walk "$seed" '^preload:walk.so: it perturbs' --metrics "$METRICS,preload:./walk.so"
    done
    try split 1 '^Perturb even alone.*: preload:walk.so\.$' --advise \
        --metrics "$METRICS,preload:./count.so,preload:./walk.so"
    printf 'the walk was found in %s of %s\n' "$(count walk)" "$tries"
    [[ $(count walk) -eq $tries && $(count split) -eq 1 ]] || failed=1
fi
# Two probes, the second on top of the first, which takes time at each call.
for program in $programs; do
    command_of "$program"
    first=heap-calls
    if [[ $program == phases ]]; then first=preload:./walk.so; fi
    for ((seed = 1; seed <= 3; seed++)); do
        try "added-$program" "$seed" 'no change is shown any more' \
            --metrics "$METRICS,$first,preload:./count.so"
    done
    printf '%s: a perturbation went when a probe was added in %s of 3\n' "$program" \
        "$(count "added-$program")"
done
exit "$failed"
