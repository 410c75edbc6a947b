// Two functions of which one is slow where it begins less than 512 bytes behind the other in a
// page, as where they share sets of a cache: they ask for their own addresses, so that the truth
// is known. A third does its work everywhere alike.
//
// lucky-pair COUNT: takes time. lucky-pair COUNT work: prints how much was done, too, a figure
// without noise but for what a neighbour's place adds.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static volatile unsigned sink;
static unsigned long done;
static uintptr_t first_at;

// Where its caller is. In assembly, since szc translates what __builtin_return_address gives.
uintptr_t here(void);
__asm__(".text\n.type here, @function\nhere:\n\tmov (%rsp), %rax\n\tret\n.size here, . - here");

__attribute__((noinline)) void first(unsigned count) {
  first_at = here();
  for (unsigned i = 0; i < count; i++) sink += i;
  done += 100 * count;
}

__attribute__((noinline)) void second(unsigned count) {
  if (((here() - first_at) & 4095) < 512) count += count / 2;
  for (unsigned i = 0; i < count; i++) sink += i + 1;
  done += 100 * count;
}

__attribute__((noinline)) void third(unsigned count) {
  for (unsigned i = 0; i < count; i++) sink += i + 2;
  done += 100 * count + ((here() >> 6) & 15);
}

int main(int argc, char **argv) {
  unsigned count = argc > 1 ? (unsigned)atoi(argv[1]) : 150000;
  for (int i = 0; i < 1000; i++) {
    first(count / 4);
    second(count / 2);
    third(count / 4);
  }
  if (argc > 2) printf("work %lu\n", done);
  puts("done");
  return 0;
}
