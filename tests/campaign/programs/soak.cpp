// Everything that leaves references to code on stacks, at once and for as long as it is told:
//
//   soak SECONDS THREADS
//
// THREADS workers call, throw, jump, allocate, sort and sleep; beside them two threads wait in deep
// frames, one thread makes and joins threads, one forks, and timers interrupt them all. Every
// result is compared with what it must be. Prints what was done; exits with 1 at the first
// difference.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <pthread.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static std::atomic<bool> ended;
static std::atomic<uint64_t> calls, throws, jumps, blocks, sorts, sleeps, threads, children,
    signals, waits;

static void wrong(const char *what, uint64_t found, uint64_t expected)
{
    fprintf(stderr, "soak: %s is %llu instead of %llu\n", what, (unsigned long long)found,
            (unsigned long long)expected);
    abort();
}

static void same(const char *what, uint64_t found, uint64_t expected)
{
    if (found != expected)
        wrong(what, found, expected);
}

struct Random {
    uint64_t state;
    uint64_t next()
    {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return state;
    }
    unsigned below(unsigned bound) { return unsigned(next() >> 33) % bound; }
};

// Calls through switches and pointers.

NOINLINE static uint64_t step(uint64_t x, unsigned kind)
{
    __asm__ volatile("" : "+r"(x));
    switch (kind & 7) {
    case 0: return x + 0x9e3779b97f4a7c15u;
    case 1: return x ^ x >> 29;
    case 2: return x * 5 + 1;
    case 3: return x << 9 | x >> 55;
    case 4: return x - (x >> 11);
    case 5: return ~x;
    case 6: return x * 0xbf58476d1ce4e5b9u;
    default: return x ^ 0x94d049bb133111ebu;
    }
}

NOINLINE static uint64_t descend(uint64_t x, unsigned depth)
{
    if (depth == 0)
        return step(x, 1);
    uint64_t below = descend(step(x, depth), depth - 1);
    return step(below, depth) + depth;
}

using Work = uint64_t (*)(uint64_t, unsigned);
static Work volatile pointer = descend;

// The same without any call, for comparison: computed before anything moves a second time.
static uint64_t expected_descent[64];

static void compute(Random &random)
{
    unsigned depth = random.below(64);
    same("a descent", pointer(depth, depth), expected_descent[depth]);
    ++calls;
}

// Exceptions through destructors.

struct Counted {
    unsigned &count;
    explicit Counted(unsigned &count) : count(count) { ++count; }
    ~Counted() { --count; }
};

NOINLINE static void throw_from(unsigned depth, unsigned &alive)
{
    Counted counted(alive);
    if (depth == 0)
        throw std::runtime_error(std::to_string(alive));
    if (depth % 5 == 3) {
        try {
            throw_from(depth - 1, alive);
        } catch (...) {
            step(depth, depth);
            throw;
        }
    } else {
        throw_from(depth - 1, alive);
    }
    step(depth, 0);
}

static void raise_exceptions(Random &random)
{
    unsigned depth = random.below(30), alive = 0;
    try {
        throw_from(depth, alive);
        wrong("the end of a thrower", 0, 1);
    } catch (const std::runtime_error &error) {
        same("the depth of a throw", std::stoul(error.what()), depth + 1);
    }
    same("objects left by an exception", alive, 0);
    ++throws;
}

// Jumps out of frames.

NOINLINE static void jump_from(std::jmp_buf &back, unsigned depth)
{
    if (depth == 0)
        std::longjmp(back, 7);
    jump_from(back, depth - 1);
    step(depth, 3);
}

static void jump(Random &random)
{
    std::jmp_buf back;
    unsigned depth = random.below(40);
    int value = setjmp(back);
    if (value == 0)
        jump_from(back, depth);
    same("the value of a jump", unsigned(value), 7);
    ++jumps;
}

// Allocation, and callbacks from libraries.

static void allocate(Random &random)
{
    std::vector<std::unique_ptr<uint64_t[]>> held;
    std::vector<size_t> sizes;
    for (unsigned count = random.below(40); count > 0; --count) {
        size_t size = 1 + random.below(500);
        held.emplace_back(new uint64_t[size]);
        sizes.push_back(size);
        std::fill_n(held.back().get(), size, size * 3);
    }
    for (size_t index = 0; index < held.size(); ++index)
        for (size_t at = 0; at < sizes[index]; ++at)
            same("a word of a block", held[index][at], sizes[index] * 3);
    blocks += held.size();
}

NOINLINE static int compare(const void *a, const void *b)
{
    uint64_t one = step(*(const uint64_t *)a, 5), other = step(*(const uint64_t *)b, 5);
    return one < other ? -1 : one > other;
}

static void sort(Random &random)
{
    uint64_t values[200];
    for (uint64_t &value : values)
        value = random.next();
    qsort(values, 200, sizeof *values, compare);
    for (unsigned index = 1; index < 200; ++index)
        if (values[index - 1] < values[index])
            wrong("the order of sorted values", values[index], values[index - 1]);
    ++sorts;
}

static void rest(unsigned us)
{
    timespec time = {0, long(us) * 1000};
    while (nanosleep(&time, &time) != 0)
        same("the error of a sleep", unsigned(errno), EINTR);
}

