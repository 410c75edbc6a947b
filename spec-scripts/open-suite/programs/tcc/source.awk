# Writes a C program of `functions` functions with macros, structures, switches, loops and strings.
# All arithmetic stays below 2^53.

function random(n) {
    seed = (seed * 16807) % 2147483647
    return int(seed / 65536) % n
}

function expression(depth,    kind) {
    kind = random(depth > 0 ? 8 : 3)
    if (kind == 0) return random(1000)
    if (kind == 1) return "a"
    if (kind == 2) return "b[" random(8) "]"
    if (kind == 3) return "LARGER(" expression(depth - 1) ", " expression(depth - 1) ")"
    if (kind == 4) return "p->field" random(4)
    return "(" expression(depth - 1) " " substr("+-*&|^", 1 + random(6), 1) " " \
        expression(depth - 1) ")"
}

BEGIN {
    seed = 20130316
    print "#define LARGER(x, y) ((x) > (y) ? (x) : (y))"
    print "struct record { int field0; long field1; unsigned field2; short field3;" \
        " struct record *next; };"
    print "extern int printf(const char *, ...);"
    for (i = 0; i < functions; i++) {
        printf "static int function%d(int a, const int *b, struct record *p)\n{\n", i
        print "    int sum = 0, i;"
        printf "    for (i = 0; i < %d; i++) {\n        switch (a %% 5) {\n", 1 + random(20)
        for (j = 0; j < 4; j++) printf "        case %d: sum += %s; break;\n", j, expression(3)
        printf "        default: sum -= %s;\n        }\n    }\n", expression(2)
        printf "    if (%s < 0 && p->next) p = p->next;\n", expression(2)
        if (i > 0)
            printf "    sum += function%d(a + 1, b, p) * (int)sizeof(struct record);\n", random(i)
        if (random(4) == 0) printf "    printf(\"%%d of function %d\\n\", sum);\n", i
        print "    return sum;\n}\n"
    }
    printf "int main(void)\n{\n    int b[8] = { 1, 2, 3 };\n    struct record r = { 4 };\n"
    printf "    return function%d(1, b, &r);\n}\n", functions - 1
}
