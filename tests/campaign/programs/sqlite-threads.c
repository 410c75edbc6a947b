/* Threads that insert rows into databases of their own, in memory: coz's benchmark of SQLite.
 * Arguments: threads, rows of each. */
#include <coz.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "sqlite3.h"

static long rows;

static void check(int result, sqlite3 *base) {
    if (result == SQLITE_OK || result == SQLITE_DONE) return;
    fprintf(stderr, "%s\n", sqlite3_errmsg(base));
    exit(1);
}

static void *insert(void *unused) {
    sqlite3 *base;
    sqlite3_stmt *statement;
    check(sqlite3_open(":memory:", &base), base);
    check(sqlite3_exec(base, "CREATE TABLE rows (a INTEGER, b TEXT)", NULL, NULL, NULL), base);
    check(sqlite3_prepare_v2(base, "INSERT INTO rows VALUES (?, ?)", -1, &statement, NULL), base);
    for (long i = 0; i < rows; i++) {
        char text[32];
        int length = snprintf(text, sizeof text, "row %ld", i * 7919 % 10007);
        sqlite3_bind_int64(statement, 1, i);
        sqlite3_bind_text(statement, 2, text, length, SQLITE_TRANSIENT);
        check(sqlite3_step(statement), base);
        check(sqlite3_reset(statement), base);
        COZ_PROGRESS_NAMED("insert");
    }
    sqlite3_finalize(statement);
    sqlite3_close(base);
    return unused;
}

int main(int argc, char **argv) {
    long count = argc > 1 ? atol(argv[1]) : 64;
    rows = argc > 2 ? atol(argv[2]) : 10000;
    pthread_t *threads = calloc(count, sizeof *threads);
    for (long i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, insert, NULL) != 0) return 1;
    for (long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    printf("%ld\n", count * rows);
}
