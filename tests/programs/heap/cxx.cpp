//#Variants: -O1 | -O1 -static | -O1 -static-libstdc++ | -O1 -std=c++14
//#Movable: 0
//#Epochs: 0
/* All forms of new and delete. */
#include <cstdint>
#include <cstdio>
#include <memory>
#include <new>
#include <string>
#include <unordered_map>
#include <vector>

struct alignas(256) Wide {
    char bytes[300];
};

template <class T> T *escape(T *pointer)
{
    asm volatile("" : "+r"(pointer));
    return pointer;
}

int main()
{
    delete escape(new int(1));
    delete[] escape(new std::string[10]);
    delete escape(new (std::nothrow) int(2));
    operator delete(escape(operator new(100)));
    operator delete(escape(operator new(100)), std::size_t(100));
    operator delete[](escape(operator new[](100, std::nothrow)), std::nothrow);
#ifdef __cpp_aligned_new
    Wide *wide = escape(new Wide[3]);
    bool aligned = reinterpret_cast<std::uintptr_t>(wide) % 256 == 0;
    delete[] wide;
    void *raw = escape(operator new(10, std::align_val_t(4096)));
    aligned = aligned && reinterpret_cast<std::uintptr_t>(raw) % 4096 == 0;
    operator delete(raw, std::size_t(10), std::align_val_t(4096));
    std::printf("%s\n", aligned ? "aligned" : "not aligned");
#endif
    std::size_t volatile much = std::size_t(-1) / 4;
    try {
        escape(new char[much]);
    } catch (const std::bad_alloc &) {
        std::puts("bad_alloc");
    }
    std::printf("%d\n", new (std::nothrow) char[much] == nullptr);
    std::unordered_map<std::string, std::vector<int>> map;
    for (int i = 0; i < 10000; i++)
        map[std::to_string(i % 997)].push_back(i);
    std::size_t sum = 0;
    for (auto &entry : map)
        sum += entry.second.size();
    std::printf("%zu\n", sum);
    auto shared = std::make_shared<std::vector<long>>(100000, 5);
    std::printf("%ld\n", (*shared)[99999]);
}
