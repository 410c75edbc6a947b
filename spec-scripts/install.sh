#!/usr/bin/env bash
# Installs szc below a folder, or takes it away again. The folder may be moved afterwards: szc finds
# its parts beside itself.
#
#   spec-scripts/install.sh [--prefix DIR] [--from DIR]
#   spec-scripts/install.sh --uninstall [--prefix DIR]
#
# --prefix DIR: where bin, lib/szc and share go; /usr/local for root, ~/.local for others.
# --from DIR: where szc was built; without it what is missing is installed (setup.sh) and szc is
# built by cargo. A packager may set SZC_COMMIT, which `szc version` shows.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

PARTS=(libszc_pass.so libszc_runtime.a libszc_library.a libszc_preload.so)
PLUGIN_NAMES=(libszc_pass_per_copy.so libszc_pass_per_function.so libszc_pass_records.so
    libszc_pass_paths.so)
# What was installed, one path below the prefix a line.
LIST=lib/szc/installed

prefix='' from='' uninstall=no
while [[ $# -gt 0 ]]; do
    case $1 in
    --prefix | --from)
        [[ -n ${2:-} ]] || die "$1 needs a folder"
        if [[ $1 == --prefix ]]; then prefix=$2; else from=$2; fi
        shift
        ;;
    --uninstall) uninstall=yes ;;
    *) die "unknown argument '$1'; usage: install.sh [--prefix DIR] [--from DIR] [--uninstall]" ;;
    esac
    shift
done
if [[ -z $prefix ]]; then
    if [[ $(id -u) -eq 0 ]]; then prefix=/usr/local; else prefix=$HOME/.local; fi
fi
prefix=$(realpath -m "$prefix")

# folder DIR: makes a folder below the prefix, and remembers those that were not there.
folder() {
    [[ ! -d $prefix/$1 ]] || return 0
    if [[ $1 == */* ]]; then folder "${1%/*}"; fi
    mkdir "$prefix/$1"
    echo "$1/" >>"$list"
}

# put FILE TO [MODE]: copies a file to a place below the prefix, and remembers it.
put() {
    folder "${2%/*}"
    install -m "${3:-644}" "$1" "$prefix/$2"
    echo "$2" >>"$list"
}

# point TO TARGET: a link below the prefix, to what lies beside it.
point() {
    ln -sfn "$2" "$prefix/$1"
    echo "$1" >>"$list"
}

# take_away: what an earlier installation put here, the last first; folders of its own if nothing
# else came into them.
take_away() {
    local path paths
    mapfile -t paths < <(tac "$prefix/$LIST")
    rm -f "$prefix/$LIST"
    for path in "${paths[@]}"; do
        if [[ $path == */ ]]; then
            rmdir --ignore-fail-on-non-empty "$prefix/$path"
        else
            rm -f "$prefix/$path"
        fi
    done
}

if [[ $uninstall == yes ]]; then
    [[ -f $prefix/$LIST ]] ||
        die "there is no szc below $prefix (no $prefix/$LIST); name its folder with --prefix"
    take_away
    say "szc is no longer below $prefix"
    exit
fi

if [[ -z $from ]]; then
    "$SCRIPTS/setup.sh"
    # Not the tests' programs and the suite's tool, which take as long again; and szc itself without
    # link-time optimization, which takes longer than all else.
    cd "$PROJECT"
    build_for_programs installed
    cargo build --profile installed -p szc -p szc-pass -j"$JOBS"
    from=$TARGET/installed
fi
for part in szc "${PARTS[@]}"; do
    [[ -f $from/$part ]] ||
        die "there is no $part in $from; build all of szc: cargo build --release"
done
if ! mkdir -p "$prefix" || [[ ! -w $prefix ]]; then
    die "$prefix cannot be written to; name another folder with --prefix, or be root"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
list=$work/installed
: >"$list"
# All that szc itself writes, before anything is put anywhere.
"$from/szc" manual "$work/man"
"$from/szc" completions bash >"$work/bash"
"$from/szc" completions zsh >"$work/zsh"
"$from/szc" completions fish >"$work/fish"
"$from/szc" completions zsh cargo >"$work/zsh-cargo"
"$from/szc" completions fish cargo >"$work/fish-cargo"
[[ ! -f $prefix/$LIST ]] || take_away

put "$from/szc" bin/szc 755
for name in szc++ szc-fortran cargo-szc; do
    point bin/$name szc
done
for part in "${PARTS[@]}"; do
    put "$from/$part" lib/szc/"$part"
done
for name in "${PLUGIN_NAMES[@]}"; do
    point lib/szc/"$name" libszc_pass.so
done

put "$PROJECT/runtime/control/include/szc.h" include/szc.h
put "$PROJECT/runtime/preload/include/coz.h" include/szc/coz.h
# The crate szc-rt, which in the sources takes part of its manifest from the workspace.
edition=$(sed -n 's/^edition = //p' "$PROJECT/Cargo.toml" | head -n 1)
printf '[package]\nname = "szc-rt"\nversion = "%s"\nedition = %s\nlicense = "%s"\n' \
    "$(project_version)" "$edition" "MIT OR Apache-2.0" >"$work/Cargo.toml"
put "$work/Cargo.toml" share/szc/szc-rt/Cargo.toml
put "$PROJECT/runtime/control/src/lib.rs" share/szc/szc-rt/src/lib.rs

for page in "$work"/man/*; do
    put "$page" share/man/man1/"$(basename "$page")"
done
put "$work/bash" share/bash-completion/completions/szc
for name in szc++ szc-fortran; do
    point share/bash-completion/completions/$name szc
done
put "$work/zsh" share/zsh/site-functions/_szc
put "$work/zsh-cargo" share/zsh/site-functions/_cargo-szc
put "$work/fish" share/fish/vendor_completions.d/szc.fish
# fish reads completions by the name of a command, and of cargo it has some.
put "$work/fish-cargo" share/fish/vendor_conf.d/cargo-szc.fish

for page in "$PROJECT"/szc/docs/src/*.md; do
    put "$page" share/doc/szc/book/"$(basename "$page")"
done
for page in README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE; do
    put "$PROJECT/$page" share/doc/szc/$page
done
install -m 644 "$list" "$prefix/$LIST"

say "$("$prefix/bin/szc" version) is below $prefix"
case :$PATH: in
*:"$prefix/bin":*) ;;
*) say "next: export PATH=$prefix/bin:\$PATH, then: szc doctor" ;;
esac
