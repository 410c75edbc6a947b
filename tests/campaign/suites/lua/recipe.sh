# shellcheck shell=bash disable=SC2034,SC2164  # steps end at the first command that fails
# Lua 5.1 with the official tests of that version: a dispatch loop with a switch, errors through
# longjmp, coroutines, a garbage collector that takes everything apart.

debian_source=lua5.1

suite_build() {
    # Not in parallel: what makes the two programs would make the library twice at the same time.
    make -C src linux CC="$CC" MYCFLAGS="$CFLAGS -DLUA_USE_LINUX" MYLIBS="-Wl,-E -ldl -lm" luac lua
}

# Each file alone, in several seeds' layouts, and all in one process.
suite_run() {
    local file again
    rm -rf suite
    cp -r "$CACHE/sources/lua5.1-tests/tree/_lua5.1-tests" suite
    cd suite
    mkdir -p libs/P1
    export LUA_PATH='./?.lua;;' LUA_INIT="package.path = '?;'..package.path"
    for again in 1 2 3; do
        check "all-$again" ../src/lua all.lua
        for file in *.lua; do
            # `all` is above, and calls `big` in a coroutine, where it takes little memory;
            # `checktable` belongs to a build with assertions inside Lua.
            case $file in
            all.lua | big.lua | checktable.lua) ;;
            *) check "${file%.lua}-$again" ../src/lua "$file" ;;
            esac
        done
    done
}

suite_results() { sed -n 's/^RESULT //p' "$1"; }
