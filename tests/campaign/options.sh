#!/usr/bin/env bash
# Does a program do the same with szc as with clang, whatever options it is compiled and linked
# with?
#
# Builds test programs with exceptions, computed gotos, switches, callbacks and threads with clang
# and with szc, with each linker and each group of options below; runs the build by szc at the
# default interval and at a very short one, and compares output and exit code with those of the
# build by clang. What clang cannot build is passed over. A table at the end; exit code 1 if
# anything differed or szc could not build what clang can.
#
#   tests/campaign/options.sh [--runs N] [--interval MS] [--linkers "..."] [--words PATTERN]
#       [--again]
#
# --runs N         seeds 1..N per build at the short interval (default 5)
# --interval MS    the short interval between re-randomizations (default 1)
# --linkers        of: default lld bfd gold mold (default: those that are installed)
# --words PATTERN  only groups of options that match this extended regular expression
# --again          builds and runs again what has results
#
# Resumable: test-results/options/, or the directory RESULTS names, has one line a build in
# `results`, and a build that has one is not made again unless the szc under test is another one.
# Builds that failed stay in `failed`.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../spec-scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../spec-scripts/lib.sh"

RESULTS=${RESULTS:-$PROJECT/test-results/options}
RUN_TIMEOUT_S=60
PROGRAMS=(tests/campaign/programs/options.cpp tests/programs/labels/parts.c
    tests/programs/exceptions/parts.cpp)

# One group of options a line. Where none sets a level it is -O2.
GROUPS_OF_WORDS='
-O0
-O1
-O2
-O3
-Os
-Oz
-Wl,-O0
-Wl,-O1
-Wl,-O2
-Wl,-O3
-Wl,-O2 -no-pie -fno-pic
-Wl,-O2 -Wl,-z,pack-relative-relocs
-no-pie -fno-pic
-fno-pic -no-pie -mcmodel=large
-static
-static-pie
-static -Wl,-O2
-mcmodel=medium
-mcmodel=large
-mcmodel=large -static
-mcmodel=large -Wl,-O2
-fno-plt
-fno-plt -Wl,-z,now
-Wl,-z,now -Wl,-z,norelro
-Wl,-z,pack-relative-relocs
-Wl,-z,norelro
-Wl,--icf=all
-Wl,--icf=all -ffunction-sections -fdata-sections
-Wl,--icf=safe -faddrsig -ffunction-sections
-ffunction-sections -fdata-sections -Wl,--gc-sections
-Wl,--gc-sections -Wl,-O2
-Wl,--build-id
-Wl,--build-id=sha1 -Wl,-O2
-Wl,--no-relax
-Wl,--no-rosegment
-Wl,-z,separate-code
-Wl,-z,noseparate-code
-Wl,-N
-Wl,--hash-style=sysv
-Wl,--emit-relocs
-Wl,--no-eh-frame-hdr
-Wl,-z,nostart-stop-gc
-Wl,--compress-debug-sections=zlib -g
-g -gsplit-dwarf
-fbasic-block-sections=all
-fbasic-block-sections=all -Wl,-O2
-fbasic-block-sections=all -no-pie -fno-pic
-fbasic-block-sections=all -Wl,--optimize-bb-jumps
-fbasic-block-sections=all -mcmodel=large
-fbasic-block-sections=all -O0
-fbasic-block-sections=all -O1 -fno-omit-frame-pointer
-fbasic-block-sections=all -ffunction-sections -Wl,--gc-sections
-fbasic-block-sections=all -static
-fbasic-block-address-map
-funique-basic-block-section-names -fbasic-block-sections=all
-fsplit-machine-functions
-flto
-flto -Wl,-O2
-flto=thin
-flto -Wl,--lto-O3 -Wl,-O2
-flto -static
-fno-asynchronous-unwind-tables
-fno-asynchronous-unwind-tables -fbasic-block-sections=all
-fno-unwind-tables -fno-asynchronous-unwind-tables
-fno-omit-frame-pointer
-fno-omit-frame-pointer -mno-red-zone
-fno-jump-tables
-fstack-protector-all
-fstack-clash-protection
-fcf-protection
-fcf-protection -Wl,-z,ibtplt
-mretpoline
-mspeculative-load-hardening
-fpatchable-function-entry=16
-finstrument-functions -DINSTRUMENTED
-fxray-instrument
-march=native -O3
-fno-semantic-interposition -fvisibility=hidden
-rdynamic
-fno-integrated-as
-Wa,--crel,--allow-experimental-crel
-mllvm -hot-cold-split
-mllvm -enable-machine-outliner
-mllvm -enable-tail-merge=false
-mllvm -align-all-nofallthru-blocks=5
-fprofile-generate
-fprofile-instr-generate
-fsanitize=undefined -fno-sanitize-recover=all
-fsanitize=shadow-call-stack
-fsanitize=cfi -flto -fvisibility=hidden
-fwhole-program-vtables -flto -fvisibility=hidden
-s
-Wl,-s -Wl,-O2
-Wl,--strip-debug
-Wl,-Ttext-segment=0x10000000 -no-pie -fno-pic
-Wl,-z,max-page-size=0x200000
-Wl,--sort-section=alignment
'

