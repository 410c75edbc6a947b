//! `szc causal` on a program with threads and a lock: experiments and visits come out, and the
//! program does what it does without.

use std::fs::read_to_string;
use std::process::{Output, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use szc_tests::laboratory::{code, errors, laboratory, run, running, soon, text};
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
static pthread_spinlock_t spin;
static volatile unsigned long sink, ticks, interrupted, rounds;
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
        pthread_spin_lock(&spin);
        rounds++;
        pthread_spin_unlock(&spin);
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
    pthread_spin_init(&spin, 0);
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
    let args = ["-F", "--load", "2x", "--experiment-ms", "20", "--", "./t"];
    let Some(output) = causal(&place, &args) else { return };
    assert_eq!(code(&output), 0, "{}", errors(&output));
    let report = text(&run(&place, &["causal", "report"]));
    let load = "2 times the load in all experiments: A thread has one every ";
    assert!(report.contains(load) && report.contains("disks, networks"), "{report}");
    let found = text(&run(&place, &["causal", "report", "--json", "-"]));
    assert!(found.contains("\"speedup_ns\": "), "{found}");
    let args = ["--fixed-speedup", "0", "--arrival-speedup", "60000000", "--", "./t"];
    let Some(output) = causal(&place, &args) else { return };
    assert_eq!(code(&output), 2, "{}", errors(&output));
    assert!(errors(&output).contains("they would come before that"), "{}", errors(&output));
}

#[test]
fn a_program_ends_with_szc_if_that_is_killed() {
    let place = Place::with("unused", "");
    // Nobody else sleeps for so long.
    let args = ["causal", "-F", "--", "sleep", "98124.5"];
    let mut child = laboratory(&place, &args).stderr(Stdio::piped()).spawn().unwrap();
    let sleep = b"sleep\098124.5";
    if !soon(|| running(sleep) == 1 || child_has_ended(child.id())) || running(sleep) == 0 {
        let output = child.wait_with_output().unwrap();
        assert!(errors(&output).contains("perf_event_paranoid"), "{}", errors(&output));
        return;
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(soon(|| running(sleep) == 0));
}

#[test]
fn a_program_is_told_to_stop_if_ctrl_c_reaches_szc_alone() {
    let place = Place::with("unused", "");
    let args = ["causal", "-F", "--", "sleep", "98124.75"];
    let child = laboratory(&place, &args).stderr(Stdio::piped()).spawn().unwrap();
    let sleep = b"sleep\098124.75";
    if soon(|| running(sleep) == 1 || child_has_ended(child.id())) && running(sleep) == 1 {
        kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGINT).unwrap();
    }
    // The pipe ends when the program has.
    let output = child.wait_with_output().unwrap();
    if !errors(&output).contains("perf_event_paranoid") {
        assert_eq!(code(&output), 130, "{}", errors(&output));
        let profile = String::from_utf8(place.read("szc-causal.jsonl")).unwrap();
        assert!(profile.contains(r#""reason":"signal 15""#), "{profile}");
    }
}

#[test]
fn processes_that_go_on_behind_the_program_are_named() {
    let place = Place::with("unused", "");
    // What has begun is known to szc.
    let script = "sh -c 'touch begun; exec sleep 98124.25' >/dev/null 2>&1 & \
        until [ -e begun ]; do sleep 0.01; done; echo $!";
    let Some(output) = causal(&place, &["-F", "--", "sh", "-c", script]) else { return };
    let process = text(&output).trim().to_owned();
    kill(Pid::from_raw(process.parse().unwrap()), Signal::SIGKILL).unwrap();
    let said = format!("1 of its processes go on ({process} is one)");
    assert!(errors(&output).contains(&said), "{}", errors(&output));
}

fn child_has_ended(id: u32) -> bool {
    let status = read_to_string(format!("/proc/{id}/stat"));
    status.is_ok_and(|status| status.contains(") Z "))
}

/// Computes now and then in two threads, one of which is sped up and so delays the other one, until
/// no clock is left or a minute is over; says what there was.
const LEFT: &str = r#"
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static volatile unsigned long sink;
static volatile int is_over;
__attribute__((noinline)) void sped_up(void) { for (int i = 0; i < 1000000; i++) sink += i; }
static void *other(void *unused) {
    while (!is_over) { for (int i = 0; i < 1000000; i++) sink += i; usleep(5000); }
    return unused;
}
static int clocks(void) {
    char line[512];
    int count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps)) count += strstr(line, "perf_event") != 0;
    fclose(maps);
    return count;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, other, 0);
    int before = 0;
    time_t end = time(0) + 50;
    while (before < 2 && time(0) < end) { sped_up(); before = clocks(); }
    FILE *begun = fopen("begun", "w"); fclose(begun);
    /* A clock that gets another interval is not there for a moment. */
    for (int without = 0; without < 3 && time(0) < end; usleep(5000)) {
        sped_up();
        without = clocks() ? 0 : without + 1;
    }
    FILE *found = fopen("found.new", "w");
    fprintf(found, "%d %d", before, clocks());
    fclose(found);
    rename("found.new", "found");
    is_over = 1;
    return pthread_join(thread, 0);
}
"#;

#[test]
fn a_program_that_szc_has_left_is_neither_sampled_nor_delayed_for_ever() {
    let place = Place::with("l.c", LEFT);
    place.run(szc(), &["-Rnone", "-O1", "-g", "-pthread", "l.c", "-o", "l"]);
    let args = ["causal", "-F", "--fixed-line", "sped_up", "--fixed-speedup", "50", "--", "./l"];
    let mut child = laboratory(&place, &args).stderr(Stdio::piped()).spawn().unwrap();
    let is_begun = || place.path.join("begun").exists() || child_has_ended(child.id());
    assert!(soon(is_begun));
    if !place.path.join("begun").exists() {
        let output = child.wait_with_output().unwrap();
        assert!(errors(&output).contains("perf_event_paranoid"), "{}", errors(&output));
        return;
    }
    // Without the one that would end the program.
    let guardians = children(child.id()).into_iter().filter(|id| {
        read_to_string(format!("/proc/{id}/comm")).is_ok_and(|name| name == "lab-guardian\n")
    });
    let guardians: Vec<i32> = guardians.collect();
    assert_eq!(guardians.len(), 1);
    kill(Pid::from_raw(guardians[0]), Signal::SIGKILL).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(soon(|| place.path.join("found").exists()));
    assert_eq!(place.read("found"), b"2 0");
}

fn children(id: u32) -> Vec<i32> {
    let path = format!("/proc/{id}/task/{id}/children");
    let text = read_to_string(path).unwrap_or_default();
    text.split_whitespace().map(|id| id.parse().unwrap()).collect()
}
