# shellcheck shell=bash
# Builds of a short program of three sources, by the compiler that CC names, each time anew; and
# what was measured of them.
printf 'int add(int sum, int i) { return sum + i; }\n' >add.c
printf 'int half(int sum) { return sum >> 1; }\n' >half.c
printf 'volatile int sum;\nint add(int, int), half(int);\nint main(void)
{ for (int i = 0; i < 300000; i++) sum = half(add(sum, i)); return 0; }\n' >bench.c
cat >Makefile <<'END'
.RECIPEPREFIX = >
all: bench-a bench-b bench-O2 bench-O3
bench-a bench-O2: OPTIONS = -O2
bench-b bench-O3: OPTIONS = -O3
FORCE:
bench-%: FORCE
> $(CC) $(OPTIONS) bench.c add.c half.c -o $@
END
make CC=szc >make.log
# Under names of their own: the page builds the others anew.
cp bench-O2 why-O2
cp bench-O3 why-O3
szc bias --positions 4 --json why.json -- ./why-O2 ./why-O3 >why.log
