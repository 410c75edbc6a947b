# shellcheck shell=bash disable=SC2034
# What the scripts of this project share: messages, places, steps. Sourced.

PROJECT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
SCRIPTS=$PROJECT/spec-scripts
# One directory for each foreign test suite, with the recipe that says where its source is.
RECIPES=${RECIPES:-$PROJECT/tests/campaign/suites}
CACHE=${SZC_CACHE:-$PROJECT/.cache}
# Where cargo puts what it builds; cargo takes a relative name from the folder it runs in, here the
# project's.
TARGET=${CARGO_TARGET_DIR:-target}
[[ $TARGET == /* ]] || TARGET=$PROJECT/$TARGET
# The szc under test; another one, such as an installed one, can be named. Absolute, because scripts
# change folders; a link stays one, for szc finds its parts beside it.
SZC=$(realpath -sm "${SZC:-$TARGET/release/szc}")
JOBS=${JOBS:-$(nproc)}
export JOBS

# Programs of the open suite that the tests and campaigns run; `bundled` is the stand-in without
# network.
REAL_PROGRAMS=(lua sqlite3 bzip2 zstd)

# rustup installs for one user and leaves it to the next login to extend PATH.
if ! command -v cargo >/dev/null && [[ -x ${HOME:-}/.cargo/bin/cargo ]]; then
    PATH=$HOME/.cargo/bin:$PATH
fi

# project_version: of szc.
project_version() { sed -n 's/^version = "\(.*\)"/\1/p' "$PROJECT/Cargo.toml" | head -n 1; }

# build_for_programs PROFILE OPTION...: what szc takes into programs, which is always as released,
# also beside the szc of another profile of cargo. In the project's folder.
build_for_programs() {
    local part profile=$1
    shift
    cargo build --release -p szc-runtime -p szc-library -p szc-preload -j"$JOBS" "$@" || return
    mkdir -p "$TARGET/$profile" || return
    for part in libszc_runtime.a libszc_library.a libszc_preload.so; do
        ln -sfn "../release/$part" "$TARGET/$profile/$part" || return
    done
}

say() { printf '%s\n' "$*"; }
warn() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; }
die() {
    warn "$@"
    exit 1
}

# heading TEXT: separates the steps of a long run.
heading() { printf '\n== %s\n' "$*"; }

# figures WORD...: what szc's statistics say of the numbers on standard input
# (tests/src/bin/figures.rs).
figures() {
    local tool=$TARGET/release/figures
    [[ -x $tool ]] || (cd "$PROJECT" && cargo build --quiet --release -p szc-tests --bin figures) ||
        die "the tool that describes numbers could not be built; see above"
    "$tool" "$@"
}

# quantile SHARE: of the numbers on standard input; nothing if there are none.
quantile() { figures quantile "$1"; }

median() { figures median; }

# median_interval: the bounds of an interval that holds the median of what the numbers on standard
# input, 6 or more, were drawn from with 95 %.
median_interval() { figures interval; }

# enough_for_interval OPTION N: ends the script if an interval of the median cannot be had from so
# many.
enough_for_interval() { (($2 >= 6)) || die "$1 $2: an interval with 95 % needs 6 or more"; }

# read_pairs DEFAULT ARGUMENT...: the one option of some scripts, --pairs N, as variable `pairs`.
read_pairs() {
    pairs=$1
    shift
    while [[ $# -gt 0 ]]; do
        case $1 in
        --pairs) positive "$1" "${2:-}" && pairs=$2 ;;
        *) die "unknown argument '$1'; the options are described at the top of this script" ;;
        esac
        shift 2
    done
    enough_for_interval --pairs "$pairs"
}

# is_at_most NUMBER LIMIT: whether it is; either may have decimal places.
is_at_most() { awk -v number="$1" -v limit="$2" 'BEGIN { exit number > limit }'; }

# suite COMMAND...: the tool of the open suite, built if its sources have changed since. SUITE names
# the programs: those of open-suite/$SUITE.toml.
SUITE=${SUITE:-suite}
suite() {
    local programs=$SCRIPTS/open-suite/$SUITE.toml
    [[ -r $programs ]] || die "SUITE=$SUITE: there is no $programs; suite and others are known"
    if [[ -z ${SUITE_TOOL:-} ]]; then
        (cd "$PROJECT" && cargo build --quiet --release -p szc-suite -j"$JOBS") ||
            die "the suite's tool could not be built; see above, and run spec-scripts/setup.sh" \
            "if something is missing"
        export SUITE_TOOL=$TARGET/release/szc-suite
    fi
    PATH=$(dirname "$SZC"):$PATH SZC_SPLIT_CC=$SCRIPTS/split-cc.sh "$SUITE_TOOL" \
        --suite "$programs" --cache "$CACHE/open-suite" "$@"
}

# plant FILE LINE EVERY: behind the only such line, a loop in every so many calls.
plant() {
    local text
    text="{ extern const long planted_rounds; static unsigned calls; long round, sum = 0;"
    text+=" if (++calls % $3 == 0) for (round = planted_rounds; round > 0; round--)"
    text+=" __asm__ volatile(\"add \$1, %0\" : \"+r\"(sum)); }"
    [[ $(grep -cxF "$2" "$1") -eq 1 ]] || die "$1 has no single place for the plant: '$2'"
    awk -v place="$2" -v plant="$text" '{ print } $0 == place { print plant }' "$1" >"$1.planted"
    mv "$1.planted" "$1"
}

# planted_sqlite FOLDER: leaves sqlite3.c there with a plant in the function that looks rows up, and
# shell.c. Much in every 16th call, since a few instructions in each would hide behind others that
# wait for memory.
planted_sqlite() {
    [[ -s $1/planted ]] && return
    rm -rf "$1"
    sqlite_amalgamation "$1"
    plant "$1/sqlite3.c" '  assert( pCur->eState!=CURSOR_VALID || pCur->curIntKey!=0 );' 16
    say yes >"$1/planted"
}

# load_recipe NAME: defines what is known about a foreign test suite (its source, its build, its
# tests).
load_recipe() {
    local recipe=$RECIPES/$1/recipe.sh
    if [[ ! -f $recipe ]]; then
        die "unknown suite '$1'; known: $(cd "$RECIPES" && echo */ | tr -d /)"
    fi
    debian_source='' debian_version='' debian_sha256='' crate='' crate_version=''
    # Limits on one test, where the recipe runs each by itself, and on all of them.
    test_seconds=600 suite_seconds=7200
    # shellcheck source=/dev/null
    source "$recipe"
}

