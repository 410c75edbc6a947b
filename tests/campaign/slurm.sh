#!/usr/bin/env bash
# Do shards of a sweep come back from a real Slurm as the whole sweep? Starts one of this machine
# alone, by hand and with its own configuration (no service is touched), submits
# spec-scripts/cluster/submit.sh and compares the joined samples with a sweep that was never
# divided: the same programs, blocks and layout seeds.
#
#   tests/campaign/slurm.sh [--shards N]
#
# --shards N  tasks of the job array (default 2), of three small programs
#
# Needs root, and on Debian: apt-get install --no-install-recommends slurmctld slurmd slurm-client
# munge. Exit code 1 if anything differs; test-results/slurm/ has the logs of all daemons and jobs.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../spec-scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../spec-scripts/lib.sh"

RESULTS=$PROJECT/test-results/slurm
# Longest wait for daemons and jobs, s.
PATIENCE=600

shards=2
while [[ $# -gt 0 ]]; do
    [[ $1 == --shards && ${2:-} =~ ^[1-3]$ ]] ||
        die "--shards with 1 to 3 is the only option; found '$*'"
    shards=$2
    shift 2
done
[[ $(id -u) -eq 0 ]] || die "slurmd needs root"
for tool in munged slurmctld slurmd sbatch scancel squeue scontrol python3; do
    command -v "$tool" >/dev/null ||
        die "no $tool: apt-get install --no-install-recommends slurmctld slurmd slurm-client" \
        "munge python3"
done
[[ -x $SZC ]] || die "no $SZC; run 'cargo build --release' first"

# Sockets have short names, and munge trusts no folder that others may write to.
DAEMONS=$(mktemp -d /tmp/szc-slurm.XXXXXX)
chmod 755 "$DAEMONS"
started=()

# stop: ends what this script has started, and nothing else.
stop() {
    local pid seconds
    # Jobs first: their processes are slurmd's and would outlive it. Only those of this Slurm.
    if [[ ${SLURM_CONF:-} == "$DAEMONS/slurm.conf" ]]; then
        timeout 20 scancel --user="$(id -un)" >>"$RESULTS/scancel.log" 2>&1 || true
        # slurmd asks them by SIGTERM and waits half a minute before it uses SIGKILL.
        for ((seconds = 0; seconds < 60; seconds++)); do
            [[ -n $(timeout 20 squeue --noheader 2>/dev/null) ]] || break
            sleep 1
        done
    fi
    for pid in "${started[@]}"; do
        kill "$pid" 2>/dev/null || true
    done
    for pid in "${started[@]}"; do
        while kill -0 "$pid" 2>/dev/null; do sleep 0.2; done
    done
    rm -rf "$DAEMONS"
}
trap stop EXIT

# wait_for WHAT COMMAND...: until the command succeeds.
wait_for() {
    local what=$1 seconds
    shift
    for ((seconds = 0; seconds < PATIENCE; seconds++)); do
        "$@" >/dev/null 2>&1 && return
        sleep 1
    done
    die "$what did not happen within $PATIENCE s; see $RESULTS"
}

start_slurm() {
    local host cpus memory
    host=$(uname -n) cpus=$(nproc) \
        memory=$(awk '/MemTotal/ { print int($2 / 1024 / 2) }' /proc/meminfo)
    dd if=/dev/urandom of="$DAEMONS/munge.key" bs=128 count=1 status=none
    chmod 400 "$DAEMONS/munge.key"
    mkdir "$DAEMONS/state" "$DAEMONS/spool"
    cat >"$DAEMONS/slurm.conf" <<EOF
ClusterName=szc
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmctldPort=16817
SlurmdPort=16818
AuthType=auth/munge
AuthInfo=socket=$DAEMONS/munge.socket
CryptoType=crypto/munge
StateSaveLocation=$DAEMONS/state
SlurmdSpoolDir=$DAEMONS/spool
SlurmctldPidFile=$DAEMONS/slurmctld.pid
SlurmdPidFile=$DAEMONS/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
MailProg=/bin/true
NodeName=$host NodeAddr=127.0.0.1 CPUs=$cpus RealMemory=$memory State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
EOF
    export SLURM_CONF=$DAEMONS/slurm.conf
    munged --foreground --force --key-file="$DAEMONS/munge.key" --socket="$DAEMONS/munge.socket" \
        --pid-file="$DAEMONS/munge.pid" --seed-file="$DAEMONS/munge.seed" \
        --log-file="$RESULTS/munged.log" \
        >"$RESULTS/munged.out" 2>&1 &
    started+=($!)
    wait_for "the start of munged" test -S "$DAEMONS/munge.socket"
    slurmctld -D -c >"$RESULTS/slurmctld.log" 2>&1 &
    started+=($!)
    slurmd -D -c >"$RESULTS/slurmd.log" 2>&1 &
    started+=($!)
    wait_for "an idle node" grep_idle
}

grep_idle() { scontrol show node | grep -q 'State=IDLE'; }

# is_over JOB: no task of it waits or runs.
is_over() { ! scontrol -o show job "$1" |
    grep -qE 'JobState=(PENDING|RUNNING|COMPLETING|CONFIGURING)'; }

main() {
    local said merge work=$RESULTS/work
    rm -rf "$RESULTS"
    mkdir -p "$work"
    start_slurm
    cat >"$work/szc.toml" <<'EOF'
metrics = ["wall"]
[build.parameters]
n = ["1", "200"]
[runs]
fixed = 6
warmup = 0
EOF
    for name in first second third; do
        # shellcheck disable=SC2016  # the measured shell expands these
        printf '[[programs]]\nname = "%s"\n' \
            "$name" "$name" >>"$work/szc.toml"
    done
    heading "an array of $shards tasks"
    said=$(cd "$work" && "$SCRIPTS/cluster/submit.sh" --shards "$shards" \
        --results "$RESULTS/sweep" --seed 7)
    say "$said"
    merge=$(sed -n 's/^merge //p' <<<"$said")
    wait_for "the end of the jobs" is_over "$merge"
    [[ -s $RESULTS/sweep/report.html ]] || die "no report; see $RESULTS/sweep/*.log"
    heading "the same sweep, undivided"
    (cd "$work" && "$SZC" sweep --quiet --seed 7 --json "$RESULTS/whole.json" >"$RESULTS/whole.txt")
    python3 - "$RESULTS/whole.json" "$RESULTS/sweep/suite.json" "$shards" \
        "$RESULTS"/sweep/shard-*.json <<'EOF'
import json
import sys

whole, merged = (json.load(open(path)) for path in sys.argv[1:3])
parts = [json.load(open(path)) for path in sys.argv[4:]]
assert len(parts) == int(sys.argv[3]), f"{len(parts)} shards"
keys = ["program", "block", "position", "seed"]
plan = lambda file: sorted(tuple(run[key] for key in keys) for run in file["runs"])
names = lambda file: [(p["workload"], p["level"]) for p in file["programs"]]
assert names(merged) == names(whole), f"{names(merged)} {names(whole)}"
assert plan(merged) == plan(whole), "the plan of the runs differs"
assert merged["ended"]["how"] == "complete" and merged["suite"]["workloads"] == \
    whole["suite"]["workloads"]
assert all(part["design"]["shard"]["of"] == len(parts) for part in parts)
print(f"{len(plan(merged))} runs of {len(parts)} shards, as in the undivided sweep")
EOF
}

main
