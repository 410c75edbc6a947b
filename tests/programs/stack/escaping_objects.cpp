//#Variants: -O2 | -O0 | -O3 | -O2 -flto | -O2 -fPIC
//#Movable: 6
/* Objects of C++ on the stack that are known by where they lie, while exceptions pass them. */
#include "../rounds.h"
#include <stdexcept>
#include <string>
#include <vector>

namespace {
std::vector<const void *> scopes, seen;

struct Scope {
    Scope() { scopes.push_back(this); }
    ~Scope()
    {
        CHECK(scopes.back() == this);
        scopes.pop_back();
    }
    Scope(const Scope &) = delete;
};

/* In each round the same object of the same function lies where it lay. */
void still_at(size_t which, const void *address)
{
    if (seen.size() <= which)
        seen.resize(which + 1);
    if (!seen[which])
        seen[which] = address;
    CHECK(seen[which] == address);
}

NOINLINE int caught(int value)
{
    Scope scope;
    still_at(0, &scope);
    std::string text(20 + static_cast<size_t>(value % 3), 'x');
    still_at(1, &text);
    try {
        Scope inner;
        still_at(2, &inner);
        if (value % 2)
            throw std::runtime_error(text);
    } catch (const std::runtime_error &) {
        CHECK(scopes.back() == &scope);
        return 1;
    }
    return 0;
}

NOINLINE int thrown_through(int value)
{
    Scope scope;
    still_at(3, &scope);
    if (value % 5 == 0)
        throw value;
    return value;
}

template <class Function> NOINLINE void calls(Function function)
{
    still_at(4, &function);
    function();
}
} // namespace

int main()
{
    int round = 0;
    FOR_A_WHILE {
        CHECK(caught(round) == round % 2);
        try {
            CHECK(thrown_through(round) == round);
        } catch (int value) {
            CHECK(value == round);
        }
        calls([&round] { round++; });
        CHECK(scopes.empty());
    }
    return 0;
}
