# shellcheck shell=bash disable=SC2034
# SQLite: its quick tests in Tcl (which run in the process of the library under test), the corpus of
# its fuzzers, tests of threads and of processes that share a database.

debian_source=sqlite3

suite_build() {
    ./configure --with-tcl=/usr/lib/tcl8.6 --disable-shared
    make -j"$JOBS" testfixture fuzzcheck sessionfuzz mptester threadtest3
}

suite_run() {
    local number script unprivileged=()
    # Some tests need files that cannot be read, and end all others if there are none.
    [[ $EUID -ne 0 ]] || unprivileged=(setpriv "--bounding-set=-dac_override,-dac_read_search")
    for number in 1 2 3 4 5 6 7 8; do
        check "fuzzcheck-$number" ./fuzzcheck "test/fuzzdata$number.db"
    done
    check sessionfuzz ./sessionfuzz run test/sessionfuzz-data1.db
    for script in crash01 multiwrite01; do
        rm -f mptest.db
        check "mptest-$script" ./mptester mptest.db "mptest/$script.test" --repeat 3
    done
    check threadtest3 ./threadtest3
    "${unprivileged[@]}" ./testfixture test/extraquick.test
}

# Two kinds of tests are numbered by what differs without being wrong, and count once each: those
# that let each allocation fail in turn (SQLite asks the allocator how large its blocks have become,
# and allocates less often where they are larger), and those of file names up to the longest.
suite_results() {
    sed -nE -e 's/^RESULT //p' -e 's/^([^ ]+)\.\.\. Ok$/\1 passed/p' -e \
        's/^! ([^ ]+) expected: .*/\1 failed/p' "$1" |
        sed -E 's/^([^ ]*-oom-[a-z]+|pager1-16\.1)\.[0-9]+ /\1 /' | sort -u
}
