# shellcheck shell=bash disable=SC2034,SC2164
# memcached: threads with an event loop each, memory that other threads reassign, restarts; libevent
# is built with the same compiler and linked in.

debian_source=memcached
debian_version=1.6.18
debian_sha256=35872bd25f8d29d7cc2072d23e74344530891bfd0aa4f4f64184a8ae7291164b

suite_build() {
    cp -a "$CACHE/sources/libevent/tree" libevent
    (
        cd libevent
        ./configure --disable-shared --disable-openssl --disable-samples \
            --disable-libevent-regress --prefix="$PWD/../out"
        make -j"$JOBS"
        make install
    )
    ./configure --with-libevent="$PWD/out" --enable-extstore --disable-coverage
    make -j"$JOBS" memcached memcached-debug testapp sizes timedrun
}

# A file is a test: how many checks there are in one depends on the time it takes.
suite_run() {
    local file
    ./testapp || true
    for file in t/*.t; do check "$(basename "$file" .t)" prove "$file"; done
}

suite_results() {
    sed -nE -e 's/^RESULT //p' -e 's/^(not )?ok [0-9]+ - ([^ ]+)( .*)?$/testapp-\2 \1/p' "$1" |
        sed 's/ not $/ failed/; s/^\(testapp-[^ ]*\) $/\1 passed/'
}
