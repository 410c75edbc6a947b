#!/usr/bin/env bash
# What setups do to the speedup of -O3 over -O2 of real programs (perl, Lua, SQLite, bzip2), after
# Mytkowicz et al. (2009), sections 4, 5 and 7.1, by szc bias.
#
#   margins  33 orders of objects and 256 positions of the stack, each factor by itself
#   random   setups drawn at random, orders and positions crossed
#   compare  szc compare of the same two programs built by szc, over layouts, several times; by its
#            intervals whether its log ratio differs from that of the random setups
#
#   tests/campaign/setups.sh [--programs "NAME..."] [--setups N] [--positions N] [--orders N]
#                            [--repeats N] [--compares N] [--steps "margins random compare"]
#                            [--metric M]
#
# --setups N    random setups of a program (default 400)
# --positions N of the stack (default 256), --orders N of objects (default 33), --repeats N blocks
#               of each in the margins (default 2)
# --compares N  comparisons over layouts of a program, by the seeds 1 to N (default 5)
# --steps       these only (default margins and random)
# --metric M    of szc bias (default cpu)
#
# A run takes 0.1 to 0.3 s. Without options about 20 minutes for a program, on a machine of its own;
# perl is built from its source first, twice, 10 minutes. What is in test-results/setups is not
# measured again.
#
# Results: test-results/setups/PROGRAM-STEP.json, setups.html with all violins, suite.txt with what
# the programs say together, compare.txt with how comparisons and random setups differ.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../spec-scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../spec-scripts/lib.sh"

RESULTS=$PROJECT/test-results/setups
out=$CACHE/builds/setups
programs=(bzip2 lua sqlite3 perl) steps=(margins random)
setups=400 positions=256 orders=33 repeats=2 compares=5 metric=cpu
while [[ $# -gt 0 ]]; do
    case $1 in
    --programs) read -r -a programs <<<"${2:-}" ;;
    --steps) read -r -a steps <<<"${2:-}" ;;
    --setups) positive "$1" "${2:-}" && setups=$2 ;;
    --positions) positive "$1" "${2:-}" && positions=$2 ;;
    --orders) positive "$1" "${2:-}" && orders=$2 ;;
    --repeats) positive "$1" "${2:-}" && repeats=$2 ;;
    --compares) positive "$1" "${2:-}" && compares=$2 ;;
    --metric) metric=${2:-} ;;
    *) die "unknown argument '$1'; the options are described at the top of this script" ;;
    esac
    shift 2
done
[[ -x $SZC ]] || die "no $SZC; run 'cargo build --release' first"
for step in "${steps[@]}"; do
    [[ $step == margins || $step == random || $step == compare ]] || die "there is no step '$step'"
done

# compiled PROGRAM LEVEL: leaves the objects in the current folder.
compiled() {
    local source file flags=("$2")
    case $1 in
    bzip2)
        source=$(suite source bzip2)
        for file in blocksort huffman crctable randtable compress decompress bzlib bzip2; do
            gcc "${flags[@]}" -D_FILE_OFFSET_BITS=64 -c "$source/$file.c"
        done
        ;;
    lua)
        source=$(suite source lua)
        for file in "$source"/src/*.c; do
            [[ $file == */luac.c ]] ||
                gcc "${flags[@]}" -std=gnu99 -DLUA_USE_LINUX -c "$file"
        done
        ;;
    sqlite3)
        sqlite_amalgamation "$out/sqlite3-source"
        for file in sqlite3 shell; do
            gcc "${flags[@]}" -DSQLITE_OMIT_LOAD_EXTENSION -c "$out/sqlite3-source/$file.c"
        done
        ;;
    perl)
        "$SCRIPTS/fetch.sh" perl >&2
        cp -r "$CACHE/sources/perl/tree" source
        (
            cd source
            sh Configure -des -Dcc=gcc -Doptimize="$2" -Uusedl -Uman1dir -Uman3dir
            make -j"$JOBS" perl
        ) >perl.log 2>&1 || die "perl could not be built; see $PWD/perl.log"
        cp source/perlmain.o .
        ar x source/libperl.a
        # Several of them are called Util.a.
        find source/lib/auto source/cpan source/dist source/ext -name '*.a' -print0 |
            while IFS= read -r -d '' file; do cp "$file" "$(tr / _ <<<"$file")"; done
        rm -rf source
        ;;
    *) die "there is no program '$1'; known are bzip2, lua, sqlite3 and perl" ;;
    esac
}

