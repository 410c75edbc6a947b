//#Variants: -O2 | -static | -flto
//#Flags: -pthread
/* Threads begin and end all the time; mutexes, conditions, thread-specific data, once. */
#include "../rounds.h"
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static int ready, inits;
static long destroyed;

static void destroy(void *value) { __atomic_add_fetch(&destroyed, (long)value, __ATOMIC_SEQ_CST); }
static void init(void) { inits++; pthread_key_create(&key, destroy); }
NOINLINE static long work(long x) { return (x * 17 + 5) % 1009; }

static void *detached(void *argument)
{
    (void)argument;
    pthread_mutex_lock(&lock);
    ready++;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return NULL;
}
static void *thread(void *argument)
{
    pthread_once(&once, init);
    pthread_setspecific(key, (void *)1);
    long value = work((long)argument);
    if ((long)argument % 2)
        pthread_exit((void *)value);
    return (void *)value;
}

int main(void)
{
    long started = 0;
    FOR_A_WHILE
    {
        pthread_t threads[4];
        long sum = 0;
        for (long i = 0; i < 4; i++)
            CHECK(pthread_create(&threads[i], NULL, thread, (void *)i) == 0);
        for (int i = 0; i < 4; i++) {
            void *result;
            pthread_join(threads[i], &result);
            sum += (long)result;
        }
        started += 4;
        SAME_EVERY_ROUND(sum);
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        pthread_t alone;
        CHECK(pthread_create(&alone, &attributes, detached, NULL) == 0);
        pthread_attr_destroy(&attributes);
        pthread_mutex_lock(&lock);
        while (!ready)
            pthread_cond_wait(&changed, &lock);
        ready--;
        pthread_mutex_unlock(&lock);
    }
    CHECK(inits == 1 && destroyed == started);
    puts("all ended");
    return 0;
}
