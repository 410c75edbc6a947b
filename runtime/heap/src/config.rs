//! What a heap is to be like.

use super::draws::Draws;

/// The allocators that can lie under the shuffle layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeapBase {
    /// Slabs of blocks of one size class each (`size_class`).
    Segregated,
    /// Two-level segregated fit.
    Tlsf,
    /// Bitmaps probed at random, over-provisioned.
    DieHard,
}

impl HeapBase {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Segregated, Self::Tlsf, Self::DieHard];

    /// Its name in `SZC_HEAP_BASE` and in the log.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Segregated => "segregated",
            Self::Tlsf => "tlsf",
            Self::DieHard => "diehard",
        }
    }

    /// The one of that name.
    #[must_use]
    pub fn named(name: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|base| base.name().as_bytes() == name)
    }
}

/// What a heap is to be like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Seed of all layouts.
    pub seed: u64,
    /// The base allocator.
    pub base: HeapBase,
    /// N: most entries of a shuffle array.
    pub max_entries: u32,
    /// Draws of size classes apart from each other; the segregated base alone has them.
    pub draws: Option<Draws>,
}
