//! More libraries than most programs open, and more than there are slots for.

use super::path;
use szc_tests::run::run;
use szc_tests::tools::{Place, szc};

/// One of many libraries; what it computes depends on its number, and its constructor calls it.
const NUMBERED: &str = r#"
#define F __attribute__((noinline))
static int number = NUMBER, made;
F static int scale(int x) { __asm__ volatile("" : "+r"(x)); return x * (number % 7 + 1); }
F static int shift(int x) { __asm__ volatile("" : "+r"(x)); return scale(x) + number; }
F int in_library(int (*back)(int), int x) { return back(shift(x)) + scale(x) + made; }
__attribute__((constructor)) static void make(void) { made = shift(1) - number; }
"#;

/// Opens all libraries named by its arguments, calls them from several threads while they are
/// closed and opened again.
const CROWD: &str = r#"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static char **names; static int count;
__attribute__((noinline)) static int back(int x) { __asm__ volatile("" : "+r"(x)); return 3 * x; }
static int expected(int number, int x) {
    int factor = number % 7 + 1;
    return 3 * (x * factor + number) + x * factor + factor;
}
static void *use(void *argument) {
    int first = (int)(long)argument;
    for (int round = 0; round < 3; round++)
        for (int i = first; i < count; i += 3) {
            void *library = dlopen(names[i], RTLD_NOW);
            if (!library) return puts(dlerror()), (void *)1;
            int (*call)(int (*)(int), int) = dlsym(library, "in_library");
            for (int x = 0; x < 20; x++)
                if (call(back, x) != expected(i % 5, x)) return puts("wrong"), (void *)1;
            if ((i + round) % 4 == 0 && dlclose(library)) return (void *)1;
        }
    return 0;
}
int main(int arguments, char **argument) {
    names = argument + 1, count = arguments - 1;
    pthread_t threads[3];
    void *result;
    for (long i = 0; i < 3; i++) pthread_create(&threads[i], 0, use, (void *)i);
    for (int i = 0; i < 3; i++) if (pthread_join(threads[i], &result) || result) return 2;
    struct timespec wait = {0, 50000000};
    nanosleep(&wait, 0);
    for (int i = 0; i < count; i++) {
        void *library = dlopen(names[i], RTLD_NOW);
        int (*call)(int (*)(int), int) = (int (*)(int (*)(int), int))dlsym(library, "in_library");
        if (call(back, 7) != expected(i % 5, 7)) return 3;
    }
    return puts("all"), 0;
}
"#;

/// A program and so many libraries, five of them built and the others copies.
fn crowd(program: &str, count: usize) -> (Place, Vec<String>) {
    let place = Place::with("main.c", program);
    place.write("numbered.c", NUMBERED);
    place.run(szc(), &["-O2", "-pthread", "main.c", "-ldl", "-o", "main"]);
    let mut paths = Vec::new();
    for number in 0..count {
        let name = format!("library{number}.so");
        if number < 5 {
            let define = format!("-DNUMBER={number}");
            let args = ["-O2", "-shared", "-fPIC", &define, "numbered.c", "-o", &name];
            place.run(szc(), &args);
        } else {
            let built = place.path.join(format!("library{}.so", number % 5));
            std::fs::copy(built, place.path.join(&name)).expect("writable");
        }
        paths.push(path(&place, &name));
    }
    (place, paths)
}

#[test]
fn two_hundred_libraries_move_at_a_time() {
    let (place, paths) = crowd(CROWD, 200);
    let args: Vec<&str> = paths.iter().map(String::as_str).collect();
    for seed in ["1", "2"] {
        let settings = [("SZC_INTERVAL_MS", "1"), ("SZC_SEED", seed)];
        let outcome = run(&place.path.join("main"), &settings, &args);
        let libraries = &outcome.log_of_success().libraries;
        assert_eq!(outcome.text(), "all\n");
        assert_eq!((libraries.moving, libraries.staying, libraries.passed_over), (200, 0, 0));
        assert!(libraries.attached > 200 && libraries.refused.is_none(), "{libraries:?}");
    }
}

/// Fills all slots, starts a thread in the last library, which finds none, and frees some slots
/// again. Tells on standard error how often the first bytes of that library's function differ from
/// those in the file: while it is passed over, and when it was closed and opened again.
const OVERCROWD: &str = r#"
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
static atomic_int stop;
typedef int Call(int (*)(int), int);
__attribute__((noinline)) static int back(int x) { __asm__ volatile("" : "+r"(x)); return 3 * x; }
static void *run(void *call) {
    long rounds = 0;
    int first = ((Call *)call)(back, 5);
    while (!stop) if (((Call *)call)(back, 5) != first) return (void *)1; else rounds++;
    return (void *)(rounds ? 0l : 2l);
}
static int differs(void *call, const unsigned char *than) { return memcmp(call, than, 6) != 0; }
int main(int count, char **names) {
    static void *open[1000];
    unsigned char original[6];
    for (int i = 1; i < count - 2; i++) open[i] = dlopen(names[i], RTLD_NOW);
    void *last = dlopen(names[count - 2], RTLD_NOW);
    void *call = dlsym(last, "in_library"), *result;
    memcpy(original, call, 6);
    pthread_t thread;
    pthread_create(&thread, 0, run, call);
    for (int i = 1; i < 50; i++) dlclose(open[i]);
    struct timespec wait = {0, 30000000};
    int while_passed_over = 0;
    for (int i = 0; i < 5; i++) {
        void *next = dlopen(names[count - 1], RTLD_NOW);
        ((Call *)dlsym(next, "in_library"))(back, 2);
        nanosleep(&wait, 0);
        while_passed_over += differs(call, original);
        dlclose(next);
    }
    stop = 1;
    if (pthread_join(thread, &result) || result) return 2;
    if (dlclose(last)) return 3;
    last = dlopen(names[count - 2], RTLD_NOW);
    fprintf(stderr, "%d %d", while_passed_over, differs(dlsym(last, "in_library"), original));
    return puts("done"), 0;
}
"#;

#[test]
fn a_library_without_a_slot_stays_as_it_is_until_it_is_opened_again() {
    let (place, paths) = crowd(OVERCROWD, 300);
    let args: Vec<&str> = paths.iter().map(String::as_str).collect();
    let settings = [("SZC_INTERVAL_MS", "1"), ("SZC_SEED", "1")];
    let outcome = run(&place.path.join("main"), &settings, &args);
    let libraries = &outcome.log_of_success().libraries;
    // 255 slots, one of them for the copy that is opened and closed.
    assert_eq!(libraries.passed_over, 299 - 255, "{libraries:?}");
    assert_eq!(outcome.stderr.trim(), "0 1", "{libraries:?}");
}
