#!/usr/bin/env bash
# SPEC CPU2006 or CPU2017 at several levels of flags, in interleaved blocks, each call of SPEC's
# tools with a layout seed of its own; then szc's verdicts on their times.
#
#   spec-scripts/spec/measure.sh --level NAME=FLAGS --level NAME=FLAGS [OPTIONS] BENCHMARK...
#
# --level NAME=FLAGS  a level; the first one is the reference. Names are SPEC's labels: letters,
#                     digits, - and _
# --blocks N          blocks, in which every level runs twice: in an order drawn at random, then
#                     reversed (default 20)
# --size SIZE         of SPEC's workloads: test, train or ref (default ref)
# --seed S            seed of the order and of the layouts, both drawn from it by SHA-256 (default
#                     1)
# --results DIR       where table, samples and page go (default spec-results)
# BENCHMARK...        of one suite, as SPEC's tools name them: 505.mcf_r 557.xz_r, or intrate
#
# SPEC must name the installed suite. SZC: the szc to use (default: that of this tree's release
# build). The table DIR/runs.tsv has a line for each finished run, so that the script can be stopped
# and started again. To measure on several machines give each a part of the benchmarks, or all of
# them, and join their suite.json by szc merge.
#
# Exit code: 0 measured, whatever the verdicts are; 1 something could not be done; 2 usage; 4 a
# build or a run failed.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

HERE=$SCRIPTS/spec

usage() {
    warn "$*; the options are described at the top of this script"
    exit 2
}

# failed FILE WHAT: a build or a run of SPEC's tools that did not succeed.
failed() {
    warn "$2; the end of $1:"
    tail -n 15 "$1" >&2
    exit 4
}

names=() flags=() blocks=20 size=ref seed=1 results=spec-results benchmarks=()
while [[ $# -gt 0 ]]; do
    case $1 in
    --*) [[ $# -gt 1 ]] || usage "$1 needs a value" ;;&
    --level)
        [[ $2 =~ ^([A-Za-z0-9_-]+)=(.*)$ ]] || usage "--level needs NAME=FLAGS; found '$2'"
        names+=("${BASH_REMATCH[1]}") flags+=("${BASH_REMATCH[2]}")
        ;;
    --blocks) blocks=$2 ;;
    --size) size=$2 ;;
    --seed) seed=$2 ;;
    --results) results=$2 ;;
    --*) usage "unknown option '$1'" ;;
    *)
        benchmarks+=("$1")
        shift
        continue
        ;;
    esac
    shift 2
