//! The shuffle layer of one class and thread: the array whose entries change places with blocks on
//! their way, and a short stack between it and the base.
//!
//! Source: STABILIZER, section 4.2.2. `malloc` takes a block from the base, exchanges it with a
//! random entry and returns what was there; `free` exchanges the freed block with a random entry,
//! which goes to the base. Each is one step of the inside-out Fisher–Yates shuffle. The array grows
//! with use up to N, so that a class of few blocks costs little memory: it has at most
//! [`FIRST_ENTRIES`] entries and two for each allocation so far, and at most the larger of what
//! fits into [`SPARE_BYTES`] (or [`LARGER_SPARE_BYTES`]) and half of the blocks that the program
//! holds.

use super::base::AnyBase;
use super::random::Random;
use super::size_class::block_bytes;
use core::cell::Cell;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use szc_sys::arch;

/// Entries of the stack.
const STACK_BLOCKS: usize = 64;
/// Memory of a class that may wait in the array while the program holds few blocks.
const SPARE_BYTES: usize = 8 << 10;
/// The same for blocks larger than a kilobyte, of which programs have many classes and few blocks.
const LARGER_SPARE_BYTES: usize = 4 << 10;
/// Entries that a class begins with, if memory allows. They lie beside those of the other classes:
/// an array for N of each class that has a few would have a page in memory.
pub const FIRST_ENTRIES: u32 = 32;
/// Memory of a class that may wait in the stack.
const STACK_BYTES: usize = 4 << 10;
/// Most blocks that are taken from the base at a time.
const BATCH_BLOCKS: usize = 32;
/// Allocations between two decisions about the length of the array.
const RESIZE_ALLOCATIONS: core::ops::RangeInclusive<u64> = 8..=256;

/// The shuffle layer of one class. All zero: unused.
///
/// The thread that has the heap works on it, and others may read its counts at any time, so nobody
/// has it to itself: what others read is atomic, and what they do not is in cells. Counts need no
/// order: each is a number that was true, and they are exact if the thread does not run.
#[repr(C, align(64))]
pub struct Shuffle {
    // What the quick ways need comes first: one cache line.
    /// Blocks in the stack.
    top: AtomicU32,
    /// Blocks in the stack at which the base gets some back. 0 where every block goes straight to
    /// the base, and while the array has no entry.
    limit: Cell<u32>,
    /// Entries of the array.
    entries: AtomicU32,
    /// Allocations until the next decision about the length.
    left: AtomicU32,
    array: Cell<*mut *mut u8>,
    /// The place of the array that the next allocation exchanges with, drawn at the one before: so
    /// the address of a block does not wait for a random number, and its first line comes from
    /// memory meanwhile.
    next: Cell<u32>,
    /// Allocations up to the next decision.
    counted: AtomicU64,
    /// Blocks taken from bases less blocks given to bases; negative for a class that others
    /// allocate.
    balance: AtomicU64,
    /// Where the array moves when it has more than [`FIRST_ENTRIES`].
    whole_array: Cell<*mut *mut u8>,
    stack: [Cell<*mut u8>; STACK_BLOCKS],
    /// `left` and `limit` while the quick ways are shut.
    shut_left: AtomicU32,
    shut_limit: Cell<u32>,
}

/// What the slow paths need to know of the heap.
pub struct Context<'a> {
    /// The thread's generator.
    pub random: &'a mut Random,
    /// What lies below.
    pub base: AnyBase,
    /// N.
    pub max_entries: u32,
    /// Whether freed blocks may be handed out before the base has seen them.
    pub reuses_at_once: bool,
}

impl Shuffle {
    /// Gives the class memory for its array: for [`FIRST_ENTRIES`], and for N entries.
    ///
    /// # Safety
    /// The memory must be this class's alone.
    pub unsafe fn set_arrays(&self, first: *mut *mut u8, whole: *mut *mut u8) {
        self.array.set(first);
        self.whole_array.set(whole);
    }

    /// Whether it has.
    pub fn has_arrays(&self) -> bool {
        !self.array.get().is_null()
    }

    #[inline]
    fn top(&self) -> u32 {
        self.top.load(Ordering::Relaxed)
    }

    #[inline]
    fn set_top(&self, top: u32) {
        self.top.store(top, Ordering::Relaxed);
    }

    #[inline]
    fn entries(&self) -> u32 {
        self.entries.load(Ordering::Relaxed)
    }

    fn set_entries(&self, entries: u32) {
        self.entries.store(entries, Ordering::Relaxed);
    }

    /// Puts a block into a place of the array; what was there.
    ///
    /// # Safety
    /// The place must be below the number of entries.
    #[inline]
    unsafe fn replace(&self, place: usize, block: *mut u8) -> *mut u8 {
        // SAFETY: the caller's promise; the array is the class's alone.
        unsafe { self.array.get().add(place).replace(block) }
    }

