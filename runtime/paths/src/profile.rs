//! What happens at a block.
//!
//! A subpath that begins at block i and has n blocks is known when block i + n comes, which says
//! whether it is a loop; then a random number of blocks pass, and the next one begins. Which blocks
//! these are does not depend on what the program does, so each block is the first of a subpath with
//! the same probability, 1 / spacing, where the spacing is the mean distance of two beginnings: the
//! mean of what passes, and of n + 1. (The thesis counts what passes alone.)

use crate::hot_list::{HotList, get_u64, put_u64};
use crate::identity::Canonical;
use crate::random;
use crate::shape::{BUFFER, MAGIC, Mode, Shape, TooSmall, word};

/// Begins a profile, whose words must be 0.
///
/// # Errors
/// There is none of that shape.
pub fn begin(words: &mut [u32], shape: Shape, seed: u64) -> Result<(), TooSmall> {
    shape.parts()?;
    let words = words.get_mut(..shape.words).ok_or(TooSmall)?;
    words[word::LOG_LENGTH] = shape.length.trailing_zeros();
    words[word::SPACING] = match shape.mode {
        Mode::Sampled { spacing } => spacing,
        Mode::Exact => 1,
    };
    words[word::IS_EXACT] = u32::from(shape.mode == Mode::Exact);
    put_u64(words, word::RANDOM, seed);
    let skip = if shape.mode == Mode::Exact { 1 } else { skip(words) };
    words[word::ARMED] = skip;
    // Last: who reads the profile meanwhile finds none.
    words[word::MAGIC] = MAGIC;
    Ok(())
}

/// The number of the block, counted from 1, at which [`block`] has to be called first. Nothing if
/// no profile has begun.
#[must_use]
pub fn first_skip(words: &[u32]) -> Option<u32> {
    (words.first() == Some(&MAGIC)).then(|| words[word::ARMED])
}

/// Takes note of a block that is executed; says how many blocks on it has to be called again.
/// `words` must be those of a profile that has begun.
pub fn block(words: &mut [u32], block: u32) -> u32 {
    let armed = words[word::ARMED];
    let blocks = get_u64(words, word::BLOCKS) + u64::from(armed);
    put_u64(words, word::BLOCKS, blocks);
    let next = if words[word::IS_EXACT] != 0 {
        count_all(words, block);
        1
    } else {
        gather(words, block)
    };
    words[word::ARMED] = next;
    next
}

/// How many blocks on the next subpath begins.
fn skip(words: &mut [u32]) -> u32 {
    // The mean length, and the block behind.
    let gathered = words[word::LOG_LENGTH] + 2;
    let mut state = get_u64(words, word::RANDOM);
    let skip = random::geometric(&mut state, words[word::SPACING] - gathered);
    put_u64(words, word::RANDOM, state);
    skip + 1
}

fn gather(words: &mut [u32], block: u32) -> u32 {
    if words[word::WANTED] == 0 {
        let mut state = get_u64(words, word::RANDOM);
        let log = 1 + random::next(&mut state).trailing_zeros();
        put_u64(words, word::RANDOM, state);
        words[word::WANTED] = 1 << log.min(words[word::LOG_LENGTH]);
        words[word::GATHERED] = 0;
    }
    let (wanted, gathered) = (words[word::WANTED], words[word::GATHERED]);
    if gathered < wanted {
        words[BUFFER + gathered as usize] = block;
        words[word::GATHERED] = gathered + 1;
        return 1;
    }
    words[word::WANTED] = 0;
    let (mut list, buffer) = HotList::of(words);
    let blocks = &buffer[..wanted as usize];
    list.count(Canonical::of(blocks, blocks[0] == block));
    skip(words)
}

/// Counts the subpaths of all lengths behind which this block comes.
fn count_all(words: &mut [u32], block: u32) {
    let longest = 1usize << words[word::LOG_LENGTH];
    let (mut list, buffer) = HotList::of(words);
    let mut gathered = list.header[word::GATHERED] as usize;
    let mut length = 2;
    while length <= longest.min(gathered) {
        let blocks = &buffer[gathered - length..gathered];
        list.count(Canonical::of(blocks, blocks[0] == block));
        length *= 2;
    }
    if gathered == buffer.len() {
        let (front, back) = buffer.split_at_mut(gathered - longest);
        front.iter_mut().zip(back).for_each(|(to, from)| *to = *from);
        gathered = longest;
    }
    buffer[gathered] = block;
    list.header[word::GATHERED] = gathered as u32 + 1;
}
