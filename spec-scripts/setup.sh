#!/usr/bin/env bash
# Installs what this project needs to build and run; does nothing, silently, when
# all of it is there.
#
#   spec-scripts/setup.sh [--tests]
#
# --tests: also what only the tests use. On Debian and Ubuntu missing packages are
# installed by apt-get; elsewhere they are named.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

LLVM=22
RUST_MINOR_NEEDED=95

# PACKAGE=PATH: a file that is there when the package is. A file and not the
# package database, because the tool may have come another way.
NEEDED=(
    "clang-$LLVM=clang-$LLVM"
    "lld-$LLVM=ld.lld-$LLVM"
    "llvm-$LLVM=llvm-objcopy-$LLVM"
    "llvm-$LLVM-dev=/usr/lib/llvm-$LLVM/include/llvm/Passes/PassBuilder.h"
    "gcc=gcc"
    "g++=g++"
    "make=make"
    "xz-utils=xz"
    "tcl=tclsh"
)
NEEDED_BY_TESTS=(
    "autoconf=autoconf"
    "automake=automake"
    "ccache=ccache"
    "chromium=chromium"
    "cmake=cmake"
    "fish=fish"
    "flang-$LLVM=flang-$LLVM"
    "gdb=gdb"
    "gfortran=gfortran"
    "git=git"
    "golang-go=go"
    "libc++-$LLVM-dev=/usr/lib/llvm-$LLVM/include/c++/v1/vector"
    "libc++abi-$LLVM-dev=/usr/lib/llvm-$LLVM/lib/libc++abi.so"
    "libunwind-$LLVM-dev=/usr/lib/llvm-$LLVM/lib/libunwind.so"
    "libunwind8=/usr/lib/x86_64-linux-gnu/libunwind.so.8"
    "linux-perf=perf"
    "mold=mold"
    "python3-dev=python3-config"
    "qemu-user-static=qemu-x86_64-static"
    "shellcheck=shellcheck"
    "time=/usr/bin/time"
    "valgrind=valgrind"
    "zsh=zsh"
)

