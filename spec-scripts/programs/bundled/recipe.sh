# shellcheck shell=bash disable=SC2034
# A small program of our own that stands in for real ones without a network:
# a calculator with a switch, a dictionary, matrices, a puzzle, sorting.

debian_source=''

recipe_build() {
    make -j"$JOBS" CC="$CC" CFLAGS="$CFLAGS" LDFLAGS="$LDFLAGS"
    cp bundled "$OUT/bundled"
}

recipe_inputs() { :; }

recipe_command() {
    COMMAND=("$BUILD/bundled" "$(size_of_workload "$SIZE" 250 25)")
}
