# shellcheck shell=bash disable=SC2034
# SQLite: 1,500 functions, jump tables, one translation unit of 8 MB, compiled
# and linked in one call through libtool.

debian_source=sqlite3
upstream_version=3.40.1
upstream_url=https://www.sqlite.org/2022/sqlite-autoconf-3400100.tar.gz
upstream_sha256=2c5dea207fa508d765af1ef620b637dcb06572afa6f01f0815bd5bbf864b33d9

# Debian's archive holds the development tree, whose sqlite3.c is made with Tcl;
# the upstream archive holds sqlite3.c itself.
recipe_build() {
    local options=(--disable-shared --disable-readline)
    if [[ -f main.mk ]]; then
        command -v tclsh >/dev/null || die "sqlite3's build needs tclsh; run spec-scripts/setup.sh"
        options+=(--disable-tcl)
    fi
    ./configure CC="$CC" CFLAGS="$CFLAGS" LDFLAGS="$LDFLAGS" AR="$AR" RANLIB="$RANLIB" "${options[@]}"
    make -j"$JOBS" sqlite3
    cp sqlite3 "$OUT/sqlite3"
}

# The script is passed by -init and names its size in its first line: no word of
# the command then needs quoting, and no ~/.sqliterc is read.
recipe_inputs() {
    local rows
    rows=$(size_of_workload "$SIZE" 250000 30000)
    printf 'CREATE TEMP TABLE scale AS SELECT %d AS n;\n' "$rows" |
        cat - "$SCRIPTS/programs/sqlite3/bench.sql" >"$INPUTS/bench-$SIZE.sql.$$"
    mv "$INPUTS/bench-$SIZE.sql.$$" "$INPUTS/bench-$SIZE.sql"
}

recipe_command() {
    COMMAND=("$BUILD/sqlite3" -batch -init "$INPUTS/bench-$SIZE.sql" :memory: .quit)
}
