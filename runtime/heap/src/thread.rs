//! The heap of one thread, and how threads come by one.
//!
//! A thread takes a heap when it first allocates and leaves it to the next thread when it ends.
//! Heaps are never unmapped: blocks of theirs may be in use anywhere.

use super::base::{self, AnyBase};
use super::chunk::{self, STATE_ALIGNED, STATE_ALIGNED_FREED, STATE_NONE};
use super::memory::{chunks_mapped, map_table};
use super::random::Random;
use super::refusal;
use super::shuffle::{Context, FIRST_ENTRIES, Shuffle};
use super::size_class::{CLASSES, GRAIN_BYTES};
use crate::Config;
use core::cell::Cell;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use szc_layout::rng::{Purpose, Stream};
use szc_sys::os::{self, Lock};

/// The heap of one thread.
///
/// Other threads read its counts while it works, so nobody has all of it to himself: what the
/// thread changes is in cells, or atomic where others read it ([`Shuffle`]).
#[repr(C)]
pub struct ThreadHeap {
    random: Cell<Random>,
    /// Where blocks begin in a grain, in bytes.
    phase: usize,
    classes: [Shuffle; CLASSES],
    /// The arrays of all classes: those that they begin with, and behind them those for N entries.
    arrays: *mut *mut u8,
    base: AnyBase,
    config: Config,
    /// Blocks that were mapped on their own, as counted by this heap.
    large: AtomicU64,
    large_frees: AtomicU64,
    /// Chunks that were mapped when this was last looked at.
    chunks: Cell<usize>,
    /// The heap that was created before.
    older: *mut ThreadHeap,
    /// The next heap that no thread has; under the lock of all heaps.
    next_idle: Cell<*mut ThreadHeap>,
}

impl ThreadHeap {
    /// A heap in memory of its own; `number` counts the threads that got one.
    fn create(config: Config, number: u64) -> Option<*mut Self> {
        let own = size_of::<Self>().next_multiple_of(64);
        let arrays = CLASSES * (FIRST_ENTRIES + config.max_entries) as usize * size_of::<*mut u8>();
        let heap = map_table(own + arrays)?.cast::<Self>();
        let mut random = Self::stream(config, number);
        let Some(base) = AnyBase::create(config.base, &mut random) else {
            // SAFETY: nobody else knows of it.
            unsafe { os::unmap(heap.cast(), own + arrays) };
            return None;
        };
        // SAFETY: zeroed memory, large enough, which nobody else knows; zeros are unused shuffle
        // layers.
        unsafe {
            (&raw mut (*heap).random).write(Cell::new(random));
            (&raw mut (*heap).phase).write(base::block_phase(config.base));
            (&raw mut (*heap).base).write(base);
            (&raw mut (*heap).config).write(config);
            (&raw mut (*heap).arrays).write(heap.cast::<u8>().add(own).cast());
        }
        Some(heap)
    }

    /// Gives a class its arrays behind the heap when it is first used: what programs do not use of
    /// the heap's memory, they do not touch.
    fn arrange(&self, class: usize) {
        let shuffle = &self.classes[class];
        if shuffle.has_arrays() {
            return;
        }
        let (first, whole) = (FIRST_ENTRIES as usize, self.config.max_entries as usize);
        // SAFETY: there is an array of each kind for each class.
        unsafe {
            let whole_array = self.arrays.add(CLASSES * first + class * whole);
            shuffle.set_arrays(self.arrays.add(class * first), whole_array);
        }
    }

    fn stream(config: Config, number: u64) -> Random {
        Random::new(Stream::of(Purpose::Heap, config.seed, number).bits())
    }

    /// A block of a class; null if there is no memory.
    #[inline]
    pub fn allocate(&self, class: usize) -> *mut u8 {
        // SAFETY: a class is below their number.
        let shuffle = unsafe { self.classes.get_unchecked(class) };
        let mut random = self.random.get();
        let block = shuffle.pop(&mut random);
        self.random.set(random);
        match block {
            Some(block) => {
                // SAFETY: a block of a base, and the program's from here on.
                unsafe { chunk::hold(block, class) };
                block
            }
            None => self.allocate_slowly(class),
        }
    }

    #[cold]
    #[inline(never)]
    fn allocate_slowly(&self, class: usize) -> *mut u8 {
        self.arrange(class);
        let block = self.slowly(class, |shuffle, context| shuffle.pop_slowly(class, context));
        let Some(block) = block else { return os::null() };
        let chunks = chunks_mapped();
        if chunks != self.chunks.get() {
            self.chunks.set(chunks);
            crate::heap_grew();
        }
        // SAFETY: as in `allocate`.
        unsafe { chunk::hold(block, class) };
        block
    }

