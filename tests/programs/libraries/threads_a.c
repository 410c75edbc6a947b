#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

uint64_t work_in_a(uint64_t x)
{
    for (int i = 0; i < 40; i++)
        switch ((x + (uint64_t)i) % 7) {
        case 0: x += 3; break;
        case 1: x *= 5; break;
        case 2: x ^= 0x55; break;
        case 3: x -= 9; break;
        case 4: x = x << 3 | x >> 61; break;
        case 5: x += x >> 5; break;
        default: x = ~x; break;
        }
    return x;
}
uint64_t sleep_in_a(uint64_t x, uint64_t (*back)(uint64_t))
{
    struct timespec wait = {0, 2000000};
    nanosleep(&wait, NULL);
    return back(x) + work_in_a(x);
}
static void *thread(void *argument)
{
    return (void *)(uintptr_t)(work_in_a((uint64_t)(uintptr_t)argument) >> 8);
}
pthread_t start_in_a(uint64_t x)
{
    pthread_t id;
    if (pthread_create(&id, NULL, thread, (void *)(uintptr_t)x))
        abort();
    return id;
}
