//! A part of a suite for one machine of several: every n-th program, so that which programs a
//! machine measures depends on nothing but their order.
#![forbid(unsafe_code)]

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Most parts of a suite.
pub const MAX_SHARDS: usize = 10_000;

/// Part `number` (from 1) of `of` parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// Which part, from 1.
    pub number: usize,
    /// Number of parts.
    pub of: usize,
}

impl Shard {
    /// Whether the numbers make sense; a file may hold others.
    #[must_use]
    pub fn is_valid(self) -> bool {
        (1..=self.of).contains(&self.number) && self.of <= MAX_SHARDS
    }

    /// Whether the program at `place` (from 0) of the suite belongs to this part.
    #[must_use]
    pub fn takes(self, place: usize) -> bool {
        place % self.of == self.number - 1
    }

    /// The place in the suite of this part's program number `index` (from 0).
    #[must_use]
    pub fn place(self, index: usize) -> usize {
        index.saturating_mul(self.of).saturating_add(self.number - 1)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(number, of)| {
            Some(Self { number: number.parse().ok()?, of: of.parse().ok()? })
        });
        numbers.filter(|shard| shard.is_valid()).ok_or_else(|| {
            format!(
                "K/N is needed, with 1 ≤ K ≤ N ≤ {MAX_SHARDS}: such as 2/4, the second of \
                     four parts"
            )
        })
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.number, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_suite_share_no_program_and_leave_none_out() {
        for of in 1..6 {
            let shards = (1..=of).map(|number| Shard { number, of });
            let mut found: Vec<usize> = shards
                .flat_map(|shard| {
                    (0..).map(move |index| shard.place(index)).take_while(|at| *at < 17)
                })
                .collect();
            found.sort_unstable();
            assert_eq!(found, (0..17).collect::<Vec<_>>());
        }
        let second = Shard { number: 2, of: 3 };
        let taken: Vec<usize> = (0..9).filter(|place| second.takes(*place)).collect();
        assert_eq!(taken, [1, 4, 7].map(|place: usize| place));
        assert_eq!([0, 1, 2].map(|index| second.place(index)), [1, 4, 7]);
    }

    #[test]
    fn shards_are_written_as_a_number_of_a_number() {
        assert_eq!("2/4".parse(), Ok(Shard { number: 2, of: 4 }));
        assert_eq!("2/4".parse::<Shard>().unwrap().to_string(), "2/4");
        for wrong in ["", "2", "0/4", "5/4", "1/0", "-1/4", "1/4/2", "a/b", "1/10001"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong:?}");
        }
    }
}
