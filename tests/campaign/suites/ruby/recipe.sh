# shellcheck shell=bash disable=SC2034,SC2164
# Ruby: its collector looks for references in stacks and registers, its fibers have stacks of their
# own, its exceptions are longjmps, its threads take a lock by turns, it forks and loads extensions.

debian_source=ruby3.1
debian_version=3.1.2
suite_seconds=10800

suite_build() {
    ./configure --disable-install-doc --disable-jit-support --without-gmp optflags="$CFLAGS" \
        CC="$CC" CXX="$CXX"
    make -j"$JOBS"
}

# Its own tests of the language and its core, in one order.
suite_run() {
    export LANG=C.UTF-8
    make test-all TESTS="-v --show-skip --seed=1 ruby" || true
}

# "[  17/9000] TestArray#test_percent_i = 0.00 s", in which a test may print in front of the "=",
# and at the end what failed or was skipped. A test in which the runner ended has failed. Of the
# files of its library a random tenth is loaded, by tests named after them.
suite_results() {
    awk '
        /^\[ *[0-9]+\/[0-9]+\] / {
            sub(/^[^]]*\] /, "")
            if (!sub(/ = [0-9.]+ s$/, "")) sub(/[^A-Za-z0-9_?!:#].*/, "")
            gsub(/ /, "_")
            verdict[last = $0] = "passed"
            next
        }
        /^ *[0-9]+\) (Failure|Error|Skipped):$/ {
            kind = $2
            getline
            sub(/( \[.*)?:?$/, "")
            gsub(/ /, "_")
            verdict[$0] = kind == "Skipped:" ? "skipped" : "failed"
        }
        /^Finished tests in / { finished = 1 }
        END {
            if (last && !finished) verdict[last] = "failed"
            for (name in verdict)
                if (name !~ /^TestRequireLib#test_thread_size:/) print name, verdict[name]
        }' "$1"
}
