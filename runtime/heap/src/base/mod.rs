//! Base allocators: what lies under the shuffle layer.
//!
//! Dispatch is by `match`: the link step, which pins everything that an allocator reaches, cannot
//! follow calls through tables.

mod chunks;
mod diehard;
mod interface;
mod segregated;
mod shared;
mod slab;
mod slab_chunk;
mod tlsf;

use super::chunk::{self, STATES_BYTES};
use super::random::Random;
use crate::config::HeapBase;
use diehard::DieHard;
use interface::Base;
use segregated::Segregated;
use tlsf::Tlsf;

/// The base of one thread's heap.
#[derive(Clone, Copy)]
pub enum AnyBase {
    Segregated(*mut Segregated),
    Tlsf(*mut Tlsf),
    DieHard(*mut DieHard),
}

impl AnyBase {
    /// A base of its own, in memory of its own. Nothing if there is none.
    pub fn create(kind: HeapBase, random: &mut Random) -> Option<Self> {
        Some(match kind {
            HeapBase::Segregated => Self::Segregated(Segregated::create(random)?),
            HeapBase::Tlsf => Self::Tlsf(Tlsf::create(random)?),
            HeapBase::DieHard => Self::DieHard(DieHard::create(random)?),
        })
    }

    /// Draws the places of each class by a generator of its own. Bases whose classes share their
    /// places have none.
    ///
    /// # Safety
    /// The calling thread must own the base, which is new.
    pub unsafe fn draw_apart(self, random: impl Fn(usize) -> Random) {
        if let Self::Segregated(base) = self {
            // SAFETY: as `take`.
            unsafe { (*base).draw_apart(random) };
        }
    }

    /// As [`Base::take`].
    ///
    /// # Safety
    /// The calling thread must own the base.
    pub unsafe fn take(self, class: usize, out: &mut [*mut u8]) -> usize {
        // SAFETY: bases are never unmapped; the caller's promise makes these the only references.
        unsafe {
            match self {
                Self::Segregated(base) => Segregated::take(base, class, out),
                Self::Tlsf(base) => Tlsf::take(base, class, out),
                Self::DieHard(base) => DieHard::take(base, class, out),
            }
        }
    }

    /// As [`Base::give`].
    ///
    /// # Safety
    /// As [`Base::give`].
    pub unsafe fn give(self, class: usize, blocks: &[*mut u8]) {
        // SAFETY: as `take`.
        unsafe {
            match self {
                Self::Segregated(base) => Segregated::give(base, class, blocks),
                Self::Tlsf(base) => Tlsf::give(base, class, blocks),
                Self::DieHard(base) => DieHard::give(base, class, blocks),
            }
        }
    }

    /// Takes back what other threads freed, and gives memory that nobody needs to the kernel.
    ///
    /// # Safety
    /// The calling thread must own the base.
    pub unsafe fn tidy(self) {
        // SAFETY: as `take`.
        unsafe {
            match self {
                Self::Segregated(base) => (*base).collect(),
                Self::DieHard(base) => (*base).collect(),
                // Blocks come back at once.
                Self::Tlsf(_) => {}
            }
        }
    }

    /// Takes or gives back the locks of the base, around a fork.
    ///
    /// # Safety
    /// The base must be one that was created.
    pub unsafe fn lock(self, locked: bool) {
        if let Self::Tlsf(base) = self {
            // SAFETY: only the lock is touched, which is shared.
            unsafe { Tlsf::set_locked(base, locked) };
        }
    }
}

/// Where blocks begin in a grain, in bytes.
pub fn block_phase(kind: HeapBase) -> usize {
    if kind == HeapBase::Tlsf { tlsf::BLOCK_PHASE } else { 0 }
}

/// Whether blocks that are given back may be handed out again before the base has seen them.
pub fn reuses_at_once(kind: HeapBase) -> bool {
    kind != HeapBase::DieHard
}

/// Whether an address in a chunk is the beginning of a block, in use or not.
///
/// # Safety
/// The address must lie in a chunk of a base of this kind.
pub unsafe fn is_block_start(kind: HeapBase, address: *mut u8) -> bool {
    let distance = address.addr() - chunk::chunk_of(address).addr();
    match kind {
        // Blocks of this base have no fixed beginnings.
        HeapBase::Tlsf => distance >= STATES_BYTES && distance % 32 == tlsf::BLOCK_PHASE,
        // SAFETY: the caller's promise.
        _ => unsafe { slab_chunk::is_block_start(address) },
    }
}
