# shellcheck shell=bash disable=SC2034,SC2154
# The collector of Boehm, Demers and Weiser: it reads stacks, registers and data of all threads for
# what may be pointers, and stops threads by signals.

debian_source=libgc
debian_version=8.2.2
debian_sha256=f30107bcb062e0920a790ffffa56d9512348546859364c23a14be264b38836a0

suite_build() {
    ./configure --disable-shared --enable-cplusplus --with-libatomic-ops=none
    make -j"$JOBS"
    make -j"$JOBS" check TESTS=
}

suite_run() { make -k check LOG_COMPILER="timeout -k 10 $test_seconds"; }

suite_results() { automake_results . ; }
