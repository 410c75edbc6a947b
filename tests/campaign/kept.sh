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

# cost_pair OPTION COMMAND...: time with szc causal, with an option or "", over that without.
cost_pair() {
    local option=$1 plain
    shift
    plain=$(elapsed "$@")
    # shellcheck disable=SC2086 # None, or some.
    awk -v a="$(elapsed "$SZC" causal -F $option -o causal.jsonl -- "$@")" -v b="$plain" \
        'BEGIN { print a / b }'
}

# What programs cost with experiments.
ratios=''

# cost NAME COMMAND...: of samples alone and of experiments; the latter is noted for the mean.
cost() {
    local name=$1 costs ratio
    shift
    for costs in '--fixed-speedup 0' ''; do
        ratio=$(of_pairs "cost.$name${costs:+.samples}" cost_pair "$costs" "$@" | median)
        printf '%s, %s: %.3f of the time without szc\n' "$name" \
            "$([[ -z $costs ]] && echo experiments || echo 'samples alone')" "$ratio"
    done
    ratios+=$ratio$'\n'
}

# mean_cost: of the programs so far; an error if it is more than 10 %.
mean_cost() {
    awk '{ sum += $1 } END { printf "mean with experiments: %.3f; limit 1.1\n", sum / NR
        exit sum / NR > 1.1 }' <<<"${ratios%$'\n'}"
}
