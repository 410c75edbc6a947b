#!/usr/bin/env bash
# Runs the workload of a program that build.sh has built. What it writes to
# standard output depends on the workload alone, so two builds can be compared.
#
#   spec-scripts/workload.sh WORKLOAD BUILDDIR [--size full|test] [--print]
#
# WORKLOAD: lua, sqlite3, bzip2, zstd, bundled; with -d: bzip2 and zstd
# decompress. full takes 1 to 2 s, test about 0.15 s. --print writes the command,
# one word a line, instead of running it.
# shellcheck disable=SC2034  # recipes read them
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

SIZE=full print=no words=()
while [[ $# -gt 0 ]]; do
    case $1 in
    --size)
        SIZE=${2:?--size needs full or test}
        shift
        ;;
    --print) print=yes ;;
    -*) die "unknown option '$1'" ;;
    *) words+=("$1") ;;
    esac
    shift
done
[[ ${#words[@]} -eq 2 ]] || die "usage: workload.sh WORKLOAD BUILDDIR [--size full|test] [--print]"

PROGRAM=${words[0]%-d}
MODE="compress"
[[ ${words[0]} == "$PROGRAM" ]] || MODE="decompress"
load_recipe "$PROGRAM"
BUILD=${words[1]}
[[ -x $BUILD/$PROGRAM ]] || die "no executable $BUILD/$PROGRAM; build it with spec-scripts/build.sh"
BUILD=$(cd "$BUILD" && pwd)
# Inputs depend on the size alone, so all builds share them.
INPUTS=$CACHE/inputs/$PROGRAM
mkdir -p "$INPUTS"

recipe_inputs
COMMAND=()
recipe_command
if [[ $print == yes ]]; then
    printf '%s\n' "${COMMAND[@]}"
else
    exec "${COMMAND[@]}"
fi