    /// Frees a block of a chunk, if the program holds it; otherwise does not return.
    ///
    /// # Safety
    /// The pointer must lie in a chunk.
    #[inline]
    pub unsafe fn free(&self, pointer: *mut u8) {
        // SAFETY: the caller's promise.
        let state = unsafe { chunk::state(pointer) };
        let class = usize::from(state.load(Ordering::Relaxed).wrapping_sub(1));
        let grain_phase = pointer.addr() % GRAIN_BYTES;
        if class >= CLASSES || grain_phase != self.phase {
            // SAFETY: as above.
            return unsafe { self.free_slowly(pointer) };
        }
        state.store(STATE_NONE, Ordering::Relaxed);
        // SAFETY: checked above.
        let shuffle = unsafe { self.classes.get_unchecked(class) };
        if !self.push(shuffle, pointer) {
            self.push_slowly(class, pointer);
        }
    }

    /// An aligned block, or no block.
    #[cold]
    #[inline(never)]
    unsafe fn free_slowly(&self, pointer: *mut u8) {
        // SAFETY: the caller of `free` promised a chunk.
        unsafe {
            let state = chunk::state(pointer);
            let found = state.load(Ordering::Relaxed);
            let class = usize::from((found & !STATE_ALIGNED).wrapping_sub(1));
            let aligned = pointer.addr().is_multiple_of(GRAIN_BYTES);
            if found & STATE_ALIGNED == 0 || class >= CLASSES || !aligned {
                refusal::refuse(pointer);
            }
            let block = chunk::holder_of(pointer, self.phase);
            state.store(STATE_ALIGNED_FREED, Ordering::Relaxed);
            chunk::state(block).store(STATE_NONE, Ordering::Relaxed);
            if !self.push(&self.classes[class], block) {
                self.push_slowly(class, block);
            }
        }
    }

    #[inline]
    fn push(&self, shuffle: &Shuffle, block: *mut u8) -> bool {
        let mut random = self.random.get();
        let pushed = shuffle.push(&mut random, block);
        self.random.set(random);
        pushed
    }

    #[cold]
    #[inline(never)]
    fn push_slowly(&self, class: usize, block: *mut u8) {
        self.arrange(class);
        self.slowly(class, |shuffle, context| shuffle.push_slowly(class, context, block));
    }

    /// Gives everything that waits in shuffle layers back to the base.
    pub fn drain(&self) {
        for class in 0..CLASSES {
            if self.classes[class].has_arrays() {
                self.slowly(class, |shuffle, context| shuffle.drain(class, context));
            }
        }
    }

