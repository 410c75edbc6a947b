/* Throws an exception, and catches those that pass what it calls. */
struct Guard {
    int *count;
    ~Guard() { ++*count; }
};

extern "C" void throws(int what) { throw what; }

extern "C" int guarded(int (*call)(int), int argument)
{
    int left = 0;
    try {
        Guard guard{&left};
        return call(argument);
    } catch (int what) {
        return left == 1 ? -what : 0;
    }
}
