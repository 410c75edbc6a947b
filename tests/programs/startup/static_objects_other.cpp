// The other module of static_objects.cpp.
#include <string>
#include <vector>

std::vector<std::string> &registry()
{
    static std::vector<std::string> names;
    return names;
}
static int entered = (registry().push_back("other"), 1);
int other_entered() { return entered; }
