# shellcheck shell=bash
# A program of two sources, with a Makefile, a configure script of autoconf, and a list for CMake.
printf 'int parse(int);\nint main(void) { return parse(1) - 2; }\n' >main.c
printf 'int parse(int number) { return number + 1; }\n' >parse.c
# It is built by each command anew.
cat >Makefile <<'END'
.RECIPEPREFIX = >
program:
> $(CC) -O2 main.c parse.c -o $@
.PHONY: program
END
printf 'AC_INIT([program], [1])\nAC_PROG_CC\nAC_PROG_CXX\nAC_OUTPUT\n' >configure.ac
autoconf
printf 'cmake_minimum_required(VERSION 3.16)\nproject(program C CXX)\n' >CMakeLists.txt
printf 'add_executable(program main.c parse.c)\n' >>CMakeLists.txt
export CCACHE_DIR=$PWD/ccache
