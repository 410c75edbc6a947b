//! Rank: the Binary Matrix Rank test, section 2.5 of the standard.

/// Rows and columns of a matrix.
pub const SIDE: usize = 32;

/// Probabilities that a random 32×32 matrix has full rank, one less, or less than that. The
/// standard's section 3.5 prints four digits of what its formula yields; its program calculates it.
fn probabilities() -> [f64; 3] {
    let side = SIDE as f64;
    let of_rank = |rank: f64| {
        let mut product = 1.0;
        let mut i = 0.0;
        while i < rank {
            product *= (1.0 - (i - side).exp2()).powi(2) / (1.0 - (i - rank).exp2());
            i += 1.0;
        }
        (rank * (2.0 * side - rank) - side * side).exp2() * product
    };
    let (full, one_less) = (of_rank(side), of_rank(side - 1.0));
    [full, one_less, 1.0 - full - one_less]
}

/// The Rank test. Bits behind the last whole matrix do not count.
#[must_use]
pub fn rank(bits: &[bool]) -> f64 {
    let matrices = bits.chunks_exact(SIDE * SIDE);
    let n = matrices.len() as f64;
    let mut counts = [0u64; 3];
    for bits in matrices {
        let mut rows = [0u32; SIDE];
        for (row, bits) in rows.iter_mut().zip(bits.chunks_exact(SIDE)) {
            *row = bits.iter().fold(0, |row, &bit| row << 1 | u32::from(bit));
        }
        counts[(SIDE - rank_of(rows)).min(2)] += 1;
    }
    let chi: f64 = counts
        .iter()
        .zip(probabilities())
        .map(|(&count, p)| (count as f64 - n * p).powi(2) / (n * p))
        .sum();
    // igamc(1, x) is the exponential function.
    (-chi / 2.0).exp()
}

/// The rank of a matrix over the field of two elements, by elimination.
pub(super) fn rank_of(mut rows: [u32; SIDE]) -> usize {
    let mut rank = 0;
    for column in 0..SIDE {
        let mask = 1u32 << column;
        let Some(pivot) = (rank..SIDE).find(|&row| rows[row] & mask != 0) else { continue };
        rows.swap(rank, pivot);
        let pivot = rows[rank];
        for row in &mut rows[rank + 1..] {
            if *row & mask != 0 {
                *row ^= pivot;
            }
        }
        rank += 1;
    }
    rank
}