# compile_with COMPILER OUTPUT PROGRAM WORD...
compile_with() {
    local compiler=$1 output=$2 program=$3
    shift 3
    timeout 300 "$compiler" "$@" -pthread "$PROJECT/$program" -o "$output"
}

# outcome_of FOLDER: what the program there says and how it ends. It may say its own name.
outcome_of() {
    local status=0
    (cd "$1" && timeout "$RUN_TIMEOUT_S" ./program 2>&1 </dev/null) || status=$?
    say "exit code $status"
}

# compare_build FOLDER: whether the build there does the same as clang's; says what it found.
compare_build() {
    local expected seed interval
    expected=$(outcome_of "$1/clang" 2>/dev/null)
    for ((seed = 0; seed <= RUNS; seed++)); do
        interval=$INTERVAL_MS
        ((seed)) || interval=500
        SZC_SEED=$seed SZC_INTERVAL_MS=$interval outcome_of "$1/szc" >"$1/found" 2>/dev/null
        if [[ $(<"$1/found") != "$expected" ]]; then
            say "differs:seed-$seed-interval-$interval"
            return
        fi
    done
    say same
}

# number NAME FILE: a number of a JSON file; 0 if it is not there.
number() {
    local value
    value=$(sed -n "s/.*\"$1\": *\([0-9][0-9]*\).*/\1/p" "$2" 2>/dev/null | head -n 1)
    echo "${value:-0}"
}

# one_case KEY: called through xargs, in its own process. A key is PROGRAM|LINKER|OPTIONS.
one_case() {
    local key=$1 program linker options compiler='' verdict='' counts='0 0'
    IFS='|' read -r program linker options <<<"$key"
    local folder
    folder=$RESULTS/cases/$(sha256sum <<<"$key" | cut -c1-16)
    local list=()
    read -ra list <<<"$options"
    [[ " $options" == *" -O"* ]] || list=(-O2 "${list[@]}")
    [[ $linker == default ]] || list+=("-fuse-ld=$linker")
    [[ $program != *.cpp ]] || compiler=++
    mkdir -p "$folder/clang" "$folder/szc"
    if ! compile_with "clang$compiler-22" "$folder/clang/program" "$program" "${list[@]}" \
        2>"$folder/clang.log"; then
        verdict=clang-cannot
    elif [[ ! -x $folder/clang/program ]]; then
        verdict=no-program
    elif ! compile_with "$SZC$compiler" "$folder/szc/program" "$program" "${list[@]}" \
        2>"$folder/szc.log"; then
        verdict=szc-cannot
    else
        verdict=$(compare_build "$folder")
        "$SZC" inspect --json "$folder/szc/program" >"$folder/inspect.json" 2>/dev/null || true
        counts=$(number movable "$folder/inspect.json")
        counts+=" $(number padded_by_copies "$folder/inspect.json")"
    fi
    case $verdict in
    differs:* | szc-cannot) mkdir -p "$RESULTS/failed" && rm -rf "$RESULTS/failed/${folder##*/}" &&
        mv "$folder" "$RESULTS/failed/" && verdict+=":failed/${folder##*/}" ;;
    *) rm -rf "$folder" ;;
    esac
    # One short write, so that lines of parallel cases do not mix.
    printf '%s\t%s\t%s\n' "$verdict" "$counts" "$key" >>"$RESULTS/results"
}

