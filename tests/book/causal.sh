# shellcheck shell=bash
# A server that works through requests, with the marks of szc's header; a program that ends soon;
# and a profile in coz's form.
cat >server.c <<'END'
#include "coz.h"
#ifndef REQUESTS
#define REQUESTS 200000
#endif
static volatile unsigned long sum;
__attribute__((noinline)) void accepted(void) { COZ_BEGIN("request"); }
__attribute__((noinline)) void handle_request(int i) {
    for (int k = 0; k < 1000; k++) sum += (unsigned long)(i * k);
}
int main(void) {
    for (int i = 0; i < REQUESTS; i++) {
        accepted();
        handle_request(i);
        COZ_END("request");
        COZ_PROGRESS;
    }
    return 0;
}
END
clang-22 -O1 -g "-I$PROJECT/runtime/preload/include" server.c -o server
clang-22 -O1 -g "-I$PROJECT/runtime/preload/include" -DREQUESTS=10000 server.c -o batch
szc causal -o made.jsonl -- ./server >made.log
szc causal report made.jsonl --coz profile.coz >>made.log
