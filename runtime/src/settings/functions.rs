//! Settings that name a function: where it lies, or what it computes besides.
#![forbid(unsafe_code)]

use super::number::number;
use szc_abi::PLACEMENT_GRAIN_BYTES;
use szc_layout::arch::injected::Computation;
use szc_layout::held::{Held, HeldPad, MAX_HELD};

/// What `SZC_PLACE` needs.
pub const PLACE: &str =
    "FUNCTION:OFFSET, a multiple of 16 below 64; or FUNCTION:OFFSET/4096; or two with a comma";

/// What `SZC_PAD` needs.
pub const PAD: &str =
    "FUNCTION:BYTES, a multiple of 16 below 4096; or FUNCTION:OFFSET/64, or /4096";

/// What `SZC_INJECT` needs.
pub const INJECT: &str = "FUNCTION:fibonacci:N or FUNCTION:array:N, N from 1 to 4294967295";

/// Functions by name, and where they are held.
pub type Places<'a> = [Option<(&'a [u8], Held)>; MAX_HELD];

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

/// One place, or two with a comma between them.
pub fn places(value: &[u8]) -> Option<Places<'_>> {
    // Names may have commas: one between two places follows a colon and digits.
    let is_between = |at: usize| {
        let digits = named(&value[..at]).map_or(&b""[..], |(_, offset)| offset);
        let is_of_offset = |byte: &u8| byte.is_ascii_digit() || *byte == b'/';
        value[at] == b',' && !digits.is_empty() && digits.iter().all(is_of_offset)
    };
    let mut between = (0..value.len()).filter(|&at| is_between(at));
    let Some(comma) = between.next() else { return Some([Some(place(value)?), None]) };
    let [one, other] = [place(&value[..comma])?, place(&value[comma + 1..])?];
    (between.next().is_none() && one.0 != other.0).then_some([Some(one), Some(other)])
}

/// A name, and an offset in a line of 64 bytes or, with `/4096`, in a page.
fn place(value: &[u8]) -> Option<(&[u8], Held)> {
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
    fn two_functions_can_have_places_whatever_their_names_are() {
        let at = |offset, modulus| Held { offset, modulus };
        let found = |value| places(value).map(|found| found.map(|one| one.map(|(name, _)| name)));
        assert_eq!(places(b"f:16"), Some([Some((&b"f"[..], at(16, 64))), None]));
        assert_eq!(found(b"a<b, c>:16"), Some([Some(&b"a<b, c>"[..]), None]));
        let both = Some([Some(&b"a<b, c>"[..]), Some(&b"d,e"[..])]);
        assert_eq!(found(b"a<b, c>:16/4096,d,e:48"), both);
        assert_eq!([found(b"f:16,"), found(b"f:16,g"), found(b"f:8,g:16")], [None; 3]);
        assert_eq!(found(b"f:0,f:16"), None);
    }

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
