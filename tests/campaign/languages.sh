#!/usr/bin/env bash
# Do programs of other languages, whose compilers take $CC or another name for the linker, run as
# without szc?
#
# Builds the program of each language that is installed twice, with clang and with szc as its C
# compiler and linker, runs the second with many seeds, and compares output, messages and exit code.
# A table at the end; exit code 1 if anything differs.
#
#   tests/campaign/languages.sh [--seeds N] [--languages "..."]
#
# --seeds N      seeds 1 to N, at the default interval and at 1 ms (default 20)
# --languages    of: ada chicken crystal dlang ecl gdc go haskell nim ocaml (default: all)
#
# What is not installed is named. On Debian: gnat chicken-bin crystal ldc ecl gdc golang-go ghc nim
# ocaml-nox ocaml-findlib. (FreePascal calls ld by itself, and asks no C compiler.)
# Results: test-results/languages/, or the directory RESULTS names.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../spec-scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../spec-scripts/lib.sh"

RESULTS=${RESULTS:-$PROJECT/test-results/languages}
RESULTS=$(realpath -m "$RESULTS")
SOURCES=$PROJECT/tests/campaign/languages
RUN_TIMEOUT_S=120
LANGUAGES=(ada chicken crystal dlang ecl gdc go haskell nim ocaml)

seeds=20
while [[ $# -gt 0 ]]; do
    case $1 in
    --seeds) positive "$1" "${2:-}" && seeds=$2 ;;
    --languages) read -ra LANGUAGES <<<"${2:-}" ;;
    *) die "unknown argument '$1'; usage: languages.sh [--seeds N] [--languages \"...\"]" ;;
    esac
    shift 2
done

# tool LANGUAGE: what must be installed.
tool() {
    case $1 in
    ada) say gnatmake ;;
    chicken) say csc ;;
    dlang) say ldc2 ;;
    haskell) say ghc ;;
    ocaml) say ocamlfind ;;
    *) say "$1" ;;
    esac
}

# build LANGUAGE CC: makes `program` in the current, empty folder.
build() {
    local cc=$2
    case $1 in
    ada) gnatmake -q "$SOURCES/tasks.adb" -o program -largs --LINK="$cc" ;;
    chicken) csc -O2 -cc "$cc" -ld "$cc" "$SOURCES/continuations.scm" -o "$PWD/program" ;;
    crystal) CC=$cc CRYSTAL_CACHE_DIR=$PWD crystal build "$SOURCES/fibers.cr" -o program ;;
    dlang) ldc2 -O2 --gcc="$cc" "$SOURCES/ranges.d" -of=program ;;
    ecl)
        cp "$SOURCES/conditions.lisp" .
        say '(compile-file "conditions.lisp" :output-file "part.o" :system-p t)' \
            '(c:build-program "program" :lisp-files (list "part.o")
                :epilogue-code (quote (ext:quit 0)))' \
            '(ext:quit 0)' >build.lisp
        ECL_CC=$cc ecl --norc --eval "(setf c::*cc* \"$cc\" c::*ld* \"$cc\")" --load build.lisp
        ;;
    gdc)
        gdc -c -O2 "$SOURCES/ranges.d" -o part.o
        "$cc" part.o -o program -lgphobos -lgdruntime -lpthread -lz -ldl -lm
        ;;
    go) CC=$cc GO111MODULE=off go build -o program "$SOURCES/calls.go" ;;
    haskell)
        cp "$SOURCES/lazy.hs" .
        # GHC 9.0 makes code for a fixed address, and tells only the compiler that it was built
        # with.
        ghc -O -threaded -rtsopts -pgmc "$cc" -pgma "$cc" -pgml "$cc" -optl-no-pie lazy.hs -o \
            program
        ;;
    nim)
        nim compile -d:release --threads:on --stacktrace:on --nimcache:cache --cc:clang \
            --clang.exe:"$cc" --clang.linkerexe:"$cc" -o:program "$SOURCES/closures.nim"
        ;;
    ocaml)
        cp "$SOURCES/exceptions.ml" .
        ocamlfind ocamlopt -thread -package threads.posix -linkpkg -cc "$cc" exceptions.ml -o \
            program
        ;;
    *) die "no language '$1'" ;;
    esac
}

# run FOLDER NAME [VARIABLE=VALUE...]: output, messages and exit code in FOLDER/NAME.
run() {
    local folder=$1 out=$1/$2 status=0
    shift 2
    env "$@" timeout "$RUN_TIMEOUT_S" "$folder/program" >"$out" 2>"$out.err" </dev/null || status=$?
    {
        cat "$out.err"
        say "exit code $status"
    } >>"$out"
}

# differing FOLDER EXPECTED LOG [VARIABLE=VALUE...]: how many seeds give something else.
differing() {
    local folder=$1 expected=$2 log=$3 seed count=0
    shift 3
    for ((seed = 1; seed <= seeds; seed++)); do
        run "$folder" run SZC_SEED="$seed" SZC_LOG="$log" "$@"
        if ! cmp -s "$expected" "$folder/run"; then
            count=$((count + 1))
            mv "$folder/run" "$folder/differs-$seed-$*"
        fi
    done
    say "$count"
}

failed=0 missing=()
rm -rf "$RESULTS"
mkdir -p "$RESULTS"
printf '| language | functions that move | stay | relocations | differ, default | differ, 1 ms |\n'
printf '| --- | --- | --- | --- | --- | --- |\n'
for language in "${LANGUAGES[@]}"; do
    if ! command -v "$(tool "$language")" >/dev/null; then
        missing+=("$language")
        continue
    fi
    for kind in plain szc; do
        folder=$RESULTS/$language/$kind
        mkdir -p "$folder"
        case $kind in plain) cc=clang-22 ;; szc) cc=$SZC ;; esac
        if ! (cd "$folder" && build "$language" "$cc") >"$folder/build.log" 2>&1; then
            say "| $language | does not build: $folder/build.log | | | | |"
            failed=1
            continue 2
        fi
    done
    run "$RESULTS/$language/plain" expected
    expected=$RESULTS/$language/plain/expected log=$folder/log
    default=$(differing "$folder" "$expected" "$log")
    fast=$(differing "$folder" "$expected" "$log" SZC_INTERVAL_MS=1)
    counts=$("$SZC" inspect "$folder/program" |
        awk '$1 == "movable" || $1 == "pinned" { printf "%s | ", $2 }')
    relocations=$(sed -n 's/.*"relocations":\([0-9]*\).*/\1/p' "$log" 2>/dev/null | tail -n 1)
    say "| $language | ${counts}${relocations:-none} | $default | $fast |"
    [[ $default == 0 && $fast == 0 && ${relocations:-0} -gt 0 ]] || failed=1
done
[[ ${#missing[@]} -eq 0 ]] || say "" "Not installed: ${missing[*]}."
exit "$failed"
