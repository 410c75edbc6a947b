#!/usr/bin/env bash
# How many samples do two registers give the call path of, and is it the true one? Trains a path map
# of each program, records it again with registers and stack, and holds the path that follows from
# the instruction pointer and the stack pointer of a sample against the one by unwind tables of the
# same sample. Once as the compiler left the frames (SZC_STACK=0), in the layout that the training
# chose, with pads for deep stacks, too, and in some with seeds.
#
#   tests/campaign/icpp.sh [--out FOLDER] [--size test|full] [--layouts N] [--runs N] [PROGRAM...]
#
# Programs are those of the open suite, perl, descent (Rust, two threads, without pads) and soak
# (C++, threads and exceptions). Without options lua sqlite3 perl xerces minisat descent soak, full
# workloads, 3 layouts, 3 runs of training. About 40 minutes. What has been recorded in the folder
# is not recorded again.
#
# Exit code 1 if a precise path is wrong in more than one sample of 100.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../../spec-scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../spec-scripts/lib.sh"

out='' size=full layouts=3 runs=3 programs=()
while [[ $# -gt 0 ]]; do
    case $1 in
    --out) out=${2:-} && shift ;;
    --size) size=${2:-} && shift ;;
    --layouts) positive "$1" "${2:-}" && layouts=$2 && shift ;;
    --runs) positive "$1" "${2:-}" && runs=$2 && shift ;;
    -*) die "unknown argument '$1'; the options are described at the top of this script" ;;
    *) programs+=("$1") ;;
    esac
    shift
