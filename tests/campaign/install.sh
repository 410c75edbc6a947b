#!/usr/bin/env bash
# Installs the packages of szc in a bare Debian and builds a program with each: the .deb by apt, the
# tarball below /opt, and moved from there. Needs root, debootstrap and a network.
#
#   tests/campaign/install.sh [--from DIR]
#
# --from DIR: where szc was built; that of SZC, or target/release.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../spec-scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../spec-scripts/lib.sh"

from=$(dirname "$SZC")
if [[ ${1:-} == --from && -n ${2:-} ]]; then
    from=$2
    shift 2
fi
[[ $# -eq 0 ]] || die "unknown argument '$1'; usage: install.sh [--from DIR]"
[[ $(id -u) -eq 0 ]] || die "a bare system can be set up by root only"
command -v debootstrap >/dev/null || die "debootstrap is missing: apt-get install debootstrap"

SUITE=bookworm
work=$(mktemp -d)
trap 'umount "$root/proc" 2>/dev/null || true; rm -rf "$work"' EXIT
root=$work/root

# in_root COMMAND: in the bare system, by its shell.
in_root() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin bash -euc "$1"; }

"$SCRIPTS/package.sh" deb --from "$from" --output "$work"
"$SCRIPTS/package.sh" tar --from "$from" --output "$work"

say "a bare $SUITE"
debootstrap --variant=minbase "$SUITE" "$root" >"$work/log" 2>&1 || die "$(tail "$work/log")"
for suite in "$SUITE-updates" "$SUITE-security"; do
    archive=debian
    [[ $suite != *-security ]] || archive=debian-security
    echo "deb http://deb.debian.org/$archive $suite main" >>"$root/etc/apt/sources.list"
done
cp /etc/resolv.conf "$root/etc/"
for setting in /etc/apt/apt.conf.d/*proxy*; do
    [[ ! -f $setting ]] || cp "$setting" "$root/etc/apt/apt.conf.d/"
done
mount --bind /proc "$root/proc"
cp "$work"/szc_*.deb "$work"/szc-*.tar.xz "$PROJECT/szc/docs/examples/words.c" "$root/tmp/"

# try_out FOLDER: builds and runs the first example with the szc of a folder.
try_out() {
    in_root "cd /tmp && '$1/szc' -O2 words.c -o words &&
        SZC_SEED=7 SZC_INTERVAL_MS=5 SZC_LOG=/tmp/log ./words && grep -q '\"code\":true' log &&
        rm words log"
}

say "the .deb, by apt"
in_root "export DEBIAN_FRONTEND=noninteractive; apt-get -qq update &&
    apt-get -qq install -y --no-install-recommends /tmp/szc_*.deb" >"$work/log" 2>&1 ||
    die "$(tail "$work/log")"
try_out /usr/bin
in_root "szc doctor --quick; szc++ --version | tail -n 1"
in_root "apt-get -qq remove -y szc >/dev/null && ! command -v szc && ! test -e /usr/lib/szc"

say "the tarball"
in_root "apt-get -qq install -y --no-install-recommends xz-utils >/dev/null 2>&1
    mkdir -p /opt && tar -C /opt -xf /tmp/szc-*.tar.xz && mv /opt/szc-* /opt/szc"
try_out /opt/szc/bin
in_root "mv /opt/szc '/home/a folder'"
try_out "/home/a folder/bin"
say "both work"
