#!/usr/bin/env bash
# A sweep over the machines of a Slurm cluster: a job array with a shard for each task, and a job
# behind it that joins the samples and writes the report.
#
#   spec-scripts/cluster/submit.sh --shards N [--results DIR] [--seed S] [--sbatch OPTION]... --
#       SWEEP WORDS...
#
# --shards N       tasks of the array; at most as many as there are programs
# --results DIR    where samples and report go, on a file system that all machines see (default
#                  sweep-results)
# --seed S         seed of the whole sweep (default: drawn and printed)
# --sbatch OPTION  an option for sbatch, as in --sbatch=--partition=quiet --sbatch=--time=2:00:00
# SWEEP WORDS      what szc sweep is given, such as --fixed 20, or options, -- and commands; or
#                  nothing, if szc.toml in the current folder says all
#
# Prints the numbers of the two jobs. The second one runs when the first is over, well or not; if
# shards are missing it fails and its log says which. A task that was stopped is submitted again by
# the same command with --seed: shards that are complete are not measured again. DIR/plan says which
# sweep the shards in DIR are of; another one needs another folder.
#
# SZC: the szc to use (default: that of this tree's release build), on a file system that all
# machines see.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

usage() {
    warn "$*; the options are described at the top of this script"
    exit 2
}

shards='' results=sweep-results seed='' options=()
while [[ $# -gt 0 ]]; do
    case $1 in
    --)
        shift
        break
        ;;
    --sbatch=*)
        options+=("${1#--sbatch=}")
        shift
        ;;
    --shards | --results | --seed | --sbatch)
        [[ $# -gt 1 ]] || usage "$1 needs a value"
        case $1 in
        --shards) shards=$2 ;;
        --results) results=$2 ;;
        --seed) seed=$2 ;;
        --sbatch) options+=("$2") ;;
        esac
        shift 2
        ;;
    *) usage "unknown argument '$1'" ;;
    esac
done
[[ $shards =~ ^[1-9][0-9]*$ ]] || usage "--shards needs a number; found '$shards'"
[[ -z $seed || $seed =~ ^[0-9]+$ ]] || usage "--seed needs a number; found '$seed'"
command -v sbatch >/dev/null || die "no sbatch: this is for machines that submit jobs to Slurm"
[[ -x $SZC ]] || die "no $SZC; run 'cargo build --release' first"

# Below 2^53, which every reader of the samples keeps.
[[ -n $seed ]] || seed=$(od -An -N6 -tu8 /dev/urandom | tr -d ' ')

# What decides about the shards. szc.toml may say it all, and is another sweep when it has changed.
configuration=none
[[ ! -e szc.toml ]] || configuration=$(sha256sum <szc.toml | cut -c1-16)
plan=$(
    printf 'seed %s, %s shards, szc.toml %s, words:' "$seed" "$shards" "$configuration"
    [[ $# -eq 0 ]] || printf ' %q' "$@"
)
# Shards that are complete are kept, so those of another sweep would pass for results of this one.
if [[ -s $results/plan && $(cat "$results/plan") != "$plan" ]]; then
    die "$results has the shards of another sweep ($(cat "$results/plan")); this one is ($plan)." \
        "Give another folder by --results, or go on with that sweep by its seed, shards and words"
elif [[ ! -s $results/plan ]] && compgen -G "$results/shard-*.json" >/dev/null; then
    die "$results has shards and no file 'plan' that says which sweep they are of: give another" \
        "folder by --results"
fi
mkdir -p "$results"
results=$(cd "$results" && pwd)
export SZC SZC_RESULTS=$results SZC_SEED_OF_SWEEP=$seed

array=$(sbatch --parsable "${options[@]}" --array="1-$shards" --output="$results/shard-%a.log" \
    "$SCRIPTS/cluster/sweep.sbatch" "$@")
array=${array%%;*}
say "$plan" >"$results/plan"
merge=$(sbatch --parsable "${options[@]}" --dependency="afterany:$array" \
    --ntasks=1 --job-name=szc-merge \
    --output="$results/merge.log" "$SCRIPTS/cluster/merge.sbatch")
say "seed $seed"
say "array $array"
say "merge ${merge%%;*}"
say "results $results"
