#!/usr/bin/env bash
# Are the counts of szc paths right, and what do they cost? On programs of the open suite and one of
# Rust: whether the intervals of the ten most frequent subpaths of 2 to 8 blocks hold their exact
# counts, on the short workload, in runs with different seeds; and CPU time while subpaths are
# counted over that of clang's program, by turns.
#
#   tests/campaign/paths.sh [--runs N] [--blocks N] [PROGRAM...]
#
# Without options 20 runs, and 11 blocks for the cost (6 or more; 0: not measured), of bzip2, lua,
# sqlite3, minisat and words (Rust). About half an hour; --runs 5 --blocks 0 bzip2 takes two
# minutes.
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
[[ ${#programs[@]} -gt 0 ]] || programs=(bzip2 lua sqlite3 minisat words)
((blocks == 0)) || enough_for_interval --blocks "$blocks"
[[ -x $SZC ]] || die "no $SZC; run 'cargo build --release' first"

out=$CACHE/builds/paths
mkdir -p "$out"

# held EXACT SAMPLED...: how many intervals of the others hold the counts of the first's first ten.
held() {
    perl -MJSON::PP -e '
        my $read = sub { open my $file, "<", $_[0] or die "$_[0]: $!"; local $/;
            decode_json(<$file>)->{subpaths} };
        my $key = sub { join " ", $_[0]{is_loop} ? 1 : 0, map { $_->{address} } @{$_[0]{blocks}} };
        my %exact = map { $key->($_) => $_->{executions} } @{$read->(shift)}[0 .. 9];
        my $held = 0;
        for my $sampled (@ARGV) {
            for my $one (@{$read->($sampled)}) {
                my $count = $exact{$key->($one)} // next;
                $held++ if $one->{lower} <= $count && $count <= $one->{upper};
            }
        }
        print "$held\n"' "$@"
}

# build PROGRAM KIND: the array COMMAND, of the program by clang (plain) or with -Rpaths (paths).
build() {
    local compiler=() cc=clang-22 what=''
    if [[ $1 == words ]]; then
        if [[ $2 == paths ]]; then
            # rustc loads no pass; the linker has one, where it generates code.
            compiler=(-C "linker=$SZC" -C linker-plugin-lto -C link-arg=-Rpaths -C link-arg=-O2)
        fi
        [[ -x $out/words-$2 ]] || ROUNDS=0 rustc --edition 2024 -O -g "${compiler[@]}" \
            -o "$out/words-$2" "$PROJECT/tests/src/bin/words.rs"
        COMMAND=("$out/words-$2" 20000)
        return
    fi
    if [[ $2 == paths ]]; then cc=$SZC what=paths; fi
    SZC_BUILD=$what suite build "$1" --cc "$cc" --flags=-O2 >/dev/null
    mapfile -t COMMAND < <(SZC_BUILD=$what suite words "$1" --cc "$cc" --flags=-O2 --size test)
}

failed=0
for program in "${programs[@]}"; do
    build "$program" paths
    "$SZC" paths --exact --max-length 8 --memory 512M --json "$out/exact.json" -- \
        "${COMMAND[@]}" >/dev/null
    rm -f "$out"/sampled-*.json
    for ((run = 1; run <= runs; run++)); do
        SZC_SEED=$run "$SZC" paths --max-length 8 --json "$out/sampled-$run.json" -- \
            "${COMMAND[@]}" >/dev/null
    done
    all=$(held "$out/exact.json" "$out"/sampled-*.json)
    printf '%-8s %d of %d intervals of the ten most frequent subpaths hold\n' \
        "$program" "$all" $((10 * runs))
    ((10 * all >= 9 * 10 * runs)) || failed=1
    ((blocks > 0)) || continue
    paths=$(printf '%q ' "${COMMAND[@]}")
    build "$program" plain
    plain=$(printf '%q ' "${COMMAND[@]}")
    SZC_PATHS=$out/profile "$SZC" compare --quiet --turns 3ms --fixed "$blocks" \
        --json "$out/$program-cost.json" -- "$plain" "$paths" | grep -m 1 'CPU time'
done
exit "$failed"
