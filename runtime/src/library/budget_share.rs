//! How much memory for copies a library gets. All of it must lie within reach of the library, and
//! libraries lie side by side: so each gets a part of what the others have left, and there is
//! always room for another one.
#![forbid(unsafe_code)]

use szc_code::budget::Budget;
use szc_layout::epoch;

/// A library's share of the budget for copies of code, at most: one part in so many.
const BUDGET_SHARE: usize = 8;

/// Addresses that libraries share: what instructions reach, less what lies between.
const REACH_BYTES: usize = (1 << 31) - (64 << 20);

/// A library's share of the addresses that are left: one part in so many.
const ADDRESS_SHARE: usize = 64;

/// Layouts for which there is memory if there are addresses at all.
const MIN_LIBRARY_PLACES: u32 = epoch::MIN_PLACES + 1;

/// The memory for a library beside others that take so many bytes together.
pub fn share(budget: Budget, taken_bytes: usize) -> Budget {
    let left = REACH_BYTES.saturating_sub(taken_bytes);
    let bytes = (budget.bytes / BUDGET_SHARE).min(left / ADDRESS_SHARE);
    Budget {
        bytes,
        min_places: MIN_LIBRARY_PLACES,
        max_bytes: budget.bytes / BUDGET_SHARE,
        ..budget
    }
}

/// All that there is, for a library of which one layout is larger than its share.
pub fn all(budget: Budget) -> Budget {
    budget
}

/// As much as keeps a library moving.
pub fn least(budget: Budget) -> Budget {
    Budget { bytes: 0, min_places: MIN_LIBRARY_PLACES, max_bytes: budget.bytes, ..budget }
}

#[cfg(test)]
mod tests {
    use super::*;
    use szc_code::budget::Reclaim;

    const BUDGET: Budget =
        Budget { bytes: 512 << 20, reclaim: Reclaim::On, min_places: 1, max_bytes: 512 << 20 };

    #[test]
    fn two_hundred_small_libraries_have_room() {
        const PLACE_BYTES: usize = 100 << 10;
        let mut taken = 0;
        for library in 0..255 {
            let bytes = share(BUDGET, taken).bytes_for(PLACE_BYTES);
            assert!(bytes >= 4 * PLACE_BYTES, "{library}");
            taken += bytes;
        }
        assert!(taken < REACH_BYTES);
    }

    #[test]
    fn the_first_libraries_have_most() {
        assert_eq!(share(BUDGET, 0).bytes_for(1 << 20), 31 << 20);
        assert_eq!(share(BUDGET, 1 << 30).bytes_for(1 << 20), 15 << 20);
        assert_eq!(share(BUDGET, 2 << 30).bytes_for(1 << 20), 4 << 20);
        assert_eq!(share(BUDGET, 0).bytes_for(30 << 20), 64 << 20);
    }
}