done
[[ -x $SZC ]] || die "no $SZC; run 'cargo build --release' first"
[[ ${#programs[@]} -gt 0 ]] || programs=(lua sqlite3 perl xerces minisat descent soak)
out=${out:-$CACHE/builds/icpp}
mkdir -p "$out"
out=$(realpath "$out")

# A program of Rust that reads expressions by recursive descent, in two threads.
descent() {
    cat <<'END'
use std::fmt::Write as _;
struct Reader<'a> { text: &'a [u8], at: usize }
impl Reader<'_> {
    fn peek(&self) -> u8 { self.text.get(self.at).copied().unwrap_or(0) }
    #[inline(never)]
    fn sum(&mut self) -> i64 {
        let mut value = self.product();
        while self.peek() == b'+' { self.at += 1; value = value.wrapping_add(self.product()); }
        value
    }
    #[inline(never)]
    fn product(&mut self) -> i64 {
        let mut value = self.term();
        while self.peek() == b'*' { self.at += 1; value = value.wrapping_mul(self.term()); }
        value
    }
    #[inline(never)]
    fn term(&mut self) -> i64 {
        if self.peek() == b'(' {
            self.at += 1;
            let value = self.sum();
            self.at += 1;
            return value;
        }
        let mut value = 0;
        while self.peek().is_ascii_digit() {
            value = value * 10 + i64::from(self.peek() - b'0');
            self.at += 1;
        }
        value
    }
}
#[inline(never)]
fn write(depth: u32, number: u32, out: &mut String) {
    if depth == 0 { write!(out, "{}", number % 97).expect("there is memory"); return; }
    out.push('(');
    write(depth - 1, number.wrapping_mul(7) + 1, out);
    out.push_str(["+", "*"][number as usize % 2]);
    write(depth - 1, number.wrapping_mul(5) + 2, out);
    out.push(')');
}
fn work(rounds: u32) -> i64 {
    let mut total = 0_i64;
    for round in 0..rounds {
        let mut text = String::new();
        write(9, round, &mut text);
        total = total.wrapping_add(Reader { text: text.as_bytes(), at: 0 }.sum());
    }
    total
}
fn main() {
    let other = std::thread::spawn(|| work(8000));
    println!("{} {}", work(8000), other.join().expect("the other thread"));
}
END
}

# built_perl: by szc, unless it is there.
built_perl() {
    [[ ! -x $out/perl/perl ]] || return 0
    "$SCRIPTS/fetch.sh" perl >&2
    rm -rf "$out/perl"
    cp -r "$CACHE/sources/perl/tree" "$out/perl"
    (
        cd "$out/perl"
        sh Configure -des -Dcc="$SZC" -Doptimize='-O2 -g' -Uusedl -Uman1dir -Uman3dir
        make -j"$JOBS" perl
    ) >"$out/perl.log" 2>&1 || die "perl could not be built; see $out/perl.log"
}

# command_of PROGRAM: builds it, and leaves its words in the array command.
command_of() {
    case $1 in
    descent)
        descent >"$out/descent.rs"
        rustc --edition 2024 -O -g -Clinker="$SZC" "$out/descent.rs" -o "$out/descent" ||
            die "descent could not be built; see above"
        command=("$out/descent")
        ;;
    soak)
        "$SZC" --driver-mode=g++ -O2 -g -pthread "$PROJECT/tests/campaign/programs/soak.cpp" \
            -o "$out/soak" || die "soak could not be built; see above"
        command=("$out/soak" 5 2)
        ;;
    perl)
        built_perl
        command=("$out/perl/perl" "$PROJECT/tests/campaign/programs/words.pl" 800000)
        ;;
    *)
        mapfile -t command < <(suite words "$1" --size "$size" --cc "$SZC" --flags='-O2 -g')
        [[ ${#command[@]} -gt 0 ]] || die "$1 could not be built; see above"
        ;;
    esac
}

# held PROGRAM NAME VARIABLE=VALUE: records it with the truth, unless that was done.
held() {
    local file=$out/$1.$2
    [[ ! -s $file.txt ]] || return 0
    env "$3" "$SZC" profile record -F 100 --call-graph icpp --paths "$out/$1.paths" --truth \
        -o "$file.jsonl" -- "${command[@]}" >/dev/null 2>"$file.log" ||
        warn "$1, $2: $(tail -n 1 "$file.log")"
    "$SZC" profile report "$file.jsonl" >"$file.txt.new"
    mv "$file.txt.new" "$file.txt"
    rm "$file.jsonl"
}

for program in "${programs[@]}"; do
    command_of "$program"
    if [[ ! -s $out/$program.paths ]]; then
        heading "$program: training"
        "$SZC" profile train --runs "$runs" -o "$out/$program.paths" -- "${command[@]}" >/dev/null
    fi
    held "$program" frames SZC_STACK=0
    held "$program" chosen SZC_STACK_ROOM_KIB=64
    for ((layout = 1; layout <= layouts; layout++)); do
        held "$program" "layout$layout" "SZC_SEED=$layout"
    done
done

# The numbers of a report, in a row: samples, precise, ambiguous, missing, and of those whose stack
# was whole how many there are, precise right and wrong, ambiguous with the true path and without.
heading 'call paths from two registers, % of samples; wrong: of precise ones with a whole stack'
printf '%-10s %-8s %8s %8s %9s %8s %12s %14s\n' program frames samples precise ambiguous missing \
    wrong 'true path lost'
failed=0
for program in "${programs[@]}"; do
    for file in "$out/$program".{frames,chosen,layout*}.txt; do
        name=${file#"$out/$program".}
        awk -v program="$program" -v name="${name%.txt}" '
            /^Call paths from two registers/ {
                precise = $6; samples = $9; ambiguous = $12
                missing = $0; sub(/ % missing.*/, "", missing); sub(/.* /, "", missing)
            }
            /^Of [0-9]+ of them/ {
                for (i = 1; i <= NF; i++) {
                    if ($i == "precise") right = $(i - 1)
                    if ($i ~ /^wrong/) wrong = $(i - 1)
                    if ($i == "ambiguous") some = $(i - 1)
                    if ($i ~ /^not\./) lost = $(i - 2)
                }
            }
            END {
                printf "%-10s %-8s %8d %8.1f %9.1f %8.1f %5d of %5d %5d of %5d\n", program, name,
                    samples, precise, ambiguous, missing, wrong, right + wrong, lost, some + lost
                exit wrong * 100 > right + wrong
            }' "$file" || failed=1
    done
done
exit "$failed"
