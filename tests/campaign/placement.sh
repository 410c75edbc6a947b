#!/usr/bin/env bash
# What of SQLite's overhead is there where nothing of szc moves anything? In each of several link orders, CPU time over that of
# clang's program in the same order, by turns (as overhead.sh does); medians of the blocks' ratios, with intervals of 95 %, and quartiles.
#
#   tests/campaign/placement.sh [--blocks N] [--layouts N]     default: 30 blocks, 6 layouts
#
#   linked   clang's program as the linker orders it
#   pads     constants for pads in about half of the frames (tests/src/bin/place-assembly.rs)
#   entries  and pointers to functions lead to a jump by way of a word, because their values cannot change when functions move
#   heap     and szc's heap
#   off      szc's program, nothing randomized
#   stack    the stack alone, by copies
#   szc      all three
#   again    clang's program once more
#
# What is above "entries" in "stack", and above "heap" in "szc", is the mechanism's. There is no limit; exit code 1 if an output differs.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../spec-scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../spec-scripts/lib.sh"

BUILDS=$CACHE/builds/placement
RESULTS=$PROJECT/test-results/placement
KINDS=(order linked pads entries heap off stack szc again)
# The linker that szc takes, which can shuffle.
LINK=(-fuse-ld=lld -lm)
# Those that SQLite's own build takes.
FLAGS=(-O2 -ffunction-sections "-I$BUILDS/source" -DSQLITE_THREADSAFE=1
    "-DSQLITE_ENABLE_"{MATH_FUNCTIONS,FTS4,RTREE,EXPLAIN_COMMENTS,UNKNOWN_SQL_FUNCTION,STMTVTAB,DBPAGE_VTAB,DBSTAT_VTAB,BYTECODE_VTAB,OFFSET_SQL_FUNC})

blocks=30 layouts=6
while [[ $# -gt 0 ]]; do
    case $1 in
    --blocks) positive "$1" "${2:-}" && blocks=$2 ;;
    --layouts) positive "$1" "${2:-}" && layouts=$2 ;;
    *) die "unknown argument '$1'; the options are described at the top of this script" ;;
    esac
    shift 2
done
[[ -x $SZC ]] || die "no $SZC; run 'cargo build --release' first"
enough_for_interval --blocks "$blocks"

# assemble FOLDER OPTION...: objects of the assembly with these options of place-assembly.
assemble() {
    local folder=$BUILDS/$1 part
    mkdir -p "$folder"
    for part in sqlite3 shell; do
        "$TARGET/release/place-assembly" "${@:2}" <"$BUILDS/$part.s" >"$folder/$part.s"
        clang-22 -c "$folder/$part.s" -o "$folder/$part.o"
    done
}

# link_by KIND LAYOUT FOLDER COMPILER...: the program of a kind and layout.
link_by() {
    "${@:4}" "$BUILDS/$3"/{sqlite3,shell}.o "${LINK[@]}" "-Wl,--shuffle-sections=.text*=$2" -o "$BUILDS/$1-$2"
}

build() {
    local part layout
    mkdir -p "$BUILDS"/{clang,szc}
    sqlite_amalgamation "$BUILDS/source"
    for part in sqlite3 shell; do
        clang-22 "${FLAGS[@]}" -S "$BUILDS/source/$part.c" -o "$BUILDS/$part.s"
        clang-22 -c "$BUILDS/$part.s" -o "$BUILDS/clang/$part.o"
        SZC_BUILD=all "$SZC" "${FLAGS[@]}" -c "$BUILDS/source/$part.c" -o "$BUILDS/szc/$part.o"
    done
    clang-22 "$BUILDS"/clang/*.o "${LINK[@]}" -o "$BUILDS/linked"
    for ((layout = 1; layout <= layouts; layout++)); do
        assemble pads --pads "$layout"
        assemble entries --pads "$layout" --entries
        link_by order "$layout" clang clang-22
        link_by pads "$layout" pads clang-22
        link_by entries "$layout" entries clang-22
        SZC_BUILD=heap link_by heap "$layout" entries "$SZC"
        SZC_BUILD=all link_by szc "$layout" szc "$SZC"
    done
}

# program KIND BLOCK: its file.
program() {
    local kind=$1
    case $kind in
    linked) say "$BUILDS/linked" && return ;;
    again) kind=order ;;
    off | stack) kind=szc ;;
    esac
    say "$BUILDS/$kind-$((($2 - 1) % layouts + 1))"
}

# switches KIND: what is switched off in its runs.
switches() {
    case $1 in
    off) say SZC_CODE=0 SZC_STACK=0 SZC_HEAP=0 ;;
    stack) say SZC_CODE=0 SZC_HEAP=0 ;;
    *) say '' ;;
    esac
}

mkdir -p "$RESULTS"
: >"$RESULTS/ms"
heading "Building"
(cd "$PROJECT" && cargo build --quiet --release -p szc-tests -j"$JOBS")
build
suite build sqlite3 --cc clang-22 --flags=-O2 </dev/null
mapfile -t words < <(suite words sqlite3 --cc clang-22 --flags=-O2)

expected=$("$BUILDS/linked" "${words[@]:1}" | sha256sum)
mapfile -t programs < <(
    for ((layout = 1; layout <= layouts; layout++)); do
        for kind in "${KINDS[@]}"; do program "$kind" "$layout"; done
    done | sort -u
)
for file in "${programs[@]}"; do
    [[ $("$file" "${words[@]:1}" | sha256sum) == "$expected" ]] || die "$file: the output is not that of clang's program"
done

heading "CPU time over that of clang's program in the same order, $blocks blocks, $layouts layouts"
commands=()
for kind in "${KINDS[@]}"; do
    mkdir -p "$RESULTS/$kind"
    read -ra switched < <(switches "$kind")
    printf '%s\n' env "${switched[@]}" "$RESULTS/$kind/sqlite3" "${words[@]:1}" >"$RESULTS/$kind.command"
    commands+=("$RESULTS/$kind.command")
done
for ((block = 1; block <= blocks; block++)); do
    for kind in "${KINDS[@]}"; do cp --remove-destination "$(program "$kind" "$block")" "$RESULTS/$kind/sqlite3"; done
    # Clocks go on while the others have their turns.
    mapfile -t ms < <(SZC_SEED=$block SZC_INTERVAL_MS=$((500 * ${#KINDS[@]})) \
        "$TARGET/release/by-turns" --seed "$block" "${commands[@]}")
    [[ ${#ms[@]} -eq ${#KINDS[@]} ]] || die "block $block failed"
    for index in "${!KINDS[@]}"; do say "$block ${KINDS[index]} ${ms[index]}" >>"$RESULTS/ms"; done
done
# ratios KIND: of each block.
ratios() { awk -v kind="$1" '$2 == "order" { base[$1] = $3 } $2 == kind { this[$1] = $3 } END { for (block in this) print this[block] / base[block] }' "$RESULTS/ms"; }

printf '%-8s %8s %17s %8s %8s\n' kind median "95 %" "25 %" "75 %"
for kind in "${KINDS[@]:1}"; do
    read -ra ends < <(ratios "$kind" | median_interval)
    printf '%-8s %8.3f %17s %8.3f %8.3f\n' "$kind" "$(ratios "$kind" | median)" "$(printf '%.3f to %.3f' "${ends[@]}")" \
        "$(ratios "$kind" | quantile 0.25)" "$(ratios "$kind" | quantile 0.75)"
done
