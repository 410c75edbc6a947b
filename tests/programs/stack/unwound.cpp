//#Variants: -O0 | -O1 | -O2 | -O3 | -Os | -Oz | -O2 -g | -O2 -fno-omit-frame-pointer |
//#    -O2 -fstack-protector-strong | -O2 -fstack-protector-all | -O2 -fstack-clash-protection |
//#    -O0 -fstack-clash-protection | -O2 -fPIC | -O2 -no-pie -fno-pie | -O2 -flto |
//#    -O2 -flto=thin | -O2 -fcf-protection=full
//#Movable: 3
// Exceptions through padded frames: destructors run, handlers find their variables.
#include "../rounds.h"
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

static uint64_t trace;

struct Guard {
    int number;
    explicit Guard(int number) : number(number) { trace = trace * 3 + number; }
    ~Guard() { trace = trace * 5 + number; }
};

struct Throws {
    Guard first{1}, second;
    explicit Throws(int at) : second(2) {
        if (at == 2)
            throw std::runtime_error("constructor");
    }
};

NOINLINE static void deep(int depth, int at) {
    Guard guard(depth);
    alignas(64) unsigned char bytes[64];
    std::memset(bytes, depth, sizeof bytes);
    if (reinterpret_cast<uintptr_t>(bytes) % 64 != 0)
        throw 99;
    if (depth == 0) {
        Throws thrower(at);
        throw at == 1 ? std::string("text") : std::string(200, 'x');
    }
    unsigned char variable[depth + 1];
    std::memset(variable, 1, sizeof variable);
    deep(depth - 1, at);
    trace += variable[0] + bytes[3];
}

NOINLINE static uint64_t caught(int depth, int at) {
    trace = 1;
    volatile int local = depth + at;
    try {
        Guard guard(9);
        deep(depth, at);
    } catch (const std::string &text) {
        trace += text.size() + local;
    } catch (const std::exception &error) {
        trace ^= std::strlen(error.what()) + local;
    } catch (int number) {
        return static_cast<uint64_t>(number);
    }
    return trace;
}

NOINLINE static uint64_t again(int depth) {
    try {
        try {
            deep(depth, 1);
        } catch (const std::string &) {
            Guard guard(4);
            throw;
        }
    } catch (...) {
        Guard guard(5);
        return trace;
    }
    return 0;
}

NOINLINE static uint64_t in_a_loop(int turns) {
    std::vector<std::string> kept;
    for (int i = 0; i < turns; i++) {
        try {
            if (i % 3 == 0)
                deep(i, i % 2);
            kept.emplace_back(static_cast<size_t>(i), 'a');
        } catch (const std::string &text) {
            kept.push_back(text);
        }
    }
    uint64_t sum = 0;
    for (const auto &text : kept)
        sum = sum * 31 + text.size();
    return sum;
}

int main() {
    FOR_A_WHILE {
        SAME_EVERY_ROUND(caught(5, 1));
        SAME_EVERY_ROUND(caught(6, 2));
        SAME_EVERY_ROUND(caught(0, 3));
        SAME_EVERY_ROUND((trace = 7, again(4)));
        SAME_EVERY_ROUND(in_a_loop(13));
    }
    return 0;
}