    /// Puts a block into a random place of the array; what was there.
    #[inline]
    fn exchange(&self, random: &mut Random, block: *mut u8) -> *mut u8 {
        // SAFETY: the place is below the number of entries, which is at least 1 on every way here.
        unsafe { self.replace(random.below(self.entries()), block) }
    }

    /// A block, if the quick way has one.
    #[inline]
    pub fn pop(&self, random: &mut Random) -> Option<*mut u8> {
        let (left, top) = (self.left.load(Ordering::Relaxed), self.top());
        if top == 0 || left == 0 {
            return None;
        }
        self.left.store(left - 1, Ordering::Relaxed);
        self.set_top(top - 1);
        let (array, place, next) =
            (self.array.get(), self.next.get(), random.below(self.entries()));
        self.next.set(next as u32);
        // SAFETY: the top is at most the stack's length, and both places are below the number of
        // entries.
        unsafe {
            let block = self.stack.get_unchecked(top as usize - 1).get();
            let found = array.add(place as usize).replace(block);
            arch::prefetch(array.add(next).read());
            Some(found)
        }
    }

    /// Takes a freed block; false if the quick way has no room.
    #[inline]
    pub fn push(&self, random: &mut Random, block: *mut u8) -> bool {
        let top = self.top();
        if top >= self.limit.get() {
            return false;
        }
        let block = self.exchange(random, block);
        // SAFETY: the limit is at most the stack's length.
        unsafe { self.stack.get_unchecked(top as usize).set(block) };
        self.set_top(top + 1);
        true
    }

