//#Variants: -O2 -g | -O2 -g -gsplit-dwarf | -O2 then-strip | -O2 -s | -O2 -Wl,-S -g | -Oz |
//#    -O3 -march=native | -O2 -ffunction-sections -fdata-sections -Wl,--gc-sections |
//#    -O2 -Wl,--icf=all -fuse-ld=lld | -flto=thin -O2 | -O2 -fcf-protection=full |
//#    -O2 -fcf-protection=full -Wl,-z,force-ibt |
//#    gcc -O2 -fcf-protection=full -fuse-ld=bfd -Wl,-z,ibt | -O2 -fno-plt -fPIC |
//#    -O2 -mcmodel=medium -no-pie | -O1 -fno-omit-frame-pointer -mno-red-zone |
//#    -O2 -fstack-protector-all | -O2 -fstack-clash-protection |
//#    gcc -O2 -fpatchable-function-entry=5,2 | -O2 -fsanitize=undefined -fsanitize-trap=all |
//#    -O2 -fuse-ld=bfd | -O2 -fuse-ld=lld | -O2 -fuse-ld=gold | -O2 -fuse-ld=lld -Wl,-O2 |
//#    -O2 -fuse-ld=mold | -O2 -fuse-ld=bfd -no-pie | -O2 -static-pie | -O2 -fuse-ld=bfd -static |
//#    -O2 -Wl,-z,now -Wl,-z,relro | -O2 -Wl,-z,norelro | -O2 -Wl,-z,separate-code |
//#    -O2 -Wl,--build-id -Wl,-Map=/dev/null | -O2 -Wl,--emit-relocs | -O2 -rdynamic |
//#    -O2 -Wl,-z,pack-relative-relocs | -O2 -mretpoline | -O2 -fsplit-machine-functions |
//#    gcc -O2 -fcf-protection=full -fstack-protector-all | gcc -O2 -g then-strip |
//#    gcc -Os -no-pie
//#Flags: -lm
//#With: options_other.c
//#Movable: 3
/* A little of everything, for builds in every way. */
#include "options.h"
#include <math.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

NOINLINE static uint64_t shapes(const char *text)
{
    uint64_t sum = 0;
    for (; *text; text++) {
        switch (*text) {
        case 'a': sum += 1; break;
        case 'b': sum ^= 77; break;
        case 'c': sum = other_mix(sum, 3); break;
        case 'd': sum *= 5; break;
        case 'e': sum -= 9; break;
        case 'f': sum = other_mix(sum, *text); break;
        case 'g': sum = sum << 3 | sum >> 61; break;
        default: sum++;
        }
    }
    return sum;
}

int main(void)
{
    const char *words[] = {"one", "two", "three", "four", "five", "six", "seven", "eight"};
    FOR_MS(40)
    {
        const char *sorted[8];
        memcpy(sorted, words, sizeof words);
        qsort(sorted, 8, sizeof *sorted, compare);
        SAME_EVERY_ROUND((unsigned char)sorted[0][1] + 256 * (unsigned char)sorted[7][1]);
        SAME_EVERY_ROUND(shapes("abcdefgabcdefgxyzgfedcba"));
        SAME_EVERY_ROUND(other_recursive(18));
        SAME_EVERY_ROUND(sqrt(other_operation(2)(1e6, 3.0)) * 1000);
        CHECK(strcmp(other_name(other_operation(1)), "multiply") == 0);
        char text[50];
        snprintf(text, sizeof text, "%.3f %s", sin(1.0), words[3]);
        CHECK(strcmp(text, "0.841 four") == 0);
    }
    return 0;
}