# source_version PROGRAM: what fetch.sh has unpacked, empty if nothing.
source_version() { cat "$CACHE/sources/$1/version" 2>/dev/null || true; }

# in_random_order KEY WORD...: the words, one a line, in an order that follows from the key. Sorted
# by a cryptographic hash: with a checksum, or with a short repeated text as the source of
# randomness, some places come more often than others.
in_random_order() {
    local key=$1 word
    shift
    for word in "$@"; do
        printf '%s %s\n' "$(printf '%s\n' "$key" "$word" | sha256sum | cut -d' ' -f1)" "$word"
    done | LC_ALL=C sort | cut -d' ' -f2-
}

# positive NAME VALUE: ends the script unless the value is a whole number above 0.
positive() { [[ $2 =~ ^[1-9][0-9]*$ ]] || die "$1 needs a number, 1 or more; found '$2'"; }

# seconds_since NANOSECONDS: elapsed time with one decimal place.
seconds_since() {
    local tenths=$((($(date +%s%N) - $1) / 100000000))
    printf '%d.%d' $((tenths / 10)) $((tenths % 10))
}

# cpu_ms COMMAND...: CPU time of the command in milliseconds. What it says on standard error is in
# $RESULTS.
cpu_ms() {
    local times TIMEFORMAT='%U %S'
    times=$({ time "$@" >/dev/null 2>"$RESULTS/stderr"; } 2>&1) ||
        die "failed: $* ($(tail -n 1 "$RESULTS/stderr"))"
    awk '{ printf "%d", ($1 + $2) * 1000 + 0.5 }' <<<"$times"
}

# sqlite_amalgamation FOLDER: leaves sqlite3.c and shell.c there, unless they are there already.
sqlite_amalgamation() {
    [[ -s $1/sqlite3.c && -s $1/shell.c ]] && return
    local source
    source=$(suite source sqlite3)
    rm -rf "$1"
    mkdir -p "$(dirname "$1")"
    cp -r "$source" "$1"
    if [[ ! -s $1/sqlite3.c ]]; then
        (cd "$1" && ./configure --disable-tcl && make sqlite3.c shell.c) >"$1.log" 2>&1 ||
            die "could not make sqlite3.c; see $1.log"
    fi
}
