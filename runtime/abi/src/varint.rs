//! Variable-length integers: seven bits a byte, low bits first (LEB128, DWARF 5 section 7.6).

use crate::Malformed;

/// Longest encoding of a `u32`.
pub const MAX_VARINT_BYTES: usize = 5;

/// Encodes `value` into `out` and returns the number of bytes used.
pub fn encode_varint(value: u32, out: &mut [u8; MAX_VARINT_BYTES]) -> usize {
    let mut rest = value;
    let mut used = 0;
    loop {
        let low = (rest & 0x7f) as u8;
        rest >>= 7;
        out[used] = if rest == 0 { low } else { low | 0x80 };
        used += 1;
        if rest == 0 {
            return used;
        }
    }
}

/// Reads one integer at `*position` and moves the position behind it.
///
/// # Errors
/// [`Malformed::OutOfBounds`] when the bytes end, [`Malformed::BadEncoding`] when the value does
/// not fit in 32 bits.
#[inline(always)]
pub fn read_varint(bytes: &[u8], position: &mut usize) -> Result<u32, Malformed> {
    // Nearly all numbers of a table take one byte or two, and an epoch reads tens of thousands of
    // them.
    let (value, used) = match *bytes.get(*position..).unwrap_or_default() {
        [only, ..] if only < 0x80 => (u32::from(only), 1),
        [low, high, ..] if high < 0x80 => (u32::from(low & 0x7f) | u32::from(high) << 7, 2),
        _ => return read_long(bytes, position),
    };
    *position += used;
    Ok(value)
}

#[cold]
#[inline(never)]
fn read_long(bytes: &[u8], position: &mut usize) -> Result<u32, Malformed> {
    let mut value = 0u32;
    for index in 0..MAX_VARINT_BYTES {
        let byte = *bytes.get(*position).ok_or(Malformed::OutOfBounds)?;
        *position += 1;
        let low = u32::from(byte & 0x7f);
        if index == MAX_VARINT_BYTES - 1 && low > 0xf {
            return Err(Malformed::BadEncoding);
        }
        value |= low << (7 * index);
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(Malformed::BadEncoding)
}

/// Encodes `value` at the end of a stream that a test makes.
#[cfg(test)]
pub(crate) fn push(out: &mut Vec<u8>, value: u32) {
    let mut buffer = [0; MAX_VARINT_BYTES];
    let used = encode_varint(value, &mut buffer);
    out.extend_from_slice(&buffer[..used]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_survives_a_round_trip() {
        for value in [0, 1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152, u32::MAX] {
            let mut out = [0; MAX_VARINT_BYTES];
            let used = encode_varint(value, &mut out);
            let mut position = 0;
            assert_eq!(read_varint(&out[..used], &mut position), Ok(value));
            assert_eq!(position, used);
        }
    }

    #[test]
    fn one_integer_behind_another_is_read_whatever_their_lengths() {
        let values = [5, 300, 70_000, 127, 128, 16_383, 16_384, 0, u32::MAX, 1];
        let mut bytes = Vec::new();
        values.into_iter().for_each(|value| push(&mut bytes, value));
        let mut position = 0;
        assert_eq!(values.map(|_| read_varint(&bytes, &mut position).unwrap()), values);
        assert_eq!(position, bytes.len());
        assert_eq!(read_varint(&bytes, &mut position), Err(Malformed::OutOfBounds));
        assert_eq!(read_varint(&bytes, &mut (position + 1)), Err(Malformed::OutOfBounds));
    }

    #[test]
    fn a_cut_off_or_oversized_integer_is_refused() {
        assert_eq!(read_varint(&[0x80], &mut 0), Err(Malformed::OutOfBounds));
        assert_eq!(
            read_varint(&[0xff, 0xff, 0xff, 0xff, 0x1f], &mut 0),
            Err(Malformed::BadEncoding)
        );
    }
}
