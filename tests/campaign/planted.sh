# shellcheck shell=bash
# Programs with planted work, for campaigns that look for it: SQLite, Lua, zstd and a Rust program,
# by szc or by clang, with workloads of about 0.3 s. Sourced behind lib.sh.

BUILDS=$CACHE/builds/power
# So many times as much work in each run.
WORK=1
# sources PROGRAM: its sources with the plant.
sources() {
    local folder=$BUILDS/$1/source
    [[ -e $folder/planted ]] && return
    rm -rf "$folder"
    mkdir -p "$BUILDS/$1"
    case $1 in
    sqlite3)
        planted_sqlite "$folder"
        ;;
    lua)
        cp -r "$(suite source lua)" "$folder"
        plant "$folder/src/ldo.c" \
            'CallInfo *luaD_precall (lua_State *L, StkId func, int nresults) {' 64
        ;;
    zstd)
        cp -r "$(suite source zstd)" "$folder"
        plant "$folder/lib/compress/zstd_compress.c" \
            "    /* Assert that we have correctly flushed the ctx params into the ms's copy */" 1
        ;;
    words)
        mkdir -p "$folder"
        cp "$PROJECT/tests/src/bin/words.rs" "$folder"
        ;;
    *) die "there is no program '$1'; known are sqlite3, lua, zstd and words" ;;
    esac
    say yes >"$folder/planted"
}

# compile PROGRAM FOLDER CC...: its objects, in the folder.
compile() {
    local source=$BUILDS/$1/source folder=$2 files=() file
    local flags=(-O2 -ffunction-sections)
    [[ -e $folder/compiled ]] && return
    mkdir -p "$folder"
    case $1 in
    sqlite3)
        files=("$source"/{sqlite3,shell}.c)
        flags+=(-DSQLITE_OMIT_LOAD_EXTENSION "-I$source")
        ;;
    lua)
        for file in "$source"/src/*.c; do
            [[ $file == */luac.c ]] || files+=("$file")
        done
        flags+=(-std=gnu99 -DLUA_USE_LINUX)
        ;;
    zstd)
        files=("$source"/programs/*.c
            "$source"/lib/{common,compress,decompress,dictBuilder}/*.c)
        flags+=(-DZSTD_DISABLE_ASM -DZSTD_LEGACY_SUPPORT=0 -DXXH_NAMESPACE=ZSTD_
            "-I$source/lib" "-I$source/lib/common" "-I$source/programs")
        ;;
    esac
    (cd "$folder" && shift 2 &&
        for file in "${files[@]}"; do "$@" "${flags[@]}" -c "$file" || exit; done)
    say yes >"$folder/compiled"
}

# link PROGRAM FOLDER ROUNDS OUTPUT CC...: a program with so much planted work.
link() {
    local program=$1 folder=$2 rounds=$3 output=$4 planted=$BUILDS/planted-$3.o
    [[ -x $output ]] && return
    [[ -s $planted ]] || clang-22 "-DROUNDS=$rounds" -c \
        "$PROJECT/tests/campaign/programs/planted.c" -o "$planted"
    shift 4
    if [[ $program == words ]]; then
        local flags=()
        for flag in "${@:2}"; do flags+=(-C "link-arg=$flag"); done
        ROUNDS=$rounds rustc --edition 2024 -O -C "linker=$1" "${flags[@]}" -o "$output.new" \
            "$BUILDS/words/source/words.rs"
    else
        "$@" -O2 "$folder"/*.o "$planted" -lm -ldl -pthread -o "$output.new"
    fi
    mv "$output.new" "$output"
}

# built KIND PROGRAM ROUNDS: the name of a program; of the kind `plain-N` one in link order N.
built() {
    local kind=$1 program=$2 folder=$BUILDS/$2/${1%-*} output=$BUILDS/$2/$1-$3
    sources "$program"
    if [[ $kind == szc ]]; then
        compile "$program" "$folder" "$SZC"
        link "$program" "$folder" "$3" "$output" "$SZC"
    else
        compile "$program" "$folder" clang-22
        link "$program" "$folder" "$3" "$output" clang-22 -fuse-ld=lld \
            "-Wl,--shuffle-sections=.text*=${kind#plain-}"
    fi
    say "$output"
}

# workload KIND PROGRAM ROUNDS: a command of about WORK times 0.3 s.
workload() {
    local program inputs=$BUILDS/$2
    program=$(built "$@")
    case $2 in
    sqlite3)
        # In memory: a program that writes files is not measured by turns.
        [[ -s $inputs/bench-$WORK.sql ]] || {
            say "PRAGMA temp_store = MEMORY;"
            say "CREATE TEMP TABLE scale AS SELECT $((20000 * WORK)) AS n;"
            cat "$SCRIPTS/open-suite/programs/sqlite3/bench.sql"
        } >"$inputs/bench-$WORK.sql"
        printf '%q -batch -init %q :memory: .quit' "$program" "$inputs/bench-$WORK.sql"
        ;;
    lua) printf '%q %q %d' "$program" "$SCRIPTS/open-suite/programs/lua/bench.lua" $((60 * WORK)) ;;
    zstd)
        [[ -s $inputs/corpus-$WORK ]] || awk -v bytes=$((6000000 * WORK)) \
            -f "$SCRIPTS/open-suite/programs/shared/corpus.awk" >"$inputs/corpus-$WORK"
        printf '%q -q -9 --single-thread -f %q -o /dev/null' "$program" "$inputs/corpus-$WORK"
        ;;
    words) printf '%q %d' "$program" $((250000 * WORK)) ;;
    esac
}
