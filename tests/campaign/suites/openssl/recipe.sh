# shellcheck shell=bash disable=SC2034
# OpenSSL: much assembly with unwind rules of its own, tables of pointers to functions, fibers that
# switch stacks by makecontext, threads, providers.

debian_source=openssl
debian_version=3.0.22
debian_sha256=67ebca7e50d17383028045486653492195b83db95f8558709701bb47b5c1ef81

# The library is linked in; without what only other programs' files need.
suite_build() {
    ./Configure linux-x86_64-clang no-shared no-module no-docs no-engine no-gost no-legacy \
        CC="$CC" CFLAGS="$CFLAGS -Wno-everything"
    make -j"$JOBS" build_sw
}

# What is below a protocol (arithmetic, ciphers, encodings, certificates), fibers, threads, and one
# of the tests of whole sessions. The fuzzers' corpus and the sessions through a proxy take hours.
suite_run() {
    HARNESS_JOBS=1 make test \
        TESTS="01 02 03 04 05 06 10 15 test_dgst test_enc test_evp test_aesgcm \
        test_x509 test_verify test_async test_threads test_secmem test_constant_time test_sslapi \
        test_ssl_ctx test_asyncio"
}

suite_results() {
    sed -nE 's/^([0-9]+-test_[^ ]+)\.t \.+ (ok|skipped|Failed|Dubious).*/\1 \2/p' "$1" |
        sed 's/ ok$/ passed/; s/ Failed$/ failed/; s/ Dubious$/ failed/'
}
