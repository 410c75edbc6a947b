#!/usr/bin/env bash
# A compiler driver around another one. Where that links the program NAME, it is linked again by
# lld: in the order of the command line, and in N random orders of its objects.
#
#   link-orders.sh N FOLDER NAME COMPILER WORD...
#
# The results are FOLDER/0/NAME, in the order of the command line, to FOLDER/N/NAME. What is in a
# random order are the code and data that each object (also of archives) brings, as if the objects
# were named in another order; the code within an object stays as it is.
set -euo pipefail

(($# >= 4)) || {
    echo "link-orders.sh: $# words where N FOLDER NAME COMPILER WORD... are needed; see the" \
        "top of this script" >&2
    exit 2
}
number=$1 folder=$2 name=$3
shift 3
"$@"

words=() output=a.out previous=''
for word in "$@"; do
    case $word in
    -c | -E | -S | -M | -MM | -r | -shared | -fsyntax-only | --version) exit 0 ;;
    -o) ;;
    -o?*) output=${word#-o} ;;
    *) if [[ $previous == -o ]]; then output=$word; else words+=("$word"); fi ;;
    esac
    previous=$word
done
[[ $(basename "$output") == "$name" ]] || exit 0

# Sources in the command line are compiled once, not for each order.
language() {
    case $1 in
    *.c | *.cc | *.cpp | *.cxx | *.C) echo c ;;
    *.f | *.f90 | *.F | *.F90) echo fortran ;;
    esac
}
# is_source WORD: by its suffix, or because -x LANGUAGE stands before it.
is_source() { [[ -n $(language "$1") || ($announced == yes && $given != none && $1 != -*) ]]; }

# read_language WORD: whether the word belongs to -x, which no link must see: it would take objects
# for sources. Into `given` what it says of the sources behind it (`none`: their suffixes tell).
given=none announced=no awaited=no
read_language() {
    if [[ $awaited == yes ]]; then
        given=$1 announced=yes awaited=no
    elif [[ $1 == -x ]]; then
        awaited=yes
    elif [[ $1 == -x?* ]]; then
        given=${1#-x} announced=yes
    else
        return 1
    fi
}

rest=() linked=()
for word in "${words[@]:1}"; do
    read_language "$word" && continue
    is_source "$word" || rest+=("$word")
    announced=no
done
# What only a link has a use for is no reason to warn; clang can be told so, flang cannot.
declare -A quiet=([c]=-Wno-unused-command-line-argument [fortran]='')
mkdir -p "$folder/objects"
given=none
for word in "${words[@]:1}"; do
    read_language "$word" && continue
    if is_source "$word"; then
        language=$(language "$word")
        announcement=()
        [[ $given == none ]] || announcement=(-x "$given")
        object=$folder/objects/${#linked[@]}.o
        # shellcheck disable=SC2086 # empty is no word
        "${words[0]}" "${rest[@]}" ${quiet[${language:-c}]} "${announcement[@]}" \
            -c "$word" -o "$object"
        word=$object
    fi
    announced=no
    linked+=("$word")
done

for ((order = 0; order <= number; order++)); do
    shuffle=()
    if ((order > 0)); then
        for sections in .text .data .rodata .bss; do
            shuffle+=("-Wl,--shuffle-sections=$sections*=$order")
        done
    fi
    mkdir -p "$folder/$order"
    "${words[0]}" "${linked[@]}" -fuse-ld=lld "${shuffle[@]}" -o "$folder/$order/$name"
done
