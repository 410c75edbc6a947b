# shellcheck shell=bash disable=SC2034,SC2154
# redis: one event loop; it answers what it has read when it has read all that there is.

debian_source=redis
debian_version=7.0.15
debian_sha256=4b1dc4ee6d622a09fff9c6777191209750fb5e5a725ef78ea012d6eef4c22982

build_program() {
    put_in src/networking.c 'void readQueryFromClient(' 'COZ_BEGIN("request");'
    put_behind src/networking.c '        if (writeToClient(c,0) == C_ERR) continue;' \
        'COZ_END("request"); COZ_PROGRESS_NAMED("done");'
    make -C src -j"$JOBS" redis-server MALLOC=libc CC="${CC[0]}" OPT="${CC[*]:1}"
    cp src/redis-server program
}

protocol=redis
command=(./program --port 0 --unixsocket socket --save '' --appendonly no)
