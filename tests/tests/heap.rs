//! The shuffled heap in programs: its log, its settings, what it refuses, and short torture. That
//! programs behave as ever is `programs.rs`'s to test, with the programs of `programs/heap` among
//! others.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex};
use szc_tests::build::{moving, plain};
use szc_tests::directives::Ending;
use szc_tests::run::{Outcome, run};

const BASES: [&str; 3] = ["segregated", "tlsf", "diehard"];

/// Builds of programs below `programs/heap`, by name and arguments.
static BUILDS: LazyLock<Mutex<HashMap<String, (tempfile::TempDir, PathBuf)>>> =
    LazyLock::new(Mutex::default);

fn built(name: &str, args: &[&str]) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/heap").join(name);
    let mut builds = BUILDS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let key = format!("{name} {args:?}");
    let (_, image) = builds.entry(key).or_insert_with(|| {
        let place = tempfile::tempdir().expect("a temporary directory");
        let image = moving(&source, &[args, &["-w", "-pthread"]].concat(), place.path());
        (place, image)
    });
    image.clone()
}

fn succeeded(outcome: &Outcome) {
    assert_eq!(outcome.ending, Ending::Code(0), "{}\n{}", outcome.text(), outcome.stderr);
}

#[test]
fn the_log_counts_what_the_program_did() {
    let image = built("semantics.c", &["-O1", "-fno-builtin"]);
    for base in BASES {
        for n in ["1", "256"] {
            let settings = [("SZC_HEAP_BASE", base), ("SZC_HEAP_SHUFFLE", n)];
            let outcome = run(&image, &settings, &[]);
            let log = outcome.log_of_success();
            let heap = log.heap.as_ref().expect("the heap is randomized");
            assert!(log.randomize.heap && log.heap_refused.is_none(), "{log:?}");
            assert_eq!((heap.base.as_str(), heap.n.to_string().as_str()), (base, n));
            assert!(heap.allocations >= heap.frees && heap.frees > 500, "{heap:?}");
            // The program frees all but what the C library keeps.
            assert!(heap.allocations - heap.frees < 20, "{heap:?}");
            assert!(heap.classes > 30 && heap.large > 50, "{heap:?}");
            assert!(heap.peak_bytes > 64 << 20, "{heap:?}");
        }
    }
}

#[test]
fn a_heap_that_is_switched_off_is_that_of_the_c_library() {
    let outcome = run(&built("semantics.c", &["-O1", "-fno-builtin"]), &[("SZC_HEAP", "0")], &[]);
    let log = outcome.log_of_success();
    assert!(!log.randomize.heap && log.heap.is_none() && log.heap_refused.is_none(), "{log:?}");
}

#[test]
fn a_program_with_its_own_allocator_keeps_it_and_the_log_says_so() {
    let outcome = run(&built("own_functions.c", &["-O1"]), &[], &[]);
    let log = outcome.log_of_success();
    assert_eq!(outcome.text(), "text 1\n");
    assert!(!log.randomize.heap && log.heap.is_none(), "{log:?}");
    assert!(log.heap_refused.as_ref().is_some_and(|why| why.contains("own allocator")), "{log:?}");
}

