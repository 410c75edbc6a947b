//! Settings that name a function: where it lies, or what it computes besides.
#![forbid(unsafe_code)]

use super::number::number;
use szc_abi::PLACEMENT_GRAIN_BYTES;
use szc_layout::arch::injected::Computation;
use szc_layout::held_pad::HeldPad;
use szc_layout::slot::Held;

/// What `SZC_PLACE` needs.
pub const PLACE: &str = "FUNCTION:OFFSET, a multiple of 16 below 64; or FUNCTION:OFFSET/4096";

/// What `SZC_PAD` needs.
pub const PAD: &str =
    "FUNCTION:BYTES, a multiple of 16 below 4096; or FUNCTION:OFFSET/64, or /4096";

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
    Some((name, held(digits, modulus)?))
}

/// A name, and the bytes of a pad, or the offset of a frame in a line or page.
pub fn pad(value: &[u8]) -> Option<(&[u8], HeldPad)> {
    let (name, text) = named(value)?;
    let pad = match text.iter().position(|&byte| byte == b'/') {
        None => HeldPad::Bytes(held(text, 4096)?.offset),
        Some(slash) => {
            let modulus = match &text[slash..] {
                b"/64" => 64,
                b"/4096" => 4096,
                _ => return None,
            };
            HeldPad::At(held(&text[..slash], modulus)?)
        }
    };
    Some((name, pad))
}

fn held(digits: &[u8], modulus: u32) -> Option<Held> {
    let offset = number(digits, u64::from(modulus) - 1)? as u32;
    offset.is_multiple_of(PLACEMENT_GRAIN_BYTES).then_some(Held { offset, modulus })
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
    fn a_pad_is_bytes_or_an_offset_of_the_frame() {
        assert_eq!(pad(b"a::b:4080"), Some((&b"a::b"[..], HeldPad::Bytes(4080))));
        let at = |offset, modulus| Some((&b"f"[..], HeldPad::At(Held { offset, modulus })));
        assert_eq!([pad(b"f:48/64"), pad(b"f:0/4096")], [at(48, 64), at(0, 4096)]);
        for malformed in
            [&b"f"[..], b"f:", b":16", b"f:8", b"f:4096", b"f:64/64", b"f:16/", b"f:16/128"]
        {
            assert_eq!(pad(malformed), None);
        }
    }

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
