#!/usr/bin/env bash
# Installs the packages of szc in a bare Debian and builds a program with each: the .deb by the
# steps of spec-scripts/Containerfile, the tarball below /opt, and moved from there. Needs root,
# debootstrap and a network. (No container is built: an image of Debian 12 has what debootstrap
# makes.)
#
#   tests/campaign/install.sh [--from DIR]
#
# --from DIR: where szc was built; that of SZC, or target/release.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../spec-scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../spec-scripts/lib.sh"
# shellcheck source-path=SCRIPTDIR source=bare.sh
source "$(dirname "${BASH_SOURCE[0]}")/bare.sh"

from=$(dirname "$SZC")
if [[ ${1:-} == --from && -n ${2:-} ]]; then
    from=$2
    shift 2
fi
[[ $# -eq 0 ]] || die "unknown argument '$1'; usage: install.sh [--from DIR]"

work=$(mktemp -d)
make_bare_system "$work"
"$SCRIPTS/package.sh" deb --from "$from" --output "$work"
"$SCRIPTS/package.sh" tar --from "$from" --output "$work"

cp "$work"/szc_*.deb "$work"/szc-*.tar.xz "$PROJECT/szc/docs/examples/words.c" "$root/tmp/"

# try_out FOLDER: builds and runs the first example with the szc of a folder; and it has the parts
# that programs take by themselves.
try_out() {
    local part
    for part in bin/cargo-szc include/szc.h lib/szc/libszc_preload.so share/szc/szc-rt/Cargo.toml \
        share/doc/szc/book/in-process.md share/man/man1/cargo-szc.1; do
        in_root "test -s '${1%/bin}/$part'" || die "${1%/bin} has no $part"
    done
    in_root "cd /tmp && '$1/szc' -O2 words.c -o words &&
        SZC_SEED=7 SZC_INTERVAL_MS=5 SZC_LOG=/tmp/log ./words && grep -q '\"code\":true' log &&
        rm words log"
}

# container_steps: the commands of the container file, one a line.
container_steps() {
    sed -e ':join' -e '/\\$/N; s/\\\n *//; t join' "$SCRIPTS/Containerfile" | sed -n 's/^RUN //p'
}

say "the .deb, as in a container"
mapfile -t steps < <(container_steps)
[[ ${#steps[@]} -gt 1 ]] || die "spec-scripts/Containerfile has no steps"
for step in "${steps[@]}"; do
    say "+ $step"
    in_root "$step" >"$work/log" 2>&1 || die "$(tail "$work/log")"
done
cat "$work/log"
try_out /usr/bin
in_root "szc++ --version | tail -n 1"
in_root "apt-get -qq remove -y szc >/dev/null && ! command -v szc && ! test -e /usr/lib/szc"

say "the tarball"
in_root "{ apt-get -qq update && apt-get -qq install -y --no-install-recommends xz-utils
    } >/dev/null 2>&1
    mkdir -p /opt && tar -C /opt -xf /tmp/szc-*.tar.xz && mv /opt/szc-* /opt/szc"
try_out /opt/szc/bin
in_root "mv /opt/szc '/home/a folder'"
try_out "/home/a folder/bin"
say "both work"