done
[[ ${#names[@]} -ge 2 ]] || usage "two levels or more are needed: --level O2=-O2 --level O3=-O3"
[[ $(printf '%s\n' "${names[@]}" | sort -u | wc -l) -eq ${#names[@]} ]] ||
    usage "a level is named twice"
[[ ${#benchmarks[@]} -gt 0 ]] ||
    usage "no benchmarks: name some of one suite, as in 505.mcf_r 557.xz_r"
[[ $blocks =~ ^[0-9]+$ && $blocks -ge 6 ]] ||
    usage "--blocks needs a number, at least 6; found '$blocks'"
[[ $seed =~ ^[0-9]+$ ]] || usage "--seed needs a number; found '$seed'"
[[ $size =~ ^(test|train|ref)$ ]] || usage "--size is test, train or ref; found '$size'"

# tools: TOOL, CONFIG and the option that names a build, of the suite in $SPEC.
tools() {
    [[ -n ${SPEC:-} ]] || usage "SPEC is not set: export SPEC=/path/to/the/installed/suite"
    if [[ -x $SPEC/bin/runcpu ]]; then
        TOOL=runcpu CONFIG=$HERE/cpu2017.cfg LABEL=--label
    elif [[ -x $SPEC/bin/runspec ]]; then
        TOOL=runspec CONFIG=$HERE/cpu2006.cfg LABEL=--extension
    else
        usage "$SPEC has neither bin/runcpu (CPU2017) nor bin/runspec (CPU2006): set SPEC to an" \
            "installed suite"
    fi
    [[ -x $SZC ]] || die "no $SZC; run 'cargo build --release' first"
}

# spec LEVEL LOG WORD...: SPEC's tool for a level, by its place.
spec() {
    local level=$1 log=$2
    shift 2
    (
        cd "$SPEC"
        # SPEC's own script uses variables that may be unset.
        set +u
        # shellcheck source=/dev/null
        [[ ! -e shrc ]] || source ./shrc
        set -u
        "bin/$TOOL" --config="$CONFIG" "$LABEL=${names[level]}" --define "flags=${flags[level]}" \
            --define "szc=$(dirname "$SZC")" --tune=base --noreportable \
            --size="$size" "$@" "${benchmarks[@]}"
    ) >"$log" 2>&1
}

# order BLOCK: the places of the levels in an order of its own, and back.
order() {
    local places
    mapfile -t places < <(in_random_order "$seed order $1" "${!names[@]}")
    printf '%s\n' "${places[@]}"
    printf '%s\n' "${places[@]}" | tac
}

# layout_seed BLOCK POSITION: a number that follows from the seed and these two; sixteen digits,
# below 2^53.
layout_seed() {
    local hash
    hash=$(printf '%s layout %s %s\n' "$seed" "$1" "$2" | sha256sum)
    printf '1%015d' $((0x${hash:0:15} % 10 ** 15))
}

build() {
    local level
    for level in "${!names[@]}"; do
        heading "building ${names[level]}: ${flags[level]}"
        spec "$level" "$results/build-${names[level]}.log" --action=build ||
            failed "$results/build-${names[level]}.log" "$TOOL could not build ${names[level]}"
    done
}

# run BLOCK POSITION LEVEL: one call, and its line of the table.
run() {
    local block=$1 position=$2 level=$3 log=$results/run.log raw layout randomized=no kept
    grep -q "^$block	$position	" "$TABLE" && return
    layout=$(layout_seed "$block" "$position")
    rm -rf "$results/logs"
    mkdir "$results/logs"
    SZC_SEED=$layout SZC_LOG=$results/logs/%p.json spec "$level" "$log" --action=run --nobuild \
        --iterations=1 ||
        failed "$log" "$TOOL could not run ${names[level]}"
    raw=$(sed -n 's/.*format: raw -> *//p' "$log")
    [[ -n $raw ]] || failed "$log" "$TOOL says nothing of a raw file (format: raw -> …)"
    [[ $(wc -l <<<"$raw") -eq 1 ]] ||
        failed "$log" "$TOOL wrote several raw files: name benchmarks of one suite"
    kept=$block-$position.rsf
    cp "$(cd "$SPEC" && realpath "$raw")" "$results/$kept"
    # Who moved functions says so; a wrapper that drops the environment would leave no log.
    ! grep -qsE '"relocations": *[1-9]' "$results"/logs/*.json || randomized=yes
    printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$block" "$position" "${names[level]}" "$layout" \
        "$randomized" "$kept" >>"$TABLE"
}

main() {
    local block position level plan
    tools
    mkdir -p "$results"
    results=$(cd "$results" && pwd)
    TABLE=$results/runs.tsv
    plan="# $TOOL $size seed $seed, $(for level in "${!names[@]}"; do
        printf '%s=%s, ' "${names[level]}" "${flags[level]}"
    done)${benchmarks[*]}"
    if [[ ! -s $TABLE ]]; then
        printf 'szc-spec-runs 1\n%s\n' "$plan" >"$TABLE"
    elif ! grep -qxF -e "$plan" "$TABLE"; then
        die "$TABLE is of another measurement ($(sed -n 2p "$TABLE")): give another folder by" \
            "--results"
    fi
    build
    heading "measuring $blocks blocks"
    for ((block = 0; block < blocks; block++)); do
        position=0
        while read -r level; do
            run "$block" "$position" "$level" </dev/null
            position=$((position + 1))
        done < <(order "$block")
        say "block $((block + 1)) of $blocks"
    done
    "$SZC" import "$TABLE" --reference "${names[0]}" --json "$results/suite.json" |
        tee "$results/report.txt"
    "$SZC" report "$results/suite.json" --html "$results/report.html"
    say "page with plots and all samples: $results/report.html"
}

main
