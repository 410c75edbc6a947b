# shellcheck shell=bash
# The crate of the page on Rust, which has what autoconf builds beside it.
# shellcheck source-path=SCRIPTDIR source=cargo.sh
. "$PROJECT/tests/book/cargo.sh"
printf 'int main(void) { return 0; }\n' >main.c
printf 'AC_INIT([program], [1])\nAC_PROG_CC\nAC_PROG_CXX\nAC_CONFIG_FILES([Makefile])
AC_OUTPUT\n' >configure.ac
cat >Makefile.in <<'END'
.RECIPEPREFIX = >
VPATH = @srcdir@
CC = @CC@
program: main.c
> $(CC) -O2 $< -o $@
END
autoconf