# all_keys: each program with each linker and each group of options.
all_keys() {
    local options linker program
    while IFS= read -r options; do
        [[ -n $options && $options =~ $PATTERN ]] || continue
        for linker in $LINKERS; do
            for program in "${PROGRAMS[@]}"; do
                say "$program|$linker|$options"
            done
        done
    done <<<"$GROUPS_OF_WORDS"
}

# pending_keys: those that have no result yet.
pending_keys() {
    all_keys |
        awk -F'\t' 'FILENAME != "-" { done[$3] = 1; next } !($0 in done)' "$RESULTS/results" -
}

installed_linkers() {
    local linker
    printf default
    for linker in lld bfd gold mold; do
        ! compgen -c "ld.$linker" >/dev/null || printf ' %s' "$linker"
    done
}

# report: the table, and whether nothing failed.
report() {
    heading "builds by linker"
    local linker
    for linker in $LINKERS; do
        awk -F'\t' -v linker="$linker" '
            { split($3, key, "|") }
            key[2] != linker { next }
            $1 == "same" { same++ }
            $1 == "same" && $2 ~ /^0 / { still++ }
            $1 ~ /^(clang-cannot|no-program)/ { without++ }
            $1 ~ /^(differs|szc-cannot)/ { failed++ }
            END {
                printf "%-8s %4d as with clang, %d of them with no function that moves; " \
                    "%d failed; %d not by clang\n",
                    linker, same, still, failed, without
            }' "$RESULTS/results"
    done
    heading failures
    if awk -F'\t' '$1 ~ /^(differs|szc-cannot)/ { print; found = 1 } END { exit !found }' \
        "$RESULTS/results"; then
        return 1
    fi
    say none
}

if [[ ${1:-} == --one-case ]]; then
    one_case "$2"
    exit
fi

RUNS=5 INTERVAL_MS=1 LINKERS='' PATTERN='' AGAIN=
while (($#)); do
    case $1 in
    --runs) positive "$1" "${2:-}" && RUNS=$2 && shift 2 ;;
    --interval) positive "$1" "${2:-}" && INTERVAL_MS=$2 && shift 2 ;;
    --linkers) LINKERS=${2:?} && shift 2 ;;
    --words) PATTERN=${2:?} && shift 2 ;;
    --again) AGAIN=1 && shift ;;
    *) die "unknown option '$1'; see the head of this file" ;;
    esac
done
[[ -n $LINKERS ]] || LINKERS=$(installed_linkers)
export RUNS INTERVAL_MS RESULTS SZC

mkdir -p "$RESULTS"
identity=$(cat "$SZC" "$(dirname "$SZC")"/libszc_*.[as]* | sha256sum)
if [[ -n $AGAIN || $(cat "$RESULTS/identity" 2>/dev/null) != "$identity" ]]; then
    rm -rf "$RESULTS/results" "$RESULTS/failed"
    say "$identity" >"$RESULTS/identity"
fi
touch "$RESULTS/results"
rm -rf "$RESULTS/cases"
pending_keys | xargs -r -d '\n' -n 1 -P "$JOBS" "${BASH_SOURCE[0]}" --one-case
report
