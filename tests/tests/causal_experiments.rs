//! `szc causal` on a program with threads and a lock: experiments and visits come out, and the
//! program does what it does without.

use std::process::Output;

use szc_tests::laboratory::{code, errors, run, text};
use szc_tests::tools::{Place, szc};

/// Two threads that count under a lock, for 300 ms, with a timer that interrupts them; progress
/// points as coz.h has them.
const PROGRAM: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long sink, ticks, interrupted;
static unsigned long *visits;
static void on_tick(int unused) { ticks++; }
static double now(void) {
    struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
__attribute__((noinline)) static void work(void) {
    for (int i = 0; i < 20000; i++) sink += i; }
static void *worker(void *until) {
    while (now() < *(double *)until) {
        work();
        pthread_mutex_lock(&lock);
        if (visits) __atomic_add_fetch(visits, 1, __ATOMIC_RELAXED);
        pthread_mutex_unlock(&lock);
    }
    return until;
}
static void *sleeper(void *until) {
    sigset_t all; sigfillset(&all); pthread_sigmask(SIG_SETMASK, &all, 0);
    while (now() < *(double *)until) interrupted += usleep(1000) != 0;
    return until;
}
int main(void) {
    unsigned long *(*counter)(int, const char *) = dlsym(RTLD_DEFAULT, "_coz_get_counter");
    if (counter) visits = counter(1, "round");
    struct itimerval timer = {{0, 10000}, {0, 10000}};
    signal(SIGPROF, on_tick);
    setitimer(ITIMER_PROF, &timer, 0);
    double until = now() + 0.3;
    pthread_t thread[2];
    pthread_create(&thread[0], 0, worker, &until);
    pthread_create(&thread[1], 0, sleeper, &until);
    worker(&until);
    for (int i = 0; i < 2; i++) pthread_join(thread[i], 0);
    printf("%d %lu %d\n", counter != 0, interrupted, ticks > 0);
    return 3;
}
"#;

fn causal(place: &Place, args: &[&str]) -> Option<Output> {
    let output = run(place, &[&["causal"], args].concat());
    // Where the kernel has no such clocks the message says what would help.
    (!errors(&output).contains("perf_event_paranoid of 2 or less")).then_some(output)
}

#[test]
fn experiments_are_made_while_a_program_runs_as_it_does_without() {
    let place = Place::with("p.c", PROGRAM);
    place.run(szc(), &["-Rnone", "-O1", "-g", "-pthread", "p.c", "-o", "p"]);
    let args = ["--experiment-ms", "20", "-p", "work", "---", "./p"];
    let Some(output) = causal(&place, &args) else { return };
    // The program's exit code is no reason to lose its profile.
    assert_eq!(code(&output), 4, "{}", errors(&output));
    assert_eq!(text(&output), "1 0 1\n", "{}", errors(&output));
    let profile = String::from_utf8(place.read("szc-causal.jsonl")).unwrap();
    let mut lines = profile.lines().filter(|line| line.contains(r#""type":"experiment""#));
    let is_whole = |line: &str| {
        line.contains(r#"p.c","line":"#)
            && line.contains(r#""name":"round","kind":"throughput","visits":"#)
            && line.contains(r#""name":"work","kind":"throughput","visits":"#)
            && !line.contains(r#""visits":0}"#)
    };
    assert!(lines.any(is_whole), "{profile}");
    assert!(profile.contains(r#""reason":"exit 3""#), "{profile}");
}

/// 24 tasks of 2 ms, made one after the other and run by two threads, with arrivals at a
/// function.
const TASKS: &str = r#"
#include <coz.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>
static sem_t made;
__attribute__((noinline)) void arrived(void) { __asm__ volatile(""); }
static void *run(void *unused) {
    for (int i = 0; i < 12; i++) {
        sem_wait(&made);
        usleep(2000);
        COZ_END("task");
    }
    return unused;
}
int main(void) {
    pthread_t threads[2];
    sem_init(&made, 0, 0);
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, run, 0);
    for (int i = 0; i < 24; i++) {
        usleep(2000);
        arrived();
        COZ_BEGIN("task");
        sem_post(&made);
    }
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return puts("done") < 0;
}
"#;

#[test]
fn a_greater_load_is_simulated_by_arrivals_at_points_or_at_a_function() {
    let place = Place::with("t.c", TASKS);
    let include = concat!("-I", env!("CARGO_MANIFEST_DIR"), "/../runtime/preload/include");
    place.run(szc(), &["-Rnone", "-O1", "-g", "-pthread", include, "t.c", "-o", "t"]);
    for arrival in [&[][..], &["--arrival", "arrived"]] {
        let args = ["--fixed-speedup", "0", "--load", "2x", "-n", "2"];
        let Some(output) = causal(&place, &[&args, arrival, &["--", "./t"]].concat()) else {
            return;
        };
        if errors(&output).contains("could not be sampled") {
            // Some virtual machines have no breakpoints.
            continue;
        }
        assert_eq!(code(&output), 0, "{}", errors(&output));
        let profile = String::from_utf8(place.read("szc-causal.jsonl")).unwrap();
        let runs: Vec<&str> =
            profile.lines().filter(|line| line.contains(r#""type":"load""#)).collect();
        assert_eq!(runs.len(), 2, "{profile}");
        let counts = r#""arrivals":{"count":24,"#;
        assert!(runs.iter().all(|run| run.contains(counts)), "{profile}");
        assert!(runs[0].contains(r#""delay_ns":0,"#), "{profile}");
        assert!(!runs[1].contains(r#""delay_ns":0,"#), "{profile}");
        let report = text(&run(&place, &["causal", "report"]));
        assert!(report.contains("2 times the load: ") && report.contains("sped up by"), "{report}");
    }
    let args = ["--fixed-speedup", "0", "--arrival-speedup", "60000000", "--", "./t"];
    let Some(output) = causal(&place, &args) else { return };
    assert_eq!(code(&output), 2, "{}", errors(&output));
    assert!(errors(&output).contains("they would come before that"), "{}", errors(&output));
}
