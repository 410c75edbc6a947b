//! Where functions lie in a layout: each where the layout's key and the function's own name say.
//!
//! A name gives a page and a position in it. Where that is taken, the function comes to the same
//! position in one of the next pages, so that positions in pages, and with them lines and sets of
//! caches, are uniform and independent whatever other functions there are. The few for which no
//! page is free there take the first gap that is large enough. Functions choose by size class, the
//! largest first, and within a class by name. So a function that is added, or grows, moves few
//! others, most of them by whole pages, and two versions of a program have nearly the same layouts.
//!
//! Everything is drawn before anything is copied: the layout depends on key and table alone, and
//! not on which functions run when.

use crate::grid::{Grid, PAGE_GRAINS, Run};
use crate::held::{Held, MAX_HELD};
use crate::order;
use crate::rng::{Stream, mix};
use crate::slot::{CopyShape, FunctionSlot, Order};
use szc_abi::{Movable, PATCHABLE_ENTRY_BYTES, PLACEMENT_GRAIN_BYTES};

/// Bytes of a page.
const PAGE_BYTES: u32 = PAGE_GRAINS * PLACEMENT_GRAIN_BYTES;

/// Sizes of layouts are multiples of one part in so many, so that a program that grows by little
/// keeps its own.
const STEPS: u32 = 16;

/// Pages that are tried for a function's position before it gives it up.
const MAX_TRIES: u32 = 64;

/// Pages that fields of instructions reach over.
const MAX_PAGES: u32 = (1 << 31) / PAGE_BYTES;

/// A function as far as placement goes, beside those that choose before and after it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Turn {
    /// Spread from the number of its canonical name.
    name: u64,
    /// Its index.
    function: u32,
    /// The grains that it takes, with the word in front of its origin.
    grains: u32,
}

impl Turn {
    /// That of a function, by index, in layouts of that shape.
    #[must_use]
    pub fn of(index: u32, function: &Movable, shape: CopyShape) -> Self {
        let slot = FunctionSlot::of(function, shape.frames, shape.patching);
        let bytes = slot.bytes + PATCHABLE_ENTRY_BYTES;
        let grains = bytes.div_ceil(PLACEMENT_GRAIN_BYTES);
        Self { name: mix(function.name_hash), function: index, grains }
    }

    /// By what functions are ordered to choose: the least chooses first.
    #[must_use]
    pub fn key(&self) -> impl Ord + use<> {
        (self.grains.leading_zeros(), self.name, self.function)
    }
}

/// Pages that the slots of a layout take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Those among which functions choose.
    pages: u32,
    /// With those behind them, for functions that find no gap there.
    placed_pages: u32,
    /// With those for functions that are held at offsets, which lie behind all others.
    all_pages: u32,
}

impl Room {
    /// For these functions; nothing if that exceeds 2 GiB.
    #[must_use]
    pub fn of(functions: impl Iterator<Item = Turn>, shape: CopyShape) -> Option<Self> {
        let between = if shape.order == Order::Linked { order::MAX_GAP_GRAINS } else { 0 };
        let (mut all, mut largest) = (0u32, 0);
        for function in functions {
            let grains = function.grains + between;
            all = all.checked_add(grains).filter(|&all| all < MAX_PAGES * PAGE_GRAINS)?;
            largest = largest.max(grains);
        }
        // As many functions want the same position in a page as chance has it: about the root of
        // what is expected more. A sixteenth of all is what choice by size leaves unused.
        let wanted = all + all / 16 + 10 * all.isqrt();
        let pages = in_steps(wanted.div_ceil(PAGE_GRAINS) + 2, STEPS);
        let behind = pages / 8 + largest.div_ceil(PAGE_GRAINS) + 1;
        let placed_pages = in_steps(pages + behind, STEPS);
        let held_pages = shape.held.iter().flatten().map(|held| {
            let grains = held.at.room_bytes() / PLACEMENT_GRAIN_BYTES + largest;
            grains.div_ceil(PAGE_GRAINS)
        });
        let all_pages = placed_pages + held_pages.sum::<u32>();
        (all_pages < MAX_PAGES).then_some(Self { pages, placed_pages, all_pages })
    }

    /// Bytes of the slots of a layout, at most.
    #[must_use]
    pub fn bytes(self) -> u32 {
        end_of((self.all_pages + 1) * PAGE_GRAINS)
    }

    /// Words that [`draw`] works in.
    #[must_use]
    pub fn scratch_words(self) -> usize {
        2 * Grid::words(self.all_pages)
    }
}

/// The next larger number that is a multiple of one part in so many of its magnitude.
#[must_use]
pub fn in_steps(number: u32, steps: u32) -> u32 {
    number.next_multiple_of(((1 << number.max(1).ilog2()) / steps).max(1))
}

/// Where the grains up to that one end, in bytes from the start of the place. Half a grain in
/// front of the first belongs to nobody, so that a slot's origin lies on a grain of the place, and
/// the word in front of it in a grain of its own.
fn end_of(grain: u32) -> u32 {
    grain * PLACEMENT_GRAIN_BYTES + PATCHABLE_ENTRY_BYTES
}