    fn slowly<T>(&self, class: usize, way: impl FnOnce(&Shuffle, &mut Context<'_>) -> T) -> T {
        self.with_random(|random| {
            let mut context = Context {
                random,
                base: self.base,
                max_entries: self.config.max_entries,
                reuses_at_once: base::reuses_at_once(self.config.base),
            };
            way(&self.classes[class], &mut context)
        })
    }

    /// Lets `action` draw the thread's random numbers.
    pub fn with_random<T>(&self, action: impl FnOnce(&mut Random) -> T) -> T {
        let mut random = self.random.get();
        let result = action(&mut random);
        self.random.set(random);
        result
    }

    /// Counts a block that was mapped on its own.
    pub fn count_large(&self) {
        self.large.store(self.large.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// Counts the free of a block that was mapped on its own.
    pub fn count_large_free(&self) {
        self.large_frees.store(self.large_frees.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }
}

/// All heaps of a process.
pub struct Heaps {
    lock: Lock,
    /// The newest heap. Written under the lock.
    newest: AtomicPtr<ThreadHeap>,
    /// Heaps without a thread. Read and written under the lock.
    idle: AtomicPtr<ThreadHeap>,
    /// Threads that got a heap. Read and written under the lock.
    threads: AtomicU64,
}

/// Sums over all heaps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Blocks handed out.
    pub allocations: u64,
    /// Blocks given back.
    pub frees: u64,
    /// Size classes in use.
    pub classes: u64,
    /// Blocks that were mapped on their own.
    pub large: u64,
}

impl Heaps {
    /// None yet.
    pub const fn new() -> Self {
        Self {
            lock: Lock::new(),
            newest: AtomicPtr::new(os::null()),
            idle: AtomicPtr::new(os::null()),
            threads: AtomicU64::new(0),
        }
    }

    /// A heap for the calling thread, until it gives it back.
    pub fn acquire(&self, config: Config) -> Option<*mut ThreadHeap> {
        self.lock.with(|| {
            let number = self.threads.load(Ordering::Relaxed);
            let idle = self.idle.load(Ordering::Relaxed);
            let heap = if idle.is_null() {
                let heap = ThreadHeap::create(config, number)?;
                // SAFETY: nobody else knows the heap.
                unsafe { (*heap).older = self.newest.load(Ordering::Relaxed) };
                // Release: pairs with the acquire in `sums`.
                self.newest.store(heap, Ordering::Release);
                heap
            } else {
                // SAFETY: idle heaps are nobody's but the lock's holder's.
                unsafe {
                    self.idle.store((*idle).next_idle.get(), Ordering::Relaxed);
                    (*idle).random.set(ThreadHeap::stream(config, number));
                }
                idle
            };
            self.threads.store(number + 1, Ordering::Relaxed);
            Some(heap)
        })
    }

    /// A heap for one operation of a thread that has ended as far as libc is concerned.
    pub fn borrow(&self, config: Config) -> Option<*mut ThreadHeap> {
        let idle = self.lock.with(|| {
            let idle = self.idle.load(Ordering::Relaxed);
            if !idle.is_null() {
                // SAFETY: idle heaps are nobody's but the lock's holder's.
                self.idle.store(unsafe { (*idle).next_idle.get() }, Ordering::Relaxed);
            }
            idle
        });
        if idle.is_null() { self.acquire(config) } else { Some(idle) }
    }

    /// Takes a heap back from a thread.
    ///
    /// # Safety
    /// The heap must be the calling thread's, which does not use it any more.
    pub unsafe fn release(&self, heap: *mut ThreadHeap) {
        self.lock.with(|| {
            // SAFETY: the caller's promise.
            unsafe { (*heap).next_idle.set(self.idle.load(Ordering::Relaxed)) };
            self.idle.store(heap, Ordering::Relaxed);
        });
    }

    /// Lets the heap that has been idle longest take back what other threads freed, so that its
    /// memory goes back to the kernel while another heap grows.
    pub fn tidy_one(&self) {
        if self.idle.load(Ordering::Relaxed).is_null() {
            return;
        }
        self.lock.with(|| {
            // SAFETY: idle heaps are nobody's but the lock's holder's; so are their links.
            unsafe {
                let newest = self.idle.load(Ordering::Relaxed);
                if newest.is_null() {
                    return;
                }
                let (mut before, mut last) = (os::null::<ThreadHeap>(), newest);
                while !(*last).next_idle.get().is_null() {
                    (before, last) = (last, (*last).next_idle.get());
                }
                (*last).base.tidy();
                if !before.is_null() {
                    // To the front: the next time it is another's turn.
                    (*before).next_idle.set(os::null());
                    (*last).next_idle.set(newest);
                    self.idle.store(last, Ordering::Relaxed);
                }
            }
        });
    }

    /// Sums over all heaps, without a lock: exact if no other thread runs.
    pub fn sums(&self) -> Sums {
        let (mut allocations, mut held, mut classes, mut large, mut large_frees) =
            (0, 0u64, 0u64, 0, 0);
        let mut heap = self.newest.load(Ordering::Acquire);
        while !heap.is_null() {
            // SAFETY: heaps are never unmapped, and what is read here is atomic: the sum is off by
            // what is in flight.
            unsafe {
                for (class, shuffle) in (*heap).classes.iter().enumerate() {
                    let of_class = shuffle.allocations();
                    allocations += of_class;
                    held = held.wrapping_add(shuffle.held());
                    classes |= u64::from(of_class > 0) << class;
                }
                large += (*heap).large.load(Ordering::Relaxed);
                large_frees += (*heap).large_frees.load(Ordering::Relaxed);
                heap = (*heap).older;
            }
        }
        let small_frees = allocations.saturating_sub(held.cast_signed().max(0).cast_unsigned());
        Sums {
            allocations: allocations + large,
            frees: small_frees + large_frees,
            classes: u64::from(classes.count_ones()),
            large,
        }
    }

    /// Before a fork: nobody is inside a lock of the heap's.
    pub fn lock_all(&self) {
        self.lock.acquire();
        self.each_base(|base| {
            // SAFETY: bases are never unmapped.
            unsafe { base.lock(true) };
        });
    }

    /// After a fork, in parent and child. In the child the heaps of other threads stay as they are,
    /// perhaps in the middle of an operation, and nobody gets them: their free blocks are lost to
    /// it, and nothing else.
    pub fn unlock_all(&self) {
        self.each_base(|base| {
            // SAFETY: bases are never unmapped.
            unsafe { base.lock(false) };
        });
        self.lock.release();
    }

    fn each_base(&self, action: impl Fn(AnyBase)) {
        let mut heap = self.newest.load(Ordering::Acquire);
        while !heap.is_null() {
            // SAFETY: heaps are never unmapped; a heap's base never changes.
            unsafe {
                action((&raw const (*heap).base).read());
                heap = (*heap).older;
            }
        }
    }
}
