//#Variants: -O2 | -O0 | -static | -flto | gcc -O2
//#With: static_objects_other.cpp
//#Epochs: 0
/* Static initializers share one section and call one another with fields that have no relocation;
 * local statics, thread-local objects, static destructors. */
#include "../rounds.h"
#include <map>
#include <string>
#include <thread>
#include <vector>

extern std::vector<std::string> &registry();
struct Register {
    explicit Register(const char *name) { registry().push_back(name); }
    ~Register() { printf("end of %zu\n", registry().size()); registry().pop_back(); }
};
static Register a("a"), b("b"), c("c");
static std::map<std::string, int> numbers{{"one", 1}, {"two", 2}, {"three", 3}};
static int sum = [] { int s = 0; for (auto &pair : numbers) s += pair.second; return s; }();
struct Local {
    int value;
    NOINLINE Local() : value(sum) {}
    NOINLINE ~Local() { sum++; }
};
static thread_local Local local;
NOINLINE static const std::string &once()
{
    static const std::string text = registry().front() + "!";
    return text;
}

int main()
{
    for (const std::string &name : registry())
        puts(name.c_str());
    FOR_MS(30)
    {
        CHECK(once() == "a!" || once() == "other!");
        int before = sum;
        std::thread([&] { CHECK(local.value == before); }).join();
        CHECK(sum == before + 1);
    }
    puts(once().c_str());
    return 0;
}
