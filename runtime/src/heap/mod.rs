//! Heap randomization: a shuffle layer over a base allocator.

use crate::settings::HeapBase;

/// What the log says about the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Blocks handed out.
    pub allocations: u64,
    /// Blocks given back.
    pub frees: u64,
    /// Size classes in use.
    pub classes: u64,
    /// Blocks that were mapped on their own.
    pub large: u64,
    /// Most bytes that the heap held from the kernel at any time.
    pub peak_bytes: u64,
    /// The allocator under the shuffle layer.
    pub base: HeapBase,
    /// Blocks that wait in each shuffle array.
    pub shuffle: u32,
}

/// Starts heap randomization, or says why it cannot; nothing if the program was built without it.
pub fn start(_seed: u64, _base: HeapBase, _shuffle: u32) -> Option<Result<(), &'static str>> {
    None
}

/// The counts up to now; nothing if the heap is not randomized.
pub fn counts() -> Option<Counts> {
    None
}
