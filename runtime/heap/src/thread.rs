//! The heap of one thread: a shuffle layer for each size class over a base.

pub mod heaps;

use super::base::{self, AnyBase};
use super::chunk::{self, STATE_ALIGNED, STATE_ALIGNED_FREED, STATE_NONE};
use super::config::Config;
use super::draws::UNITS;
use super::memory::{chunks_mapped, map_table};
use super::random::Random;
use super::refusal;
use super::shuffle::{Context, FIRST_ENTRIES, Shuffle};
use super::sites;
use super::size_class::{CLASSES, GRAIN_BYTES};
use core::cell::Cell;
use core::sync::atomic::{AtomicU64, Ordering};
use szc_layout::rng::{Purpose, Stream};
use szc_sys::{arch, os};

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
    /// The generators of classes that have draws of their own, and that of large blocks.
    apart: [Cell<Random>; UNITS],
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
            (*heap).draw_apart(number);
            if let Some(draws) = config.draws {
                base.draw_apart(|class| draws.random(config.seed, class, number));
            }
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

    /// Draws the generators of what has draws of its own, if that is asked for.
    fn draw_apart(&self, number: u64) {
        if let Some(draws) = self.config.draws {
            for (unit, random) in self.apart.iter().enumerate() {
                random.set(draws.random(self.config.seed, unit, number));
            }
        }
    }

    fn stream(config: Config, number: u64) -> Random {
        Random::new(Stream::of(Purpose::Heap, config.seed, number).bits())
    }

    /// A block of a class; null if there is no memory. `grew` is called if chunks were mapped since
    /// this heap last went the slow way.
    #[inline]
    pub fn allocate(&self, class: usize, grew: impl FnOnce()) -> *mut u8 {
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
            None => self.allocate_slowly(class, arch::pads::stack_pointer(), grew),
        }
    }

    #[cold]
    #[inline(never)]
    fn allocate_slowly(&self, class: usize, stack: usize, grew: impl FnOnce()) -> *mut u8 {
        if self.config.draws.is_some() {
            // SAFETY: of a function that the program called, or one that such a function called.
            unsafe { sites::note(class, stack) };
        }
        self.arrange(class);
        let block = self.slowly(class, |shuffle, context| shuffle.pop_slowly(class, context));
        let Some(block) = block else { return os::null() };
        let chunks = chunks_mapped();
        if chunks != self.chunks.get() {
            self.chunks.set(chunks);
            grew();
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
        let shuffle = &self.classes[class];
        let is_apart = self.config.draws.is_some();
        if is_apart {
            shuffle.open();
        }
        let result = self.with_random(class, |random| {
            let mut context = Context {
                random,
                base: self.base,
                max_entries: self.config.max_entries,
                reuses_at_once: base::reuses_at_once(self.config.base),
            };
            way(shuffle, &mut context)
        });
        if is_apart {
            shuffle.shut();
        }
        result
    }

    /// Lets `action` draw the random numbers of a class, or of large blocks.
    pub fn with_random<T>(&self, unit: usize, action: impl FnOnce(&mut Random) -> T) -> T {
        let own = if self.config.draws.is_some() { &self.apart[unit] } else { &self.random };
        let mut random = own.get();
        let result = action(&mut random);
        own.set(random);
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
