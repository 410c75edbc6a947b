#!/usr/bin/env bash
# What does a program of very many functions cost to link, and to start?
#
#   tests/campaign/many-functions.sh [--functions N] [--rounds N]     default: 100,000 functions, 3
#                                                                     rounds
#
# Generates a program of N functions that call each other, compiles it by clang and by szc (code
# alone, all three), and then links and starts each in turn. Prints CPU time of the links over those
# of clang with the same flags, by its default linker and by lld (which szc uses), and how much
# later main is done than without szc; medians and ranges.
#
# Exit code 1 if the output differs, if a link takes more than twice as long as clang's with its
# default linker, or if a start takes more than 150 ms longer.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../spec-scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../spec-scripts/lib.sh"

FILES=50 MAX_RATIO=2 MAX_MS=150
functions=100000 rounds=3
while [[ $# -gt 0 ]]; do
    case $1 in
    --functions) positive "$1" "${2:-}" && functions=$2 ;;
    --rounds) positive "$1" "${2:-}" && rounds=$2 ;;
    *) die "unknown argument '$1'; the options are described at the top of this script" ;;
    esac
    shift 2
done
[[ -x $SZC ]] || die "no $SZC; run 'cargo build --release' first"
((functions >= FILES)) || die "--functions $functions: $FILES or more are needed, one for each file"

out=$CACHE/builds/many-functions
rm -rf "$out"
mkdir -p "$out/sources"

# Each function calls three others anywhere; some have a switch, and so a jump table.
heading "$functions functions in $FILES files"
awk -v functions="$functions" -v files="$FILES" -v out="$out/sources" '
    function other() { return int(rand() * functions) }
    BEGIN {
        srand(1)
        for (f = 0; f < functions; f++) {
            file = out "/part" int(f * files / functions) ".c"
            a = other(); b = other(); c = other()
            printf "int g%d(int, int), g%d(int, int), g%d(int, int);\n", a, b, c >file
            printf "int g%d(int x, int d) { if (d <= 0) return x + %d; int s = x; ", f, f >file
            printf "s += g%d(s ^ %d, d - 3); s += g%d(s ^ %d, d - 3); s += g%d(s ^ %d, d - 3); ", \
                a, f % 97, b, f % 89, c, f % 83 >file
            if (f % 3 == 0)
                printf "switch (s & 7) { case 0: s *= 3; break; case 1: s ^= 77; break; " \
                    "case 2: s -= 9; break; " \
                    "case 3: s += 1234; break; case 4: s = ~s; break; case 5: s |= 9; break; " \
                    "default: s++; } " >file
            printf "return s; }\n" >file
        }
        printf "#include <stdio.h>\nint g0(int, int);\n" \
            "int main(void) { printf(\"%%d\\n\", g0(1, 12)); return 0; }\n" \
            >(out "/main.c")
    }'

declare -A compiler=([clang]=clang-22 [clang-lld]="clang-22 -fuse-ld=lld" [code]=$SZC [all]=$SZC)
declare -A randomize=([clang]='' [clang-lld]='' [code]=code [all]=all)
for kind in clang code all; do
    mkdir -p "$out/$kind"
    # shellcheck disable=SC2016 # the inner shell expands these
    printf '%s\n' "$out"/sources/*.c | SZC_BUILD=${randomize[$kind]} xargs -P "$JOBS" -I{} sh -c \
        '"$1" -O1 -c "$2" -o "$3/$(basename "$2" .c).o"' sh "${compiler[$kind]}" {} "$out/$kind"
done
ln -sfn clang "$out/clang-lld"

RESULTS=$out
for ((round = 1; round <= rounds; round++)); do
    for kind in clang clang-lld code all; do
        # shellcheck disable=SC2086 # words
        took=$(SZC_BUILD=${randomize[$kind]} cpu_ms ${compiler[$kind]} "$out/$kind"/*.o \
            -o "$out/$kind.exe")
        say "link $kind $took" >>"$out/figures"
        for _ in 1 2 3; do
            start=$(date +%s%N)
            "$out/$kind.exe" >"$out/$kind.output"
            say "start $kind $((($(date +%s%N) - start) / 1000))" >>"$out/figures"
        done
        cmp -s "$out/clang.output" "$out/$kind.output" ||
            die "$kind: the output is not that of clang's program"
    done
done

# taken WHAT KIND: one a line, in order of size.
taken() { awk -v what="$1" -v kind="$2" '$1 == what && $2 == kind { print $3 }' "$out/figures" |
    sort -n; }

code=0
for kind in code all; do
    took=$(taken link "$kind" | median)
    for reference in clang clang-lld; do
        base=$(taken link "$reference" | median)
        taken link "$kind" |
            awk -v took="$took" -v base="$base" -v kind="$kind" -v reference="$reference" '
            { value[NR] = $1 / base }
            END {
                printf "link, %s, over %s: median %.2f, from %.2f to %.2f, %d links\n", \
                    kind, reference, \
                    took / base, value[1], value[NR], NR
            }'
    done
    ratio=$(awk -v took="$took" -v base="$(taken link clang | median)" \
        'BEGIN { print took / base }')
    later=$(awk -v a="$(taken start "$kind" | median)" -v b="$(taken start clang | median)" \
        'BEGIN { printf "%.0f", a - b }')
    printf 'start, %s: main is done %d.%d ms later than without szc, median of %d starts\n' \
        "$kind" \
        $((later / 1000)) $((later % 1000 / 100)) $((3 * rounds))
    is_at_most "$ratio" "$MAX_RATIO" ||
        { warn "$kind: the link takes $ratio times as long"; code=1; }
    ((later <= MAX_MS * 1000)) ||
        { warn "$kind: the start takes more than $MAX_MS ms longer"; code=1; }
done
exit "$code"
