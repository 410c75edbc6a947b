#ifndef OWN_UNWINDER_H
#define OWN_UNWINDER_H
using callback = long (*)(long);
struct Oops {
    long value;
};
struct Counted {
    static int alive;
    Counted() { alive++; }
    ~Counted() { alive--; }
};
struct Walk {
    void *cfa; /* to be found among the frames */
    int found, frames;
};
/* The library that szc has not built. */
[[noreturn]] void throws(long value);
long guarded(callback call, long value);
Walk walked(void *cfa);
/* Unwinds up to a frame in which forced_from was called. */
long forced_from(callback call, long value);
[[noreturn]] void forces(long result);
/* The library that szc has built. */
long through(callback call, long value);
#endif
