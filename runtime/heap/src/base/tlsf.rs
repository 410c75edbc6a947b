//! The TLSF base: two-level segregated fits (Masmano and others, 2004), by the crate rlsf.
//!
//! One instance takes fresh memory in order, so neighbours in time would be neighbours in space.
//! Sixty-four instances are used in turn, and each gets its memory in pieces of 256 KiB, which it
//! enters at places of their own ([`crate::sequence`]). As all advance equally, their places
//! stay apart. The lists of an instance run through its free blocks, as the algorithm has it; a
//! lock guards them, taken for several blocks at a time, because blocks come back from any thread.

use super::interface::Base;
use crate::chunk::{CHUNK_BYTES, States, chunk_of};
use crate::memory::{map_chunk, map_table};
use crate::random::Random;
use crate::sequence::{POINT_BITS, POINT_SHIFT, Sequence};
use crate::size_class::block_bytes;
use core::alloc::Layout;
use core::mem::MaybeUninit;
use core::ptr::{NonNull, slice_from_raw_parts_mut};
use szc_sys::os::Lock;

/// rlsf puts a header of 16 bytes in front of blocks of 32 bytes' grain.
pub const BLOCK_PHASE: usize = 16;

const BLOCK_ALIGNMENT: usize = 16;
/// Instances that are used in turn.
const INSTANCES: usize = 64;
/// Bytes that index bits of addresses tell apart.
const SPAN_BYTES: usize = 1 << (POINT_SHIFT + POINT_BITS);
/// Where pieces begin in a chunk. The header takes a whole span, though not the memory of one, so
/// that pieces are spans.
const FIRST_BYTES: usize = SPAN_BYTES;
/// What an instance gets at a time: a whole span, so that all instances go through all values of
/// the index bits, each at its distance from the others.
const PIECE_BYTES: usize = SPAN_BYTES;
const PIECES: usize = (CHUNK_BYTES - FIRST_BYTES) / PIECE_BYTES;

/// Blocks of up to a megabyte: 2¹⁵ grains.
type Pool = rlsf::Tlsf<'static, u16, u16, 16, 16>;

struct Instance {
    pool: Pool,
    /// The part of its newest piece that lies before the place where it was entered: start and
    /// bytes.
    rest: (usize, usize),
}

/// A chunk of one instance.
#[repr(C)]
struct TlsfChunk {
    _states: States,
    owner: *mut Tlsf,
    /// The instance of each piece.
    instances: [u8; PIECES],
}

const _: () = assert!(size_of::<TlsfChunk>() <= FIRST_BYTES);

/// The base.
pub struct Tlsf {
    lock: Lock,
    guarded: Guarded,
}

/// What the lock guards.
struct Guarded {
    turn: usize,
    places: Sequence,
    /// The chunk that pieces are taken from, or null, and the pieces left in it.
    chunk: *mut TlsfChunk,
    free: usize,
    /// Instances that have been made, each when its first turn comes.
    made: usize,
    instances: [MaybeUninit<Instance>; INSTANCES],
}

impl Tlsf {
    /// A base in memory of its own.
    pub fn create(random: &mut Random) -> Option<*mut Self> {
        let base = map_table(size_of::<Self>())?.cast::<Self>();
        // SAFETY: zeroed memory; zeros are an open lock, a null pointer, and no instances.
        unsafe { (&raw mut (*base).guarded.places).write(Sequence::new(random)) };
        Some(base)
    }

    /// Takes or gives back the lock, around a fork.
    ///
    /// # Safety
    /// The base must be one that was created.
    pub unsafe fn set_locked(base: *mut Self, locked: bool) {
        // SAFETY: the lock is shared between threads.
        let lock = unsafe { &(*base).lock };
        if locked { lock.acquire() } else { lock.release() }
    }
}

impl Guarded {
    fn instance(&mut self, number: usize) -> &mut Instance {
        while self.made <= number {
            self.instances[self.made].write(Instance { pool: Pool::new(), rest: (0, 0) });
            self.made += 1;
        }
        // SAFETY: made now or before.
        unsafe { self.instances[number].assume_init_mut() }
    }

