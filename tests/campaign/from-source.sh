#!/usr/bin/env bash
# How long takes the front page? In a bare Debian, the lines of README's section "Install" and of
# its first example, word for word: LLVM comes before and is not counted, everything else is: other
# packages, Rust, crates, compiling, the ten seconds of `szc doctor`, the comparison.
#
#   tests/campaign/from-source.sh [--limit SECONDS]
#
# --limit SECONDS: how long it may take; 300, and two processors are taken. It should find the
# machine otherwise idle.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../spec-scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../spec-scripts/lib.sh"
# shellcheck source-path=SCRIPTDIR source=bare.sh
source "$(dirname "${BASH_SOURCE[0]}")/bare.sh"

limit=300
if [[ ${1:-} == --limit ]]; then
    positive "$1" "${2:-}" && limit=$2
    shift 2
fi
[[ $# -eq 0 ]] || die "unknown argument '$1'; usage: from-source.sh [--limit SECONDS]"

# commands HEADING: those of the blocks of a section of README.
commands() {
    awk -v heading="## $1" '
        /^## / { inside = $0 == heading }
        /^```/ { kind = kind == "" ? $0 : ""; next }
        inside && kind == "```sh,norun"
        inside && kind == "```console" && sub(/^\$ /, "")' "$PROJECT/README.md"
}

mapfile -t lines < <(commands Install && commands 'In 60 seconds')
[[ ${#lines[@]} -ge 5 ]] || die "README.md has ${#lines[@]} commands; five or more were expected"

make_bare_system "$(mktemp -d)"
# The authorities that this system trusts beside Debian's.
cp -r /usr/local/share/ca-certificates "$root/usr/local/share/"
say "LLVM, not counted"
started=$(date +%s%N)
in_root "{ apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y \
    --no-install-recommends clang-22 lld-22 llvm-22 llvm-22-dev; } >/tmp/log 2>&1" ||
    die "$(tail "$root/tmp/log")"
say "$(seconds_since "$started") s"
mkdir "$root/root/szc"
(cd "$PROJECT" && git ls-files -z | tar --null -T - -cf -) | tar -C "$root/root/szc" -xf -

# In one shell, since a line sets PATH; each is followed by its seconds.
# shellcheck disable=SC2016  # that shell expands them
{
    # Neither is in README: a folder that was cloned, and a clock.
    printf 'cd ~/szc\nbegin=$EPOCHREALTIME\n'
    for line in "${lines[@]}"; do
        printf 'echo %q\n%s\n' "+ $line" "$line"
        printf 'printf "= %%.0f s\\n" "$(awk "BEGIN { print $EPOCHREALTIME - $begin }")"\n'
    done
} >"$root/root/lines"
processors=$(taskset -cp $$ | sed 's/.*: //; s/-/,/' | tr , '\n' | head -n 2 | paste -sd ,)
say "README on processors $processors: seconds since its first line"
started=$(date +%s%N)
TIMEFORMAT='CPU time: %U s, and %S s of the system'
time taskset -c "$processors" chroot "$root" /usr/bin/env -i HOME=/root \
    PATH=/usr/sbin:/usr/bin:/sbin:/bin bash -eu /root/lines || die "a line of README fails"
taken=$(seconds_since "$started")
say "README's lines take $taken s; $limit are allowed"
is_at_most "$taken" "$limit" || die "that is too long"