static void *work(void *argument)
{
    Random random = {0x9e3779b97f4a7c15u * (1 + (uint64_t)argument)};
    while (!ended) {
        switch (random.below(64)) {
        case 0: raise_exceptions(random); break;
        case 1: jump(random); break;
        case 2: allocate(random); break;
        case 3: sort(random); break;
        case 4: rest(random.below(300)), ++sleeps; break;
        default: compute(random);
        }
    }
    return nullptr;
}

// Frames that stay where they are for hundreds of layouts.

static int pipes[2][2];

NOINLINE static uint64_t wait_in(unsigned depth, int descriptor)
{
    uint64_t local = step(depth, depth);
    if (depth == 0) {
        char byte;
        ssize_t length;
        while ((length = read(descriptor, &byte, 1)) < 0)
            same("the error of a read", unsigned(errno), EINTR);
        return uint64_t(length) + 1;
    }
    uint64_t below = wait_in(depth - 1, descriptor);
    return step(below ^ local, depth) ^ step(below ^ step(depth, depth), depth) ^ below;
}

static void *wait_long(void *argument)
{
    int *both = pipes[(uint64_t)argument];
    unsigned depth = 0;
    uint64_t result;
    while ((result = wait_in(depth++ % 30, both[0])) == 2)
        ++waits;
    return nullptr;
}

// Threads and children that come and go.

static void *short_thread(void *argument)
{
    Random random = {(uint64_t)argument | 1};
    for (int round = 0; round < 20; ++round)
        compute(random);
    raise_exceptions(random);
    return argument;
}

static void *make_threads(void *)
{
    Random random = {77};
    while (!ended) {
        pthread_t made[4];
        for (pthread_t &thread : made)
            if (pthread_create(&thread, nullptr, short_thread, (void *)random.next()) != 0)
                wrong("the result of pthread_create", 1, 0);
        for (pthread_t thread : made)
            pthread_join(thread, nullptr);
        threads += 4;
        rest(2000);
    }
    return nullptr;
}

static void *make_children(void *)
{
    Random random = {99};
    while (!ended) {
        pid_t child = fork();
        if (child == 0) {
            for (int round = 0; round < 200; ++round) {
                compute(random);
                raise_exceptions(random);
                jump(random);
            }
            rest(3000);
            compute(random);
            _exit(42);
        }
        int status = 0;
        while (waitpid(child, &status, 0) < 0)
            same("the error of a wait", unsigned(errno), EINTR);
        same("the status of a child", unsigned(status), 42 << 8);
        ++children;
        rest(20000);
    }
    return nullptr;
}

static void handle(int)
{
    int kept = errno;
    same("a descent in a handler", pointer(9, 9), expected_descent[9]);
    ++signals;
    errno = kept;
}

int main(int count, char **arguments)
{
    unsigned seconds = count > 1 ? unsigned(atoi(arguments[1])) : 10;
    uint64_t workers = count > 2 ? uint64_t(atoi(arguments[2])) : 8;
    for (unsigned depth = 0; depth < 64; ++depth)
        expected_descent[depth] = descend(depth, depth);

    struct sigaction action = {};
    action.sa_handler = handle;
    action.sa_flags = SA_RESTART;
    sigaction(SIGPROF, &action, nullptr);
    sigaction(SIGALRM, &action, nullptr);
    itimerval period = {{0, 1000}, {0, 1000}};
    setitimer(ITIMER_PROF, &period, nullptr);
    period = {{0, 3000}, {0, 3000}};
    setitimer(ITIMER_REAL, &period, nullptr);

    std::vector<pthread_t> all;
    auto start = [&](void *(*routine)(void *), uint64_t argument) {
        pthread_t thread;
        if (pthread_create(&thread, nullptr, routine, (void *)argument) != 0)
            wrong("the result of pthread_create", 1, 0);
        all.push_back(thread);
    };
    for (uint64_t waiter = 0; waiter < 2; ++waiter) {
        if (pipe(pipes[waiter]) != 0)
            return 2;
        start(wait_long, waiter);
    }
    for (uint64_t worker = 0; worker < workers; ++worker)
        start(work, worker);
    start(make_threads, 0);
    start(make_children, 0);

    timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        rest(700000);
        if (write(pipes[0][1], "x", 1) != 1 || write(pipes[1][1], "x", 1) != 1)
            return 2;
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec - begin.tv_sec < time_t(seconds));
    ended = true;
    close(pipes[0][1]);
    close(pipes[1][1]);
    for (pthread_t thread : all)
        pthread_join(thread, nullptr);
    period = {};
    setitimer(ITIMER_PROF, &period, nullptr);
    setitimer(ITIMER_REAL, &period, nullptr);
    const std::pair<const char *, uint64_t> done[] = {
        {"calls", calls},   {"throws", throws},     {"jumps", jumps},     {"blocks", blocks},
        {"sorts", sorts},   {"sleeps", sleeps},     {"threads", threads}, {"children", children},
        {"waits", waits},   {"signals", signals},
    };
    for (auto &[name, number] : done) {
        printf("%s %llu\n", name, (unsigned long long)number);
        if (number == 0)
            return 1;
    }
    return 0;
}
