# shellcheck shell=bash
# A repository of a program that takes longer than on the branch `main` of where it comes from.
mkdir origin
cat >Makefile <<'END'
.RECIPEPREFIX = >
bench: bench.c
> $(CC) -O2 bench.c -o bench
END
git init --quiet --initial-branch main origin
version() {
    printf 'volatile int sum;\nint main(void)
{ for (int i = 0; i < %d; i++) sum += i; return 0; }\n' "$1" >bench.c
    cp ../Makefile .
    git add bench.c Makefile
    git -c user.name=szc -c user.email=szc@example.org commit --quiet --message "$1"
}
(cd origin && version 1000000)
git clone --quiet origin clone
cd clone || exit
version 20000000
export GITHUB_STEP_SUMMARY=$PWD/summary.md
