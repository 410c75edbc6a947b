//! The setting by which blocks of one size get a draw of their own.
#![forbid(unsafe_code)]

use super::number::number;
use szc_heap::Draws;

/// What `SZC_BLOCKS` needs.
pub const BLOCKS: &str =
    "SEED/DRAWS, 2 to 256 draws; or SEED/DRAWS,BYTES:DRAW, a draw below their number";

/// Most draws of a size.
const MAX_DRAWS: u64 = 256;

/// A seed and the number of draws, and perhaps blocks of one size and their draw.
pub fn blocks(value: &[u8]) -> Option<Draws> {
    let (all, held) = match value.iter().position(|&byte| byte == b',') {
        Some(comma) => (&value[..comma], Some(&value[comma + 1..])),
        None => (value, None),
    };
    let (seed, count) = divided(all, b'/')?;
    let count = number(count, MAX_DRAWS).filter(|&count| count >= 2)? as u32;
    let held = match held {
        Some(held) => {
            let (bytes, draw) = divided(held, b':')?;
            let draw = number(draw, u64::from(count) - 1)? as u32;
            Some((number(bytes, u64::from(u32::MAX))? as usize, draw))
        }
        None => None,
    };
    Some(Draws { seed: number(seed, u64::MAX)?, count, held })
}

fn divided(text: &[u8], by: u8) -> Option<(&[u8], &[u8])> {
    let at = text.iter().position(|&byte| byte == by)?;
    Some((&text[..at], &text[at + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_have_a_seed_and_a_number_and_blocks_of_one_size_may_be_held() {
        let all = Draws { seed: 7, count: 16, held: None };
        assert_eq!(blocks(b"7/16"), Some(all));
        assert_eq!(blocks(b"7/16,64:03"), Some(Draws { held: Some((64, 3)), ..all }));
        let bad = ["7", "7/1", "7/257", "/16", "7/16,", "7/16,64", "7/16,64:16", "7/16,:1", "x/16"];
        for malformed in bad {
            assert_eq!(blocks(malformed.as_bytes()), None, "{malformed}");
        }
    }
}
