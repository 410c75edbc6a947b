# shellcheck shell=bash
# A program, and LLVM 22's tools by the names that have no version.
cp "$PROJECT/szc/docs/examples/words.c" program.c
mkdir tools
ln -s "$(command -v clang-22)" tools/clang
ln -s "$(command -v llvm-profgen-22)" tools/llvm-profgen
PATH=$PWD/tools:$PATH