/// Where the origin of a slot is whose first grain is that one.
fn origin_of(grain: u32) -> u32 {
    end_of(grain) + PATCHABLE_ENTRY_BYTES
}

/// Draws a layout.
///
/// `turns` has the functions in the order in which they choose ([`Turn::key`]), `scratch` has
/// [`Room::scratch_words`] zeros, and `held` are functions with an offset that their bodies have in
/// a line or page: they lie behind all others, where these lie does not depend on it. `order`
/// receives the functions by position, `offsets` the offset of each function's origin in the place.
/// Returns the bytes used.
pub fn draw(
    (key, room): (u64, Room),
    turns: &[Turn],
    held: [Option<(u32, Held, FunctionSlot)>; MAX_HELD],
    scratch: &mut [u64],
    (order, offsets): (&mut [u32], &mut [u32]),
) -> u32 {
    // Where all begins: so each function is as likely at each position of a page, also one that
    // took a gap.
    let mut stream = Stream::new(key, 0);
    let shift = stream.below(PAGE_GRAINS);
    let (used, ranks) = scratch.split_at_mut(scratch.len() / 2);
    let mut grid = Grid::new(used, room.all_pages * PAGE_GRAINS);
    let mut end = 0;
    let is_held =
        |turn: &Turn| held.iter().flatten().any(|(function, ..)| turn.function == *function);
    let all_placed = turns.iter().filter(|turn| !is_held(turn)).all(|turn| {
        let grain = choose(&mut grid, room, turn, key);
        let placed = grain.map(|grain| {
            offsets[turn.function as usize] = origin_of(shift + grain);
            end = end.max(shift + grain + turn.grains);
        });
        placed.is_some()
    });
    if !all_placed {
        end = pack(&mut stream, turns, shift, (order, offsets));
    }
    let mut start = shift + room.placed_pages * PAGE_GRAINS;
    for (function, held, slot) in held.into_iter().flatten() {
        let body = (origin_of(start) + slot.body).next_multiple_of(held.modulus) + held.offset;
        offsets[function as usize] = body - slot.body;
        // The same at each offset.
        start += (held.room_bytes() + slot.bytes).div_ceil(PLACEMENT_GRAIN_BYTES);
        end = start;
    }
    let grain_of = |origin: u32| (origin - origin_of(shift)) / PLACEMENT_GRAIN_BYTES;
    grid.sort(ranks, (order, offsets), grain_of);
    // Mostly the same in all layouts of an image: what was filled with traps need not be again.
    end_of(end.max((room.pages + 1) * PAGE_GRAINS))
}

/// Takes grains for a function: the first of them.
fn choose(grid: &mut Grid<'_>, room: Room, turn: &Turn, key: u64) -> Option<u32> {
    let grains = turn.grains;
    let mut number = mix(key ^ turn.name);
    let position = number as u32 % PAGE_GRAINS;
    // The first of the function's numbers that is a page: when pages are added, most functions
    // keep theirs.
    let mask = room.pages.next_power_of_two() - 1;
    let page = loop {
        let page = (number >> 32) as u32 & mask;
        if page < room.pages {
            break page;
        }
        number = mix(number);
    };
    let chosen = room.pages * PAGE_GRAINS;
    let pages = (page..room.pages).chain(0..page).take(MAX_TRIES as usize);
    let mut starts = pages.map(|page| page * PAGE_GRAINS + position);
    let run = |start| Run { start, grains };
    let found = starts.find(|&start| grid.is_free(run(start), chosen)).or_else(|| {
        let first = page * PAGE_GRAINS + position;
        grid.first_free(grains, first, chosen)
    });
    let found = found.or_else(|| {
        let behind = room.pages..room.placed_pages;
        let mut starts = behind.map(|page| page * PAGE_GRAINS + position);
        starts.find(|&start| grid.is_free(run(start), room.placed_pages * PAGE_GRAINS))
    })?;
    grid.take(run(found));
    Some(found)
}

/// Lays functions out in a random order, one behind the other from a grain on. For those that leave
/// each other no gaps, because few large ones are all there is; there is room for them so. Returns
/// where they end.
fn pack(
    stream: &mut Stream,
    turns: &[Turn],
    mut grain: u32,
    (order, offsets): (&mut [u32], &mut [u32]),
) -> u32 {
    // Inside-out Fisher-Yates shuffle (Durstenfeld 1964; Knuth volume 2, algorithm P).
    for index in 0..order.len() as u32 {
        let other = stream.below(index + 1);
        order[index as usize] = order[other as usize];
        order[other as usize] = index;
    }
    for &index in order.iter() {
        let turn = turns[index as usize];
        offsets[turn.function as usize] = origin_of(grain);
        grain += turn.grains;
    }
    grain
}

#[cfg(test)]
mod tests;
