# shellcheck shell=bash disable=SC2034,SC2164
# git: makes processes by the thousand, maps files, takes threads for packs, ends on signals. Its
# tests t0 to t3 are the plumbing: attributes, indexes, trees, refs, branches, notes, ls-files. A
# test is one script.

debian_source=git
debian_version=2.39.5
suite_seconds=10800

suite_build() {
    make -j"$JOBS" CC="$CC" CFLAGS="$CFLAGS" NO_CURL=1 NO_EXPAT=1 NO_GETTEXT=1 NO_OPENSSL=1 \
        NO_TCLTK=1 all
}

suite_run() {
    local script
    export GIT_CONFIG_NOSYSTEM=1
    unset TERM
    cd t
    for script in t[0-3][0-9][0-9][0-9]-*.sh; do
        check "${script%.sh}" sh "$script" --quiet
        rm -rf "trash directory.${script%.sh}"
    done
}

suite_results() { sed -n 's/^RESULT //p' "$1"; }
