# shellcheck shell=bash disable=SC2034,SC2154
# libsodium: cryptography with assembly and vector instructions chosen at start; memory between
# guard pages; signals at accesses that must fail.

debian_source=libsodium
debian_version=1.0.18
debian_sha256=d59323c6b712a1519a5daf710b68f5e7fde57040845ffec53850911f10a5d4f4

# Statically, so that the library's code is the program's. The archive comes without a configure.
suite_build() {
    autoreconf -i
    ./configure --disable-shared
    make -j"$JOBS"
    make -j"$JOBS" check TESTS=
}

suite_run() { make -k check LOG_COMPILER="timeout -k 10 $test_seconds"; }

suite_results() { automake_results test; }
