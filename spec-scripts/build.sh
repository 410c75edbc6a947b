#!/usr/bin/env bash
# Builds one program with its own build system and a given compiler.
#
#   [LDFLAGS=...] [LD_CC=...] spec-scripts/build.sh PROGRAM OUTDIR CC CFLAGS
#
# PROGRAM: lua, sqlite3, bzip2, zstd or bundled. CC may carry flags ("gcc -std=gnu99").
# With LD_CC, CC compiles and LD_CC links, also where the build system does both
# in one call. The executable is OUTDIR/PROGRAM, the protocol OUTDIR/build.log.
# Nothing is done when the same sources, compiler and flags were built before.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[[ $# -eq 4 ]] || die "usage: build.sh PROGRAM OUTDIR CC CFLAGS"
PROGRAM=$1 CC=$3 CFLAGS=$4
LDFLAGS=${LDFLAGS:-}
LD_CC=${LD_CC:-}
mkdir -p "$2"
OUT=$(cd "$2" && pwd)
load_recipe "$PROGRAM"

# compiler_path COMMAND: the absolute file behind the first word.
compiler_path() {
    local first=${1%% *}
    command -v "$first" || die "compiler '$first' not found; give a path or extend PATH"
}

# with_absolute_path COMMAND: builds run in other directories.
with_absolute_path() {
    local path rest=${1#"${1%% *}"}
    path=$(compiler_path "$1")
    say "$(cd "$(dirname "$path")" && pwd)/$(basename "$path")$rest"
}

# compiler_identity COMMAND: content of the compiler and of what szc links in.
compiler_identity() {
    [[ -n $1 ]] || return 0
    local path
    path=$(compiler_path "$1")
    path=$(readlink -f "$path")
    local parts
    mapfile -t parts < <(compgen -G "$(dirname "$path")/libszc_*.[as]*" || true)
    sha256sum "$path" "${parts[@]}" | cut -d' ' -f1
}

CC=$(with_absolute_path "$CC")
[[ -z $LD_CC ]] || LD_CC=$(with_absolute_path "$LD_CC")

if [[ -n $debian_source ]]; then
    SOURCE=$CACHE/sources/$PROGRAM/tree
    [[ -d $SOURCE ]] || die "$PROGRAM: no source in $CACHE/sources; run spec-scripts/fetch.sh $PROGRAM first"
    identity=$(cat "$CACHE/sources/$PROGRAM/version" "$CACHE/sources/$PROGRAM/origin")
else
    SOURCE=$SCRIPTS/programs/$PROGRAM
    identity=$(sha256sum "$SOURCE"/*)
fi

key=$(
    {
        say "$identity" "$CC" "$LD_CC" "$CFLAGS" "$LDFLAGS" "${SZC_BUILD:-}"
        cat "$SCRIPTS/programs/$PROGRAM/recipe.sh"
        compiler_identity "$CC"
        compiler_identity "$LD_CC"
    } | sha256sum | cut -d' ' -f1
)
if [[ -x $OUT/$PROGRAM && $(cat "$OUT/key" 2>/dev/null) == "$key" ]]; then
    exit 0
fi

rm -rf "$OUT/key" "$OUT/tree" "${OUT:?}/$PROGRAM"
cp -r "$SOURCE" "$OUT/tree"

AR=ar RANLIB=ranlib
if [[ " $CFLAGS " == *" -flto"* ]]; then
    # The archiver must read the symbols of bitcode to index it.
    AR=llvm-ar-22 RANLIB=llvm-ranlib-22
fi
export AR RANLIB

if [[ -n $LD_CC ]]; then
    printf '#!/bin/sh\nCOMPILE_CC="%s" LINK_CC="%s" exec "%s/split-cc.sh" "$@"\n' \
        "$CC" "$LD_CC" "$SCRIPTS" >"$OUT/cc"
    chmod +x "$OUT/cc"
    CC=$OUT/cc
fi

started=$(date +%s%N)
# Not as a condition: `set -e` holds only in a subshell whose status is not tested.
set +e
(
    set -e
    cd "$OUT/tree"
    recipe_build
) >"$OUT/build.log" 2>&1
status=$?
set -e
if [[ $status -ne 0 ]]; then
    tail -n 15 "$OUT/build.log" >&2
    die "$PROGRAM: build with '$3' and '$4' failed (exit code $status); all of it: $OUT/build.log"
fi
say "build took $(seconds_since "$started") s" >>"$OUT/build.log"
rm -rf "$OUT/tree"
say "$key" >"$OUT/key"