    fn take_in_turn(&mut self, owner: *mut Tlsf, layout: Layout, out: &mut [*mut u8]) -> usize {
        let mut taken = 0;
        for place in out.iter_mut() {
            let Some(block) = self.allocate(self.turn, owner, layout) else { break };
            *place = block.as_ptr();
            taken += 1;
            self.turn = (self.turn + 1) % INSTANCES;
        }
        taken
    }

    fn allocate(&mut self, number: usize, owner: *mut Tlsf, layout: Layout) -> Option<NonNull<u8>> {
        if let Some(block) = self.instance(number).pool.allocate(layout) {
            return Some(block);
        }
        if self.insert_rest(number)
            && let Some(block) = self.instance(number).pool.allocate(layout)
        {
            return Some(block);
        }
        self.add_piece(number, owner)?;
        if let Some(block) = self.instance(number).pool.allocate(layout) {
            return Some(block);
        }
        // The part behind the place was too small, so the one before it is not.
        self.insert_rest(number);
        self.instance(number).pool.allocate(layout)
    }

    /// Gives an instance the piece at the next place, from the place on; the part before it is its
    /// rest.
    fn add_piece(&mut self, number: usize, owner: *mut Tlsf) -> Option<()> {
        let place = self.places.next() << POINT_SHIFT;
        if self.chunk.is_null() || self.free == 0 {
            let chunk = map_chunk()?.cast::<TlsfChunk>();
            // SAFETY: fresh zeroed memory, which nobody else knows.
            unsafe { (*chunk).owner = owner };
            self.chunk = chunk;
            self.free = PIECES;
        }
        self.free -= 1;
        let piece = self.free;
        // SAFETY: the chunk is this base's.
        unsafe { (*self.chunk).instances[piece] = number as u8 };
        let start = self.chunk.addr() + FIRST_BYTES + piece * PIECE_BYTES;
        let before = place;
        self.insert(number, start + before, PIECE_BYTES - before);
        self.instance(number).rest = (start, before);
        Some(())
    }

    fn insert_rest(&mut self, number: usize) -> bool {
        let (start, bytes) = core::mem::take(&mut self.instance(number).rest);
        self.insert(number, start, bytes);
        bytes > 0
    }

    fn insert(&mut self, number: usize, start: usize, bytes: usize) {
        let start = core::ptr::with_exposed_provenance_mut::<u8>(start);
        if let Some(part) = NonNull::new(slice_from_raw_parts_mut(start, bytes)) {
            // SAFETY: a part of one of this base's chunks, given to one instance once.
            unsafe { self.instance(number).pool.insert_free_block_ptr(part) };
        }
    }
}

impl Base for Tlsf {
    unsafe fn take(this: *mut Self, class: usize, out: &mut [*mut u8]) -> usize {
        let Ok(layout) = Layout::from_size_align(block_bytes(class), BLOCK_ALIGNMENT) else {
            return 0;
        };
        // SAFETY: the lock is shared; what it guards is referred to only while it is held.
        unsafe {
            let lock = &(*this).lock;
            lock.with(|| (*this).guarded.take_in_turn(this, layout, out))
        }
    }

    unsafe fn give(_this: *mut Self, _class: usize, blocks: &[*mut u8]) {
        for &block in blocks {
            let Some(pointer) = NonNull::new(block) else { continue };
            // SAFETY: the caller's promise: the block lies in a chunk of such a base, whose owner
            // never changes.
            unsafe {
                let chunk = chunk_of(block).cast::<TlsfChunk>();
                let owner = (&raw const (*chunk).owner).read();
                let piece = (block.addr() - chunk.addr() - FIRST_BYTES) / PIECE_BYTES;
                let lock = &(*owner).lock;
                lock.with(|| {
                    let instance = usize::from((*chunk).instances[piece]);
                    let guarded = &mut (*owner).guarded;
                    guarded.instance(instance).pool.deallocate(pointer, BLOCK_ALIGNMENT);
                });
            }
        }
    }
}
