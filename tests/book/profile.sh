# shellcheck shell=bash
# A program that takes a second.
cp "$PROJECT/szc/docs/examples/words.c" .
szc -O2 -g words.c -o program
