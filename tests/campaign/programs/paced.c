/* A client of memcached or redis that asks at a rate, and ends the server when it has asked
 * enough. Arguments: protocol (memcached, redis), the server's socket, connections, requests in
 * all, and how many a second; without the last one each connection asks again once it has its
 * answer.
 *
 * Waits for the server, then fills it, which is not counted. One request of ten sets a value, the
 * others get twenty. Says how many were answered a second, and the mean time of an answer in
 * microseconds. Connections ask at times of their own, drawn from half to one and a half of the
 * mean interval; one that is late asks at once. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { KEYS = 1000, GET = 20, VALUE = 100, CONNECTIONS = 64 };

static int is_redis;
static const char *path;
static long connections, requests;
static double interval_ns;
static char value[VALUE + 1];

struct connection {
    pthread_t thread;
    uint64_t random;
    long count;
    double sum_ns;
};

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static void wait_until(int64_t end) {
    struct timespec time = {end / 1000000000, end % 1000000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) != 0) {}
}

static uint64_t draw(struct connection *self) {
    self->random ^= self->random << 13, self->random ^= self->random >> 7;
    return self->random ^= self->random << 17;
}

/* Sends a request and reads so many bytes of an answer, which must end so. Whether it did. */
static int ask(int server, const char *request, size_t answer, const char *end) {
    char text[4096];
    size_t length = strlen(request), got = 0;
    if (send(server, request, length, MSG_NOSIGNAL) != (ssize_t)length) return 0;
    while (got < answer) {
        ssize_t more = read(server, text + got, answer - got);
        if (more <= 0) return 0;
        got += more;
    }
    return memcmp(text + got - strlen(end), end, strlen(end)) == 0;
}

static int set(int server, long key) {
    char request[64 + VALUE];
    const char *form = is_redis ? "SET key%05ld %s\r\n" : "set key%05ld 0 0 100\r\n%s\r\n";
    const char *answer = is_redis ? "+OK\r\n" : "STORED\r\n";
    snprintf(request, sizeof request, form, key, value);
    return ask(server, request, strlen(answer), answer);
}

static int get(int server, struct connection *self) {
    char request[16 + 9 * GET], *at = request;
    at += sprintf(at, is_redis ? "MGET" : "get");
    for (int i = 0; i < GET; i++)
        at += sprintf(at, " key%05ld", (long)(draw(self) % KEYS));
    strcpy(at, "\r\n");
    /* "*20", "$100" and value of each; "VALUE key00000 0 100" and value of each, "END". */
    size_t bytes = is_redis ? 5 + GET * (6 + VALUE + 2) : GET * (22 + VALUE + 2) + 5;
    return ask(server, request, bytes, is_redis ? "a\r\n" : "END\r\n");
}

/* Of a server that is up, or will be. */
static int dial(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    for (int64_t end = now() + INT64_C(30000000000); now() < end; usleep(2000)) {
        int server = socket(AF_UNIX, SOCK_STREAM, 0);
        if (connect(server, (struct sockaddr *)&address, sizeof address) == 0 && set(server, 0))
            return server;
        close(server);
    }
    fprintf(stderr, "no server at %s\n", path);
    exit(1);
}

/* A connection to a server that has all values. One that is about to end may answer a while. */
static int fill(void) {
    for (;;) {
        int server = dial();
        long key = 0;
        while (key < KEYS && set(server, key)) key++;
        if (key == KEYS) return server;
        close(server);
    }
}

static void *run(void *argument) {
    struct connection *self = argument;
    int server = dial();
    int64_t next = now() + draw(self) % (1 + (uint64_t)interval_ns);
    for (long i = 0; i < requests / connections; i++) {
        if (interval_ns > 0) {
            if (next > now()) wait_until(next);
            next += interval_ns * (0.5 + draw(self) % 1000 / 1000.0);
        }
        int64_t begin = now();
        if (!(draw(self) % 10 == 0 ? set(server, draw(self) % KEYS) : get(server, self))) {
            fprintf(stderr, "a wrong answer, or none\n");
            exit(1);
        }
        self->sum_ns += now() - begin;
        self->count++;
    }
    /* It stays open: the end of a connection would be a request to the server. */
    return NULL;
}

int main(int argc, char **argv) {
    static struct connection all[CONNECTIONS];
    if (argc < 5 || atol(argv[3]) < 1 || atol(argv[3]) > CONNECTIONS) return 2;
    is_redis = strcmp(argv[1], "redis") == 0;
    path = argv[2];
    connections = atol(argv[3]);
    requests = atol(argv[4]);
    if (argc > 5) interval_ns = 1e9 * connections / atof(argv[5]);
    memset(value, 'a', VALUE);
    int first = fill();
    int64_t begin = now();
    for (long i = 0; i < connections; i++) {
        all[i].random = UINT64_C(0x9e3779b97f4a7c15) * (i + 1);
        if (pthread_create(&all[i].thread, NULL, run, &all[i]) != 0) return 1;
    }
    double sum_ns = 0;
    long count = 0;
    for (long i = 0; i < connections; i++) {
        pthread_join(all[i].thread, NULL);
        sum_ns += all[i].sum_ns;
        count += all[i].count;
    }
    printf("%.2f %.2f\n", count / ((now() - begin) / 1e9), sum_ns / count / 1000);
    const char *end = is_redis ? "SHUTDOWN NOSAVE\r\n" : "shutdown\r\n";
    char left[64];
    if (send(first, end, strlen(end), MSG_NOSIGNAL) < 0) return 1;
    while (read(first, left, sizeof left) > 0) {}
    return 0;
}
