//#Variants: -O2 -nostdlib++ -static-libgcc -l:libstdc++.a -lm |
//#    -O2 -nostdlib++ -Wl,-Bstatic -lstdc++ -lgcc_eh -Wl,-Bdynamic -lm |
//#    -O2 -nostdlib++ -l:libstdc++.a -lgcc_eh -lm | -O2 -nostdlib++ -l:libstdc++.a -lm |
//#    -O2 -static-libgcc -static-libstdc++
/* Exceptions by a C++ library and an unwinder that lie in the program because archives are named in
 * other ways than -static-libstdc++. */
#include "../rounds.h"
#include <stdexcept>
#include <string>

struct Count {
    int *ended;
    ~Count() { ++*ended; }
};

NOINLINE static int throws(int value)
{
    if (value > 5)
        throw std::runtime_error("value " + std::to_string(value));
    return value;
}
NOINLINE static int passes(int value, int *ended)
{
    Count count{ended};
    std::string text((size_t)value, 'x');
    return throws(value) + (int)text.size();
}
NOINLINE static int catches(int value, int *ended)
{
    try {
        return passes(value, ended);
    } catch (const std::runtime_error &error) {
        return -(int)std::string(error.what()).size();
    }
}

int main()
{
    FOR_A_WHILE
    {
        int ended = 0;
        int sum = 0;
        for (int value = 0; value < 10; value++)
            sum += catches(value, &ended);
        SAME_EVERY_ROUND(sum);
        CHECK(ended == 10);
    }
    return 0;
}
