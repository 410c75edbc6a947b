/* Allocation-bound: a binary tree that is built and dropped, and a queue of blocks of mixed sizes.
 * allocations ROUNDS */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef struct Node {
    struct Node *l, *r;
    long v;
} Node;
static Node *build(int d)
{
    Node *n = malloc(sizeof *n);
    n->v = d;
    n->l = n->r = NULL;
    if (d > 0) {
        n->l = build(d - 1);
        n->r = build(d - 1);
    }
    return n;
}
static long drop(Node *n)
{
    if (!n)
        return 0;
    long s = n->v + drop(n->l) + drop(n->r);
    free(n);
    return s;
}
int main(int c, char **v)
{
    int rounds = c > 1 ? atoi(v[1]) : 40;
    long s = 0;
    for (int i = 0; i < rounds; i++) {
        Node *t = build(15);
        s += drop(t);
    }
    static char *q[4096];
    unsigned x = 1;
    for (long i = 0; i < rounds * 100000L; i++) {
        x = x * 1664525u + 1013904223u;
        unsigned at = (x >> 8) % 4096;
        free(q[at]);
        size_t n = 16 + (x >> 20) % 300;
        q[at] = malloc(n);
        q[at][0] = (char)x;
        s += q[at][0];
    }
    printf("%ld\n", s);
    return 0;
}
