//! Size classes: which requests share blocks of one size.
//!
//! Up to 256 bytes a class every 32, up to 1 KiB four in each doubling, up to 4 KiB eight, then
//! sixteen. Powers of two alone, as in the paper, waste a quarter of the memory on average; blocks
//! of 32 bytes' grain waste what glibc spends on its headers. Above 1 KiB each class is a grain
//! larger than its share of the doubling: so it is an odd multiple of the grain, blocks which
//! follow each other begin at every place of a cache line and a page, and there is room for a
//! header in front of what is a power of two.
#![forbid(unsafe_code)]

use szc_sys::os::PAGE_BYTES;

/// Blocks begin at multiples of this many bytes in their chunk, so that one byte of state a grain
/// is enough ([`super::chunk`]).
pub const GRAIN_BYTES: usize = 32;

/// Largest request that comes from a class, in bytes; what is larger is mapped on its own.
pub const SMALL_MAX_BYTES: usize = 16 << 10;

/// Number of classes.
pub const CLASSES: usize = 64;

/// Classes that lie one grain apart.
const FINE_CLASSES: usize = 8;
/// Those and the ones that are four in a doubling.
const MIDDLE_CLASSES: usize = 16;
/// Those and the ones that are eight in a doubling.
const LARGER_CLASSES: usize = 32;

const fn bytes_of(class: usize) -> usize {
    if class < FINE_CLASSES {
        (class + 1) * GRAIN_BYTES
    } else if class < MIDDLE_CLASSES {
        share_of(class - FINE_CLASSES, 256, 4)
    } else if class < LARGER_CLASSES {
        share_of(class - MIDDLE_CLASSES, 1024, 8) + GRAIN_BYTES
    } else {
        share_of(class - LARGER_CLASSES, 4096, 16) + GRAIN_BYTES
    }
}

/// The size with this number among those above `first`, which are so many in each doubling.
const fn share_of(number: usize, first: usize, in_doubling: usize) -> usize {
    let doubled = first << (number / in_doubling);
    doubled + (number % in_doubling + 1) * (doubled / in_doubling)
}

const _: () = assert!(bytes_of(CLASSES - 1) == SMALL_MAX_BYTES + GRAIN_BYTES);

/// Block size of each class, in bytes.
static BYTES: [u32; CLASSES] = {
    let mut bytes = [0; CLASSES];
    let mut class = 0;
    while class < CLASSES {
        bytes[class] = bytes_of(class) as u32;
        class += 1;
    }
    bytes
};

/// 2³² over the block size, rounded up: turns a distance into a number of blocks without division.
static RECIPROCAL: [u32; CLASSES] = {
    let mut reciprocal = [0; CLASSES];
    let mut class = 0;
    while class < CLASSES {
        reciprocal[class] = (1u64 << 32).div_ceil(bytes_of(class) as u64) as u32;
        class += 1;
    }
    reciprocal
};

/// The class of a request, by its size in grains, rounded up.
static CLASS_OF: [u8; SMALL_MAX_BYTES / GRAIN_BYTES + 1] = {
    let mut table = [0; SMALL_MAX_BYTES / GRAIN_BYTES + 1];
    let mut grains = 0;
    let mut class = 0;
    while grains < table.len() {
        while bytes_of(class) < grains * GRAIN_BYTES {
            class += 1;
        }
        table[grains] = class as u8;
        grains += 1;
    }
    table
};

/// The class of a request of at most [`SMALL_MAX_BYTES`].
#[inline]
pub fn class_of(bytes: usize) -> usize {
    debug_assert!(bytes <= SMALL_MAX_BYTES);
    usize::from(CLASS_OF[bytes.div_ceil(GRAIN_BYTES)])
}

/// Block size of a class, in bytes.
#[inline]
pub fn block_bytes(class: usize) -> usize {
    BYTES[class] as usize
}

