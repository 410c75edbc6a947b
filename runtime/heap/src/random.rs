//! The random numbers of one thread's heap: one multiplication each.
//!
//! wyrand (Wang Yi, "wyhash", 2019) passes BigCrush and PractRand, which a layout does not need,
//! and has eight bytes of state, which the fast path does.
#![forbid(unsafe_code)]

/// A fast generator; its first state comes from the thread's stream.
#[derive(Clone, Copy, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator that begins with this state.
    pub const fn new(state: u64) -> Self {
        Self(state)
    }

    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0xa076_1d64_78bd_642f);
        let product = u128::from(self.0) * u128::from(self.0 ^ 0xe703_7ed1_a0b4_28db);
        (product as u64) ^ ((product >> 64) as u64)
    }

    /// A number below `bound`; 0 if the bound is 0. No number is more likely than another by more
    /// than one part in 2³² / `bound`.
    #[inline]
    pub fn below(&mut self, bound: u32) -> usize {
        (((self.bits() & 0xffff_ffff) * u64::from(bound)) >> 32) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_of_the_shuffle_array_are_uniform() {
        let mut random = Random::new(3);
        let mut counts = [0u32; 256];
        for _ in 0..256_000 {
            counts[random.below(256)] += 1;
        }
        // Chi-square with 255 degrees of freedom: 330.5 is the 0.999 quantile.
        let chi: f64 = counts.iter().map(|&n| (f64::from(n) - 1e3).powi(2) / 1e3).sum();
        assert!(chi < 330.5, "chi-square {chi}");
    }
}
