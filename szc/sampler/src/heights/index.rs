//! Heights of call paths in the layouts of a process.
//!
//! An activation keeps the layout that it was called in, and what it calls is of the same layout or
//! a newer one: along a path epochs only grow. Pads end where the pad reserve does; from there on
//! no frame of the path has one. So a path may have several heights.
#![forbid(unsafe_code)]

use szc_abi::stack::{PAD_GRAIN_BYTES, PADS};

use super::map::{Context, Function, PathMap};

/// The pads that the frame of a call may have; none: it never has one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pads {
    /// Epoch and bytes.
    pub by_epoch: Vec<(u64, u32)>,
    /// Whether the epochs are those of the program itself, and not of a library.
    pub are_the_programs: bool,
    /// Each activation has one of its own: frames whose size is not fixed take it by themselves.
    pub are_of_activations: bool,
}

/// Height of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    bytes: u32,
    /// Of the last frame with a pad.
    epoch: u64,
    has_left_reserve: bool,
}

/// Heights that a path may have; nothing if they are too many to tell.
type States = Option<Vec<State>>;

/// Most heights of a path.
const MAX_STATES: usize = 1 << 12;
/// Most heights of all paths.
const MAX_ALL: usize = 1 << 23;
/// From this height on frames may have no pads: the smallest pad reserve has 16 KiB below the frame
/// of `main`.
const RESERVE_BYTES: u32 = 12 << 10;

/// Heights of all paths.
pub struct Index {
    states: Vec<States>,
    /// How many of each are within the pad reserve.
    within: Vec<u32>,
}

/// What is known of a sample's frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frames {
    /// Bytes of all of them.
    pub height: u32,
    /// None is of a newer layout than this.
    pub epoch: Option<u64>,
    /// All lie within the pad reserve.
    pub are_within_reserve: bool,
}

/// Paths of one height.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// The paths, and how likely each is in relation to the others: its samples in the training by
    /// the share of its heights that this is.
    pub paths: Vec<(u32, f64)>,
    /// The same for those that may have any height.
    pub others: f64,
    /// Whether any path into the function is known.
    pub is_known: bool,
}

impl Index {
    /// Of a map, with the pads of its sites.
    #[must_use]
    pub fn of(map: &PathMap, pads: &[Pads]) -> Self {
        Self::with(map, pads, RESERVE_BYTES)
    }

    /// The same of stacks that lie within the pad reserve.
    #[must_use]
    pub fn within_reserve(map: &PathMap, pads: &[Pads]) -> Self {
        Self::with(map, pads, u32::MAX)
    }

    fn with(map: &PathMap, pads: &[Pads], reserve_bytes: u32) -> Self {
        let mut states: Vec<States> = Vec::with_capacity(map.paths.len());
        let mut all = 0;
        let begin = [State { bytes: 0, epoch: 0, has_left_reserve: false }];
        for path in &map.paths {
            let outer = match path.outer {
                None => Some(&begin[..]),
                Some(outer) => states[outer as usize].as_deref(),
            };
            let bytes = &map.sites[path.site as usize].bytes;
            let next = outer
                .filter(|_| !bytes.is_empty() && all < MAX_ALL)
                .and_then(|outer| grown(outer, bytes, &pads[path.site as usize], reserve_bytes));
            all += next.as_ref().map_or(0, Vec::len);
            states.push(next);
        }
        let count = |states: &States| {
            let within = states.iter().flatten().filter(|state| !state.has_left_reserve);
            u32::try_from(within.count()).unwrap_or(u32::MAX)
        };
        let within = states.iter().map(count).collect();
        Self { states, within }
    }

    /// The paths into a function that may have such frames.
    #[must_use]
    pub fn paths(&self, map: &PathMap, function: Function, frames: Frames) -> Found {
        let Frames { height, epoch, are_within_reserve } = frames;
        let newest = epoch.unwrap_or(u64::MAX);
        let begin = map.contexts.partition_point(|context| context.function < function);
        let contexts = map.contexts[begin..].iter();
        let mut found = Found::default();
        for context in contexts.take_while(|context| context.function == function) {
            found.is_known = true;
            let samples = weight(context);
            let Some(states) = &self.states[context.path as usize] else {
                found.others += samples / MAX_STATES as f64;
                continue;
            };
            let from = states.partition_point(|state| state.bytes < height);
            let mut same = states[from..].iter().take_while(|state| state.bytes == height);
            if same.any(|state| {
                state.epoch <= newest && !(are_within_reserve && state.has_left_reserve)
            }) {
                let within = self.within[context.path as usize] as usize;
                let heights = if are_within_reserve { within } else { states.len() };
                found.paths.push((context.path, samples / heights as f64));
            }
        }
        found
    }

    /// How many heights there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.states.iter().flatten().map(Vec::len).sum()
    }

    /// The heights of a path within the pad reserve.
    pub fn heights(&self, path: u32) -> impl Iterator<Item = u32> {
        let states = self.states[path as usize].as_deref().unwrap_or_default();
        states.iter().filter(|state| !state.has_left_reserve).map(|state| state.bytes)
    }
}