# tree PROGRAM: a folder with its objects at both levels, and a file with what it is to do.
tree() {
    local folder=$out/$1 level
    [[ -e $folder/complete ]] && return
    for level in -O2 -O3; do
        rm -rf "$folder/objects$level"
        mkdir -p "$folder/objects$level"
        (cd "$folder/objects$level" && compiled "$1" "$level")
    done
    case $1 in
    bzip2)
        awk -v bytes=500000 -f "$SCRIPTS/open-suite/programs/shared/corpus.awk" >"$folder/input"
        ;;
    lua) cp "$SCRIPTS/open-suite/programs/lua/bench.lua" "$folder/input" ;;
    sqlite3)
        {
            say "CREATE TEMP TABLE scale AS SELECT 12000 AS n;"
            cat "$SCRIPTS/open-suite/programs/sqlite3/bench.sql"
        } >"$folder/input"
        ;;
    perl)
        cp "$PROJECT/tests/campaign/programs/words.pl" "$folder/input"
        ;;
    esac
    say yes >"$folder/complete"
}

# words PROGRAM: what it is called with.
words() {
    case $1 in
    bzip2) say "./program -9 -c $out/bzip2/input" ;;
    lua) say "./program $out/lua/input 12" ;;
    sqlite3) say "./program -batch -init $out/sqlite3/input :memory: .quit" ;;
    perl) say "./program $out/perl/input 400000" ;;
    esac
}

# libraries PROGRAM: behind its objects.
libraries() {
    case $1 in
    bzip2) ;;
    perl) say 'objects{flags}/*.a -lm -ldl -lcrypt -lpthread' ;;
    *) say '-lm -ldl -lpthread' ;;
    esac
}

# measured PROGRAM STEP OPTION...: by szc bias, unless that was done.
measured() {
    local program=$1 file=$RESULTS/$1-$2.json
    shift 2
    [[ -s $file ]] && return
    "$SZC" bias --quiet --seed 1 --metric "$metric" --factors env,link --orders "$orders" \
        --positions "$positions" "$@" --tree "$out/$program" --cache "$out/linked" \
        --build "{cc} objects{flags}/*.o $(libraries "$program") -o program" --cc gcc \
        --flags=-O2,-O3 --json "$file.new" -- "$(words "$program")"
    mv "$file.new" "$file"
}

# compared PROGRAM SEED: the same two levels, linked by szc from the same objects, over layouts.
compared() {
    local file=$RESULTS/$1-compare-$2.json
    [[ -s $file ]] && return
    "$SZC" compare --quiet --seed "$2" --metric "$metric" --delta 1% --tree "$out/$1" \
        --cache "$out/linked" --build "$SZC objects{flags}/*.o $(libraries "$1") -o program" \
        --flags=-O2,-O3 --json "$file.new" -- "$(words "$1")"
    mv "$file.new" "$file"
}

mkdir -p "$RESULTS"
for program in "${programs[@]}"; do
    heading "$program"
    tree "$program"
    for step in "${steps[@]}"; do
        case $step in
        margins) measured "$program" margins --repeats "$repeats" ;;
        random) measured "$program" random --precision 0.01% --budget "$setups" ;;
        compare)
            for ((seed = 1; seed <= compares; seed++)); do compared "$program" "$seed"; done
            ;;
        esac
    done
done

cd "$RESULTS"
shopt -s nullglob
files=(*-margins.json *-random.json)
((${#files[@]} > 0)) && "$SZC" report "${files[@]}" --html setups.html
((${#files[@]} > 1)) && "$SZC" bias "${files[@]}" --json suite.json | tee suite.txt
# The difference of two log ratios lies in the sum of squares of their intervals' halves.
for file in *-compare-*.json; do
    program=${file%-compare-*}
    [[ -s $program-random.json ]] || continue
    jq -r --arg name "${file%.json}" -s '
        def half: ((.[1] | log) - (.[0] | log)) / 2;
        (.[0].results | map(select(.deciding))[0]) as $layouts | .[1].bias.drawn as $setups
        | (($layouts.ratio | log) - ($setups.value | log)) as $difference
        | ((($layouts.interval | half) * ($layouts.interval | half)
            + ($setups.interval | half) * ($setups.interval | half)) | sqrt) as $half
        | "\($name): \($layouts.ratio), random setups \($setups.value): "
          + "log difference \($difference) ± \($half), "
          + (if ($difference | fabs) <= $half then "holds 0" else "does not hold 0" end)
        ' "$file" "$program-random.json"
done | tee compare.txt
if [[ -s compare.txt ]]; then
    say "The difference holds 0 in $(grep -c ', holds 0$' compare.txt) of $(wc -l <compare.txt)."
fi
