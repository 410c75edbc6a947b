//! Makes a path map of stacks that unwind tables were followed through.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, HashMap};

use super::At;
use super::map::{Context, Depth, Firsts, Function, MAX_SIZES, Path, PathMap, Site};

/// A stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Where the thread was.
    pub at: At,
    /// How far its stack pointer lay below its caller's, if the tables count from another register.
    pub depth: Option<u64>,
    /// Return addresses, innermost first, and the stack pointers behind the returns.
    pub callers: Vec<(At, u64)>,
    /// Where the stack begins ([`super::base`]).
    pub base: u64,
}

/// A map that grows.
#[derive(Default)]
pub struct Training {
    map: PathMap,
    files: HashMap<String, u32>,
    sites: HashMap<(u32, u64), u32>,
    paths: HashMap<Path, u32>,
    /// Samples in a function at the end of a path.
    contexts: HashMap<(Function, u32), u64>,
    firsts: Firsts,
    /// How often a function was sampled at the end of a path that is the first of its functions;
    /// twice if a path goes on from there, or it was in the map before.
    counts: HashMap<(Function, u32), u64>,
    /// Nothing where they differ.
    depths: BTreeMap<(Function, u64), Option<u32>>,
    /// Stacks that were added.
    pub stacks: u64,
    /// Stacks that could not be: cut off, in code without tables, or of unknown beginning.
    pub unusable: u64,
}

/// The index that an element pushed next has.
fn next<T>(all: &[T]) -> u32 {
    u32::try_from(all.len()).unwrap_or(u32::MAX)
}

impl Training {
    /// One that adds to a map.
    #[must_use]
    pub fn from(map: PathMap) -> Self {
        let mut training = Self::default();
        let index = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        for (at, file) in map.files.iter().enumerate() {
            training.files.insert(file.clone(), index(at));
        }
        for (at, site) in map.sites.iter().enumerate() {
            training.sites.insert((site.function.file, site.address), index(at));
        }
        for (at, path) in map.paths.iter().enumerate() {
            training.paths.insert(*path, index(at));
        }
        let firsts = training.firsts.of_all(&map);
        for context in &map.contexts {
            training.contexts.insert((context.function, context.path), context.samples);
            training.counts.insert((context.function, firsts[context.path as usize]), 2);
        }
        for depth in &map.depths {
            training.depths.insert((depth.function, depth.address), Some(depth.bytes));
        }
        training.map = map;
        training
    }

    /// The map.
    #[must_use]
    pub fn finish(self) -> PathMap {
        let mut map = self.map;
        let context = |((function, path), samples)| Context { function, path, samples };
        map.contexts = self.contexts.into_iter().map(context).collect();
        map.contexts.sort_unstable();
        let depths = self.depths.into_iter().filter_map(|((function, address), bytes)| {
            Some(Depth { function, address, bytes: bytes? })
        });
        map.depths = depths.collect();
        map
    }