# is_there NAME: a program on the PATH, or a file.
is_there() {
    case $1 in
    /*) [[ -e $1 ]] ;;
    *) command -v "$1" >/dev/null ;;
    esac
}

# missing_packages PACKAGE=FILE...
missing_packages() {
    local item
    for item in "$@"; do
        is_there "${item#*=}" || echo "${item%%=*}"
    done
}

# as_root COMMAND...
as_root() {
    if [[ $(id -u) -eq 0 ]]; then
        "$@"
    else
        sudo "$@"
    fi
}

can_be_root() { [[ $(id -u) -eq 0 ]] || command -v sudo >/dev/null; }

# candidate PACKAGE: the version apt would install, empty if none.
candidate() {
    LC_ALL=C apt-cache policy "$1" 2>/dev/null | sed -n 's/^  Candidate: //p' |
        grep -v '^(none)$' || true
}

# first_unknown PACKAGE...: the first one that apt knows no version of.
first_unknown() {
    local package
    for package in "$@"; do
        if [[ -z $(candidate "$package") ]]; then
            echo "$package"
            return
        fi
    done
}

refreshed=no
# refresh_apt: the package lists of a new machine are empty, or older than LLVM 22.
refresh_apt() {
    [[ $refreshed == no ]] && can_be_root || return 0
    refreshed=yes
    say "setup: updating the package lists"
    as_root apt-get -qq update ||
        warn "apt-get update failed; going on with the package lists there are"
}

# name_perf: Ubuntu's perf comes under another name.
name_perf() {
    local i
    for i in "${!needed[@]}"; do
        if [[ ${needed[i]} == linux-perf=* ]] && ! is_there perf &&
            command -v apt-get >/dev/null; then
            [[ -n $(candidate linux-perf) ]] || refresh_apt
            [[ -n $(candidate linux-perf) ]] || needed[i]=linux-tools-generic=perf
        fi
    done
}

# install PACKAGE...
install() {
    can_be_root ||
        die "missing: $*. Installing them needs root and there is no sudo; run as root: apt-get" \
        "install $*"
    say "setup: installing $*"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$@" \
        ||
        die "apt-get could not install $*; see its messages above, then run" \
        "spec-scripts/setup.sh again"
}

install_missing_packages() {
    local missing unknown
    mapfile -t missing < <(missing_packages "$@")
    [[ ${#missing[@]} -gt 0 ]] || return 0
    if ! command -v apt-get >/dev/null; then
        die "missing: ${missing[*]} (Debian's names). This system has no apt-get; install them" \
            "with its own package manager (LLVM must be version $LLVM, with" \
            "llvm-config at /usr/lib/llvm-$LLVM/bin) and run spec-scripts/setup.sh again."
    fi
    [[ -z $(first_unknown "${missing[@]}") ]] || refresh_apt
    unknown=$(first_unknown "${missing[@]}")
    case $unknown in
    '') ;;
    *-$LLVM*)
        die "this system's package archive has no $unknown. It is in the updates of Debian 12" \
            "and newer:" \
            "enable 'main' of the security and update suites, or add the LLVM project's own" \
            "packages as described on apt.llvm.org for version $LLVM; then run" \
            "spec-scripts/setup.sh again."
        ;;
    *)
        die "apt knows no package '$unknown'; check the lists in /etc/apt and run" \
            "spec-scripts/setup.sh again"
        ;;
    esac
    install "${missing[@]}"
}

# rust_minor VERSION: the 95 of "1.95.0".
rust_minor() {
    local rest=${1#*.}
    echo "${rest%%.*}"
}

# rust_from_apt: prints the packages of a Rust that is new enough, if apt has them.
# Debian keeps a current one for building browsers.
rust_from_apt() {
    local suffix version
    for suffix in "" -web -mozilla; do
        version=$(candidate "rustc$suffix")
        if [[ $version == 1.* && $(rust_minor "$version") -ge $RUST_MINOR_NEEDED ]]; then
            echo "rustc$suffix cargo$suffix"
            return
        fi
    done
}

RUST_ADVICE="install a newer one with rustup (see rustup.rs), or 'rustup update stable' if it is \
there"

check_rust() {
    local found
    if ! command -v cargo >/dev/null && command -v apt-get >/dev/null; then
        local packages
        packages=$(rust_from_apt)
        if [[ -z $packages ]]; then
            refresh_apt
            packages=$(rust_from_apt)
        fi
        # cargo only recommends the certificates without which it downloads nothing.
        # shellcheck disable=SC2086  # two words on purpose
        [[ -z $packages ]] || install $packages ca-certificates
    fi
    command -v cargo >/dev/null ||
        die "cargo not found; Rust 1.$RUST_MINOR_NEEDED or newer is needed: $RUST_ADVICE"
    found=$(cd "$PROJECT" && rustc --version 2>/dev/null | cut -d' ' -f2) || true
    [[ $found == 1.* ]] || die "rustc does not say its version; $RUST_ADVICE"
    [[ $(rust_minor "$found") -ge $RUST_MINOR_NEEDED ]] ||
        die "rustc is $found; 1.$RUST_MINOR_NEEDED or newer is needed: $RUST_ADVICE"
}

main() {
    local needed=("${NEEDED[@]}")
    case ${1:-} in
    '') ;;
    --tests) needed+=("${NEEDED_BY_TESTS[@]}") ;;
    *) die "unknown argument '$1'; usage: setup.sh [--tests]" ;;
    esac
    [[ $(uname -sm) == "Linux x86_64" ]] ||
        die "this is $(uname -sm); szc needs Linux on x86-64"
    name_perf
    install_missing_packages "${needed[@]}"
    check_rust
}

main "$@"
