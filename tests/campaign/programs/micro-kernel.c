// The micro-kernel of Mytkowicz, Diwan, Hauswirth and Sweeney, "Producing wrong data without doing
// anything obviously wrong!" (ASPLOS 2009), figure 1 a, to be compiled without optimization; its
// loop runs as often as the argument says, so that a run takes some milliseconds.
#include <stdlib.h>

static int i = 0, j = 0, k = 0;

int main(int argc, char **argv) {
  int g = 0, inc = 1;
  int rounds = argc > 1 ? atoi(argv[1]) : 100;
  for (; rounds > 0; rounds--) {
    for (g = 0; g < 65536; g++) {
      i += inc;
      j += inc;
      k += inc;
    }
  }
  return 0;
}
