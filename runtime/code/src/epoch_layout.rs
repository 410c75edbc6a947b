//! One epoch's layout at its arena place, and which functions have been copied there.
//!
//! A layout is drawn where no thread is, by whoever prepares an epoch, and copied to by the holder
//! of the lock; so what changes is atomic, and has one writer. Readers hold no lock: a layout that
//! they can reach does not change but for the functions that are copied.

use core::mem::offset_of;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, Ordering};
use szc_layout::slot;
use szc_sys::arch;
use szc_sys::os::{self, Array, Errno};

/// Bytes of a layout's arrays for each function: three words and a byte.
const BYTES_FOR_EACH: usize = 13;

/// What is known of a function in a layout: its body is in its slot.
pub const COPIED: u8 = 1;
/// Its unpadded clone has been written.
pub const HAS_CLONE: u8 = 2;
/// Its entries have been forwarded to the current layout.
pub const FORWARDED: u8 = 4;

/// The layout of one epoch at one place of the arena. All zero bits: the place has never been used.
pub struct EpochLayout {
    place: AtomicU32,
    count: AtomicU32,
    bytes: AtomicU32,
    slots_bytes: AtomicU32,
    copied_count: AtomicU32,
    /// Entries that are forwarded, at least since the last epoch began.
    forwarded: AtomicU32,
    /// A copy of a function is here whose labels the program may have stored anywhere.
    labels_escape: AtomicBool,
    /// Functions by position; behind them by function the offset of its slot's origin, then the
    /// functions copied, in the order of copying; and behind those by function what is known of it.
    arrays: AtomicPtr<u32>,
    epoch: AtomicU64,
    /// What the pads of its functions are drawn by.
    pad_seed: AtomicU64,
    /// Bytes of copies.
    copied_bytes: AtomicU64,
}

/// The order that a layout is drawn into.
pub(crate) struct Draft<'a> {
    /// Functions by position.
    pub order: &'a mut [u32],
    /// Offset of the origin of each function's slot in the place.
    pub offsets: &'a mut [u32],
}

impl EpochLayout {
    /// Where the epoch is, for who reads a layout from outside.
    pub(crate) const EPOCH_AT: usize = offset_of!(Self, epoch);
    /// Where the seed of pads is.
    pub(crate) const PAD_SEED_AT: usize = offset_of!(Self, pad_seed);
    /// Where the arrays are.
    pub(crate) const ARRAYS_AT: usize = offset_of!(Self, arrays);