#[test]
fn an_allocator_in_a_library_serves_as_without_szc() {
    // It takes from a room of its own, and the program asks it how often.
    let library = r#"
        #include <stddef.h>
        #include <string.h>
        static char room[8 << 20] __attribute__((aligned(64)));
        static size_t used, served;
        size_t served_blocks(void) { return served; }
        void *memalign(size_t alignment, size_t bytes)
        {
            if (alignment < 16)
                alignment = 16;
            size_t at = (used + 16 + alignment - 1) & -alignment;
            if (at + bytes > sizeof room)
                return NULL;
            used = at + bytes, served++;
            memcpy(room + at - 16, &bytes, sizeof bytes);
            return room + at;
        }
        void *malloc(size_t bytes) { return memalign(16, bytes); }
        void *calloc(size_t count, size_t bytes) { return memalign(16, count * bytes); }
        void free(void *block) {
            if (block && ((char *)block < room || (char *)block >= room + used)) __builtin_trap();
        }
        void *realloc(void *block, size_t bytes)
        {
            size_t before = 0;
            if (block)
                memcpy(&before, (char *)block - 16, sizeof before);
            void *larger = malloc(bytes);
            size_t kept = before < bytes ? before : bytes;
            return block && larger ? memcpy(larger, block, kept) : larger;
        }
    "#;
    let program = r#"
        #include <stdio.h>
        #include <stdlib.h>
        #pragma weak served_blocks
        size_t served_blocks(void);
        int main(void)
        {
            size_t before = served_blocks ? served_blocks() : 0;
            char *text = malloc(100);
            text = realloc(text, 200);
            char *zeros = calloc(10, 10), *aligned = aligned_alloc(256, 256);
            free(text), free(zeros), free(aligned);
            printf("%zu\n", served_blocks ? served_blocks() - before : 0);
            return 0;
        }
    "#;
    let place = tempfile::tempdir().expect("a temporary directory");
    let write = |name: &str, text: &str| {
        let file = place.path().join(name);
        std::fs::write(&file, text).expect("writable");
        file
    };
    let library = write("allocator.c", library);
    let built = plain(&library, &["-O1", "-fno-builtin", "-fPIC", "-shared"], place.path());
    // LD_PRELOAD takes a space for the end of a name.
    let shared = place.path().join("liballocator.so");
    std::fs::rename(built, &shared).expect("both are in one directory");
    let alone = moving(&write("alone.c", program), &["-O1", "-fno-builtin"], place.path());
    let shared = shared.to_str().expect("a plain path");
    let args = ["-O1", "-fno-builtin", "-Wl,--no-as-needed", shared];
    let other_place = tempfile::tempdir().expect("a temporary directory");
    let linked = moving(&write("linked.c", program), &args, other_place.path());
    for (image, settings) in [
        (&linked, &[][..]),
        (&linked, &[("SZC_HEAP", "0")]),
        (&alone, &[("LD_PRELOAD", shared)]),
        (&alone, &[("LD_PRELOAD", shared), ("SZC_HEAP", "0")]),
    ] {
        let outcome = run(image, settings, &[]);
        let log = outcome.log_of_success();
        assert_eq!(outcome.text(), "4\n", "{settings:?}");
        assert!(!log.randomize.heap && log.heap.is_none(), "{log:?}");
        let wanted = !settings.contains(&("SZC_HEAP", "0"));
        let why = log.heap_refused.as_deref();
        assert_eq!(why, wanted.then_some("a library brings another allocator"), "{settings:?}");
    }
    let outcome = run(&alone, &[], &[]);
    assert!(outcome.log_of_success().randomize.heap);
    assert_eq!(outcome.text(), "0\n");
}

