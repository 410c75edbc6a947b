# shellcheck shell=bash disable=SC2034,SC2164  # steps end at the first command that fails
# Tcl: coroutines that remember where on the stack they began, libraries that are loaded and
# unloaded, threads, channels; Tcl's own library is shared, and built with the same compiler.

debian_source=tcl8.6
debian_version=8.6.13+dfsg
debian_sha256=83bce7277e3825df0179567e0d8a431ebb1a126df53ea4a94af89dd4dd0f26d5

suite_build() {
    cd unix
    ./configure --enable-threads
    make -j"$JOBS" tcltest tclsh
}

suite_run() {
    local file name
    cd unix
    export TCL_LIBRARY=$PWD/../library LD_LIBRARY_PATH=$PWD
    for file in ../tests/*.test; do
        name=$(basename "$file" .test)
        case $name in
        http* | socket) continue ;;
        esac
        check "$name" timeout 100 ./tcltest "$file" -verbose "pass skip error"
    done
}

suite_results() {
    sed -nE -e 's/^RESULT /file-/p' -e 's/^\+\+\+\+ ([^ ]+) PASSED$/\1 passed/p' -e \
        's/^\+\+\+\+ ([^ ]+) SKIPPED.*/\1 skipped/p' \
        -e 's/^==== ([^ ]+) .*FAILED$/\1 failed/p' "$1"
}
