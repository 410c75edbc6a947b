/* A recursive-descent parser to a stack machine: mutual recursion, and a switch
 * that compiles to a jump table. */
#include "bundled.h"

enum { MAX_CODE = 512, MAX_STACK = 64 };

enum operation {
    PUSH,
    ADD,
    SUBTRACT,
    MULTIPLY,
    DIVIDE,
    REMAINDER,
    NEGATE,
    SQUARE,
    LESS,
    EQUAL,
    HALT
};

struct program {
    const char *text;
    size_t length;
    int64_t code[MAX_CODE];
};

static void parse_sum(struct program *p);

static void emit(struct program *p, int64_t word)
{
    if (p->length < MAX_CODE)
        p->code[p->length++] = word;
}

static void parse_atom(struct program *p)
{
    int64_t value = 0;
    switch (*p->text) {
    case '-':
        p->text++;
        parse_atom(p);
        emit(p, NEGATE);
        return;
    case '(':
        p->text++;
        parse_sum(p);
        if (*p->text == ')')
            p->text++;
        break;
    default:
        while (*p->text >= '0' && *p->text <= '9')
            value = value * 10 + (*p->text++ - '0');
        emit(p, PUSH);
        emit(p, value);
    }
    while (*p->text == '^') {
        p->text++;
        emit(p, SQUARE);
    }
}

static void parse_product(struct program *p)
{
    parse_atom(p);
    for (;;) {
        enum operation operation;
        switch (*p->text) {
        case '*': operation = MULTIPLY; break;
        case '/': operation = DIVIDE; break;
        case '%': operation = REMAINDER; break;
        default: return;
        }
        p->text++;
        parse_atom(p);
        emit(p, operation);
    }
}

static void parse_sum(struct program *p)
{
    parse_product(p);
    for (;;) {
        enum operation operation;
        switch (*p->text) {
        case '+': operation = ADD; break;
        case '-': operation = SUBTRACT; break;
        case '<': operation = LESS; break;
        case '=': operation = EQUAL; break;
        default: return;
        }
        p->text++;
        parse_product(p);
        emit(p, operation);
    }
}

/* Unsigned, because overflow is part of the work. */
static uint64_t execute(const struct program *p)
{
    uint64_t stack[MAX_STACK] = {0};
    size_t top = 0;
    for (const int64_t *pc = p->code;;) {
        /* What lies on top is the right operand of a binary operation. */
        uint64_t right = stack[top];
        switch (*pc++) {
        case PUSH: stack[++top] = (uint64_t)*pc++; break;
        case ADD: stack[--top] += right; break;
        case SUBTRACT: stack[--top] -= right; break;
        case MULTIPLY: stack[--top] *= right; break;
        case DIVIDE: top--; stack[top] = right ? stack[top] / right : 0; break;
        case REMAINDER: top--; stack[top] = right ? stack[top] % right : 0; break;
        case NEGATE: stack[top] = 0 - right; break;
        case SQUARE: stack[top] = right * right; break;
        case LESS: top--; stack[top] = stack[top] < right; break;
        case EQUAL: top--; stack[top] = stack[top] == right; break;
        default: return right;
        }
    }
}

uint64_t run_calculator(unsigned rounds)
{
    static const char *const texts[] = {
        "1+2*(3-4)*5^",
        "(17%5+8/2)*(9-(2+3)*(4-6))+100/7",
        "-(3^-2)*(12+34*(56-7))/11+(1<2)+(4=4)",
        "((((1+2)*3+4)*5+6)*7+8)^%1009",
        "9*8*7*6*5*4*3*2*1-(362880=362880)",
    };
    struct program p;
    uint64_t sum = 0;
    for (unsigned i = 0; i < rounds * 6000; i++) {
        p.text = texts[i % 5];
        p.length = 0;
        parse_sum(&p);
        emit(&p, HALT);
        for (unsigned k = 0; k < 4; k++)
            sum = sum * 31 + execute(&p);
    }
    return sum;
}
