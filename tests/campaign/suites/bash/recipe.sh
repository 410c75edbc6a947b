# shellcheck shell=bash disable=SC2034,SC2164
# bash: forks for every pipe and substitution, longjmps, traps signals, brings its own malloc. A
# test is one of its run-* scripts, whose last command compares all that the shell printed with what
# is right.

debian_source=bash
debian_version=5.2.15

suite_build() {
    ./configure --without-installed-readline
    make -j"$JOBS"
    make -j"$JOBS" recho zecho printenv xcase
    cp recho zecho printenv xcase tests/
}

suite_run() {
    local script name
    # As `make tests` and run-all set them.
    export BUILD_DIR=$PWD THIS_SH=$PWD/bash PATH=.:$PWD/tests:$PATH
    export BASH_TSTOUT=$PWD/printed TMPDIR=/tmp
    export -n SHELLOPTS
    unset BASH_ENV
    cd tests
    for script in run-*; do
        name=${script#run-}
        case $name in
        all | minimal | gprof) continue ;;
        esac
        check "$name" sh "$script"
        rm -f "$BASH_TSTOUT"
    done
}

suite_results() { sed -n 's/^RESULT //p' "$1"; }
