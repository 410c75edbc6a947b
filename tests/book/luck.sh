# shellcheck shell=bash
# A program of three functions, of which one is slow where it begins behind another in a page.
cp "$PROJECT/tests/campaign/programs/lucky-pair.c" bench.c
szc -O2 bench.c -o bench
# One that is slow where one of its blocks begins in one quarter of a page.
cp "$PROJECT/tests/campaign/programs/lucky-block.c" blocks.c
szc -O2 blocks.c -o blocks