/// How likely a context is in relation to others. One that was only seen on the way to other
/// functions is not impossible.
#[must_use]
pub fn weight(context: &Context) -> f64 {
    context.samples as f64 + 0.5
}

/// How likely all other paths may be where one is given.
const MAX_DOUBT: f64 = 0.01;

/// Whether the likeliest path is given, of all that there are.
#[must_use]
pub fn is_beyond_doubt(best: f64, all: f64) -> bool {
    best >= (1.0 - MAX_DOUBT) * all
}

/// Heights with one more frame.
fn grown(outer: &[State], bytes: &[u32], pads: &Pads, reserve_bytes: u32) -> States {
    let mut next = Vec::new();
    for state in outer {
        for frame in bytes {
            let with = |pad: u32| state.bytes.checked_add(*frame)?.checked_add(pad);
            let mut push = |pad, epoch, has_left_reserve| {
                next.extend(with(pad).map(|bytes| State { bytes, epoch, has_left_reserve }));
            };
            if pads.are_of_activations || pads.by_epoch.is_empty() {
                push(0, state.epoch, state.has_left_reserve);
                continue;
            }
            if !state.has_left_reserve {
                for &(epoch, pad) in &pads.by_epoch {
                    if !pads.are_the_programs {
                        push(pad, state.epoch, false);
                    } else if epoch >= state.epoch {
                        push(pad, epoch, false);
                    }
                }
            }
            if state.has_left_reserve || state.bytes >= reserve_bytes {
                push(0, state.epoch, true);
            }
        }
        if next.len() > 2 * MAX_STATES {
            next.sort_unstable();
            next.dedup();
            if next.len() > MAX_STATES {
                return None;
            }
        }
    }
    if pads.are_of_activations {
        next = with_any_pad(next)?;
    }
    next.sort_unstable();
    next.dedup();
    (next.len() <= MAX_STATES).then_some(next)
}

