//! Libraries for whose copies there is not enough memory: nothing that was made for them stays.

use super::path;
use szc_tests::run::run;
use szc_tests::tools::{Place, szc};

const LIBRARY: &str = r#"
#define F __attribute__((noinline))
F static int one(int x) { __asm__ volatile("" : "+r"(x)); return x + 1; }
F int in_library(int x) { return one(x) * 2; }
"#;

/// Opens and closes a library where so many KiB of address space are left, and then another one
/// without a limit, so that what was kept of the first goes. Prints whether the first one got
/// memory for copies, and by how much the address space has grown, in KiB; nothing if the loader
/// itself had too little.
const OPENER: &str = r#"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
static long size_kib(void) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld", &pages) != 1) abort();
    fclose(file);
    return pages * 4;
}
static int mappings_of_copies(void) {
    static char line[4096];
    int count = 0;
    FILE *file = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, file)) count += strstr(line, "szc code") != 0;
    fclose(file);
    return count;
}
static void limit(rlim_t bytes) {
    struct rlimit limits;
    getrlimit(RLIMIT_AS, &limits);
    limits.rlim_cur = bytes;
    if (setrlimit(RLIMIT_AS, &limits)) abort();
}
static void use(void *library) {
    int (*call)(int) = (int (*)(int))dlsym(library, "in_library");
    if (call(20) != 42 || dlclose(library)) abort();
}
int main(int count, char **arguments) {
    int own = mappings_of_copies();
    long before = size_kib();
    limit((before + atol(arguments[3])) * 1024);
    void *library = dlopen(arguments[1], RTLD_NOW);
    limit(RLIM_INFINITY);
    if (!library) return 0;
    int copies = mappings_of_copies() > own;
    use(library);
    use(dlopen(arguments[2], RTLD_NOW));
    printf("%d %ld\n", copies, size_kib() - before);
    return 0;
}
"#;

#[test]
fn wherever_memory_ends_nothing_of_a_library_stays_mapped() {
    let place = Place::with("main.c", OPENER);
    place.write("library.c", LIBRARY);
    place.run(szc(), &["-O2", "main.c", "-ldl", "-o", "main"]);
    place.run(szc(), &["-O2", "-shared", "-fPIC", "library.c", "-o", "first.so"]);
    std::fs::copy(place.path.join("first.so"), place.path.join("second.so")).expect("writable");
    let (first, second) = (path(&place, "first.so"), path(&place, "second.so"));
    // A library gets an eighth of that, mapped twice.
    let settings = [("SZC_CODE_BUDGET_MIB", "8"), ("SZC_INTERVAL_MS", "0"), ("SZC_HEAP", "0")];
    let mut grown_kib = [Vec::new(), Vec::new()];
    for kib in (0..6144).step_by(32) {
        let left = kib.to_string();
        let outcome = run(&place.path.join("main"), &settings, &[&first, &second, &left]);
        let text = outcome.text();
        if let Some((copies, grown)) = text.trim().split_once(' ') {
            let grown: i64 = grown.parse().expect("a number");
            grown_kib[usize::from(copies == "1")].push(grown);
        }
    }
    let [without, with] = grown_kib;
    assert!(with.len() > 10 && without.len() > 10, "{with:?} with copies, {without:?} without");
    // One arena that stayed would be a mebibyte at least.
    let least = with.iter().min().expect("some");
    let all = with.iter().chain(&without);
    assert!(all.clone().all(|grown| grown - least < 256), "{with:?}, without {without:?}");
}
