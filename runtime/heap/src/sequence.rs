//! Where the fresh memory of a class begins: address bits 6 to 17 of its slabs, spread evenly.
//!
//! The shuffle layer exchanges neighbours in time: with N = 256 what it returns comes from the last
//! few hundred blocks that the base gave. If those lie in one place, high index bits stand still
//! however well they are shuffled. Independent random places would not do either: of eight pages,
//! one address bit is often the same in six or seven. So the places of a class are points of a
//! digital sequence over GF(2) with random columns (Niederreiter, "Random Number Generation and
//! Quasi-Monte Carlo Methods", 1992, chapter 4): the first 2^k points, and each aligned run of as
//! many, form an affine subspace, hence an orthogonal array. In each 16 points every address bit is
//! set in eight, and any two bits take each of their four values four times, and any four
//! neighbouring bits take each of their values once, so that runs of ones are as long as chance
//! makes them; 64 points lie in 64 different pages.
#![forbid(unsafe_code)]

use super::random::Random;

/// Address bits that a point sets: 6 to 17, the paper's index bits.
pub const POINT_BITS: u32 = 12;
/// The lowest of them.
pub const POINT_SHIFT: u32 = 6;

/// The places of one class, in turn. All zero: not drawn yet.
#[derive(Clone, Copy, Debug)]
pub struct Sequence {
    columns: [u16; POINT_BITS as usize],
    /// The first place.
    shift: u16,
    /// Points drawn so far.
    drawn: u16,
}

impl Sequence {
    /// A sequence of its own.
    pub fn new(random: &mut Random) -> Self {
        loop {
            if let Some(columns) = draw_columns(random) {
                return Self { columns, shift: (random.bits() & 0xfff) as u16, drawn: 0 };
            }
        }
    }

    /// Draws the sequence of this number, if that is not done yet: most programs use few of the
    /// classes.
    pub fn draw(&mut self, seed: u64, number: usize) {
        // Independent columns are not 0.
        if self.columns[0] == 0 {
            let mut random = Random::new(seed.wrapping_add((number as u64) << 32));
            *self = Self { drawn: self.drawn, ..Self::new(&mut random) };
        }
    }

    /// The next place: address bits 6 to 17.
    pub fn next(&mut self) -> usize {
        let mut point = self.shift;
        for (bit, column) in self.columns.iter().enumerate() {
            if self.drawn >> bit & 1 != 0 {
                point ^= column;
            }
        }
        self.drawn = (self.drawn + 1) & 0xfff;
        usize::from(point)
    }

    /// Skips places, so that the next one begins an aligned run of this many, a power of two.
    pub fn align(&mut self, run: usize) {
        self.drawn = usize::from(self.drawn).next_multiple_of(run) as u16 & 0xfff;
    }
}

/// Random columns, or nothing if the draw has no luck (about one in nine has).
fn draw_columns(random: &mut Random) -> Option<[u16; POINT_BITS as usize]> {
    let mut columns = [0u16; POINT_BITS as usize];
    // The first four columns: each address bit gets another nonzero pattern of four, so that any
    // two bits are independent in 16 points, and as many neighbours as there can be, four.
    let mut patterns = [1u16, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
    for bit in 0..POINT_BITS as usize {
        let mut basis = [0u16; POINT_BITS as usize];
        for &neighbour in &patterns[bit.saturating_sub(3)..bit] {
            extend(&mut basis, neighbour);
        }
        let chosen = (bit..patterns.len()).find(|&next| {
            let drawn = next + random.below((patterns.len() - next) as u32);
            patterns.swap(next, drawn);
            extend(&mut basis, patterns[next])
        })?;
        patterns.swap(bit, chosen);
        for (column, place) in columns[..4].iter_mut().enumerate() {
            *place |= (patterns[bit] >> column & 1) << bit;
        }
    }
    // More neighbours are left to chance: if any five page bits were independent as well, the
    // parity of all six would be the same in each aligned run of 32 points, which a class has in
    // excess of the 64 that balance it.
    for column in &mut columns[4..] {
        *column = (random.bits() & 0xfff) as u16;
    }
    // 64 points lie in 64 different pages, and 4,096 points are all different.
    let (mut pages, mut all) = ([0u16; POINT_BITS as usize], [0u16; POINT_BITS as usize]);
    let independent = columns[..6].iter().all(|column| extend(&mut pages, column >> 6))
        && columns.iter().all(|&column| extend(&mut all, column));
    independent.then_some(columns)
}

/// Adds a vector to a basis in echelon form; false if it depends on those already there.
fn extend(basis: &mut [u16; POINT_BITS as usize], mut vector: u16) -> bool {
    while let Some(bit) = vector.checked_ilog2() {
        let other = &mut basis[bit as usize];
        if *other == 0 {
            *other = vector;
            return true;
        }
        vector ^= *other;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls `check` with the seed and the places of aligned runs of 16.
    fn for_runs_of_sixteen(check: impl Fn(u64, &[usize])) {
        for seed in 0..200 {
            let mut places = Sequence::new(&mut Random::new(seed));
            for _ in 0..8 {
                let places: Vec<usize> = (0..16).map(|_| places.next()).collect();
                check(seed, &places);
            }
        }
    }

    #[test]
    fn sixteen_successive_places_balance_every_pair_of_address_bits() {
        for_runs_of_sixteen(|seed, places| {
            for a in 0..POINT_BITS {
                for b in 0..a {
                    let mut counts = [0; 4];
                    for place in places {
                        counts[(place >> a & 1) * 2 + (place >> b & 1)] += 1;
                    }
                    assert_eq!(counts, [4; 4], "seed {seed}, bits {a} and {b}");
                }
            }
        });
    }

    #[test]
    fn four_neighbouring_address_bits_take_each_value_once_in_sixteen_places() {
        for_runs_of_sixteen(|seed, places| {
            for first in 0..=POINT_BITS - 4 {
                let seen =
                    places.iter().fold(0u16, |seen, place| seen | 1 << (place >> first & 15));
                assert_eq!(seen, u16::MAX, "seed {seed}, bits from {first} on");
            }
        });
    }

    #[test]
    fn draws_have_luck_soon() {
        let mut random = Random::new(1);
        let lucky = (0..10_000).filter(|_| draw_columns(&mut random).is_some()).count();
        assert!(lucky > 500, "{lucky}");
    }

    #[test]
    fn sixty_four_successive_places_lie_in_as_many_pages() {
        for seed in 0..50 {
            let mut places = Sequence::new(&mut Random::new(seed));
            let mut seen = [false; 64];
            for _ in 0..64 {
                assert!(!core::mem::replace(&mut seen[places.next() >> 6], true));
            }
        }
    }

    #[test]
    fn no_place_comes_twice_before_all_came_once() {
        let mut places = Sequence::new(&mut Random::new(9));
        let mut seen = [false; 4096];
        for _ in 0..4096 {
            let place = places.next();
            assert!(!core::mem::replace(&mut seen[place], true));
        }
    }
}
