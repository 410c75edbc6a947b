# shellcheck shell=bash disable=SC2034,SC2154
# redis: an event loop with threads beside it, forks that save what the parent changes, Lua with
# longjmps inside. Its tests are written in Tcl and talk to servers that they start.

debian_source=redis
debian_version=7.0.15
debian_sha256=4b1dc4ee6d622a09fff9c6777191209750fb5e5a725ef78ea012d6eef4c22982

# With libc's allocator, which szc's heap stands for.
suite_build() { make -j"$JOBS" MALLOC=libc OPTIMIZATION="$CFLAGS" OPT="$CFLAGS" V=1; }

# Not here, of 82 units: what measures memory or what the allocator gives (memefficiency, maxmemory,
# client-eviction, querybuf, replybufsize, obuf-limits, dismiss-mem), waits by the clock for many
# minutes (replication*, psync2*, failover, block-repl, aof-race, wait, pause, list-3), feeds itself
# from a random source (corrupt-dump-fuzzer), needs rights or certificates (oom-score-adj, tls),
# starts clusters or benchmarks (cluster*, redis-benchmark).
units=(
    unit/{dump,auth,protocol,keyspace,scan,info,info-command,sort,expire,other,multi,quit,aofrw}
    unit/{acl,acl-v2}
    unit/type/{string,incr,list,list-2,set,zset,hash,stream,stream-cgroups}
    unit/{pubsub,pubsubshard,slowlog,scripting,functions,introspection,introspection-2,limits}
    unit/{bitops,bitfield,geo}
    unit/{hyperloglog,lazyfree,pendingquerybuf,tracking,shutdown,networking,latency-monitor}
    integration/{shutdown,aof,aof-multi-part,rdb,corrupt-dump,logging,redis-cli}
    integration/{replication-buffer,replication-4}
    integration/convert-{zipmap-hash,ziplist-hash,ziplist-zset}-on-load
)

suite_run() {
    local unit
    for unit in "${units[@]}"; do
        say "UNIT $unit"
        timeout -k 10 "$test_seconds" ./runtest --single "$unit" --clients 1 --timeout 120 \
            --no-latency --durable || true
    done
}

suite_results() {
    # It colours what it says.
    sed 's/\x1b\[[0-9;]*m//g' "$1" | awk '/^UNIT / { unit = $2 }
         /^\[(ok|err|skip|exception|TIMEOUT)\]: / {
             status = $1
             sub(/^\[[^]]*\]: /, ""); sub(/ \([0-9]+ ms\)$/, ""); sub(/ in tests\/.*\.tcl.*/, "")
             gsub(/ /, "_")
             print unit "/" $0,
                  status == "[ok]:" ? "passed" : status == "[skip]:" ? "skipped" : "failed"
         }'
}