/// The block of a class that contains the byte at `distance` from the first block.
///
/// Exact inside a group: what the rounding of the reciprocal adds, less than the block size (< 2¹⁵)
/// over 2³² for each byte of distance (< 2¹⁵), stays below the next block.
#[inline]
pub fn block_index(class: usize, distance: usize) -> usize {
    ((distance as u64 * u64::from(RECIPROCAL[class])) >> 32) as usize
}

/// A cache line: the grain of colours.
const LINE_BYTES: usize = 64;
/// Bytes that the blocks of a group fill at least, about.
const GROUP_BYTES: usize = 4096;
/// Bytes of blocks for each byte of colour: what colours may cost.
const BLOCKS_PER_COLOUR: usize = 16;

/// Bytes after which the address bits repeat that a pool leaves constant for a class. In the
/// nursery of the large classes, all of whose groups begin at one place of a page, these are all
/// bits inside a page.
pub fn colour_period(class: usize, pool: usize) -> usize {
    if pool == LARGE_NURSERY { PAGE_BYTES } else { own_colour_period(class) }
}

/// The same in the class's own groups, by its block size: bits from bit 6 (a cache line) up to the
/// size's lowest bit. At least a cache line.
const fn own_colour_period(class: usize) -> usize {
    let bytes = bytes_of(class);
    let lowest = bytes & bytes.wrapping_neg();
    if lowest <= LINE_BYTES { LINE_BYTES } else { lowest }
}

/// Room of a class's own group in which its first block begins: its colour is a multiple of a cache
/// line up to this.
const fn colour_room(class: usize) -> usize {
    own_colour_period(class) - LINE_BYTES
}

/// Blocks of a class's group: those that one slab manages.
pub const fn group_blocks(class: usize) -> usize {
    let by_bytes = GROUP_BYTES / bytes_of(class);
    let by_colour = (BLOCKS_PER_COLOUR * colour_room(class)).div_ceil(bytes_of(class));
    let blocks = if by_bytes > by_colour { by_bytes } else { by_colour };
    if blocks == 0 { 1 } else { blocks }
}

/// Distance from one group of a class to the next, in bytes: the blocks, and the room for their
/// colour.
///
/// Groups follow each other without regard to pages: if blocks could not lie across the ends of
/// pages, or of anything aligned, the last places before them would be rarer than others, which
/// tests of randomness notice.
const fn pitch_of(class: usize) -> usize {
    if class >= CLASSES {
        return NURSERY_PITCH_BYTES[class - CLASSES];
    }
    group_blocks(class) * bytes_of(class) + colour_room(class)
}

/// Pools of slabs: the classes', and behind them two nurseries, which the first few slabs of all
/// classes up to [`NURSERY_SPLIT_BYTES`] and of all others share, so that a class of few blocks
/// needs no chunk of its own.
pub const POOLS: usize = CLASSES + 2;
const SMALL_NURSERY: usize = CLASSES;
const LARGE_NURSERY: usize = CLASSES + 1;
const NURSERY_SPLIT_BYTES: usize = 1024;
/// Of the first, a page and a cache line, so that a group begins a line further in its page than
/// the one before; of the other, the largest block and room for a colour of up to a page.
const NURSERY_PITCH_BYTES: [usize; 2] = [(4 << 10) + LINE_BYTES, 20 << 10];

/// Slabs of a class that lie in its nursery: where they have as many blocks as those of its own
/// groups, and elsewhere.
const ALIKE_NURSERY_SLABS: usize = 64;
const NURSERY_SLABS: usize = 4;

/// The nursery of a class.
pub fn nursery_of(class: usize) -> usize {
    if block_bytes(class) > NURSERY_SPLIT_BYTES { LARGE_NURSERY } else { SMALL_NURSERY }
}

/// Blocks of a class's slab in its nursery, where the first may have any colour.
pub fn nursery_blocks(class: usize) -> usize {
    let nursery = nursery_of(class);
    let room = colour_period(class, nursery) - LINE_BYTES;
    let blocks = (pitch_bytes(nursery) - room) / block_bytes(class);
    // A group of the first is like one of the class's own, if that has no more blocks than there is
    // room for.
    if nursery == SMALL_NURSERY { blocks.min(group_blocks(class)) } else { blocks }
}

