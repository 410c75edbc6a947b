//#Variants: -O0 | -O1 | -O2 | -O3 | -Os | -Oz | -O2 -g | -O2 -fno-omit-frame-pointer |
//#    -O2 -fstack-protector-strong | -O2 -fstack-protector-all | -O2 -fstack-clash-protection |
//#    -O0 -fstack-clash-protection | -O2 -fPIC | -O2 -no-pie -fno-pie | -O2 -flto |
//#    -O2 -flto=thin | -O2 -fcf-protection=full
//#Flags: -std=c++20
//#Movable: 2
// Coroutines: their frames are on the heap, the stack below them is padded.
#include "../rounds.h"
#include <coroutine>
#include <exception>
#include <utility>

struct Generator {
    struct promise_type {
        uint64_t value = 0;
        Generator get_return_object() {
            return Generator(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(uint64_t next) noexcept {
            value = next;
            return {};
        }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
    explicit Generator(std::coroutine_handle<promise_type> handle) : handle(handle) {}
    Generator(Generator &&other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
    ~Generator() {
        if (handle)
            handle.destroy();
    }
    bool next() {
        handle.resume();
        return !handle.done();
    }
    std::coroutine_handle<promise_type> handle;
};

NOINLINE static uint64_t mixed(uint64_t value) {
    __asm__ volatile("" : "+r"(value));
    return value * 0x9e3779b97f4a7c15u >> 11;
}

NOINLINE static Generator numbers(uint64_t count) {
    uint64_t local[16] = {};
    for (uint64_t i = 0; i < count; i++) {
        local[i % 16] += mixed(i);
        co_yield local[(i * 7) % 16];
    }
}

NOINLINE static Generator sums(uint64_t count) {
    Generator inner = numbers(count);
    uint64_t sum = 0;
    while (inner.next()) {
        sum += mixed(inner.handle.promise().value);
        co_yield sum;
    }
}

NOINLINE static uint64_t all(uint64_t count) {
    uint64_t sum = 0;
    Generator generator = sums(count);
    while (generator.next())
        sum = sum * 3 + generator.handle.promise().value;
    return sum;
}

int main() {
    FOR_A_WHILE { SAME_EVERY_ROUND(all(60)); }
    return 0;
}
