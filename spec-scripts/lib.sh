# shellcheck shell=bash disable=SC2034
# What the scripts of this project share: messages, places, steps. Sourced.

PROJECT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
SCRIPTS=$PROJECT/spec-scripts
# One directory for each program, with the recipe that says where its source is.
RECIPES=${RECIPES:-$SCRIPTS/programs}
CACHE=${SZC_CACHE:-$PROJECT/.cache}
# The szc under test; another one, such as an installed one, can be named.
SZC=${SZC:-$PROJECT/target/release/szc}
JOBS=${JOBS:-$(nproc)}
export JOBS

# Programs with sources of their own; `bundled` is the stand-in without network.
REAL_PROGRAMS=(lua sqlite3 bzip2 zstd)

# rustup installs for one user and leaves it to the next login to extend PATH.
if ! command -v cargo >/dev/null && [[ -x ${HOME:-}/.cargo/bin/cargo ]]; then
    PATH=$HOME/.cargo/bin:$PATH
fi

say() { printf '%s\n' "$*"; }
warn() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; }
die() {
    warn "$@"
    exit 1
}

# heading TEXT: separates the steps of a long run.
heading() { printf '\n== %s\n' "$*"; }

# load_recipe PROGRAM: defines what is known about a program (its source, its
# build, its workload); see programs/*/recipe.sh.
load_recipe() {
    local recipe=$RECIPES/$1/recipe.sh
    if [[ ! -f $recipe ]]; then
        die "unknown program '$1'; known: $(cd "$RECIPES" && echo */ | tr -d /)"
    fi
    debian_source='' upstream_version='' upstream_url='' upstream_sha256='' crate='' crate_version=''
    # shellcheck source=/dev/null
    source "$recipe"
}

# source_version PROGRAM: what fetch.sh has unpacked, empty if nothing.
source_version() { cat "$CACHE/sources/$1/version" 2>/dev/null || true; }

# seconds_since NANOSECONDS: elapsed time with one decimal place.
seconds_since() {
    local tenths=$((($(date +%s%N) - $1) / 100000000))
    printf '%d.%d' $((tenths / 10)) $((tenths % 10))
}

# corpus BYTES FILE: deterministic text for the compressors, generated once.
corpus() {
    [[ -s $2 ]] && return
    mkdir -p "$(dirname "$2")"
    LC_ALL=C awk -v bytes="$1" -f "$SCRIPTS/programs/corpus.awk" >"$2.$$"
    mv "$2.$$" "$2"
}

# size_of_workload SIZE FULL TEST: picks by size, refuses other words.
size_of_workload() {
    case $1 in
    full) echo "$2" ;;
    test) echo "$3" ;;
    *) die "unknown size '$1'; use full or test" ;;
    esac
}
