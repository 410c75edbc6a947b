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
/// Allocations between two looks at the length of the array.
const LOOK_ALLOCATIONS: core::ops::RangeInclusive<u64> = 8..=256;

/// The shuffle layer of one class. All zero: unused.
#[repr(C, align(64))]
pub struct Shuffle {
    // What the quick ways need comes first: one cache line.
    /// Blocks in the stack.
    top: u32,
    /// Blocks in the stack at which the base gets some back. 0 where every block goes straight to
    /// the base, and while the array has no entry.
    limit: u32,
    /// Entries of the array.
    entries: u32,
    /// Allocations until the next look. Atomic because the log reads it from another thread.
    left: AtomicU32,
    array: *mut *mut u8,
    /// The place of the array that the next allocation exchanges with, drawn at the one before: so
    /// the address of a block does not wait for a random number, and its first line comes from
    /// memory meanwhile.
    next: u32,
    /// Allocations up to the next look.
    counted: AtomicU64,
    /// Blocks taken from bases less blocks given to bases; negative for a class that others
    /// allocate.
    balance: AtomicU64,
    /// Where the array moves when it has more than [`FIRST_ENTRIES`].
    whole_array: *mut *mut u8,
    stack: [*mut u8; STACK_BLOCKS],
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
    pub unsafe fn set_arrays(&mut self, first: *mut *mut u8, whole: *mut *mut u8) {
        (self.array, self.whole_array) = (first, whole);
    }

    /// Whether it has.
    pub fn has_arrays(&self) -> bool {
        !self.array.is_null()
    }

    /// Puts a block into a random place of the array; what was there.
    #[inline]
    fn exchange(&mut self, random: &mut Random, block: *mut u8) -> *mut u8 {
        // SAFETY: the index is below the number of entries, which is at least 1 on every way here.
        unsafe {
            let place = self.array.add(random.below(self.entries));
            core::mem::replace(&mut *place, block)
        }
    }

    /// A block, if the quick way has one.
    #[inline]
    pub fn pop(&mut self, random: &mut Random) -> Option<*mut u8> {
        let left = self.left.load(Ordering::Relaxed);
        if self.top == 0 || left == 0 {
            return None;
        }
        self.left.store(left - 1, Ordering::Relaxed);
        self.top -= 1;
        // SAFETY: the top is at most the stack's length, and the place is below the number of
        // entries.
        unsafe {
            let block = *self.stack.as_ptr().add(self.top as usize);
            let found = core::mem::replace(&mut *self.array.add(self.next as usize), block);
            let next = random.below(self.entries);
            self.next = next as u32;
            arch::prefetch(*self.array.add(next));
            Some(found)
        }
    }

    /// Takes a freed block; false if the quick way has no room.
    #[inline]
    pub fn push(&mut self, random: &mut Random, block: *mut u8) -> bool {
        if self.top >= self.limit {
            return false;
        }
        let block = self.exchange(random, block);
        // SAFETY: the limit is at most the stack's length.
        unsafe { *self.stack.as_mut_ptr().add(self.top as usize) = block };
        self.top += 1;
        true
    }

    /// A block by the slow way; nothing if there is no memory.
    #[cold]
    pub fn pop_slowly(&mut self, class: usize, context: &mut Context<'_>) -> Option<*mut u8> {
        if self.left.load(Ordering::Relaxed) == 0 {
            self.look(class, context);
        }
        if self.top == 0 {
            let wanted = (self.counted.load(Ordering::Relaxed) / 4) as usize;
            let most = (STACK_BYTES / block_bytes(class)).clamp(1, BATCH_BLOCKS);
            self.top = self.take(class, context, wanted.clamp(1, most));
        }
        if self.entries == 0 {
            // Without memory for more than one block, this one has to do; it is not shuffled.
            self.grow(class, context, 1);
            self.settle(class, context);
        }
        if self.top == 0 && self.entries > 0 {
            // The base has nothing left; the array does.
            self.left.fetch_sub(1, Ordering::Relaxed);
            self.entries -= 1;
            let last = self.entries as usize;
            // SAFETY: entries below the old number are blocks.
            let block = unsafe { *self.array.add(last) };
            self.settle(class, context);
            return Some(if self.entries > 0 {
                self.exchange(context.random, block)
            } else {
                block
            });
        }
        self.pop(context.random)
    }

    /// Takes a freed block by the slow way.
    #[cold]
    pub fn push_slowly(&mut self, class: usize, context: &mut Context<'_>, block: *mut u8) {
        if self.entries == 0 {
            // SAFETY: the array has room for one entry.
            unsafe { *self.array = block };
            self.entries = 1;
            self.settle(class, context);
            return;
        }
        if self.limit == 0 {
            let block = self.exchange(context.random, block);
            self.give(class, context, &[block]);
            return;
        }
        if self.top >= self.limit {
            // The older half goes, the younger stays.
            let (top, half) = (self.top as usize, (self.limit as usize).div_ceil(2));
            self.give(class, context, &self.stack[..half]);
            for index in half..top {
                self.stack[index - half] = self.stack[index];
            }
            self.top -= half as u32;
        }
        self.push(context.random, block);
    }

