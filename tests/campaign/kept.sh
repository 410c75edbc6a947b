# shellcheck shell=bash disable=SC2034,SC2154
# What checks of szc causal measured at an earlier start, and what is said of pairs of runs. Sourced
# behind lib.sh; `pairs` is how many there are.

# all_known "WORD..." NAME...: ends the script if one of the words is none of the names.
all_known() {
    local word words=$1
    shift
    for word in $words; do
        [[ " $* " == *" $word "* ]] || die "there is no '$word'; there are: $*"
    done
}

# keep NAME: where what one szc measured is kept, as RESULTS.
keep() {
    RESULTS=$PROJECT/test-results/$1/$({
        cat "$SZC"
        cat "$(dirname "$SZC")/libszc_preload.so" 2>/dev/null || true
    } | sha256sum | cut -c1-12)
    mkdir -p "$RESULTS"
}

# kept NAME COMMAND...: what the command says, or said at an earlier start of this script. Nothing
# if it fails.
kept() {
    local file=$RESULTS/$1
    shift
    if [[ ! -s $file ]]; then
        { "$@" >"$file.new" && mv "$file.new" "$file"; } || return 0
    fi
    cat "$file"
}

# experiments FILTER: of causal.jsonl.
experiments() { jq -r "select(.type == \"experiment\") | $1" causal.jsonl; }

# of_pairs NAME COMMAND...: what each pair says.
of_pairs() {
    local pair name=$1
    shift
    for ((pair = 1; pair <= pairs; pair++)); do
        kept "$name.$pair" "$@"
    done
}

# points LIMIT: the median of the numbers on standard input, with its interval; whether that has
# something within the limit.
points() {
    local limit=$1 said ends
    said=$(cat)
    if [[ -z $said || $(wc -l <<<"$said") -lt 6 ]]; then
        printf 'is not known: fewer than 6 of %d pairs say something\n' "$pairs"
        return 1
    fi
    read -ra ends < <(median_interval <<<"$said")
    printf '%.2f points, 95 %%: %.2f to %.2f, %d pairs\n' "$(median <<<"$said")" "${ends[@]}" \
        "$(wc -l <<<"$said")"
    is_at_most "${ends[0]}" "$limit" && is_at_most "-$limit" "${ends[1]}"
}

# elapsed COMMAND...: milliseconds.
elapsed() {
    local started
    started=$(date +%s%N)
    "$@" >/dev/null 2>&1 || true
    awk -v ns=$(($(date +%s%N) - started)) 'BEGIN { print ns / 1e6 }'
}
