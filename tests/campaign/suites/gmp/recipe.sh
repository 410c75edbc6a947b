# shellcheck shell=bash disable=SC2034,SC2154
# GMP: assembly under C, buffers on the stack by alloca, recursion that divides, C++ on top.

debian_source=gmp
debian_version=6.2.1+dfsg1
debian_sha256=471b9e463e04362a0124f215afc5f0a4b99caedeeb62634c61bbc12988efa64c

# Debian's archive is without the manual.
suite_build() {
    sed -i '/^SUBDIRS = /s/ doc$//' Makefile.in
    sed -i '/^ac_config_files=/s, doc/Makefile,,' configure
    ./configure --disable-shared --enable-cxx
    make -j"$JOBS"
    make -j"$JOBS" check TESTS=
}

suite_run() { make -k check LOG_COMPILER="timeout -k 10 $test_seconds"; }

suite_results() { automake_results tests; }
