// A loop over one block that is slow where the block begins in one quarter of a page: the loop asks
// for the block's address, so that the truth is known. Blocks of two other sizes are worked on
// everywhere alike.
//
// lucky-block COUNT: takes time. lucky-block COUNT work: prints how much was done, too, a figure
// without noise but for what a neighbour's place adds. lucky-block COUNT noise: prints a figure
// that no layout has to do with.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static unsigned long done;

// In a register, where nothing but the count makes it longer: how soon a store is read again
// depends on places, too.
__attribute__((noinline)) static void work(volatile unsigned *block, unsigned count) {
  unsigned sum = block[0];
  for (unsigned i = 0; i < count; i++) {
    sum = sum * 1664525u + i;
    __asm__ volatile("" : "+r"(sum));
  }
  block[0] = sum;
  done += 100 * count;
}

int main(int argc, char **argv) {
  unsigned count = argc > 1 ? (unsigned)atoi(argv[1]) : 150000;
  volatile unsigned *even = calloc(1, 200), *slow = calloc(1, 1500), *odd = calloc(1, 5000);
  if (!slow || !even || !odd) return 1;
  for (int i = 0; i < 1000; i++) {
    // Others come and go, as in any program.
    volatile char *passing = malloc(200);
    if (!passing) return 1;
    *passing = 1;
    work(slow, (((uintptr_t)slow >> 10) & 3) == 2 ? count / 2 + count / 8 : count / 2);
    work(even, count / 4);
    work(odd, count / 4);
    free((void *)passing);
  }
  done += ((uintptr_t)even >> 6) & 15;
  unsigned noise = 0;
  if (argc > 2 && !strcmp(argv[2], "work")) printf("work %lu\n", done);
  if (argc > 2 && !strcmp(argv[2], "noise") && getrandom(&noise, sizeof noise, 0) > 0)
    printf("work %u\n", 1000000 + noise % 10000);
  puts("done");
  return 0;
}
