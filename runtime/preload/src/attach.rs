//! How a process joins what szc measures, and how its threads come and go.

use core::ffi::{c_char, c_int, c_void};
use core::ptr::null_mut;
use core::sync::atomic::{
    AtomicI64,
    Ordering::{Acquire, Relaxed, Release},
};

use libc::{MAP_FAILED, MAP_SHARED, O_CLOEXEC, O_RDWR, PROT_READ, PROT_WRITE};
use szc_abi::causal::{MAX_PROCESSES, MEMORY_MAGIC, Memory};

use crate::arrival;
use crate::delay::{is_left, memory, pay, set_memory};
use crate::process::{process, set_process};
use crate::system::{now_ns, process_id, sleep_until, waited_ns};
use crate::task_clock;
use crate::thread::{Thread, current};
use crate::trap;

/// How long a process waits for szc to describe its code, and how often it looks.
const DESCRIBED_WITHIN_NS: u64 = 10_000_000_000;
const LOOK_NS: u64 = 200_000;

/// The key whose destructor runs when a thread ends, -1 if there is none.
static KEY: AtomicI64 = AtomicI64::new(-1);

/// Before the program's first instruction.
pub extern "C" fn begin() {
    let Some(memory) = map() else { return };
    let space = memory.space_count.fetch_add(1, Relaxed) + 1;
    if !join(memory, space) {
        return;
    }
    set_memory(memory);
    if !wait_until_described(memory) {
        return;
    }
    let mut key = 0;
    // SAFETY: the handlers are functions of this library, which is never unloaded.
    unsafe {
        if libc::pthread_key_create(&raw mut key, Some(end_thread)) == 0 {
            KEY.store(i64::from(key), Relaxed);
        }
        __register_atfork(None, None, Some(begin_child), null_mut());
    }
    trap::install();
    start_thread(memory, current());
}

fn start_thread(memory: &Memory, thread: &Thread) {
    if is_left(memory, now_ns()) {
        return;
    }
    arrival::begin(thread);
    task_clock::start(memory, thread);
    if let Some(process) = process() {
        task_clock::watch(memory, thread, process.arrival.load(Relaxed));
    }
}

/// Behind the program's last instruction, but of the kernel's way to end it.
pub extern "C" fn end() {
    if let Some(memory) = memory() {
        leave(memory, current());
    }
}

/// A thread begins, which its parent made when it had been delayed by so much.
pub fn begin_thread(paid_ns: u64, experiment: u64) {
    let Some(memory) = memory() else { return };
    let thread = current();
    thread.paid_ns.store(paid_ns, Relaxed);
    thread.experiment.store(experiment, Relaxed);
    if let Ok(key) = u32::try_from(KEY.load(Relaxed)) {
        // SAFETY: a key of this library; the value is only there so that the destructor is called.
        unsafe { libc::pthread_setspecific(key, core::ptr::from_ref(memory).cast()) };
        start_thread(memory, thread);
    }
}

/// A thread ends, and whoever waits for it goes on.
extern "C" fn end_thread(_: *mut c_void) {
    let Some(memory) = memory() else { return };
    let thread = current();
    task_clock::stop(thread);
    leave(memory, thread);
}

/// A thread, or a process by this one, ends.
fn leave(memory: &Memory, thread: &Thread) {
    pay(memory, thread);
    memory.ended_wait_ns.fetch_add(waited_ns(), Relaxed);
}

/// The only thread of a process that was forked. It has what its parent had, but for the clock.
extern "C" fn begin_child() {
    let Some(memory) = memory() else { return };
    let thread: &Thread = current();
    thread.clock.store(0, Relaxed);
    thread.breakpoint.store(0, Relaxed);
    let Some(parent) = process() else { return };
    if join(memory, parent.space.load(Relaxed)) {
        start_thread(memory, thread);
    }
}

/// Enters this process, with its parent's code if it has a parent in the same address space.
fn join(memory: &'static Memory, space: u64) -> bool {
    let index = memory.process_count.fetch_add(1, Relaxed) as usize;
    let Some(own) = memory.processes.get(index).filter(|_| index < MAX_PROCESSES) else {
        memory.unsampled_threads.fetch_add(1, Relaxed);
        return false;
    };
    own.space.store(space, Relaxed);
    if let Some(parent) = process() {
        own.scope.first.store(parent.scope.first.load(Relaxed), Relaxed);
        own.scope.words.store(parent.scope.words.load(Relaxed), Relaxed);
        own.arrival.store(parent.arrival.load(Relaxed), Relaxed);
        own.is_described.store(1, Relaxed);
    }
    // szc acquires it before it reads the rest.
    own.pid.store(process_id(), Release);
    set_process(own);
    true
}

fn wait_until_described(memory: &Memory) -> bool {
    let Some(own) = process() else { return false };
    let begin = now_ns();
    // Pairs with szc's release, behind the description.
    while own.is_described.load(Acquire) == 0 {
        let now = now_ns();
        if now - begin > DESCRIBED_WITHIN_NS || is_left(memory, now) {
            return false;
        }
        sleep_until(now + LOOK_NS);
    }
    true
}

fn map() -> Option<&'static Memory> {
    // SAFETY: strings and sizes are as the functions want them. The file is szc's, which says so in
    // its first word, and as long as `Memory`; it stays mapped.
    unsafe {
        let path = secure_getenv(c"SZC_CAUSAL".as_ptr());
        if path.is_null() {
            return None;
        }
        let file = libc::open(path, O_RDWR | O_CLOEXEC);
        if file < 0 {
            return None;
        }
        let bytes = size_of::<Memory>();
        let mut about: libc::stat = core::mem::zeroed();
        let is_whole =
            libc::fstat(file, &raw mut about) == 0 && about.st_size == bytes as libc::off_t;
        let address = if is_whole {
            libc::mmap(null_mut(), bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
        } else {
            MAP_FAILED
        };
        libc::close(file);
        if address == MAP_FAILED {
            return None;
        }
        let memory = &*address.cast::<Memory>();
        (memory.magic.load(Relaxed) == MEMORY_MAGIC).then_some(memory)
    }
}

type AtFork = Option<extern "C" fn()>;

unsafe extern "C" {
    fn secure_getenv(name: *const c_char) -> *const c_char;
    /// `pthread_atfork`, which libc has in a static library only.
    fn __register_atfork(
        before: AtFork,
        parent: AtFork,
        child: AtFork,
        library: *mut c_void,
    ) -> c_int;
}
