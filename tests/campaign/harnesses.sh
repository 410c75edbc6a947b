#!/usr/bin/env bash
# Does szc find the one benchmark of many that became slower, in harnesses that people have?
#
# Of each program: it is built as its authors build it, but by szc, as it is and with a slowdown
# planted in one place; `szc compare --harness auto` must call the rows that are concerned slower
# and no other row different, `szc gate` must fail, and without those rows must not. (By chance one
# row in a table is called different in 5 of 100 tables.) Crates with criterion and divan are
# cargo.sh's.
#
#   tests/campaign/harnesses.sh [--programs "NAME..."] [--blocks N]
#
# --programs     of those in tests/campaign/harnesses/ (default: all)
# --blocks N     of each comparison (default 14)
#
# Needs a network, CMake, and for pytest Debian's python3-dev and python3-pytest-benchmark. About 15
# minutes. Results: test-results/harnesses/
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../spec-scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../spec-scripts/lib.sh"
# shellcheck source-path=SCRIPTDIR source=rows.sh
source "$(dirname "${BASH_SOURCE[0]}")/rows.sh"

export RECIPES=$PROJECT/tests/campaign/harnesses
RESULTS=$PROJECT/test-results/harnesses

blocks=14
mapfile -t programs < <(cd "$RECIPES" && ls)
while [[ $# -gt 0 ]]; do
    case $1 in
    --programs) read -ra programs <<<"${2:-}" ;;
    --blocks) positive "$1" "${2:-}" && blocks=$2 ;;
    *) die "unknown argument '$1'; usage: harnesses.sh [--programs \"NAME...\"] [--blocks N]" ;;
    esac
    shift 2
done
enough_for_interval --blocks "$blocks"
[[ -x $SZC ]] || die "no $SZC; run 'cargo build --release' first"

# cmake_build TARGET OPTION...: in the folder `build`, by szc.
cmake_build() {
    local target=$1
    shift
    cmake -S . -B build -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER="$SZC" \
        -DCMAKE_CXX_COMPILER="$SZC++" "$@"
    cmake --build build -j"$JOBS" --target "$target"
}

# plant_in FILE LINE TEXT: the text behind the only such line.
plant_in() {
    [[ $(grep -cxF -- "$2" "$1") -eq 1 ]] || die "$1 has no single line '$2'"
    PLACE=$2 TEXT=$3 awk '{ print } $0 == ENVIRON["PLACE"] { print ENVIRON["TEXT"] }' "$1" >"$1.new"
    mv "$1.new" "$1"
}

run() (
    name=$1 log=$RESULTS/$1/comparison needs='' command='' slow_rows='' moves='"code":true'
    load_recipe "$name"
    "$SCRIPTS/fetch.sh" "$name" ${needs:+"$needs"}
    rm -rf "${RESULTS:?}/$name"
    mkdir -p "$RESULTS/$name"
    for version in published slower; do
        cp -r "$CACHE/sources/$name/tree" "$RESULTS/$name/$version"
        cd "$RESULTS/$name/$version"
        [[ $version == published ]] || slow_down
        (build) >"$RESULTS/$name/$version.log" 2>&1 ||
            die "$name: it does not build; see $RESULTS/$name/$version.log"
        cd ..
        SZC_LOG=moves sh -c "${command//@/$version}" >"$version.alone" 2>&1 ||
            die "$name: it does not run; see $RESULTS/$name/$version.alone"
        grep -q "$moves" moves || die "$name: it does not move as it should; see $PWD/moves"
        rm moves
    done
    "$SZC" compare --harness auto --fixed "$blocks" --json samples.json \
        --name A=published --name B=slower -- "${command//@/published}" "${command//@/slower}" \
        >"$log" 2>"$log.err" || die "$name: cannot be compared; see $log.err"
    cat "$log"
    check_rows "$name" "$slow_rows" "$log"
    check_gate "$name" "$slow_rows" samples.json
    say "$name $(source_version "$name"): of $((planted + others)) rows $planted slower"
)

mkdir -p "$RESULTS"
for name in "${programs[@]}"; do
    # Not as a condition, in which `set -e` would not hold.
    run "$name"
done
