# shellcheck shell=bash disable=SC2034,SC2154
# SQLite: threads with a database each, which share counters of memory and their lock. Its source is
# that of the open suite.

get_source() {
    sqlite_amalgamation "$CACHE/builds/sqlite-source"
    cp "$CACHE/builds/sqlite-source"/sqlite3.[ch] .
}

# Three calls by way of pointers, which could be direct. Curtsinger, 2016, section 5.4.2.
fix() {
    local both='static void pthreadMutexLeave(sqlite3_mutex*);'
    both+=' static sqlite3_pcache_page *pcache1Fetch(sqlite3_pcache*,unsigned int,int);'
    sed -i -e "/^SQLITE_API void sqlite3_mutex_leave(sqlite3_mutex \*p){/i $both" \
        -e 's/sqlite3GlobalConfig\.m\.xSize(p)/sqlite3MemSize(p)/' \
        -e 's/sqlite3GlobalConfig\.mutex\.xMutexLeave(p);/pthreadMutexLeave(p);/' \
        -e 's/pRes = sqlite3GlobalConfig\.pcache2\.xFetch(/pRes = pcache1Fetch(/' sqlite3.c
}

build_program() {
    lengthen 1 sqlite3.c 'SQLITE_PRIVATE int sqlite3BtreeInsert('
    lengthen 2 sqlite3.c 'SQLITE_PRIVATE int sqlite3VdbeExec('
    # Under the lock.
    lengthen 3 sqlite3.c 'static void *sqlite3MemMalloc(int'
    "${CC[@]}" -I. -DSQLITE_THREADSAFE=1 sqlite3.c longer.o \
        "$PROJECT/tests/campaign/programs/sqlite-threads.c" -o program -ldl -lm
}

functions=(sqlite3BtreeInsert sqlite3VdbeExec sqlite3MemMalloc)
longer=('100 60000' '100 100000' '100 25000')
command=(./program "$processors" 800000)

# What calls by pointers cost is where the functions that they call begin.
lines=(sqlite3MemSize pthreadMutexLeave pcache1Fetch)
