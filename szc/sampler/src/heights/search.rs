//! The layout whose pads tell most call paths apart: among those of some seeds, as one training run
//! says what all of them are worth.
//!
//! The paper resizes frames one by one until nothing is gained any more. Here all frames have other
//! sizes in each layout, so that layouts are drawn, and the best one is taken.
#![forbid(unsafe_code)]

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use szc_layout::slot;

use super::index::{Index, is_beyond_doubt, weight};
use super::map::{Function, PathMap, Site};
use super::process::{Return, site_pads};
use crate::copies::ImagePads;
use crate::unwind::Unwinder;

/// The epoch of the layout that a program begins in.
const FIRST_EPOCH: u64 = 0;

/// Heights that are computed in all, after which no other seed is tried. Where frames draw a pad at
/// each call, paths have so many that a layout takes seconds.
const MAX_HEIGHTS: usize = 1 << 26;

/// A seed of the stack, and what its first layout is worth: shares of samples like those of the
/// training that are precise, while all frames lie within the pad reserve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chosen {
    /// The seed.
    pub seed: u64,
    /// The layouts that were tried.
    pub tried: u32,
    /// In its layout.
    pub share: f64,
    /// Without pads.
    pub without_pads: f64,
    /// In no layout are more: other paths are through the same functions in another order.
    pub at_most: f64,
}

/// The best of some seeds for a map, of which a file is the program; its functions and their names
/// are given with addresses as linked. Nothing without seeds; fewer are tried where paths have very
/// many heights.
#[must_use]
pub fn best(
    map: &PathMap,
    (file, program): (u32, &ImagePads),
    seeds: impl IntoIterator<Item = u64>,
) -> Option<Chosen> {
    let mut unwinder = Unwinder::default();
    let path = map.files.get(file as usize)?;
    let mut place = |site: &Site| {
        (site.function.file == file).then(|| Return {
            address: site.address,
            has_fixed_frame: unwinder.has_fixed_frame(path, site.address - 1),
        })
    };
    let returns: Vec<Option<Return>> = map.sites.iter().map(&mut place).collect();
    let firsts = map.firsts();
    let share = |images: &[ImagePads]| {
        let index = Index::within_reserve(map, &site_pads(map, &returns, images));
        let share = precise_share(map, &firsts, |path| index.heights(path).collect());
        (share, index.count())
    };
    let (without_pads, _) = share(&[]);
    let frames = frames(map);
    let at_most = precise_share(map, &firsts, |path| vec![frames[path as usize]]);
    let mut chosen: Option<Chosen> = None;
    let mut heights = 0;
    for (seed, tried) in seeds.into_iter().zip(1..) {
        let layouts = vec![(FIRST_EPOCH, slot::pad_seed(seed, FIRST_EPOCH))];
        let (share, count) = share(&[ImagePads { layouts, ..program.clone() }]);
        let better = Chosen { seed, tried, share, without_pads, at_most };
        let best = chosen.filter(|best| best.share >= share).unwrap_or(better);
        chosen = Some(Chosen { tried, ..best });
        heights += count;
        if heights > MAX_HEIGHTS {
            break;
        }
    }
    chosen
}

/// The share of the training's samples whose path is known by the function and what is told of
/// the path, which may be one of several things, equally likely. `firsts` has of each path the
/// first one through the same functions.
fn precise_share<T: Copy + Ord>(
    map: &PathMap,
    firsts: &[u32],
    told: impl Fn(u32) -> Vec<T>,
) -> f64 {
    let mut all = 0.0;
    let mut samples: Vec<(Function, T, u32, f64)> = Vec::new();
    for context in &map.contexts {
        let told = told(context.path);
        let each = weight(context) / told.len().max(1) as f64;
        let first = firsts[context.path as usize];
        samples.extend(told.into_iter().map(|told| (context.function, told, first, each)));
        all += weight(context);
    }
    samples.sort_unstable_by_key(|sample| (sample.0, sample.1, sample.2));
    let sum = |some: &[(Function, T, u32, f64)]| some.iter().map(|sample| sample.3).sum::<f64>();
    let precise = samples.chunk_by(|one, other| (one.0, one.1) == (other.0, other.1)).map(|same| {
        let of_paths = same.chunk_by(|one, other| one.2 == other.2).map(sum);
        let best = of_paths.fold(0.0, f64::max);
        if is_beyond_doubt(best, sum(same)) { best } else { 0.0 }
    });
    precise.sum::<f64>() / all.max(1.0)
}

/// Of each path a number that is the same for the same functions in any order.
fn frames(map: &PathMap) -> Vec<u64> {
    let mut frames: Vec<u64> = Vec::with_capacity(map.paths.len());
    for path in &map.paths {
        let mut hasher = DefaultHasher::new();
        map.sites[path.site as usize].function.hash(&mut hasher);
        let outer = path.outer.map_or(0, |outer| frames[outer as usize]);
        frames.push(outer.wrapping_add(hasher.finish()));
    }
    frames
}

#[cfg(test)]
mod tests {
    use super::super::map::tests::{A, B, map};
    use super::*;

    #[test]
    fn the_best_seed_is_no_worse_than_any_and_none_tells_orders_apart() {
        let mut alike = map();
        for site in &mut alike.sites {
            site.bytes = vec![0x20];
        }
        let program = ImagePads {
            functions: [(A.start, 1), (B.start, 2)].into(),
            starts: [A.start, B.start].into(),
            ..ImagePads::default()
        };
        let chosen = best(&alike, (0, &program), 1..20).unwrap();
        assert_eq!(chosen.tried, 19);
        // D behind A and behind B, and behind both of them in any order.
        assert!((chosen.without_pads - 0.5).abs() < 1e-9, "{chosen:?}");
        assert!((chosen.share - 0.75).abs() < 1e-9, "{chosen:?}");
        assert!((chosen.at_most - 0.75).abs() < 1e-9, "{chosen:?}");
        assert_eq!(best(&alike, (0, &program), []), None);
        assert_eq!(best(&alike, (7, &program), 1..20), None);
    }

    #[test]
    fn a_path_that_has_been_seen_a_hundred_times_as_often_is_precise() {
        let mut often = map();
        let share = |map: &PathMap| precise_share(map, &map.firsts(), |_| vec![0]);
        // Two paths or four lead into each function.
        assert!(share(&often).abs() < 1e-9);
        for context in &mut often.contexts {
            if context.path == 6 {
                context.samples = 1000;
            }
        }
        assert!((share(&often) - 1000.5 / 1011.0).abs() < 1e-9, "{}", share(&often));
    }
}
