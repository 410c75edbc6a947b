//! Binary expansions of e and π, calculated exactly: the inputs of the standard's longer examples.

use num_bigint::BigUint;

/// The first bits of e, from the integer part on: 10.10110111…
pub fn e(bits: usize) -> Vec<bool> {
    // Terms until k! exceeds 2^bits: log2(k!) grows by log2(k) a term.
    let (mut terms, mut size) = (1u32, 0.0);
    while size < bits as f64 + 64.0 {
        terms += 1;
        size += f64::from(terms).log2();
    }
    // e = 1 + p/q with p/q = Σ 1/k! for k = 1..=terms.
    let (p, q) = sum_of_reciprocals(0, terms);
    let value: BigUint = ((p + &q) << (bits + 64)) / q;
    leading(&value.to_radix_be(2), bits)
}

/// By halves: p/q = Σ of 1/((a+1)(a+2)…k) for k = a+1..=b, with q = (a+1)…b.
fn sum_of_reciprocals(a: u32, b: u32) -> (BigUint, BigUint) {
    if b - a == 1 {
        return (BigUint::from(1u32), BigUint::from(b));
    }
    let middle = a.midpoint(b);
    let (p1, q1) = sum_of_reciprocals(a, middle);
    let (p2, q2) = sum_of_reciprocals(middle, b);
    (p1 * &q2 + p2, q1 * q2)
}

/// The first bits of π, from the integer part on: 11.00100100…; by Machin's formula,
/// π = 16·arctan(1/5) − 4·arctan(1/239).
pub fn pi(bits: usize) -> Vec<bool> {
    let scale = bits + 64;
    let value: BigUint =
        (arctan_of_reciprocal(5, scale) << 4) - (arctan_of_reciprocal(239, scale) << 2);
    leading(&value.to_radix_be(2), bits)
}

/// arctan(1/x)·2^scale = Σ (−1)^k / ((2k+1)·x^(2k+1)).
fn arctan_of_reciprocal(x: u32, scale: usize) -> BigUint {
    let zero = BigUint::ZERO;
    let (mut plus, mut minus) = (zero.clone(), zero.clone());
    let mut power = (BigUint::from(1u32) << scale) / x;
    let mut divisor = 1u32;
    while power != zero {
        let term = &power / divisor;
        if divisor % 4 == 1 {
            plus += term;
        } else {
            minus += term;
        }
        power /= x * x;
        divisor += 2;
    }
    plus - minus
}

fn leading(digits: &[u8], bits: usize) -> Vec<bool> {
    digits[..bits].iter().map(|&digit| digit == 1).collect()
}
