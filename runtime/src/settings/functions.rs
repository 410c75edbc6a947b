//! Settings that name a function: where it lies, or what it computes besides.
#![forbid(unsafe_code)]

use super::number::number;
use szc_abi::PLACEMENT_GRAIN_BYTES;
use szc_layout::arch::injected::Computation;
use szc_layout::slot::Held;

/// What `SZC_PLACE` needs.
pub const PLACE: &str = "FUNCTION:OFFSET, a multiple of 16 below 64; or FUNCTION:OFFSET/4096";

/// What `SZC_INJECT` needs.
pub const INJECT: &str = "FUNCTION:fibonacci:N or FUNCTION:array:N, N from 1 to 4294967295";

/// What is computed at each call of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inject<'a> {
    /// Its name.
    pub function: &'a [u8],
    /// What.
    pub computation: Computation,
    /// How many numbers or elements.
    pub rounds: u32,
}

/// A name, and an offset in a line of 64 bytes or, with `/4096`, in a page.
pub fn place(value: &[u8]) -> Option<(&[u8], Held)> {
    let (name, offset) = named(value)?;
    let (digits, modulus) = match offset.strip_suffix(b"/4096") {
        Some(digits) => (digits, 4096),
        None => (offset, 64),
    };
    let offset = number(digits, u64::from(modulus) - 1)? as u32;
    let is_placed = offset.is_multiple_of(PLACEMENT_GRAIN_BYTES);
    is_placed.then_some((name, Held { offset, modulus }))
}

/// A name, a computation, and its length.
pub fn inject(value: &[u8]) -> Option<Inject<'_>> {
    let (rest, digits) = named(value)?;
    let (function, computation) = named(rest)?;
    let computation = match computation {
        b"fibonacci" => Computation::Fibonacci,
        b"array" => Computation::Array,
        _ => return None,
    };
    let rounds = number(digits, u64::from(u32::MAX)).filter(|&rounds| rounds > 0)? as u32;
    Some(Inject { function, computation, rounds })
}

/// A name, which may have colons, and what is behind the last colon.
fn named(value: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = value.iter().rposition(|&byte| byte == b':').filter(|&colon| colon > 0)?;
    Some((&value[..colon], &value[colon + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_computation_has_a_function_a_kind_and_a_length() {
        let found = inject(b"a::b:array:4294967295").unwrap();
        let computation = Computation::Array;
        assert_eq!(found, Inject { function: b"a::b", computation, rounds: u32::MAX });
        assert_eq!(inject(b"f:fibonacci:1").unwrap().computation, Computation::Fibonacci);
        for malformed in [
            &b"f"[..],
            b"f:1",
            b":array:1",
            b"f:array:0",
            b"f:array:",
            b"f:sleep:1",
            b"f:array:4294967296",
        ] {
            assert_eq!(inject(malformed), None);
        }
    }
}
