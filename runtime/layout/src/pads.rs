//! The contents of pad tables: random orders of all pads, so that in one turn of the index every
//! pad occurs once and the mean pad is the same in every layout.

use crate::rng::Stream;
use szc_abi::stack::PAD_TABLE_BYTES;

/// A random order of 0 to 255, each order equally likely.
///
/// Source: the "inside-out" form of Fisher and Yates' shuffle (Knuth, TAOCP volume 2, 3.4.2).
#[must_use]
pub fn permutation(stream: &mut Stream) -> [u8; PAD_TABLE_BYTES] {
    let mut order = [0u8; PAD_TABLE_BYTES];
    for last in 0..PAD_TABLE_BYTES {
        let place = stream.below(last as u32 + 1) as usize;
        order[last] = order[place];
        order[place] = last as u8;
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;

    /// The 0.999 quantile of chi-square with 255 degrees of freedom; in R: qchisq(0.999, 255).
    const CHI_SQUARE_255: f64 = 330.52;

    #[test]
    fn each_pad_is_equally_likely_at_each_place() {
        for place in [0, 1, 128, 255] {
            let mut counts = [0u32; 256];
            for epoch in 0..25_600 {
                let mut stream = Stream::of(Purpose::Pads, 11, epoch);
                counts[usize::from(permutation(&mut stream)[place])] += 1;
            }
            let chi: f64 = counts.iter().map(|&n| (f64::from(n) - 100.0).powi(2) / 100.0).sum();
            assert!(chi < CHI_SQUARE_255, "place {place}: chi-square {chi}");
        }
    }
}
