// A program of which it is known why the environment makes it slow: what lies in one sixteenth of a
// page costs a quarter more.
//
// positions stack COUNT: a variable of main. positions heap COUNT: the block behind a copy of the
// environment. positions contents COUNT: not an address, but the length of the variable that pads
// the environment. positions none COUNT: nothing. The last word `work` prints how much was done,
// with some noise, as a figure.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

extern char **environ;

static volatile unsigned sink;

enum { PAGE = 4096, SLOW_FROM = 1024, SLOW_TO = 1280 };

// Where the block behind a copy of all variables begins.
static uintptr_t behind_copy(void) {
  size_t bytes = 0;
  for (char **variable = environ; *variable; variable++) bytes += strlen(*variable) + 1;
  char *copy = malloc(bytes), *end = copy;
  for (char **variable = environ; *variable; variable++) end = stpcpy(end, *variable) + 1;
  sink += (unsigned char)*copy;
  return (uintptr_t)malloc(64);
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "none";
  unsigned count = argc > 2 ? (unsigned)atoi(argv[2]) : 10000000;
  unsigned here = 0;
  uintptr_t place = 0;
  if (!strcmp(what, "stack")) place = (uintptr_t)&here;
  if (!strcmp(what, "heap")) place = behind_copy();
  const char *padding = getenv("SZC_PADDING");
  if (!strcmp(what, "contents") && padding) place = strlen(padding);
  if (place % PAGE >= SLOW_FROM && place % PAGE < SLOW_TO) count += count / 4;
  for (unsigned i = 0; i < count; i++) sink += i;
  unsigned noise = 0;
  if (argc > 3 && getrandom(&noise, sizeof noise, 0) > 0)
    printf("work %lu\n", 1000UL * count + noise % (count + 1));
  return 0;
}