/// The heights with each of the pads that there are. Those of neighbours are mostly the same, and
/// are made once.
fn with_any_pad(mut states: Vec<State>) -> States {
    let grid = |state: &State| (state.epoch, state.has_left_reserve, state.bytes % PAD_GRAIN_BYTES);
    states.sort_unstable_by_key(|state| (grid(state), state.bytes));
    let mut padded = Vec::new();
    for of_grid in states.chunk_by(|one, other| grid(one) == grid(other)) {
        let mut from = 0;
        for state in of_grid {
            let end = state.bytes.saturating_add(PAD_GRAIN_BYTES * PADS);
            let begin = state.bytes.max(from);
            let heights = (begin..end).step_by(PAD_GRAIN_BYTES as usize);
            padded.extend(heights.map(|bytes| State { bytes, ..*state }));
            if padded.len() > MAX_STATES {
                return None;
            }
            from = from.max(end);
        }
    }
    Some(padded)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::map::Path;
    use super::super::map::tests::{A, B, D, MAIN, context, map};
    use super::*;

    fn pads(by_function: &[(Function, &[(u64, u32)])]) -> Vec<Pads> {
        let of = |function: Function| {
            let found = by_function.iter().find(|(padded, _)| *padded == function);
            found.map_or_else(Vec::new, |(_, pads)| pads.to_vec())
        };
        let pads = |site: &super::super::map::Site| Pads {
            by_epoch: of(site.function),
            are_the_programs: true,
            are_of_activations: false,
        };
        map().sites.iter().map(pads).collect()
    }

    fn found(pads: &[Pads], function: Function, height: u32, epoch: Option<u64>) -> Vec<u32> {
        of_height(&Index::of(&map(), pads), &map(), function, height, epoch)
    }

    fn frames(height: u32) -> Frames {
        Frames { height, ..Frames::default() }
    }

    fn of_height(
        index: &Index,
        map: &PathMap,
        function: Function,
        height: u32,
        epoch: Option<u64>,
    ) -> Vec<u32> {
        let frames = Frames { height, epoch, are_within_reserve: false };
        let found = index.paths(map, function, frames);
        found.paths.into_iter().map(|(path, _)| path).collect()
    }

    #[test]
    fn heights_are_sums_of_frames_and_the_same_functions_in_another_order_have_the_same() {
        let none = pads(&[]);
        assert_eq!(found(&none, A, 0x40, None), [0]);
        assert_eq!(found(&none, D, 0x60, None), [4]);
        assert_eq!(found(&none, D, 0x90, None), [6, 7]);
        assert_eq!(found(&none, D, 0x91, None), [0; 0]);
        assert!(!Index::of(&map(), &none).paths(&map(), MAIN, frames(0)).is_known);
        // No pads tell A-B from B-A, whatever they are.
        let some = pads(&[(A, &[(1, 0x100)]), (B, &[(1, 0x20)])]);
        assert_eq!(found(&some, D, 0x1b0, None), [6, 7]);
    }

    #[test]
    fn epochs_grow_along_a_path_and_are_no_newer_than_the_copy_that_was_sampled() {
        let layouts: &[(u64, u32)] = &[(3, 0x100), (5, 0x1000)];
        let some = pads(&[(A, layouts), (B, layouts)]);
        // main A D: A of either layout.
        assert_eq!(found(&some, D, 0x160, Some(3)), [4]);
        assert_eq!(found(&some, D, 0x1060, Some(5)), [4]);
        assert_eq!(found(&some, D, 0x1060, Some(4)), [0; 0]);
        // main A B D: A of the older, B of the newer one. The sum is that of main B A D, too.
        assert_eq!(found(&some, D, 0x1190, None), [6, 7]);
        let only = pads(&[(A, &[(5, 0x1000)]), (B, &[(3, 0x100)])]);
        assert_eq!(found(&only, D, 0x1190, None), [7]);
        // Libraries have epochs of their own.
        let mut library = only.clone();
        library[2].are_the_programs = false;
        assert_eq!(found(&library, D, 0x1190, None), [6, 7]);
    }

    #[test]
    fn frames_that_take_their_pads_by_themselves_have_any_of_them() {
        let mut some = pads(&[]);
        some[2].are_of_activations = true;
        for grains in [0, 1, PADS - 1] {
            // main A B.
            assert_eq!(found(&some, B, 0x60 + PAD_GRAIN_BYTES * grains, None), [2]);
        }
        assert_eq!(found(&some, B, 0x60 + PAD_GRAIN_BYTES * PADS, None), [0; 0]);
        assert_eq!(found(&some, B, 0x68, None), [0; 0]);
        // Two of them, and sizes of which some are as far apart as pads and one is not.
        some[0].are_of_activations = true;
        let mut sizes = map();
        sizes.sites[2].bytes = vec![0x20, 0x40, 0x1020, 0x28];
        let index = Index::of(&sizes, &some);
        let first = |grid: u32, last: u32| (grid..=last).step_by(PAD_GRAIN_BYTES as usize);
        let two_pads = 2 * PAD_GRAIN_BYTES * (PADS - 1);
        let all = first(0x60, 0x1060 + two_pads).chain(first(0x68, 0x68 + two_pads));
        let all: BTreeSet<u32> = all.collect();
        assert_eq!(index.heights(2).collect::<BTreeSet<u32>>(), all);
        assert_eq!(index.heights(2).count(), all.len());
    }

    #[test]
    fn pads_end_where_the_reserve_may_end_and_do_not_come_back() {
        let mut deep = map();
        deep.sites[0].bytes = vec![RESERVE_BYTES];
        let some = pads(&[(A, &[(1, 0x100)]), (B, &[(1, 0x200)])]);
        let index = Index::of(&deep, &some);
        let height = |frames: u32| of_height(&index, &deep, D, RESERVE_BYTES + frames, None);
        // main A B D: both pads, A's, none; not B's alone.
        assert_eq!(height(0x350), [6]);
        assert_eq!(height(0x150), [6]);
        assert_eq!(height(0x50), [6]);
        assert_eq!(height(0x250), [0; 0]);
        // Unless it is known that it does not end here.
        let within = |bytes: u32| {
            let height = RESERVE_BYTES + bytes;
            index.paths(&deep, D, Frames { height, epoch: None, are_within_reserve: true }).paths
        };
        assert_eq!(within(0x350), [(6, 1.5)]);
        assert_eq!(within(0x150), []);
    }

    #[test]
    fn frames_of_several_sizes_have_all_of_them_and_too_many_are_not_guessed() {
        let mut map = map();
        map.sites[3].bytes = vec![0x20, 0x30];
        let index = Index::of(&map, &pads(&[]));
        assert_eq!(of_height(&index, &map, D, 0x70, None), [4, 5]);
        assert_eq!(of_height(&index, &map, D, 0x60, None), [4]);
        // Seen once, it may have two heights.
        assert_eq!(index.paths(&map, D, frames(0x70)).paths, [(4, 0.75), (5, 1.5)]);
        map.sites[3].bytes = Vec::new();
        let found = Index::of(&map, &pads(&[])).paths(&map, D, frames(0x60));
        assert_eq!(found.paths, []);
        assert!(found.is_known && found.others > 0.0);
        // A recursion through many layouts.
        let mut map = super::super::map::tests::map();
        assert!(Index::of(&map, &pads(&[])).paths(&map, D, frames(0x60)).others < 1e-9);
        let mut outer = 3;
        for _ in 0..40 {
            map.paths.push(Path { outer: Some(outer), site: 2 });
            outer = u32::try_from(map.paths.len() - 1).unwrap();
        }
        map.contexts.push(context(D, outer));
        let layouts: Vec<(u64, u32)> = (0..40).map(|epoch| (epoch, 1 << (epoch % 12))).collect();
        let index = Index::of(&map, &pads(&[(A, &layouts)]));
        assert!(index.paths(&map, D, frames(0x40)).others > 0.0);
    }
}
