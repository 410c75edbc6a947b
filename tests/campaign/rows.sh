# shellcheck shell=bash disable=SC2034
# Comparisons of harnesses in which some rows have a planted slowdown. Sourced behind lib.sh.

# rows LOG: verdict, tab and name of each row of a table that `szc compare` printed, the figures of
# the whole program left out.
rows() {
    local unit='(s|ms|µs|ns|ps)'
    sed '/^CPU time /,$d' "$1" |
        sed -nE "s/^(.*[^ ]) +[0-9.]+ $unit +[0-9.]+ $unit +[0-9.]+ +[0-9.]+ to [0-9.]+ +\
(slower|faster|equivalent|~) +[0-9]+\$/\4\t\1/p"
}

# named YES-OR-NO PATTERN: those of the rows on standard input whose name matches, or the others.
named() {
    WANTED=$1 PATTERN=$2 awk -F'\t' '($2 ~ ENVIRON["PATTERN"]) == (ENVIRON["WANTED"] == "yes")'
}

# check_rows NAME PATTERN LOG: that those rows, and those alone, are called slower. A chance of 5 in
# 100 that one row in a table is called different is what `szc compare` has by design.
check_rows() {
    local name=$1 pattern=$2 log=$3 slow same
    slow=$(rows "$log" | named yes "$pattern") same=$(rows "$log" | named no "$pattern")
    [[ -n $slow && -n $same ]] || die "$name: rows are missing in $log"
    if grep -v '^slower' <<<"$slow"; then
        die "$name: a planted slowdown was not found; see $log"
    fi
    if grep -E '^(slower|faster)' <<<"$same"; then
        die "$name: a row is called different although nothing was done to it; see $log"
    fi
    planted=$(wc -l <<<"$slow") others=$(wc -l <<<"$same")
}

# check_gate NAME PATTERN SAMPLES: that a gate over all rows fails, and over the others does not.
check_gate() {
    local code=0
    "$SZC" gate --quiet --max-slowdown 10% "$3" || code=$?
    [[ $code -eq 1 ]] || die "$1: the gate should fail, and its exit code is $code"
    code=0
    "$SZC" gate --quiet --max-slowdown 10% --rows "!$2" "$3" || code=$?
    [[ $code -eq 0 || $code -eq 3 ]] ||
        die "$1: without the planted rows the gate should not fail, and its exit code is $code"
}
