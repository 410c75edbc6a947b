//#Variants: -O2 | -O0 | -O2 -static
//#Flags: -pthread
//#Epochs: 0
/* Exceptions that library code throws, passes on or waits for: destructors, constructors of arrays
 * and of statics, function try blocks, dynamic_cast, new, qsort, call_once, async, function,
 * promise. */
#include "../rounds.h"
#include <exception>
#include <functional>
#include <future>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <typeinfo>

struct Counted {
    int &count;
    NOINLINE explicit Counted(int &count) : count(count) { count++; }
    NOINLINE ~Counted() { count--; }
};

struct ThrowsAtItsEnd {
    int code;
    NOINLINE explicit ThrowsAtItsEnd(int code) : code(code) {}
    NOINLINE ~ThrowsAtItsEnd() noexcept(false)
    {
        if (!std::uncaught_exceptions()) throw std::runtime_error("end " + std::to_string(code));
    }
};

/* The members behind and before the one that throws are destroyed all the same. */
struct Holder {
    Counted first;
    ThrowsAtItsEnd second;
    Counted third;
    NOINLINE Holder(int &count, int code) : first(count), second(code), third(count) {}
};

NOINLINE static int throwing_destructor()
{
    int count = 0;
    try {
        Holder holder(count, 4);
    } catch (const std::runtime_error &error) {
        return error.what()[4] * 10 + count;
    }
    return -1;
}

NOINLINE static int quiet_while_unwinding()
{
    try {
        ThrowsAtItsEnd quiet(1);
        throw 9;
    } catch (int code) {
        return code;
    }
}

struct FailingStatic {
    NOINLINE explicit FailingStatic(int &attempts)
    {
        if (attempts++ < 3) throw attempts;
    }
};

NOINLINE static int use_static(int &attempts)
{
    static FailingStatic made(attempts);
    return 100 + attempts;
}

struct InArray {
    static int alive;
    NOINLINE InArray()
    {
        if (alive == 5) throw 55;
        alive++;
    }
    NOINLINE ~InArray() { alive--; }
};
int InArray::alive;

NOINLINE static int failing_array()
{
    InArray::alive = 0;
    try {
        delete[] new InArray[10];
    } catch (int code) {
        return code + InArray::alive;
    }
    return -1;
}

struct Base {
    NOINLINE explicit Base(int) {}
    NOINLINE ~Base() {}
};
struct FunctionTry : virtual Base {
    NOINLINE explicit FunctionTry(int code)
    try : Base(code) {
        if (code) throw code;
    } catch (int &passing) {
        passing++;
    }
};

NOINLINE static int function_try_block(int code)
{
    try {
        FunctionTry made(code);
        return 0;
    } catch (int passed) {
        return passed;
    }
}

struct Shape {
    virtual ~Shape() {}
};
struct Circle : Shape {};
struct Square : Shape {};

NOINLINE static int cast_to_circle(Shape &shape)
{
    try {
        dynamic_cast<Circle &>(shape);
        return 1;
    } catch (const std::bad_cast &) {
        return 2;
    }
}

NOINLINE static int new_integers(long number)
{
    try {
        delete[] new int[number];
        return 1;
    } catch (const std::bad_array_new_length &) {
        return 2;
    } catch (const std::bad_alloc &) {
        return 3;
    }
}

NOINLINE static int compare(const void *left, const void *right)
{
    int a = *static_cast<const int *>(left), b = *static_cast<const int *>(right);
    if (a == 13 || b == 13) throw std::string("unlucky");
    return a - b;
}

NOINLINE static int through_qsort()
{
    int values[20];
    for (int i = 0; i < 20; i++) values[i] = i * 7 % 20;
    try {
        qsort(values, 20, sizeof values[0], compare);
    } catch (const std::string &word) {
        return static_cast<int>(word.size());
    }
    return -1;
}

NOINLINE static int from_another_thread()
{
    auto result = std::async(std::launch::async, []() -> int { throw std::out_of_range("async"); });
    try {
        return result.get();
    } catch (const std::out_of_range &error) {
        return error.what()[0];
    }
}

NOINLINE static int calls_until_it_works()
{
    std::once_flag once;
    int calls = 0;
    for (int attempt = 0; attempt < 4; attempt++) {
        try {
            std::call_once(once, [&] {
                if (++calls < 3) throw calls;
            });
        } catch (int call) {
            CHECK(call == calls);
        }
    }
    return calls;
}

NOINLINE static int out_of_nested_functions()
{
    std::function<int(int)> deeper = [&](int depth) -> int {
        if (depth == 0) throw 5;
        return deeper(depth - 1);
    };
    try {
        return deeper(20);
    } catch (int code) {
        return code;
    }
}

NOINLINE static int out_of_a_promise()
{
    std::promise<int> promise;
    promise.set_exception(std::make_exception_ptr(std::logic_error("kept")));
    try {
        return promise.get_future().get();
    } catch (const std::logic_error &error) {
        return error.what()[0];
    }
}

int main()
{
    int attempts = 0;
    for (int use = 0; use < 5; use++) {
        try {
            printf("static: %d\n", use_static(attempts));
        } catch (int attempt) {
            printf("static failed: %d\n", attempt);
        }
    }
    Circle circle;
    Square square;
    FOR_A_WHILE {
        SAME_EVERY_ROUND(throwing_destructor());
        SAME_EVERY_ROUND(quiet_while_unwinding());
        SAME_EVERY_ROUND(failing_array());
        SAME_EVERY_ROUND(function_try_block(0) + function_try_block(7));
        SAME_EVERY_ROUND(cast_to_circle(circle) * 10 + cast_to_circle(square));
        SAME_EVERY_ROUND(new_integers(-1) * 100 + new_integers(1L << 60) * 10 + new_integers(10));
        SAME_EVERY_ROUND(through_qsort());
        SAME_EVERY_ROUND(from_another_thread());
        SAME_EVERY_ROUND(calls_until_it_works());
        SAME_EVERY_ROUND(out_of_nested_functions());
        SAME_EVERY_ROUND(out_of_a_promise());
    }
    return 0;
}
