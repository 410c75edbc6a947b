// One process measures hundreds of layouts of `parse`: each iteration begins with a new one.
//
//   szc++ -O2 google_benchmark.cpp -o google_benchmark -lbenchmark -pthread
#include <string>

static __attribute__((noinline)) unsigned parse(const std::string &text)
{
    unsigned fields = 0, number = 0;
    for (char letter : text) {
        if (letter == ',') {
            fields += number % 7;
            number = 0;
        } else {
            number = number * 10 + (unsigned)(letter - '0');
        }
    }
    return fields;
}

static std::string numbers()
{
    std::string text;
    for (int number = 0; number < 300; ++number)
        text += std::to_string(number * number) + ',';
    return text;
}

static const std::string input = numbers();

#include <benchmark/benchmark.h>
#include <szc.h>

static void BM_Parse(benchmark::State &state)
{
    szc_pause();
    unsigned long long before = szc_layout();
    for (auto _ : state) {
        state.PauseTiming();
        szc_relayout();
        state.ResumeTiming();
        for (int i = 0; i < 100; ++i)
            benchmark::DoNotOptimize(parse(input));
    }
    state.counters["layouts"] = szc_layout() - before;
    szc_resume();
}
BENCHMARK(BM_Parse);
BENCHMARK_MAIN();
