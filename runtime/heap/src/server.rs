//! Who serves a request: this thread's heap, the arena before the start, or the fallback allocator;
//! and how threads come by their heaps.

use super::config::{Config, HeapBase};
use super::counts::{self, HeapCounts};
use super::large::LARGE;
use super::thread::ThreadHeap;
use super::thread::heaps::HEAPS;
use super::{chunk, fallback, fork, refusal};
use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use szc_sys::arch;
use szc_sys::at_fork;
use szc_sys::once::Once;
use szc_sys::os;

/// What became in the link of the names of malloc's family, which lead to [`super::api`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linkage {
    /// The program was built with them.
    pub is_linked: bool,
    /// The program's `malloc` is the one that leads here.
    pub is_own_malloc: bool,
    /// The image hides them from libraries, by a version script for example: those have the C
    /// library's, and would free blocks of the wrong heap.
    pub is_hidden: bool,
}

/// Who serves requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Server {
    /// The arena for what comes before the start.
    Boot = 0,
    /// The shuffled heap.
    Heap,
    /// The fallback allocator: the one that the program has without szc.
    Fallback,
}

static SERVER: AtomicU8 = AtomicU8::new(Server::Boot as u8);
static CONFIG: Once<Config> = Once::new();
/// libc's key of thread-specific data whose destructor takes heaps back.
static KEY: AtomicU32 = AtomicU32::new(u32::MAX);

unsafe extern "C" {
    fn pthread_key_create(
        key: *mut u32,
        destructor: Option<unsafe extern "C" fn(*mut c_void)>,
    ) -> c_int;
    fn pthread_setspecific(key: u32, value: *const c_void) -> c_int;
}

/// Starts heap randomization, or says why it cannot; nothing if the program was built without it.
pub fn start(config: Config, linkage: Linkage) -> Option<Result<(), &'static str>> {
    if !linkage.is_linked {
        return None;
    }
    if !linkage.is_own_malloc {
        SERVER.store(Server::Fallback as u8, Ordering::Relaxed);
        return Some(Err(if fallback::is_linked_in() {
            "the C library's own malloc is linked in"
        } else {
            "the program brings its own allocator"
        }));
    }
    if fallback::finds_a_library() {
        SERVER.store(Server::Fallback as u8, Ordering::Relaxed);
        return Some(Err("a library brings another allocator"));
    }
    if linkage.is_hidden {
        SERVER.store(Server::Fallback as u8, Ordering::Relaxed);
        return Some(Err("the program hides malloc from libraries, by a version script perhaps"));
    }
    if !begin(config) {
        leave(config.seed, linkage);
        return Some(Err("no thread-specific data for the ends of threads"));
    }
    Some(Ok(()))
}

/// Leaves the heap to the allocator that the program has without szc. A static program whose malloc
/// is the runtime's has no other; it gets the base allocator without a shuffle layer, and the
/// reason.
pub fn leave(seed: u64, linkage: Linkage) -> Option<&'static str> {
    let is_own = linkage.is_linked && linkage.is_own_malloc;
    if !is_own || fallback::finds_a_library() || fallback::exists() {
        SERVER.store(Server::Fallback as u8, Ordering::Relaxed);
        return None;
    }
    begin(Config { seed, base: HeapBase::Segregated, max_entries: 1, draws: None });
    Some("the program has no other allocator; its heap is not shuffled")
}

fn begin(config: Config) -> bool {
    let mut key = 0;
    // SAFETY: the destructor and the handlers live as long as the program; neither call allocates
    // this early.
    unsafe {
        if pthread_key_create(&raw mut key, Some(thread_ends)) != 0 {
            return false;
        }
        at_fork::register(fork::before, fork::in_parent, fork::in_child);
    }
    os::look_at_memory_limits();
    KEY.store(key, Ordering::Relaxed);
    refusal::set_base(config.base);
    CONFIG.set(config);
    // Release: pairs with the acquire in `server`.
    SERVER.store(Server::Heap as u8, Ordering::Release);
    true
}

/// Looks at all sizes of which there were blocks, if they have draws of their own.
pub fn each_drawn(look: impl FnMut(counts::Drawn)) {
    if let Some(config) = CONFIG.get() {
        counts::each_drawn(*config, look);
    }
}

/// The counts up to now; nothing if the heap is not randomized.
pub fn counts() -> Option<HeapCounts> {
    CONFIG.get().map(|config| counts::of(*config))
}

/// Who serves requests now.
pub fn server() -> Server {
    match SERVER.load(Ordering::Acquire) {
        1 => Server::Heap,
        2 => Server::Fallback,
        _ => Server::Boot,
    }
}

/// The calling thread's slot: 0 before its first request, [`ENDED`] after its end, otherwise its
/// heap.
const ENDED: usize = 1;

/// The calling thread's heap, if it has one.
#[inline]
pub fn own_heap() -> Option<&'static ThreadHeap> {
    let slot = arch::heap_slot();
    if slot <= ENDED {
        return None;
    }
    // SAFETY: the slot holds the thread's own heap, which is never unmapped.
    Some(unsafe { &*core::ptr::with_exposed_provenance::<ThreadHeap>(slot) })
}

/// Runs `action` on a heap: the thread's, which it gets now if it has none, or one that is nobody's
/// if the thread has ended as far as libc is concerned. Nothing without memory.
#[cold]
pub fn with_any_heap<T>(action: impl FnOnce(&ThreadHeap) -> T) -> Option<T> {
    if let Some(heap) = own_heap() {
        return Some(action(heap));
    }
    let config = *CONFIG.get()?;
    let ended = arch::heap_slot() == ENDED;
    let heap = if ended { HEAPS.borrow(config)? } else { HEAPS.acquire(config)? };
    if ended {
        // SAFETY: the heap is this thread's until it is released.
        unsafe {
            let result = action(&*heap);
            HEAPS.release(heap);
            return Some(result);
        }
    }
    arch::set_heap_slot(heap.expose_provenance());
    // SAFETY: the key was made at start. libc may allocate for a high key; the slot is set. Without
    // the destructor the heap would only not be handed on.
    unsafe { pthread_setspecific(KEY.load(Ordering::Relaxed), heap.cast()) };
    // SAFETY: the heap is this thread's.
    Some(action(unsafe { &*heap }))
}

/// A thread's heap took a chunk more: memory that is merely kept elsewhere is let go of, as much at
/// a time, so that what waits for one kind of block does not come on top of what another kind
/// needs.
#[cold]
pub fn heap_grew() {
    HEAPS.tidy_one();
    LARGE.drop_bytes(chunk::CHUNK_BYTES);
}

/// Called by libc when a thread ends: the heap waits for the next thread. Destructors of the
/// program that still allocate and free, in this round or a later one, borrow an idle heap for each
/// call. To keep the thread's own for them would be to lose it: nobody says which round is the
/// last, and who allocates first in a destructor gets a heap after the round has begun.
unsafe extern "C" fn thread_ends(heap: *mut c_void) {
    let heap = heap.cast::<ThreadHeap>();
    // SAFETY: the value that was set for this thread: its heap, which it does not use after the
    // slot says so.
    unsafe {
        (*heap).drain();
        arch::set_heap_slot(ENDED);
        HEAPS.release(heap);
    }
}