#[test]
fn a_library_gets_aligned_requests_by_the_names_that_it_defines() {
    // Without memalign; the C library's would take from another heap.
    let library = r#"
        #include <stddef.h>
        static char room[1 << 20] __attribute__((aligned(4096)));
        static size_t used;
        static void *take(size_t alignment, size_t bytes)
        {
            size_t at = (used + alignment - 1) & -alignment;
            used = at + bytes;
            return used <= sizeof room ? room + at : NULL;
        }
        void *malloc(size_t bytes) { return take(16, bytes); }
        void *calloc(size_t count, size_t bytes) { return take(16, count * bytes); }
        void *realloc(void *block, size_t bytes) { return block ? block : take(16, bytes); }
        void free(void *block) {
            if (block && ((char *)block < room || (char *)block >= room + used)) __builtin_trap();
        }
        int posix_memalign(void **result, size_t alignment, size_t bytes) {
            return !(*result = take(alignment, bytes));
        }
        void *aligned_alloc(size_t alignment, size_t bytes) { return take(alignment, bytes); }
        void *valloc(size_t bytes) { return take(4096, bytes); }
    "#;
    let program = r#"
        #include <stdlib.h>
        void *valloc(size_t);
        int main(void)
        {
            void *block;
            if (posix_memalign(&block, 64, 100) != 0)
                return 1;
            free(block), free(aligned_alloc(64, 128)), free(valloc(5));
            return 0;
        }
    "#;
    let place = tempfile::tempdir().expect("a temporary directory");
    let (source, main) = (place.path().join("names.c"), place.path().join("main.c"));
    std::fs::write(&source, library)
        .and_then(|()| std::fs::write(&main, program))
        .expect("writable");
    let built = plain(&source, &["-O1", "-fno-builtin", "-fPIC", "-shared"], place.path());
    let shared = place.path().join("libnames.so");
    std::fs::rename(built, &shared).expect("both are in one directory");
    let image = moving(&main, &["-O1", "-fno-builtin", "-w"], place.path());
    let outcome = run(&image, &[("LD_PRELOAD", shared.to_str().expect("a plain path"))], &[]);
    assert!(!outcome.log_of_success().randomize.heap);
}

#[test]
fn a_static_program_with_threads_and_children_has_the_shuffled_heap() {
    // Fork and the ends of threads refer to the C library's malloc, but weakly: its object is not
    // linked in for them.
    let source = r#"
        #include <pthread.h>
        #include <stdlib.h>
        #include <sys/wait.h>
        #include <unistd.h>
        static void *allocate(void *unused)
        {
            void *volatile block;
            for (int i = 0; i < 1000; i++)
                block = malloc(100), free(block);
            return unused;
        }
        int main(void)
        {
            pthread_t thread;
            int status;
            if (pthread_create(&thread, NULL, allocate, NULL) || pthread_join(thread, NULL))
                return 1;
            if (fork() == 0)
                return allocate(NULL) != NULL;
            return wait(&status) < 0 || status != 0;
        }
    "#;
    let place = tempfile::tempdir().expect("a temporary directory");
    let file = place.path().join("static.c");
    std::fs::write(&file, source).expect("writable");
    let image = moving(&file, &["-O1", "-fno-builtin", "-pthread", "-static"], place.path());
    let outcome = run(&image, &[], &[]);
    assert_eq!(outcome.ending, Ending::Code(0), "{}", outcome.stderr);
    assert_eq!(outcome.logs.len(), 2);
    for log in &outcome.logs {
        let heap = log.heap.as_ref().expect("the heap is randomized");
        assert!(heap.allocations >= 1000 && log.heap_refused.is_none(), "{log:?}");
    }
}

#[test]
fn the_log_says_that_a_static_program_has_the_c_librarys_malloc() {
    // The C library's object with malloc is linked in for mallinfo2.
    let source = "#include <malloc.h>\nint main(void) { return mallinfo2().arena == 1; }\n";
    let place = tempfile::tempdir().expect("a temporary directory");
    let file = place.path().join("static.c");
    std::fs::write(&file, source).expect("writable");
    let image = moving(&file, &["-O1", "-static"], place.path());
    let outcome = run(&image, &[], &[]);
    let log = outcome.log_of_success();
    assert!(!log.randomize.heap, "{log:?}");
    let why = log.heap_refused.as_deref().unwrap_or_default();
    assert_eq!(why, "the C library's own malloc is linked in");
}

#[test]
fn a_forked_child_counts_its_own_blocks() {
    let source = r#"
        #include <stdlib.h>
        #include <sys/wait.h>
        #include <unistd.h>
        int main(void)
        {
            void *volatile block;
            for (int i = 0; i < 10000; i++)
                block = malloc(100), free(block);
            if (fork() == 0)
                return block = malloc(100), free(block), 0;
            int status;
            return wait(&status) < 0 || status != 0;
        }
    "#;
    let place = tempfile::tempdir().expect("a temporary directory");
    let file = place.path().join("forking.c");
    std::fs::write(&file, source).expect("writable");
    let image = moving(&file, &["-O1", "-fno-builtin"], place.path());
    let outcome = run(&image, &[], &[]);
    let mut counts: Vec<u64> =
        outcome.logs.iter().filter_map(|log| Some(log.heap.as_ref()?.allocations)).collect();
    counts.sort_unstable();
    assert!(counts.len() == 2 && counts[0] < 100 && counts[1] >= 10_000, "{counts:?}");
}