    /// Makes this the layout of an epoch, of which nothing is copied yet. `draw` gets the order,
    /// and returns the bytes of the place that its slots take, and those that all of it takes.
    ///
    /// # Safety
    /// No thread may be able to reach the place, and only the caller write here.
    pub(crate) unsafe fn draw(
        &self,
        (place, count): (u32, u32),
        (seed, epoch): (u64, u64),
        draw: impl FnOnce(Draft<'_>) -> (u32, u32),
    ) -> Result<(), Errno> {
        let n = count as usize;
        let mut arrays = self.arrays.load(Ordering::Relaxed);
        if arrays.is_null() {
            arrays = os::map_anonymous(n * BYTES_FOR_EACH)?.cast();
        }
        self.place.store(place, Ordering::Relaxed);
        self.count.store(count, Ordering::Relaxed);
        self.copied_count.store(0, Ordering::Relaxed);
        self.forwarded.store(0, Ordering::Relaxed);
        self.labels_escape.store(false, Ordering::Relaxed);
        self.epoch.store(epoch, Ordering::Relaxed);
        self.pad_seed.store(slot::pad_seed(seed, epoch), Ordering::Relaxed);
        self.copied_bytes.store(0, Ordering::Relaxed);
        // Release: who finds the arrays finds their length.
        self.arrays.store(arrays, Ordering::Release);
        // SAFETY: the block has room for three arrays of words and one of bytes. Nobody else reads
        // or writes what is known of the functions of a place that cannot be reached.
        let draft = unsafe {
            arch::fill_bytes(arrays.add(3 * n).cast(), 0, n);
            Draft {
                order: core::slice::from_raw_parts_mut(arrays, n),
                offsets: core::slice::from_raw_parts_mut(arrays.add(n), n),
            }
        };
        let (slots_bytes, bytes) = draw(draft);
        self.slots_bytes.store(slots_bytes, Ordering::Relaxed);
        self.bytes.store(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Whether there is or was a layout at the place.
    pub fn is_drawn(&self) -> bool {
        // Acquire: pairs with the release in `draw`.
        !self.arrays.load(Ordering::Acquire).is_null() && self.bytes() != 0
    }

    /// Bytes of the place that the layout uses.
    pub fn bytes(&self) -> u32 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Bytes of the place that the function slots and the gaps between them take; 0 if there has
    /// been no layout.
    pub fn slots_bytes(&self) -> u32 {
        self.slots_bytes.load(Ordering::Relaxed)
    }

    /// Number of functions.
    #[inline]
    pub fn count(&self) -> u32 {
        self.count.load(Ordering::Relaxed)
    }

    /// The place of the arena.
    #[inline]
    pub fn place(&self) -> u32 {
        self.place.load(Ordering::Relaxed)
    }

    /// The epoch whose layout it is.
    pub fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Relaxed)
    }

    /// Bytes of copies.
    pub fn copied_bytes(&self) -> u64 {
        self.copied_bytes.load(Ordering::Relaxed)
    }

    /// Whether the program may have stored addresses of labels of copies that are here.
    pub fn labels_escape(&self) -> bool {
        self.labels_escape.load(Ordering::Relaxed)
    }

    pub(crate) fn note_escaping_labels(&self) {
        self.labels_escape.store(true, Ordering::Relaxed);
    }

    /// The array of so many words behind others.
    fn array(&self, index: usize) -> &[u32] {
        let (arrays, n) = (self.arrays.load(Ordering::Relaxed), self.count() as usize);
        if arrays.is_null() {
            return &[];
        }
        // SAFETY: written when the layout was drawn, and not since, as long as it can be reached.
        unsafe { core::slice::from_raw_parts(arrays.add(index * n), n) }
    }

    /// Functions by position.
    #[inline]
    pub fn order(&self) -> &[u32] {
        self.array(0)
    }

    /// Offset of the origin of each function's slot in the place.
    #[inline]
    pub fn offsets(&self) -> &[u32] {
        self.array(1)
    }

    /// The offset of the origin of a function's slot, which must be below the count.
    #[inline]
    pub fn offset(&self, function: u32) -> u32 {
        debug_assert!(function < self.count());
        // SAFETY: indices come from the validated table, whose count is the array's; a layout that
        // is asked about has been drawn.
        unsafe { *self.offsets().get_unchecked(function as usize) }
    }

    /// The pad of the frame of a function of that name, in bytes, if it gets one.
    pub fn pad(&self, name: u64) -> u32 {
        slot::pad(self.pad_seed.load(Ordering::Relaxed), name)
    }

    /// Number of functions copied.
    pub fn copied_count(&self) -> u32 {
        // Acquire: pairs with the release in `push`; the functions are on the list.
        self.copied_count.load(Ordering::Acquire)
    }

    fn list(&self, index: u32) -> &AtomicU32 {
        let (arrays, n) = (self.arrays.load(Ordering::Relaxed), self.count());
        assert!(index < n && !arrays.is_null(), "a function of a layout");
        // SAFETY: the third array, which is read and written by atomic operations alone.
        unsafe { AtomicU32::from_ptr(arrays.add((2 * n + index) as usize)) }
    }

    /// The function copied as number `index`.
    pub fn copied(&self, index: u32) -> u32 {
        self.list(index).load(Ordering::Relaxed)
    }

    /// Puts a function on the list of those copied.
    pub(crate) fn push(&self, function: u32) {
        let count = self.copied_count.load(Ordering::Relaxed);
        self.list(count).store(function, Ordering::Relaxed);
        self.copied_count.store(count + 1, Ordering::Release);
    }

    /// Takes the last function off that list.
    pub(crate) fn pop(&self) {
        self.copied_count.fetch_sub(1, Ordering::Relaxed);
    }

    #[inline]
    fn state(&self, function: u32) -> &AtomicU8 {
        let (arrays, n) = (self.arrays.load(Ordering::Relaxed), self.count() as usize);
        assert!((function as usize) < n && !arrays.is_null(), "a function of a layout");
        // SAFETY: the array of bytes behind the three of words, which is read and written by atomic
        // operations alone.
        unsafe { AtomicU8::from_ptr(arrays.add(3 * n).cast::<u8>().add(function as usize)) }
    }

    /// Whether a function is, or has, what these bits say.
    #[inline]
    pub fn has(&self, function: u32, what: u8) -> bool {
        self.state(function).load(Ordering::Relaxed) & what != 0
    }

    /// Notes what these bits say.
    pub(crate) fn note(&self, function: u32, what: u8) {
        // Release: a child made in the middle of a copy finds a function that is noted as copied
        // with its body, and on the list.
        self.state(function).fetch_or(what, Ordering::Release);
    }

    /// Whether a function has been copied.
    #[inline]
    pub fn is_copied(&self, function: u32) -> bool {
        self.has(function, COPIED)
    }

    /// Counts bytes that were copied.
    pub(crate) fn count_bytes(&self, bytes: u64) {
        self.copied_bytes.store(self.copied_bytes() + bytes, Ordering::Relaxed);
    }

    /// Counts anew.
    pub(crate) fn recount_bytes(&self, bytes: u64) {
        self.copied_bytes.store(bytes, Ordering::Relaxed);
    }

    /// Notes that a function's entries are forwarded to the current layout.
    pub(crate) fn note_forwarded(&self, function: u32) {
        if !self.has(function, FORWARDED) {
            self.note(function, FORWARDED);
            self.forwarded.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Whether entries may be forwarded.
    pub(crate) fn has_forwarded(&self) -> bool {
        self.forwarded.load(Ordering::Relaxed) != 0
    }

    /// Calls `visit` with each function whose entries are forwarded, and forgets that they are.
    pub(crate) fn take_forwarded(&self, mut visit: impl FnMut(u32)) {
        let mut left = self.forwarded.swap(0, Ordering::Relaxed);
        for function in 0..self.count() {
            if left == 0 {
                return;
            }
            if self.has(function, FORWARDED) {
                self.state(function).fetch_and(!FORWARDED, Ordering::Relaxed);
                left -= 1;
                visit(function);
            }
        }
    }

    /// In a forked child, which has its own copies: forgets which entries were forwarded. The
    /// parent may have been in the middle of noting one.
    pub(crate) fn forget_forwarded(&self) {
        self.forwarded.store(0, Ordering::Relaxed);
        for function in 0..self.count() {
            self.state(function).fetch_and(!FORWARDED, Ordering::Relaxed);
        }
    }
}

impl Drop for EpochLayout {
    fn drop(&mut self) {
        let (arrays, count) = (*self.arrays.get_mut(), *self.count.get_mut());
        if !arrays.is_null() {
            // SAFETY: the block of `draw`; all references to it were borrowed from this.
            unsafe { os::unmap(arrays.cast(), count as usize * BYTES_FOR_EACH) };
        }
    }
}

/// The layouts of an image, by place of its arena.
pub struct EpochLayouts {
    places: Array<EpochLayout>,
    /// Places that were ever drawn: all below that one.
    drawn: AtomicU32,
}

impl EpochLayouts {
    /// None, of so many places.
    pub fn of(places: u32) -> Result<Self, Errno> {
        // SAFETY: all zero bits are a layout of a place that was never used.
        let places = unsafe { Array::zeroed(places as usize) }?;
        Ok(Self { places, drawn: AtomicU32::new(0) })
    }

    /// Address of the first.
    pub(crate) fn address(&self) -> usize {
        self.places.as_ptr() as usize
    }

    /// The layout at a place, drawn or not.
    #[inline]
    pub fn at(&self, place: u32) -> &EpochLayout {
        &self.places[place as usize]
    }

    /// Notes that a place is about to be drawn.
    pub(crate) fn note_drawn(&self, place: u32) {
        self.drawn.fetch_max(place + 1, Ordering::Relaxed);
    }
}

impl Drop for EpochLayouts {
    fn drop(&mut self) {
        let drawn = *self.drawn.get_mut() as usize;
        for layout in &mut self.places[..drawn] {
            // SAFETY: the array does not drop its elements, and is gone afterwards.
            unsafe { core::ptr::drop_in_place(layout) };
        }
    }
}
