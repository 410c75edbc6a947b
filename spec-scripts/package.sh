#!/usr/bin/env bash
# Makes a package of szc for Debian and Ubuntu, or a tarball that works wherever it is unpacked.
#
#   spec-scripts/package.sh deb|tar [--from DIR] [--output DIR]
#
# --from DIR: where szc was built; without it szc is built by cargo (install.sh).
# --output DIR: where the package goes; the current folder.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage="usage: package.sh deb|tar [--from DIR] [--output DIR]"
kind=${1:-}
[[ $kind == deb || $kind == tar ]] || die "'$kind' is no kind of package; $usage"
shift
from=() output=.
while [[ $# -gt 0 ]]; do
    [[ -n ${2:-} ]] || die "$1 needs a folder; $usage"
    case $1 in
    --from) from=(--from "$2") ;;
    --output) output=$2 ;;
    *) die "unknown argument '$1'; $usage" ;;
    esac
    shift 2
done
mkdir -p "$output"

VERSION=$(project_version)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022

# stage FOLDER: installs there, without debug information, which makes it a third as large.
stage() {
    "$SCRIPTS/install.sh" --prefix "$1" "${from[@]}" >"$work/log" || die "$(cat "$work/log")"
    strip --strip-debug "$1/bin/szc" "$1/lib/szc/libszc_pass.so"
}

# oldest_glibc FILE...: the version of glibc that they need.
oldest_glibc() {
    objdump -T "$@" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1 | cut -d_ -f2
}

deb() {
    local root=$work/root
    stage "$root/usr"
    # Whoever removes a package asks dpkg.
    rm "$root/usr/lib/szc/installed"
    mkdir "$root/DEBIAN"
    cat >"$root/DEBIAN/control" <<END
Package: szc
Version: $VERSION
Architecture: amd64
Maintainer: szc maintainers <maintainers@szc-project.invalid>
Section: devel
Priority: optional
Installed-Size: $(du -sk "$root/usr" | cut -f1)
Depends: clang-22, lld-22, llvm-22, binutils, libc6 (>= $(oldest_glibc "$root/usr/bin/szc" \
        "$root/usr/lib/szc/libszc_pass.so")), libgcc-s1
Suggests: flang-22, valgrind, linux-perf
Description: compiler driver and laboratory for programs whose layout is random
 szc takes what clang 22 takes and makes programs that change their own layout
 (code, stack and heap) while they run; and it measures such programs and says
 whether one is faster as code, not by a lucky layout.
END
    dpkg-deb --root-owner-group -Zxz --build "$root" "$output/szc_${VERSION}_amd64.deb" >/dev/null
    say "$output/szc_${VERSION}_amd64.deb"
}

tarball() {
    local name=szc-$VERSION-x86_64-linux
    stage "$work/$name"
    tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner -cJf "$output/$name.tar.xz" \
        "$name"
    say "$output/$name.tar.xz"
}

if [[ $kind == deb ]]; then deb; else tarball; fi
