#!/usr/bin/env bash
# A compiler driver that compiles with one compiler and links with another, also
# when a build system asks for both in one call.
#
#   COMPILE_CC=gcc LINK_CC=szc split-cc.sh ARGUMENTS
#
# Both variables may carry flags, separated by spaces.
set -euo pipefail

read -r -a compile <<<"${COMPILE_CC:?names the compiler}"
read -r -a link <<<"${LINK_CC:?names the driver that links}"

# What stops before the link step, or asks the compiler about itself.
for argument in "$@"; do
    case $argument in
    -c | -S | -E | -M | -MM | -fsyntax-only | -v | -V | --version | -dump* | -print-* | \
        --print-* | -\#\#\# | -qversion)
        exec "${compile[@]}" "$@"
        ;;
    esac
done

objects=$(mktemp -d)
trap 'rm -rf "$objects"' EXIT

# Flags go to both; inputs go to where they belong; -o names the linked file.
flags=() link_arguments=() sources=()
while [[ $# -gt 0 ]]; do
    case $1 in
    -o)
        link_arguments+=("$1" "$2")
        shift
        ;;
    -I | -D | -U | -include | -isystem | -MF | -MT | -MQ | -x)
        flags+=("$1" "$2")
        shift
        ;;
    # A link would take objects for sources.
    -x?*) flags+=("$1") ;;
    *.c | *.s | *.S | *.cc | *.cpp | *.cxx)
        sources+=("$1")
        link_arguments+=("$objects/${#sources[@]}.o")
        ;;
    -Xlinker | -T | -z | -u)
        link_arguments+=("$1" "$2")
        shift
        ;;
    -l* | -L* | -Wl,* | *.o | *.a | *.so | *.so.*) link_arguments+=("$1") ;;
    *)
        flags+=("$1")
        link_arguments+=("$1")
        ;;
    esac
    shift
done

number=0
for source in "${sources[@]}"; do
    number=$((number + 1))
    "${compile[@]}" "${flags[@]}" -c "$source" -o "$objects/$number.o"
done
"${link[@]}" "${link_arguments[@]}"