#[test]
fn what_is_not_to_be_freed_ends_the_program_with_a_message() {
    let image = built("misuse.c", &["-O0"]);
    succeeded(&run(&image, &[], &[]));
    let foreign = "szc: free of a pointer that malloc did not return: 0x";
    let twice = "szc: double free of 0x";
    for base in BASES {
        for (kind, message) in [
            ("interior", foreign),
            ("static", foreign),
            ("stack", foreign),
            ("large", foreign),
            ("realloc", foreign),
            ("twice", twice),
            ("twice large", twice),
            ("next", "szc: "),
            ("twice aligned", twice),
        ] {
            let outcome = run(&image, &[("SZC_HEAP_BASE", base)], &[kind]);
            assert_eq!(outcome.ending, Ending::Signal(6), "{base}, {kind}: {}", outcome.stderr);
            assert!(outcome.stderr.starts_with(message), "{base}, {kind}: {}", outcome.stderr);
        }
    }
}

#[test]
fn random_operations_of_many_threads_leave_all_contents_intact() {
    let image = built("torture.c", &["-O2"]);
    for base in BASES {
        for (threads, n) in [("1", "256"), ("2", "1"), ("4", "256"), ("8", "1024")] {
            let settings = [("SZC_HEAP_BASE", base), ("SZC_HEAP_SHUFFLE", n)];
            let outcome = run(&image, &settings, &[threads, "60000", n]);
            succeeded(&outcome);
            assert_eq!(outcome.text(), "ok\n", "{base}, {threads} threads");
        }
    }
}

#[test]
fn threads_that_end_and_children_of_threads_find_the_heap_in_order() {
    let image = built("threads.c", &["-O2"]);
    for base in BASES {
        let outcome = run(&image, &[("SZC_HEAP_BASE", base)], &[]);
        succeeded(&outcome);
        assert_eq!(outcome.text(), "5 children\n", "{base}");
    }
}

#[test]
fn a_program_that_has_no_memory_left_gets_none_and_goes_on() {
    let source = r#"
        #include <errno.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <sys/resource.h>
        int main(void)
        {
            struct rlimit limit = {300 << 20, 300 << 20};
            setrlimit(RLIMIT_AS, &limit);
            static void *blocks[4000000];
            for (size_t bytes = 112; bytes < 3000000; bytes = bytes * 7) {
                size_t count = 0;
                errno = 0;
                while ((blocks[count] = malloc(bytes)))
                    *(size_t *)blocks[count++] = bytes;
                if (errno != ENOMEM || count < 20)
                    return printf("%zu: %zu blocks, error %d\n", bytes, count, errno), 1;
                for (size_t i = 0; i < count; i++) {
                    if (*(size_t *)blocks[i] != bytes)
                        return printf("%zu: block %zu has other contents\n", bytes, i), 1;
                    free(blocks[i]);
                }
            }
            free(malloc(100));
            return 0;
        }
    "#;
    let place = tempfile::tempdir().expect("a temporary directory");
    let file = place.path().join("exhausting.c");
    std::fs::write(&file, source).expect("writable");
    let image = moving(&file, &["-O1", "-fno-builtin"], place.path());
    // TLSF keeps what it has: blocks that are mapped on their own find no address space after it.
    for base in ["segregated", "diehard"] {
        // Without copies of code, whose address space is more than the limit.
        let settings = [("SZC_HEAP_BASE", base), ("SZC_CODE", "0"), ("SZC_STACK", "0")];
        succeeded(&run(&image, &settings, &[]));
    }
}
