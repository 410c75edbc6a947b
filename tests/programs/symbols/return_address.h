/* Which file an address is mapped from, as programs find out that name functions on their own. */
#include "../rounds.h"
#include <string.h>

__attribute__((no_instrument_function)) static inline const char *mapped_at(const void *address)
{
    static char line[4096];
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECK(maps);
    const char *path = "nothing";
    while (fgets(line, sizeof line, maps)) {
        unsigned long start, end;
        int at = 0;
        CHECK(sscanf(line, "%lx-%lx %*s %*s %*s %*s %n", &start, &end, &at) == 2);
        if ((unsigned long)address < start || (unsigned long)address >= end) continue;
        path = line + at;
        break;
    }
    fclose(maps);
    return path;
}
