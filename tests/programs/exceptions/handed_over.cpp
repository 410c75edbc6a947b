//#Variants: -O2 | -O0 | -O2 -stdlib=libc++ | -O2 -static | gcc -O2 | -O2 -stdlib=libc++ -lunwind
//#Flags: -pthread
/* Exceptions that are kept and handed to other threads, thrown again there, nested in others, and
 * told apart by dynamic_cast in their handlers. */
#include "../rounds.h"
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>

struct Base : std::runtime_error {
    using std::runtime_error::runtime_error;
    virtual int kind() const { return 1; }
};
struct Left : virtual Base {
    Left() : Base("left") {}
    int kind() const override { return 2; }
};
struct Both : Left {
    int extra = 7;
    Both() : Base("both") {}
    int kind() const override { return 3; }
};

NOINLINE static void throws(int n)
{
    switch (n % 3) {
    case 0: throw Base("base");
    case 1: throw Left();
    default: throw Both();
    }
}
NOINLINE static std::exception_ptr keeps(int n)
{
    try {
        throws(n);
    } catch (...) {
        return std::current_exception();
    }
    return nullptr;
}
NOINLINE static long looks(std::exception_ptr kept)
{
    try {
        std::rethrow_exception(kept);
    } catch (const Base &base) {
        long value = base.kind() * 100;
        if (auto both = dynamic_cast<const Both *>(&base))
            value += both->extra;
        if (dynamic_cast<const Left *>(&base))
            value += 10;
        return value + (long)std::string(base.what()).size();
    }
}
NOINLINE static long nests(int depth)
{
    try {
        if (depth == 0)
            throw std::invalid_argument("inner");
        nests(depth - 1);
    } catch (...) {
        std::throw_with_nested(std::runtime_error("level " + std::to_string(depth)));
    }
    return 0;
}
NOINLINE static long levels(const std::exception &error)
{
    try {
        std::rethrow_if_nested(error);
    } catch (const std::exception &inner) {
        return 1 + levels(inner);
    }
    return 0;
}

int main()
{
    FOR_A_WHILE
    {
        long sum = 0;
        for (int n = 0; n < 6; n++) {
            std::exception_ptr kept;
            std::thread([&] { kept = keeps(n); }).join();
            long there = 0;
            std::thread([&] { there = looks(kept); }).join();
            sum = sum * 3 + there + looks(kept);
        }
        SAME_EVERY_ROUND(sum);
        long depth = 0;
        try {
            nests(5);
        } catch (const std::exception &error) {
            depth = levels(error);
        }
        SAME_EVERY_ROUND(depth);
    }
    return 0;
}
