//! What happens at a check and at a block.
//!
//! Code comes in two forms: a clean one, which has *checks* alone, and one that also tells of each
//! block. Which one runs is decided at checks, by a countdown of them. Every check opens a *window*
//! with the same probability, whatever came before, so the number of checks to the next is
//! geometric. A window lasts to the next check; in it each block begins a subpath with probability
//! 1 / [`STARTS`]. The code that tells runs until the window is closed and all subpaths that began
//! in it have ended, which is known when the block behind the last one comes.
//!
//! A block is executed behind one check and before the next, so it lies in a window with the
//! probability of that check. Each block is thus the first of a subpath with the same probability,
//! 1 / spacing, however many blocks lie between two checks; beginnings behind different checks are
//! independent of each other.
//!
//! A window has each block once, since every cycle has a check, but for blocks of functions
//! without one that are called twice. So a count is a sum of independent numbers that are 0 or 1,
//! for subpaths that are no loops. A loop of n blocks may begin at each of them in one window: its
//! count varies more, by a factor of at most 1 + (n − 1) / n / [`STARTS`].

use crate::hot_list::{HotList, get_u64, put_u64};
use crate::identity::Canonical;
use crate::random;
use crate::shape::{
    BUFFER, MAGIC, MAX_PENDING, Mode, PENDING, STARTS, Shape, TooSmall, buffer_words, word,
};

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
    words[word::ARMED] = 1;
    if shape.mode != Mode::Exact {
        words[word::GAP] = gap(words);
    }
    // Last: who reads the profile meanwhile finds none.
    words[word::MAGIC] = MAGIC;
    Ok(())
}

/// Whether a profile has begun in these words.
#[must_use]
pub fn has_begun(words: &[u32]) -> bool {
    words.first() == Some(&MAGIC)
}

/// Takes note of a check; says at which check from now on it has to be called again, and that code
/// which tells of its blocks is to run until the next if this is 0. `words` must be those of a
/// profile that has begun.
pub fn check(words: &mut [u32]) -> u32 {
    if words[word::IS_EXACT] != 0 {
        return 0;
    }
    let left = words[word::GAP].saturating_sub(words[word::ARMED]);
    words[word::IS_OPEN] = u32::from(left == 0);
    words[word::GAP] = if left == 0 { gap(words) } else { left };
    rest(words)
}

/// Takes note of a block that is executed; the answer is that of [`check`].
pub fn block(words: &mut [u32], block: u32) -> u32 {
    if words[word::IS_EXACT] != 0 {
        let blocks = get_u64(words, word::BLOCKS) + 1;
        put_u64(words, word::BLOCKS, blocks);
        count_all(words, block);
        return 0;
    }
    if words[word::IS_OPEN] != 0 {
        // As many as this one stands for.
        let blocks = get_u64(words, word::BLOCKS) + u64::from(words[word::SPACING] / STARTS);
        put_u64(words, word::BLOCKS, blocks);
    }
    count_ended(words, block);
    if words[word::IS_OPEN] != 0 {
        begin_subpath(words);
    }
    if words[word::PENDING_COUNT] != 0 {
        gather(words, block);
    }
    rest(words)
}

/// What is to run until the next check.
fn rest(words: &mut [u32]) -> u32 {
    let goes_on = words[word::IS_OPEN] != 0 || words[word::PENDING_COUNT] != 0;
    words[word::ARMED] = if goes_on { 1 } else { words[word::GAP] };
    if goes_on { 0 } else { words[word::GAP] }
}

/// At which check from now on the next window opens.
fn gap(words: &mut [u32]) -> u32 {
    let mut state = get_u64(words, word::RANDOM);
    let gap = random::geometric(&mut state, words[word::SPACING] / STARTS - 1);
    put_u64(words, word::RANDOM, state);
    gap + 1
}

fn random(words: &mut [u32]) -> u64 {
    let mut state = get_u64(words, word::RANDOM);
    let random = random::next(&mut state);
    put_u64(words, word::RANDOM, state);
    random
}

/// Draws whether a subpath begins at the next block to be gathered, and of which length.
fn begin_subpath(words: &mut [u32]) {
    let random = random(words);
    let (is_start, lengths) =
        (random.is_multiple_of(u64::from(STARTS)), random / u64::from(STARTS));
    if !is_start {
        return;
    }
    let count = words[word::PENDING_COUNT];
    if count as usize == MAX_PENDING {
        words[word::LOST] = words[word::LOST].saturating_add(1);
        return;
    }
    let log = (1 + lengths.trailing_zeros()).min(words[word::LOG_LENGTH]);
    let at = PENDING + 2 * count as usize;
    (words[at], words[at + 1]) = (words[word::GATHERED], 1 << log);
    words[word::PENDING_COUNT] = count + 1;
}

/// Keeps a block of the subpaths that are under way.
fn gather(words: &mut [u32], block: u32) {
    let longest = 1 << words[word::LOG_LENGTH];
    let mut gathered = words[word::GATHERED] as usize;
    if gathered == buffer_words(longest, false) {
        // What is under way began among the last ones, of which there are as many.
        let longest = longest as usize;
        words.copy_within(BUFFER + gathered - longest..BUFFER + gathered, BUFFER);
        let moved = (gathered - longest) as u32;
        for index in 0..words[word::PENDING_COUNT] as usize {
            words[PENDING + 2 * index] -= moved;
        }
        gathered = longest;
    }
    words[BUFFER + gathered] = block;
    words[word::GATHERED] = gathered as u32 + 1;
}

/// Counts the subpaths behind whose last block this one comes.
fn count_ended(words: &mut [u32], block: u32) {
    let mut index = 0;
    while index < words[word::PENDING_COUNT] as usize {
        let at = PENDING + 2 * index;
        let (start, length) = (words[at], words[at + 1]);
        if words[word::GATHERED] - start < length {
            index += 1;
            continue;
        }
        let last = PENDING + 2 * (words[word::PENDING_COUNT] as usize - 1);
        (words[at], words[at + 1]) = (words[last], words[last + 1]);
        words[word::PENDING_COUNT] -= 1;
        let thinned = words[word::THINNED];
        let (mut list, buffer) = HotList::of(words);
        let blocks = &buffer[start as usize..(start + length) as usize];
        list.count(Canonical::of(blocks, blocks[0] == block));
        let halvings = words[word::THINNED] - thinned;
        if halvings != 0 {
            thin(words, halvings);
            index = 0;
        }
    }
    if words[word::PENDING_COUNT] == 0 {
        words[word::GATHERED] = 0;
    }
}

/// The list was halved so many times. Subpaths that are under way are of the sample, too: each is
/// kept with the same probability as those of the list.
fn thin(words: &mut [u32], halvings: u32) {
    // The number of checks to the next window has no memory, but a new mean.
    words[word::GAP] = gap(words);
    let mut kept = 0;
    for index in 0..words[word::PENDING_COUNT] as usize {
        let mask = 1u64.checked_shl(halvings).map_or(u64::MAX, |bit| bit - 1);
        if random(words) & mask == 0 {
            let (from, to) = (PENDING + 2 * index, PENDING + 2 * kept);
            (words[to], words[to + 1]) = (words[from], words[from + 1]);
            kept += 1;
        }
    }
    words[word::PENDING_COUNT] = kept as u32;
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
