//! Threads that are made: they begin with what their parent was delayed by.

use core::ffi::{c_int, c_void};
use core::hint::spin_loop;
use core::sync::atomic::{
    AtomicBool, AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};

use crate::attach::begin_thread;
use crate::delay::memory;
use crate::next::Next;
use crate::thread::current;

/// What a new thread is told. It is free again once the thread has read it.
struct Start {
    is_taken: AtomicBool,
    routine: AtomicUsize,
    argument: AtomicUsize,
    paid_ns: AtomicU64,
    experiment: AtomicU64,
}

/// Threads that are being made at a time; more of them wait for each other.
const STARTS: usize = 256;

static TABLE: [Start; STARTS] = [const {
    Start {
        is_taken: AtomicBool::new(false),
        routine: AtomicUsize::new(0),
        argument: AtomicUsize::new(0),
        paid_ns: AtomicU64::new(0),
        experiment: AtomicU64::new(0),
    }
}; STARTS];

impl Start {
    fn take() -> &'static Self {
        loop {
            // Pairs with the release of the thread that had it.
            let free = |start: &&Start| !start.is_taken.swap(true, Acquire);
            if let Some(start) = TABLE.iter().find(free) {
                return start;
            }
            spin_loop();
        }
    }

    fn tell(&self, routine: usize, argument: usize) {
        let parent = current();
        self.routine.store(routine, Relaxed);
        self.argument.store(argument, Relaxed);
        self.paid_ns.store(parent.paid_ns.load(Relaxed), Relaxed);
        self.experiment.store(parent.experiment.load(Relaxed), Relaxed);
    }

    /// Begins the thread, and says what it is to do.
    fn begin(&self) -> (usize, usize) {
        // The parent made the thread behind what it told.
        let told = (self.routine.load(Relaxed), self.argument.load(Relaxed));
        let (paid, experiment) = (self.paid_ns.load(Relaxed), self.experiment.load(Relaxed));
        self.is_taken.store(false, Release);
        begin_thread(paid, experiment);
        told
    }
}

/// `pthread_create`
///
/// # Safety
/// As that.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_create(
    thread: usize,
    attributes: usize,
    routine: usize,
    argument: usize,
) -> c_int {
    static NEXT: Next = Next::new(c"pthread_create");
    type Function = unsafe extern "C" fn(usize, usize, usize, usize) -> c_int;
    // SAFETY: the type has as many words as that of pthread.h.
    let create = unsafe { core::mem::transmute::<usize, Function>(NEXT.address()) };
    let own = begin_pthread as *const () as usize;
    // SAFETY: the caller's promise; the routine gets its argument from the new one.
    unsafe { made(routine, argument, own, |r, a| create(thread, attributes, r, a)) }
}

/// `thrd_create`
///
/// # Safety
/// As that.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thrd_create(thread: usize, routine: usize, argument: usize) -> c_int {
    static NEXT: Next = Next::new(c"thrd_create");
    type Function = unsafe extern "C" fn(usize, usize, usize) -> c_int;
    // SAFETY: the type has as many words as that of threads.h.
    let create = unsafe { core::mem::transmute::<usize, Function>(NEXT.address()) };
    let own = begin_thrd as *const () as usize;
    // SAFETY: the caller's promise; the routine gets its argument from the new one.
    unsafe { made(routine, argument, own, |r, a| create(thread, r, a)) }
}

/// # Safety
/// `create` must make a thread that runs `own`, which takes a [`Start`].
unsafe fn made(
    routine: usize,
    argument: usize,
    own: usize,
    create: impl FnOnce(usize, usize) -> c_int,
) -> c_int {
    if memory().is_none() {
        return create(routine, argument);
    }
    let start = Start::take();
    start.tell(routine, argument);
    let result = create(own, core::ptr::from_ref(start) as usize);
    if result != 0 {
        start.is_taken.store(false, Release);
    }
    result
}

unsafe extern "C-unwind" fn begin_pthread(start: *const Start) -> *mut c_void {
    // SAFETY: `made` passes an entry of the table, and the program a routine of this type.
    unsafe {
        let (routine, argument) = (*start).begin();
        type Routine = unsafe extern "C-unwind" fn(usize) -> *mut c_void;
        core::mem::transmute::<usize, Routine>(routine)(argument)
    }
}

unsafe extern "C-unwind" fn begin_thrd(start: *const Start) -> c_int {
    // SAFETY: as in `begin_pthread`.
    unsafe {
        let (routine, argument) = (*start).begin();
        type Routine = unsafe extern "C-unwind" fn(usize) -> c_int;
        core::mem::transmute::<usize, Routine>(routine)(argument)
    }
}
