# shellcheck shell=bash disable=SC2034
# Lua: an interpreter with computed goto, setjmp and longjmp for errors.

debian_source=lua5.4
upstream_version=5.4.4
upstream_url=https://www.lua.org/ftp/lua-5.4.4.tar.gz
upstream_sha256=164c7849653b80ae67bec4b7473b884bf5cc8d2dca05653475ec2ed27b9ebf61

# MYCFLAGS come after the -O2 of Lua's makefile, so the last -O wins.
recipe_build() {
    make -C src -j"$JOBS" linux CC="$CC -std=gnu99" MYCFLAGS="$CFLAGS" MYLDFLAGS="$LDFLAGS" \
        AR="$AR rcu" RANLIB="$RANLIB"
    cp src/lua "$OUT/lua"
}

recipe_inputs() { :; }

recipe_command() {
    COMMAND=("$BUILD/lua" "$SCRIPTS/programs/lua/bench.lua" "$(size_of_workload "$SIZE" 350 35)")
}
