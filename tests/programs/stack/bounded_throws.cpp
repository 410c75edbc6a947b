//#Variants: -O2 | -O0 | -O2 -flto
// A recursion that ends itself by the distance of addresses, with an exception that is caught far
// above, in a program whose main has a large array.
#include "../rounds.h"
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace {
thread_local const char *bottom;

struct TooDeep : std::runtime_error {
    using std::runtime_error::runtime_error;
};

NOINLINE const char *stack_pointer()
{
    return static_cast<const char *>(__builtin_frame_address(0));
}

NOINLINE void check_depth(std::size_t allowed)
{
    if (static_cast<std::size_t>(bottom - stack_pointer()) > allowed)
        throw TooDeep("too deep");
}

struct Node {
    std::vector<Node> children;
};

NOINLINE Node chain(int depth)
{
    Node node;
    for (int i = 0; i < depth; i++) {
        Node outer;
        outer.children.push_back(std::move(node));
        node = std::move(outer);
    }
    return node;
}

NOINLINE int visit(const Node &node, std::size_t allowed)
{
    check_depth(allowed);
    std::string name("node");
    int sum = static_cast<int>(name.size());
    for (const Node &child : node.children)
        sum += visit(child, allowed);
    return sum;
}

int depth_of(const Node &node, std::size_t allowed)
{
    try {
        return visit(node, allowed);
    } catch (const TooDeep &error) {
        return -static_cast<int>(std::strlen(error.what()));
    }
}
} // namespace

int main()
{
    volatile char large[1 << 20];
    large[0] = 1;
    bottom = const_cast<const char *>(large);
    Node moderate = chain(600), deep = chain(5000);
    FOR_A_WHILE
    {
        SAME_EVERY_ROUND(depth_of(moderate, 256 << 10));
        SAME_EVERY_ROUND(depth_of(deep, 256 << 10));
    }
    return large[0] - 1;
}
