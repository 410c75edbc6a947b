// Prints the CPU time of a throw in nanoseconds: from frames of several depths, with destructors on
// the way.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <stdexcept>

struct Count {
    static inline long alive;
    Count() { alive++; }
    ~Count() { alive--; }
};

__attribute__((noinline)) static int descend(int depth)
{
    Count count;
    if (depth == 0)
        throw std::runtime_error("bottom");
    return descend(depth - 1) + 1;
}

static double cpu_ns()
{
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * 1e9 + now.tv_nsec;
}

int main(int argc, char **argv)
{
    const int throws = argc > 1 ? atoi(argv[1]) : 100000;
    long caught = 0;
    double start = cpu_ns();
    for (int n = 0; n < throws; n++) {
        try {
            descend(n % 20);
        } catch (const std::exception &) {
            caught++;
        }
    }
    printf("%.0f\n", (cpu_ns() - start) / throws);
    return caught != throws || Count::alive != 0;
}
