// A loop over a variable that lies across two cache lines in one of four layouts: the loop asks for
// the variable's address, so that the truth is known. The variable's address is what it makes its
// caller's frame; so `holder` explains the time, whose frame lies above, and `walk` does not. Two
// other functions with frames of their own do their work everywhere alike.
//
// lucky-frame COUNT: takes time. lucky-frame COUNT work: prints how much was done, too, a figure
// without noise but for what a neighbour's frame adds. lucky-frame COUNT noise: prints a figure
// that no layout has to do with.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static volatile unsigned sink;
static unsigned long done;

__attribute__((noinline)) static void use(volatile char *variable) {
  __asm__ volatile("" : : "r"(variable) : "memory");
}

__attribute__((noinline)) static void walk(unsigned count) {
  _Alignas(16) volatile char variable[32] = {0};
  use(variable);
  if (((uintptr_t)variable & 63) == 48) count += count / 4;
  for (unsigned i = 0; i < count; i++) sink += variable[i & 31] + i;
  done += 100 * count;
}

// Calls walk in the middle of the run, once: its frame is there until the end.
__attribute__((noinline)) static void holder(unsigned count) {
  char line[48];
  snprintf(line, sizeof line, "%u", count);
  for (int i = 0; i < 1000; i++) walk(count / 2);
  use(line);
}

__attribute__((noinline)) static void other(unsigned count) {
  char line[48];
  snprintf(line, sizeof line, "%u", count);
  for (int i = 0; i < 1000; i++) {
    use(line);
    for (unsigned j = 0; j < count / 2; j++) sink += j;
    done += 50 * count + (((uintptr_t)line >> 6) & 15);
  }
}

int main(int argc, char **argv) {
  unsigned count = argc > 1 ? (unsigned)atoi(argv[1]) : 150000;
  holder(count);
  other(count);
  unsigned noise = 0;
  if (argc > 2 && !strcmp(argv[2], "work")) printf("work %lu\n", done);
  if (argc > 2 && !strcmp(argv[2], "noise") && getrandom(&noise, sizeof noise, 0) > 0)
    printf("work %u\n", 1000000 + noise % 10000);
  puts("done");
  return 0;
}