    /// How many paths there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.map.paths.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.map.paths.is_empty()
    }

    /// Adds a stack; nothing if its frames make no sense.
    pub fn note(&mut self, seen: &Seen) -> Option<()> {
        self.unusable += 1;
        let ends = seen.callers.iter().skip(1).map(|(_, sp)| *sp).chain([seen.base]);
        let sizes: Option<Vec<u32>> = seen
            .callers
            .iter()
            .zip(ends)
            .map(|((_, sp), end)| u32::try_from(end.checked_sub(*sp)?).ok())
            .collect();
        let sizes = sizes.filter(|sizes| !sizes.is_empty())?;
        let (mut outer, mut first) = (None, None);
        for (index, (at, _)) in seen.callers.iter().enumerate().rev() {
            let site = self.site(at, sizes[index]);
            let path = self.path(Path { outer, site });
            let caller = self.function(at);
            let known = self.firsts.of(first, caller, path);
            // The next function is at its end.
            let inner = index.checked_sub(1).map_or(&seen.at, |inner| &seen.callers[inner].0);
            let function = self.function(inner);
            *self.contexts.entry((function, path)).or_default() += u64::from(index == 0);
            *self.counts.entry((function, known)).or_default() += if index == 0 { 1 } else { 2 };
            (outer, first) = (Some(path), Some(known));
        }
        if let Some(depth) = seen.depth {
            let depth = u32::try_from(depth).ok();
            let key = (self.function(&seen.at), seen.at.address);
            let known = self.depths.entry(key).or_insert(depth);
            *known = known.filter(|_| *known == depth);
        }
        self.unusable -= 1;
        self.stacks += 1;
        Some(())
    }

    /// The chance that the next stack has a call path that no one before had, as Good and Turing
    /// estimate it: the share of those that were seen once.
    ///
    /// Source: Good, "The population frequencies of species and the estimation of population
    /// parameters" (1953).
    #[must_use]
    pub fn unseen(&self) -> f64 {
        let once = self.counts.values().filter(|&&count| count == 1).count();
        once as f64 / self.stacks.max(1) as f64
    }

    fn function(&mut self, at: &At) -> Function {
        let file = match self.files.get(&*at.file) {
            Some(&file) => file,
            None => {
                let file = next(&self.map.files);
                self.map.files.push(at.file.to_string());
                self.files.insert(at.file.to_string(), file);
                file
            }
        };
        Function { file, start: at.function }
    }

    fn site(&mut self, at: &At, bytes: u32) -> u32 {
        let function = self.function(at);
        let new = next(&self.map.sites);
        let index = *self.sites.entry((function.file, at.address)).or_insert(new);
        if index == new {
            self.map.sites.push(Site { function, address: at.address, bytes: vec![bytes] });
            return index;
        }
        let known = &mut self.map.sites[index as usize].bytes;
        // None: it had too many before.
        if !known.is_empty() && !known.contains(&bytes) {
            known.push(bytes);
            known.sort_unstable();
            if known.len() > MAX_SIZES {
                known.clear();
            }
        }
        index
    }

    fn path(&mut self, path: Path) -> u32 {
        let new = next(&self.map.paths);
        let index = *self.paths.entry(path).or_insert(new);
        if index == new {
            self.map.paths.push(path);
        }
        index
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(function: u64, inside: u64) -> At {
        At { file: "a".into(), address: function + inside, function }
    }

    fn seen(leaf_inside: u64, inner_bytes: u64) -> Seen {
        let sp = 0x7000 - 0x100;
        Seen {
            at: at(0x300, leaf_inside),
            depth: None,
            callers: vec![(at(0x200, 5), sp - inner_bytes), (at(0x100, 9), sp)],
            base: 0x7000,
        }
    }

    #[test]
    fn a_stack_gives_a_path_to_each_of_its_functions_and_frames_up_to_the_next_ones() {
        let mut training = Training::default();
        training.note(&seen(1, 0x30)).unwrap();
        training.note(&seen(2, 0x30)).unwrap();
        let map = training.finish();
        assert!(map.is_sound());
        let function = |start| Function { file: 0, start };
        let site = |start, inside, bytes| Site {
            function: function(start),
            address: start + inside,
            bytes: vec![bytes],
        };
        assert_eq!(map.sites, [site(0x100, 9, 0x100), site(0x200, 5, 0x30)]);
        assert_eq!(map.paths, [Path { outer: None, site: 0 }, Path { outer: Some(0), site: 1 }]);
        let context = |start, path, samples| Context { function: function(start), path, samples };
        assert_eq!(map.contexts, [context(0x200, 0, 0), context(0x300, 1, 2)]);
    }

    #[test]
    fn the_chance_of_a_new_path_is_the_share_of_those_seen_once() {
        let mut training = Training::default();
        assert!(training.unseen().abs() < 1e-12);
        training.note(&seen(1, 0x30)).unwrap();
        assert!((training.unseen() - 1.0).abs() < 1e-12);
        // Another call of the same functions is no other path.
        let mut other = seen(2, 0x30);
        other.callers[0].0.address += 8;
        training.note(&other).unwrap();
        assert!(training.unseen().abs() < 1e-12);
        // Its caller by itself was seen on the way.
        let caller = Seen {
            callers: vec![seen(1, 0x30).callers[1].clone()],
            at: at(0x200, 1),
            ..seen(1, 0)
        };
        training.note(&caller).unwrap();
        assert!(training.unseen().abs() < 1e-12);
        training.note(&Seen { at: at(0x400, 1), ..seen(1, 0x30) }).unwrap();
        assert!((training.unseen() - 0.25).abs() < 1e-12);
        // What is in the map already is not new.
        let mut again = Training::from(training.finish());
        again.note(&Seen { at: at(0x400, 1), ..seen(1, 0x30) }).unwrap();
        assert!(again.unseen().abs() < 1e-12);
    }

    #[test]
    fn frames_without_a_fixed_size_have_those_that_were_seen_until_there_are_too_many() {
        let mut training = Training::default();
        for count in 1..=MAX_SIZES as u64 {
            training.note(&seen(1, 16 * count)).unwrap();
        }
        assert_eq!(training.map.sites[1].bytes.len(), MAX_SIZES);
        let mut training = Training::from(training.finish());
        training.note(&seen(1, 0x800)).unwrap();
        training.note(&seen(1, 16)).unwrap();
        assert_eq!((training.stacks, training.len()), (2, 2));
        assert_eq!(training.finish().sites[1].bytes, [0; 0]);
    }

    #[test]
    fn depths_that_differ_are_none_and_stacks_that_grow_upwards_are_not_added() {
        let mut training = Training::default();
        for (inside, depth) in [(1, 0x20), (2, 0x20), (1, 0x20), (2, 0x30), (2, 0x20)] {
            training.note(&Seen { depth: Some(depth), ..seen(inside, 0x30) }).unwrap();
        }
        assert_eq!(training.note(&Seen { base: 0x6000, ..seen(1, 0x30) }), None);
        assert_eq!(training.note(&Seen { callers: vec![], ..seen(1, 0x30) }), None);
        assert_eq!((training.stacks, training.unusable), (5, 2));
        let depths: Vec<(u64, u32)> =
            training.finish().depths.iter().map(|depth| (depth.address, depth.bytes)).collect();
        assert_eq!(depths, [(0x301, 0x20)]);
    }
}
