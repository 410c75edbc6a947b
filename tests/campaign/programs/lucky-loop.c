// A loop that is slow where its function lies in one quarter of a cache line: it asks for its own
// address, so that the truth is known. Two other functions do their work everywhere alike.
//
// lucky-loop COUNT: takes time. lucky-loop COUNT work: prints how much was done, too, a figure
// without noise but for what a neighbour's place adds. lucky-loop COUNT noise: prints a figure that
// no layout has to do with.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static volatile unsigned sink;
static unsigned long done;

// Where its caller is. In assembly, since szc translates what __builtin_return_address gives.
uintptr_t here(void);
__asm__(".text\n.type here, @function\nhere:\n\tmov (%rsp), %rax\n\tret\n.size here, . - here");

__attribute__((noinline)) unsigned lucky(unsigned count) {
  if (((here() >> 4) & 3) == 2) count += count / 4;
  for (unsigned i = 0; i < count; i++) sink += i;
  done += 100 * count;
  return sink;
}

__attribute__((noinline)) unsigned even(unsigned count) {
  for (unsigned i = 0; i < count; i++) sink += i + 1;
  done += 100 * count + ((here() >> 6) & 15);
  return sink;
}

__attribute__((noinline)) unsigned odd(unsigned count) {
  for (unsigned i = 0; i < count; i++) sink += i + 2;
  done += 100 * count;
  return sink;
}

int main(int argc, char **argv) {
  unsigned count = argc > 1 ? (unsigned)atoi(argv[1]) : 150000;
  for (int i = 0; i < 1000; i++) {
    lucky(count / 2);
    even(count / 4);
    odd(count / 4);
  }
  unsigned noise = 0;
  if (argc > 2 && !strcmp(argv[2], "work")) printf("work %lu\n", done);
  if (argc > 2 && !strcmp(argv[2], "noise") && getrandom(&noise, sizeof noise, 0) > 0)
    printf("work %u\n", 1000000 + noise % 10000);
  puts("done");
  return 0;
}
