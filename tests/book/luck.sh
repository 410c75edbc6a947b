# shellcheck shell=bash
# A program of three functions, of which one is slow where it begins behind another in a page.
cp "$PROJECT/tests/campaign/programs/lucky-pair.c" bench.c
szc -O2 bench.c -o bench
