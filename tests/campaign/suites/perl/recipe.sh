# shellcheck shell=bash disable=SC2034,SC2164  # steps end at the first command that fails
# perl: an interpreter that longjmps, forks, handles signals and opens libraries (its modules in C
# are shared objects). The tests of the core, t/; those of the bundled modules are not run.

debian_source=perl

suite_build() {
    sh Configure -des -Dcc="$CC" -Dld="$CC" -Doptimize="$CFLAGS" -Dusethreads -Uman1dir -Uman3dir
    make -j"$JOBS"
    make -j"$JOBS" test_prep
}

# Perl's own runner stops at nothing and prints a verdict for each file. Without the generated
# tables of Unicode's properties and foldings, which take most of the time and always the same way.
# Files of a part run one after the other, the parts side by side, as perl's harness may run them.
suite_run() {
    local part
    cd t
    rm -f files.*
    find base comp cmd io opbasic op re uni mro lib run perf -maxdepth 1 -name '*.t' \
        ! -name 'uniprops*' ! -name 'fold_grind*' | LC_ALL=C sort | split -n "r/$JOBS" - files.
    for part in files.??; do
        xargs ./perl TEST <"$part" >"$part.log" 2>&1 &
    done
    wait
    cat files.??.log
}

suite_results() {
    sed -nE 's/^t\/([^ ]+) \.\.* *(ok|skipped|FAILED).*/\1 \2/p' "$1" |
        sed 's/ ok$/ passed/; s/ FAILED$/ failed/'
}
