#!/usr/bin/env bash
# Are the counts of szc paths right, and what do they cost? On bzip2, Lua and SQLite of the open
# suite: whether the intervals of the ten most frequent subpaths of 2 to 8 blocks hold their exact
# counts, on the short workload, in runs with different seeds; and CPU time of programs built with
# -Rpaths over that of the same without, by turns (overhead.sh).
#
#   tests/campaign/paths.sh [--runs N] [--blocks N] [PROGRAM...]
#
# Without options 20 runs, and 11 blocks for the cost (6 or more; 0: not measured). About half an
# hour; --runs 5 --blocks 0 bzip2 takes two minutes.
#
# Exit code 1 if fewer than 9 of 10 intervals hold.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../spec-scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../spec-scripts/lib.sh"

runs=20
blocks=11
programs=()
while [[ $# -gt 0 ]]; do
    case $1 in
    --runs) positive "$1" "${2:-}" && runs=$2 && shift ;;
    --blocks) [[ ${2:-} =~ ^[0-9]+$ ]] || die "--blocks needs a number"; blocks=$2 && shift ;;
    -*) die "unknown argument '$1'; the options are described at the top of this script" ;;
    *) programs+=("$1") ;;
    esac
    shift
done
[[ ${#programs[@]} -gt 0 ]] || programs=(bzip2 lua sqlite3)
((blocks == 0)) || enough_for_interval --blocks "$blocks"
[[ -x $SZC ]] || die "no $SZC; run 'cargo build --release' first"

out=$CACHE/builds/paths
mkdir -p "$out"

# held EXACT SAMPLED: how many intervals of the second hold the count of the first's first ten.
held() {
    perl -MJSON::PP -e '
        my ($exact, $sampled) = map {
            open my $file, "<", $_ or die "$_: $!"; local $/; decode_json(<$file>)
        } @ARGV;
        my $key = sub { join " ", $_[0]{is_loop} ? 1 : 0, map { $_->{address} } @{$_[0]{blocks}} };
        my %found = map { $key->($_) => $_ } @{$sampled->{subpaths}};
        my $held = 0;
        for my $path (@{$exact->{subpaths}}[0 .. 9]) {
            my $one = $found{$key->($path)} or next;
            my $count = $path->{executions};
            $held++ if $one->{lower} <= $count && $count <= $one->{upper};
        }
        print "$held\n"' "$@"
}

failed=0
for program in "${programs[@]}"; do
    build=(--cc "$SZC" --flags=-O2 --size test)
    SZC_BUILD=paths suite build "$program" --cc "$SZC" --flags=-O2 >/dev/null
    mapfile -t command < <(SZC_BUILD=paths suite words "$program" "${build[@]}")
    "$SZC" paths --exact --max-length 8 --memory 512M --json "$out/exact.json" -- \
        "${command[@]}" >/dev/null
    all=0
    for ((run = 1; run <= runs; run++)); do
        SZC_SEED=$run "$SZC" paths --max-length 8 --json "$out/sampled.json" -- \
            "${command[@]}" >/dev/null
        all=$((all + $(held "$out/exact.json" "$out/sampled.json")))
    done
    printf '%-8s %d of %d intervals of the ten most frequent subpaths hold\n' \
        "$program" "$all" $((10 * runs))
    ((10 * all >= 9 * 10 * runs)) || failed=1
done
if ((blocks > 0)); then
    # The limits of overhead.sh are not meant for these builds.
    "$PROJECT/tests/campaign/overhead.sh" --randomize paths --blocks "$blocks" \
        --programs "${programs[*]}" || true
fi
exit "$failed"