/// Slabs of a class that lie in its nursery. Groups that lie alone in a chunk take two pages for
/// one, beside the chunk's own pages; in a nursery they have neighbours. But the open slabs of a
/// class should run out together, because their places balance each other: so there are few where
/// they have other numbers of blocks than the class's own.
pub fn nursery_slabs(class: usize) -> usize {
    let alike = nursery_of(class) == SMALL_NURSERY && nursery_blocks(class) == group_blocks(class);
    if alike { ALIKE_NURSERY_SLABS } else { NURSERY_SLABS }
}

/// Pitch of each pool.
static PITCH: [u32; POOLS] = {
    let mut pitch = [0; POOLS];
    let mut class = 0;
    while class < POOLS {
        pitch[class] = pitch_of(class) as u32;
        class += 1;
    }
    pitch
};

/// 2⁴⁰ over the pitch, rounded up.
static PITCH_RECIPROCAL: [u32; POOLS] = {
    let mut reciprocal = [0; POOLS];
    let mut class = 0;
    while class < POOLS {
        reciprocal[class] = (1u64 << 40).div_ceil(pitch_of(class) as u64) as u32;
        class += 1;
    }
    reciprocal
};

/// Distance from one group of a pool to the next, in bytes.
#[inline]
pub fn pitch_bytes(pool: usize) -> usize {
    PITCH[pool] as usize
}

/// The group that contains the byte at `distance` from the first group. Exact below 2²⁰, as in
/// [`block_index`].
#[inline]
pub fn group_index(pool: usize, distance: usize) -> usize {
    ((distance as u64 * u64::from(PITCH_RECIPROCAL[pool])) >> 40) as usize
}

/// The least pitch of all classes.
pub const MIN_PITCH_BYTES: usize = {
    let mut least = usize::MAX;
    let mut class = 0;
    while class < CLASSES {
        if pitch_of(class) < least {
            least = pitch_of(class);
        }
        class += 1;
    }
    least
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_gets_the_smallest_class_that_holds_it() {
        for bytes in 0..=SMALL_MAX_BYTES {
            let class = class_of(bytes);
            assert!(block_bytes(class) >= bytes);
            assert!(class == 0 || block_bytes(class - 1) < bytes, "{bytes}");
        }
    }

    #[test]
    fn blocks_are_multiples_of_the_grain_and_slabs_hold_at_most_128() {
        for class in 0..CLASSES {
            assert_eq!(block_bytes(class) % GRAIN_BYTES, 0);
            assert!((1..=128).contains(&group_blocks(class)));
        }
    }

    #[test]
    fn a_large_block_takes_little_more_than_its_request() {
        for bytes in 1025..=SMALL_MAX_BYTES {
            let class = class_of(bytes);
            let taken = pitch_bytes(class) / group_blocks(class);
            let more = bytes / if bytes <= 4096 { 8 } else { 16 };
            assert!(taken <= bytes + more + GRAIN_BYTES, "{bytes}: {taken}");
        }
    }

    #[test]
    fn a_distance_gives_its_group_and_its_block_without_division() {
        for pool in 0..POOLS {
            for distance in 0..1usize << 20 {
                assert_eq!(group_index(pool, distance), distance / pitch_bytes(pool));
            }
        }
        for class in 0..CLASSES {
            for distance in 0..1usize << 15 {
                assert_eq!(block_index(class, distance), distance / block_bytes(class));
            }
        }
    }

    #[test]
    fn blocks_of_a_nursery_stay_inside_their_group_with_every_colour() {
        for class in 0..CLASSES {
            let nursery = nursery_of(class);
            let room = colour_period(class, nursery) - LINE_BYTES;
            let end = nursery_blocks(class) * block_bytes(class) + room;
            assert!((1..=128).contains(&nursery_blocks(class)));
            assert!(end <= pitch_bytes(nursery), "class {class}");
        }
    }
}
