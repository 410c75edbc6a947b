//! Finds by address among many ranges that follow one another, in about the same time however many
//! there are.

/// First addresses, sorted, with an index of where in them each stretch of addresses begins.
#[derive(Debug, Default)]
pub struct ByAddress {
    starts: Vec<u64>,
    /// For each stretch of `1 << shift` addresses from the first start on, how many starts lie in
    /// front of it.
    before: Vec<usize>,
    shift: u32,
}

impl ByAddress {
    /// An index of ascending addresses.
    #[must_use]
    pub fn new(starts: Vec<u64>) -> Self {
        let (Some(&first), Some(&last)) = (starts.first(), starts.last()) else {
            return Self::default();
        };
        // About one start in each stretch.
        let span = last - first;
        let shift = (span / starts.len() as u64).max(1).next_power_of_two().ilog2();
        let mut before = Vec::new();
        for (index, &start) in starts.iter().enumerate() {
            while (before.len() as u64) <= (start - first) >> shift {
                before.push(index);
            }
        }
        before.push(starts.len());
        Self { starts, before, shift }
    }

    /// How many starts are at or below an address.
    #[must_use]
    pub fn up_to(&self, address: u64) -> usize {
        let distance = self.starts.first().and_then(|&first| address.checked_sub(first));
        let Some(distance) = distance else { return 0 };
        let stretch = usize::try_from(distance >> self.shift).unwrap_or(usize::MAX);
        let Some(&from) = self.before.get(stretch) else { return self.starts.len() };
        let to = self.before.get(stretch + 1).copied().unwrap_or(self.starts.len());
        from + self.starts[from..to].partition_point(|&start| start <= address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_is_found_among_no_addresses() {
        assert_eq!(ByAddress::new(Vec::new()).up_to(7), 0);
    }

    proptest! {
        #[test]
        fn it_finds_what_a_search_finds(
            mut starts in prop::collection::vec(0..5_000_u64, 1..200),
            addresses in prop::collection::vec(0..6_000_u64, 1..50),
            far in any::<u64>(),
        ) {
            starts.sort_unstable();
            let index = ByAddress::new(starts.clone());
            for address in addresses.into_iter().chain([far, 0, u64::MAX]) {
                let expected = starts.partition_point(|&start| start <= address);
                prop_assert_eq!(index.up_to(address), expected);
            }
        }
    }
}
