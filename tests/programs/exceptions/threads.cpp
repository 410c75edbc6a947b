//#Variants: -O2 | -O2 -static | -O2 -static-libgcc -static-libstdc++ | -O2 -lunwind
//#Flags: -pthread
#include "../rounds.h"
#include <stdexcept>
#include <thread>
#include <vector>

struct Count {
    long &count;
    NOINLINE explicit Count(long &count) : count(count) {}
    NOINLINE ~Count() { count++; }
};
NOINLINE static void descend(int depth, long &count)
{
    Count guard(count);
    if (depth == 0)
        throw std::logic_error("bottom");
    descend(depth - 1, count);
}

int main()
{
    FOR_A_WHILE
    {
        std::vector<long> counts(4);
        std::vector<std::thread> threads;
        for (long &count : counts)
            threads.emplace_back([&count] {
                for (int i = 0; i < 20; i++) {
                    try {
                        descend(i, count);
                    } catch (const std::logic_error &) {
                        count += 1000;
                    }
                }
            });
        for (std::thread &thread : threads)
            thread.join();
        SAME_EVERY_ROUND(counts[0] + counts[1] + counts[2] + counts[3]);
    }
    return 0;
}
