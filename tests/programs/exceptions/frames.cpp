//#Variants: -O2 | -O0 | -O2 -stdlib=libc++ | -O2 -static | -O2 -static-libgcc -static-libstdc++ |
//#    -O2 -fuse-ld=bfd | -O2 -fuse-ld=mold | -flto | -O2 -no-pie | gcc -O2 | gcc -O2 -no-pie |
//#    -O2 then-strip | -O2 -lunwind | -O2 -no-pie -stdlib=libc++ -lunwind | gcc -O2 -lunwind
//#Movable: 5
/* Exceptions pass through moved frames: values, destructors, rethrow, nested handlers,
 * constructors that throw, filters, exception pointers. */
#include "../rounds.h"
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

static long alive, order;
struct Guard {
    int id;
    NOINLINE explicit Guard(int id) : id(id)
    {
        if (id == 13)
            throw std::out_of_range("thirteen");
        alive++;
    }
    Guard(const Guard &other) : id(other.id) { alive++; }
    NOINLINE ~Guard()
    {
        alive--;
        order = (order * 31 + id) % 1000003;
    }
};
struct BadGuard { /* its base was built when its member throws */
    Guard base{5};
    Guard member;
    NOINLINE explicit BadGuard(int id) try : member(id) {
    } catch (const std::out_of_range &) {
        throw std::runtime_error("member");
    }
};

NOINLINE static int throws(int depth, int kind)
{
    Guard guard(depth % 7);
    if (depth > 0)
        return throws(depth - 1, kind) + guard.id;
    switch (kind) {
    case 0: throw 42;
    case 1: throw std::runtime_error("text");
    case 2: throw std::vector<int>{1, 2, 3};
    case 3: { BadGuard bad(13); return bad.member.id; }
    case 4: throw "literal";
    default: return 1;
    }
}
NOINLINE static int rethrows(int depth, int kind)
{
    try {
        return throws(depth, kind);
    } catch (const std::exception &error) {
        order += error.what()[0];
        throw;
    } catch (int value) {
        throw value + 1;
    }
}
NOINLINE static long attempt(int depth, int kind)
{
    try {
        return rethrows(depth, kind);
    } catch (int value) {
        return value;
    } catch (const std::runtime_error &error) {
        try {
            throws(3, 0);
        } catch (int inner) {
            return inner + (long)std::string(error.what()).size();
        }
    } catch (const std::vector<int> &values) {
        return (long)values.size() * 100;
    } catch (...) {
        std::exception_ptr kept = std::current_exception();
        try {
            std::rethrow_exception(kept);
        } catch (const char *text) {
            return text[0];
        }
    }
    return -1;
}

int main()
{
    FOR_A_WHILE
    {
        long sum = 0;
        order = 0;
        for (int kind = 0; kind < 6; kind++)
            for (int depth = 0; depth < 6; depth++)
                sum = sum * 3 + attempt(depth, kind);
        CHECK(alive == 0);
        SAME_EVERY_ROUND(sum);
        SAME_EVERY_ROUND(order);
    }
    return 0;
}