    /// Gives everything back to the base: the thread ends.
    pub fn drain(&mut self, class: usize, context: &mut Context<'_>) {
        if self.entries > 0 {
            // SAFETY: entries below the number are blocks.
            let array = unsafe { core::slice::from_raw_parts(self.array, self.entries as usize) };
            self.give(class, context, array);
        }
        self.give(class, context, &self.stack[..self.top as usize]);
        self.entries = 0;
        self.top = 0;
        self.settle(class, context);
    }

    /// Blocks allocated up to now, from any thread's view.
    pub fn allocations(&self) -> u64 {
        let counted = self.counted.load(Ordering::Relaxed);
        counted.saturating_sub(u64::from(self.left.load(Ordering::Relaxed)))
    }

    /// Blocks that left bases by this class less those that came back by it, modulo 2⁶⁴, without
    /// those that wait here. Exact if the thread does not run.
    pub fn held(&self) -> u64 {
        self.balance
            .load(Ordering::Relaxed)
            .wrapping_sub(u64::from(self.entries) + u64::from(self.top))
    }

    /// Opens the quick way of `push` exactly if there is an entry to exchange with, and keeps the
    /// next place below the number of entries.
    fn settle(&mut self, class: usize, context: &Context<'_>) {
        let open = self.entries > 0 && context.reuses_at_once;
        let most = (STACK_BYTES / block_bytes(class)).clamp(1, STACK_BLOCKS);
        self.limit = if open { most as u32 } else { 0 };
        if self.next >= self.entries {
            self.next = 0;
        }
    }

    /// Looks at how many entries the array should have now.
    fn look(&mut self, class: usize, context: &mut Context<'_>) {
        let counted = self.counted.load(Ordering::Relaxed);
        let held = self.held().cast_signed().max(0).cast_unsigned();
        let bytes = block_bytes(class);
        let spare = if bytes > 1 << 10 { LARGER_SPARE_BYTES } else { SPARE_BYTES };
        let by_memory = ((spare / bytes) as u64).max(held / 2);
        let by_use = u64::from(FIRST_ENTRIES) + 2 * counted;
        let entries = by_use.min(by_memory).clamp(1, u64::from(context.max_entries)) as u32;
        self.grow(class, context, entries);
        let next = (counted / 4).clamp(*LOOK_ALLOCATIONS.start(), *LOOK_ALLOCATIONS.end());
        self.counted.store(counted + next, Ordering::Relaxed);
        self.left.store(next as u32, Ordering::Relaxed);
        self.settle(class, context);
    }

    fn grow(&mut self, class: usize, context: &mut Context<'_>, entries: u32) {
        if entries > FIRST_ENTRIES && self.array != self.whole_array {
            let bytes = self.entries as usize * size_of::<*mut u8>();
            // SAFETY: the first array has as many entries, and the whole one has room for more.
            unsafe { arch::copy_bytes(self.whole_array.cast(), self.array.cast(), bytes) };
            self.array = self.whole_array;
        }
        while self.entries < entries {
            if self.top == 0 {
                let wanted = (entries - self.entries) as usize;
                self.top = self.take(class, context, wanted.min(BATCH_BLOCKS));
                if self.top == 0 {
                    return;
                }
            }
            self.top -= 1;
            let block = self.stack[self.top as usize];
            let place = context.random.below(self.entries + 1);
            // SAFETY: the array has room for as many entries as are wanted, and there are fewer.
            unsafe {
                let displaced = core::mem::replace(&mut *self.array.add(place), block);
                *self.array.add(self.entries as usize) =
                    if place == self.entries as usize { block } else { displaced };
            }
            self.entries += 1;
        }
    }

    /// Fills the empty stack from the base, so that what the base gave first is taken first.
    fn take(&mut self, class: usize, context: &Context<'_>, blocks: usize) -> u32 {
        let wanted = &mut self.stack[..blocks];
        // SAFETY: the thread owns its base.
        let taken = unsafe { context.base.take(class, wanted) };
        self.stack[..taken].reverse();
        let balance = self.balance.load(Ordering::Relaxed);
        self.balance.store(balance.wrapping_add(taken as u64), Ordering::Relaxed);
        taken as u32
    }

    fn give(&self, class: usize, context: &Context<'_>, blocks: &[*mut u8]) {
        // SAFETY: the blocks came from a base for this class; the thread owns its own.
        unsafe { context.base.give(class, blocks) };
        let balance = self.balance.load(Ordering::Relaxed);
        self.balance.store(balance.wrapping_sub(blocks.len() as u64), Ordering::Relaxed);
    }
}
