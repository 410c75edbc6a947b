# shellcheck shell=bash disable=SC2034,SC2154,SC2164
# memcached: threads with an event loop each, which share a table; libevent is linked in.

debian_source=memcached
debian_version=1.6.18
debian_sha256=35872bd25f8d29d7cc2072d23e74344530891bfd0aa4f4f64184a8ae7291164b

# Where an item is given back: its lock was taken for a count alone. Curtsinger, 2016, section
# 5.4.2.
fix() {
    sed -i -e 's/++(it->refcount)/__sync_add_and_fetch(\&(it)->refcount, 1)/' \
        -e 's/--(it->refcount)/__sync_sub_and_fetch(\&(it)->refcount, 1)/' memcached.h
    sed -i '/^void item_remove(item \*item) {/,/^}/ { /hash(\|hv;\|lock(hv)/d }' thread.c
}

build_program() {
    cp -a "$CACHE/sources/libevent/tree" libevent
    lengthen 1 assoc.c 'item *assoc_find('
    lengthen 2 proto_text.c 'void process_command_ascii('
    # An event of a connection is a request; those of the thread that listens are none.
    put_behind memcached.c '    c->which = which;' \
        'int is_request = c->state != conn_listening; if (is_request) COZ_BEGIN("request");'
    put_behind memcached.c '    drive_machine(c);' \
        'if (is_request) { COZ_END("request"); COZ_PROGRESS_NAMED("done"); }'
    # It would wait for threads that look once a second whether they are to end.
    put_in proto_text.c 'static void process_shutdown_command(' '_exit(0);'
    (
        cd libevent
        ./configure --disable-shared --disable-openssl --disable-samples \
            --disable-libevent-regress --prefix="$PWD/../out" CC="${CC[0]}" \
            CFLAGS='-O2 -g -gdwarf-3 -gstrict-dwarf'
        make -j"$JOBS"
        make install
    )
    ./configure --with-libevent="$PWD/out" --disable-coverage CC="${CC[0]}" CFLAGS="${CC[*]:1}" \
        LIBS="$PWD/longer.o"
    make -j"$JOBS" memcached
    cp memcached program
}

functions=(assoc_find process_command_ascii)
longer=('100 200000' '20 200000')
protocol=memcached
command=(./program -s socket -u "$(id -un)" -A -m 64 -t "$threads")

# Its one line takes the lock, wherever the function is inlined.
lines=(item_lock)