    /// A block by the slow way; nothing if there is no memory.
    #[cold]
    pub fn pop_slowly(&self, class: usize, context: &mut Context<'_>) -> Option<*mut u8> {
        if self.left.load(Ordering::Relaxed) == 0 {
            self.resize(class, context);
        }
        if self.top() == 0 {
            let wanted = (self.counted.load(Ordering::Relaxed) / 4) as usize;
            let most = (STACK_BYTES / block_bytes(class)).clamp(1, BATCH_BLOCKS);
            self.take(class, context, wanted.clamp(1, most));
        }
        if self.entries() == 0 {
            // Without memory for more than one block, this one has to do; it is not shuffled.
            self.grow(class, context, 1);
            self.set_limit(class, context);
        }
        if self.top() == 0 && self.entries() > 0 {
            // The base has nothing left; the array does.
            self.left.store(self.left.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
            let last = self.entries() - 1;
            self.set_entries(last);
            // SAFETY: entries below the old number are blocks.
            let block = unsafe { self.array.get().add(last as usize).read() };
            self.set_limit(class, context);
            return Some(if last > 0 { self.exchange(context.random, block) } else { block });
        }
        self.pop(context.random)
    }

    /// Takes a freed block by the slow way.
    #[cold]
    pub fn push_slowly(&self, class: usize, context: &mut Context<'_>, block: *mut u8) {
        if self.entries() == 0 {
            // SAFETY: the array has room for one entry.
            unsafe { self.array.get().write(block) };
            self.set_entries(1);
            self.set_limit(class, context);
            return;
        }
        let limit = self.limit.get();
        if limit == 0 {
            let block = self.exchange(context.random, block);
            self.give(class, context, &[block]);
            return;
        }
        if self.top() >= limit {
            // The older half goes, the younger stays.
            let (top, half) = (self.top() as usize, (limit as usize).div_ceil(2));
            self.give_stack(class, context, half);
            for index in half..top {
                self.stack[index - half].set(self.stack[index].get());
            }
            self.set_top((top - half) as u32);
        }
        self.push(context.random, block);
    }

    /// Shuts the quick ways: each request comes by a slow one, which has [`Self::open`] first.
    pub fn shut(&self) {
        self.shut_left.store(self.left.load(Ordering::Relaxed), Ordering::Relaxed);
        self.left.store(0, Ordering::Relaxed);
        self.shut_limit.set(self.limit.replace(0));
    }

    /// Opens what was shut. The first time there is nothing.
    pub fn open(&self) {
        self.left.store(self.shut_left.load(Ordering::Relaxed), Ordering::Relaxed);
        self.shut_left.store(0, Ordering::Relaxed);
        self.limit.set(self.shut_limit.get());
    }

    /// Gives everything back to the base: the thread ends.
    pub fn drain(&self, class: usize, context: &mut Context<'_>) {
        let entries = self.entries() as usize;
        if entries > 0 {
            // SAFETY: entries below the number are blocks, and nobody changes the array meanwhile.
            let array = unsafe { core::slice::from_raw_parts(self.array.get(), entries) };
            self.give(class, context, array);
        }
        self.give_stack(class, context, self.top() as usize);
        self.set_entries(0);
        self.set_top(0);
        self.set_limit(class, context);
    }

    /// Blocks allocated up to now, from any thread's view.
    pub fn allocations(&self) -> u64 {
        let counted = self.counted.load(Ordering::Relaxed);
        let [left, shut] =
            [&self.left, &self.shut_left].map(|left| u64::from(left.load(Ordering::Relaxed)));
        counted.saturating_sub(left + shut)
    }

    /// Blocks that left bases by this class less those that came back by it, modulo 2⁶⁴, without
    /// those that wait here. Exact if the thread does not run.
    pub fn held(&self) -> u64 {
        self.balance
            .load(Ordering::Relaxed)
            .wrapping_sub(u64::from(self.entries()) + u64::from(self.top()))
    }

    /// Opens the quick way of `push` exactly if there is an entry to exchange with, and keeps the
    /// next place below the number of entries.
    fn set_limit(&self, class: usize, context: &Context<'_>) {
        let entries = self.entries();
        let open = entries > 0 && context.reuses_at_once;
        let most = (STACK_BYTES / block_bytes(class)).clamp(1, STACK_BLOCKS);
        self.limit.set(if open { most as u32 } else { 0 });
        if self.next.get() >= entries {
            self.next.set(0);
        }
    }

    /// Gives the array as many entries as it should have now.
    fn resize(&self, class: usize, context: &mut Context<'_>) {
        let counted = self.counted.load(Ordering::Relaxed);
        let held = self.held().cast_signed().max(0).cast_unsigned();
        let bytes = block_bytes(class);
        let spare = if bytes > 1 << 10 { LARGER_SPARE_BYTES } else { SPARE_BYTES };
        let by_memory = ((spare / bytes) as u64).max(held / 2);
        let by_use = u64::from(FIRST_ENTRIES) + 2 * counted;
        let entries = by_use.min(by_memory).clamp(1, u64::from(context.max_entries)) as u32;
        self.grow(class, context, entries);
        let next = (counted / 4).clamp(*RESIZE_ALLOCATIONS.start(), *RESIZE_ALLOCATIONS.end());
        self.counted.store(counted + next, Ordering::Relaxed);
        self.left.store(next as u32, Ordering::Relaxed);
        self.set_limit(class, context);
    }

    fn grow(&self, class: usize, context: &mut Context<'_>, entries: u32) {
        if entries > FIRST_ENTRIES && self.array.get() != self.whole_array.get() {
            let bytes = self.entries() as usize * size_of::<*mut u8>();
            let (first, whole) = (self.array.get(), self.whole_array.get());
            // SAFETY: the first array has as many entries, and the whole one has room for more.
            unsafe { arch::copy_bytes(whole.cast(), first.cast(), bytes) };
            self.array.set(whole);
        }
        while self.entries() < entries {
            let last = self.entries() as usize;
            if self.top() == 0 {
                let wanted = entries as usize - last;
                self.take(class, context, wanted.min(BATCH_BLOCKS));
                if self.top() == 0 {
                    return;
                }
            }
            self.set_top(self.top() - 1);
            let block = self.stack[self.top() as usize].get();
            let place = context.random.below(last as u32 + 1);
            // SAFETY: the array has room for as many entries as are wanted, and there are fewer.
            unsafe {
                let displaced = self.replace(place, block);
                let entry = if place == last { block } else { displaced };
                self.array.get().add(last).write(entry);
            }
            self.set_entries(last as u32 + 1);
        }
    }

    /// Fills the empty stack from the base, so that what the base gave first is taken first.
    fn take(&self, class: usize, context: &Context<'_>, blocks: usize) {
        // SAFETY: cells are what they hold, and nobody else looks into the stack meanwhile.
        let wanted = unsafe {
            let stack = self.stack.as_ptr().cast_mut().cast::<*mut u8>();
            core::slice::from_raw_parts_mut(stack, blocks.min(STACK_BLOCKS))
        };
        // SAFETY: the thread owns its base.
        let taken = unsafe { context.base.take(class, wanted) };
        wanted[..taken].reverse();
        self.set_top(taken as u32);
        let balance = self.balance.load(Ordering::Relaxed);
        self.balance.store(balance.wrapping_add(taken as u64), Ordering::Relaxed);
    }

    /// Gives the lowest blocks of the stack to the base.
    fn give_stack(&self, class: usize, context: &Context<'_>, blocks: usize) {
        // SAFETY: a cell is what it holds, and nobody changes the stack meanwhile.
        let stack =
            unsafe { core::slice::from_raw_parts(self.stack[..blocks].as_ptr().cast(), blocks) };
        self.give(class, context, stack);
    }

    fn give(&self, class: usize, context: &Context<'_>, blocks: &[*mut u8]) {
        // SAFETY: the blocks came from a base for this class; the thread owns its own.
        unsafe { context.base.give(class, blocks) };
        let balance = self.balance.load(Ordering::Relaxed);
        self.balance.store(balance.wrapping_sub(blocks.len() as u64), Ordering::Relaxed);
    }
}
