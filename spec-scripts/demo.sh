#!/usr/bin/env bash
# The whole road on real programs: builds szc, builds Lua and SQLite at -O2 and
# at -O3 with CC=szc, and asks whether -O3 is faster, over many code layouts. Then
# the same of -O1, -O2 and -O3 over four programs of the open suite, in short.
#
#   spec-scripts/demo.sh [--offline] [--blocks N]
#
# --offline   uses a small bundled program instead of fetched ones, and leaves the
#             four programs out
# --blocks N  blocks of four runs per program (6 or more; default 16)
#
# Results are written to demo-results/: the samples as JSON, the reports as text
# and as HTML pages (report.html, levels/report.html), and the executables that
# were compared.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

RESULTS=$PROJECT/demo-results
DEMO_PROGRAMS=(lua sqlite3)
LEVEL_PROGRAMS=(lua bzip2 phalanx minisat)
LEVEL_BLOCKS=10

offline=no blocks=16
while [[ $# -gt 0 ]]; do
    case $1 in
    --offline) offline=yes ;;
    --blocks)
        blocks=${2:-}
        [[ $blocks =~ ^[1-9][0-9]*$ && $blocks -ge 6 ]] ||
            die "--blocks needs a number, at least 6; found '$blocks'"
        shift
        ;;
    *) die "unknown argument '$1'; usage: demo.sh [--offline] [--blocks N]" ;;
    esac
    shift
done

# programs_to_compare: the real ones whose sources can be had, else the bundled one.
programs_to_compare() {
    local program found=()
    if [[ $offline == no ]]; then
        for program in "${DEMO_PROGRAMS[@]}"; do
            if suite fetch "$program" >&2; then
                found+=("$program")
            fi
        done
    fi
    if [[ ${#found[@]} -eq 0 ]]; then
        warn "no sources of real programs; comparing a small bundled program instead," \
            "which shows that the road works and little about real software"
        found=(bundled)
    fi
    printf '%s\n' "${found[@]}"
}

# build PROGRAM LEVEL: makes demo-results/bin/PROGRAM-LEVEL.
build() {
    local words
    suite build "$1" --cc "$SZC" --flags="$2"
    mapfile -t words < <(suite words "$1" --cc "$SZC" --flags="$2")
    mkdir -p "$RESULTS/bin"
    cp "${words[0]}" "$RESULTS/bin/$1$2"
}

# command_line PROGRAM LEVEL: the workload as one line. The program is run
# directly, without a shell around it, so that its CPU time is measured alone.
command_line() {
    local words
    mapfile -t words < <(suite words "$1" --cc "$SZC" --flags="$2")
    words[0]=$RESULTS/bin/$1$2
    printf '%q ' "${words[@]}" | sed 's/ $//'
}

# compare PROGRAM: the report goes to the terminal and to a file.
compare() {
    "$SZC" compare --blocks "$blocks" --json "$RESULTS/$1.json" \
        --name A=-O2 --name B=-O3 -- "$(command_line "$1" -O2)" "$(command_line "$1" -O3)" |
        tee "$RESULTS/$1.txt"
}

main() {
    local started programs program level
    started=$(date +%s%N)
    "$SCRIPTS/setup.sh"
    heading "building szc"
    (cd "$PROJECT" && cargo build --release -j"$JOBS")

    heading "getting sources"
    mapfile -t programs < <(programs_to_compare)

    for program in "${programs[@]}"; do
        for level in -O2 -O3; do
            heading "building $program $level with CC=szc"
            build "$program" "$level"
        done
    done
    for program in "${programs[@]}"; do
        heading "comparing $program -O2 and -O3 over $blocks blocks of four runs"
        compare "$program"
    done

    heading "is -O3 (B) faster than -O2 (A)?"
    verdict_table "${programs[@]}"
    html_report "${programs[@]}"
    [[ $offline == yes ]] || levels
    printf '\nsamples and reports: %s (%s s in all)\n' "$RESULTS" "$(seconds_since "$started")"
}

# levels: which of three levels is fastest over several programs? A program that cannot be had is
# left out.
levels() {
    heading "-O1, -O2 and -O3 over ${LEVEL_PROGRAMS[*]}, $LEVEL_BLOCKS blocks of short runs"
    suite measure "${LEVEL_PROGRAMS[@]}" --cc "$SZC" --flags=-O1 --flags=-O2 --flags=-O3 --size \
        test \
        --results "$RESULTS/levels" --szc "$SZC" -- --fixed "$LEVEL_BLOCKS" ||
        warn "not all of them could be measured"
    if [[ -s $RESULTS/levels/suite.json ]]; then
        "$SZC" report "$RESULTS/levels/suite.json" --html "$RESULTS/levels/report.html"
        printf '\npage with the analysis of variance: %s\n' "$RESULTS/levels/report.html"
    fi
}

# html_report PROGRAM...: all comparisons on one page.
html_report() {
    local program files=()
    for program in "$@"; do
        files+=("$RESULTS/$program.json")
    done
    "$SZC" report "${files[@]}" --html "$RESULTS/report.html"
    printf '\npage with plots and all samples: %s\n' "$RESULTS/report.html"
}

# verdict_table PROGRAM...: the rows on CPU time of all reports under one heading,
# then the verdicts in words.
verdict_table() {
    local program
    sed -n '/95 % interval.*verdict/{p;q}' "$RESULTS/$1.txt"
    for program in "$@"; do
        sed -n "s/^CPU time/$(printf '%-8s' "$program")/p" "$RESULTS/$program.txt"
    done
    for program in "$@"; do
        printf '\n%s: %s\n' "$program" \
            "$(grep -E -m 1 '^(B \([^)]*\) |B [^(]|Unresolved|No verdict)' "$RESULTS/$program.txt")"
    done
}

main
