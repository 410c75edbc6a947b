//! The path map: call paths that a program was seen in, and how large the frames of their calls
//! are without pads.
#![forbid(unsafe_code)]

use std::collections::HashMap;

/// A function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Function {
    /// Index of its file.
    pub file: u32,
    /// Its first address, as linked.
    pub start: u64,
}

/// A call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// The function that calls.
    pub function: Function,
    /// Where the call returns to, as linked.
    pub address: u64,
    /// Bytes from the stack pointer there to that of the function's own caller, without a pad.
    /// Several, where the frame has no fixed size; none, where there are too many.
    pub bytes: Vec<u32>,
}

/// A call path: calls from where the thread began to a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Path {
    /// The path to the function of the last call. Its index is a smaller one.
    pub outer: Option<u32>,
    /// The last call.
    pub site: u32,
}

/// A function that was seen at the end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Context {
    /// The function.
    pub function: Function,
    /// The path.
    pub path: u32,
    /// Samples of the training in the function itself.
    pub samples: u64,
}

/// A call that several paths have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// The same one in all of them.
    At(u32),
    /// Different ones in the same function.
    In(Function),
}

/// How far the stack pointer lies below the caller's at an instruction where unwind tables count
/// from another register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Depth {
    /// The function.
    pub function: Function,
    /// The instruction, as linked.
    pub address: u64,
    /// Bytes, without a pad.
    pub bytes: u32,
}

/// The paths of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathMap {
    /// Paths of files.
    pub files: Vec<String>,
    /// Calls.
    pub sites: Vec<Site>,
    /// Call paths.
    pub paths: Vec<Path>,
    /// Sorted.
    pub contexts: Vec<Context>,
    /// Sorted.
    pub depths: Vec<Depth>,
}

/// The first paths through sequences of functions, by the first one to the caller, and the caller.
#[derive(Default)]
pub struct Firsts(HashMap<(Option<u32>, Function), u32>);

impl Firsts {
    /// The first path that leads through the same functions as a path.
    pub fn of(&mut self, outer: Option<u32>, caller: Function, path: u32) -> u32 {
        *self.0.entry((outer, caller)).or_insert(path)
    }

    /// The same of each path of a map.
    pub fn of_all(&mut self, map: &PathMap) -> Vec<u32> {
        let mut firsts: Vec<u32> = Vec::with_capacity(map.paths.len());
        for (index, path) in (0..).zip(&map.paths) {
            let outer = path.outer.map(|outer| firsts[outer as usize]);
            firsts.push(self.of(outer, map.sites[path.site as usize].function, index));
        }
        firsts
    }
}

/// Most sizes of a frame that are kept.
pub const MAX_SIZES: usize = 8;

impl PathMap {
    /// Whether all indices lead somewhere, and each path to an earlier one.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let below = |index: u32, count: usize| (index as usize) < count;
        let is_file = |function: Function| below(function.file, self.files.len());
        self.sites.iter().all(|site| is_file(site.function))
            && self.paths.iter().enumerate().all(|(index, path)| {
                below(path.site, self.sites.len())
                    && path.outer.is_none_or(|outer| below(outer, index))
            })
            && self.contexts.is_sorted()
            && self
                .contexts
                .iter()
                .all(|context| is_file(context.function) && below(context.path, self.paths.len()))
            && self.depths.is_sorted()
            && self.depths.iter().all(|depth| is_file(depth.function))
    }

    /// The calls of a path, innermost first.
    #[must_use]
    pub fn calls(&self, path: u32) -> Vec<u32> {
        let mut calls = Vec::new();
        let mut next = Some(path);
        while let Some(path) = next {
            let path = self.paths[path as usize];
            calls.push(path.site);
            next = path.outer;
        }
        calls
    }

    /// Of each path the first one that leads through the same functions.
    #[must_use]
    pub fn firsts(&self) -> Vec<u32> {
        Firsts::default().of_all(self)
    }

    /// The innermost and the outermost calls that paths have in common, innermost first.
    #[must_use]
    pub fn common(&self, paths: &[u32]) -> (Vec<Call>, Vec<Call>) {
        let chains: Vec<Vec<u32>> = paths.iter().map(|&path| self.calls(path)).collect();
        let shortest = chains.iter().map(Vec::len).min().unwrap_or(0);
        let inner: Vec<Call> =
            (0..shortest).map_while(|at| self.same(&chains, |chain| chain[at])).collect();
        let mut outer: Vec<Call> = (1..=shortest - inner.len())
            .map_while(|at| self.same(&chains, |chain| chain[chain.len() - at]))
            .collect();
        outer.reverse();
        (inner, outer)
    }

    /// What one call of each chain has in common.
    fn same(&self, chains: &[Vec<u32>], call: impl Fn(&[u32]) -> u32) -> Option<Call> {
        let mut sites = chains.iter().map(|chain| call(chain));
        let first = sites.next()?;
        let function = |site: u32| self.sites[site as usize].function;
        let mut is_same = true;
        for site in sites {
            if function(site) != function(first) {
                return None;
            }
            is_same &= site == first;
        }
        Some(if is_same { Call::At(first) } else { Call::In(function(first)) })
    }

    /// How far the stack pointer lies below the caller's at an instruction where the tables do not
    /// say that, and whether a pad is part of it: where the nearest instructions on both sides that
    /// were seen agree.
    #[must_use]
    pub fn depth(&self, function: Function, address: u64) -> Option<(u32, bool)> {
        let begin = self.depths.partition_point(|depth| depth.function < function);
        let known = &self.depths[begin..];
        let end = known.partition_point(|depth| depth.function == function);
        let known = &known[..end];
        let behind = known.partition_point(|depth| depth.address <= address);
        let before = known[..behind].last()?;
        let is_known = before.address == address
            || known.get(behind).is_some_and(|next| next.bytes == before.bytes);
        // A pad is taken before the function calls anything, and if it calls nothing, before its
        // frame is as large as it gets.
        let at_calls = self.sites.iter().filter(|site| site.function == function);
        let least = at_calls.filter_map(|site| site.bytes.iter().min()).min();
        let greatest = known.iter().map(|depth| &depth.bytes).max();
        let has_pad = least.or(greatest).is_some_and(|&least| before.bytes >= least);
        is_known.then_some((before.bytes, has_pad))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) const MAIN: Function = Function { file: 0, start: 0x100 };
    pub(crate) const A: Function = Function { file: 0, start: 0x200 };
    pub(crate) const B: Function = Function { file: 0, start: 0x300 };
    pub(crate) const D: Function = Function { file: 0, start: 0x400 };

    fn site(function: Function, inside: u64, bytes: u32) -> Site {
        Site { function, address: function.start + inside, bytes: vec![bytes] }
    }

    pub(crate) fn context(function: Function, path: u32) -> Context {
        Context { function, path, samples: 1 }
    }

    /// D is called by A and B, each of which is called by the other one and by main.
    pub(crate) fn map() -> PathMap {
        let path = |outer, site| Path { outer, site };
        let mut map = PathMap {
            files: vec!["a".into()],
            sites: vec![
                site(MAIN, 5, 0x40),
                site(MAIN, 9, 0x40),
                site(A, 5, 0x20),
                site(A, 9, 0x20),
                site(B, 5, 0x30),
                site(B, 9, 0x30),
            ],
            // main A, main B, main A B, main B A, and behind each of them D is called.
            paths: vec![
                path(None, 0),
                path(None, 1),
                path(Some(0), 2),
                path(Some(1), 4),
                path(Some(0), 3),
                path(Some(1), 5),
                path(Some(2), 5),
                path(Some(3), 3),
            ],
            contexts: vec![
                context(A, 0),
                context(A, 3),
                context(B, 1),
                context(B, 2),
                context(D, 4),
                context(D, 5),
                context(D, 6),
                context(D, 7),
            ],
            depths: Vec::new(),
        };
        map.contexts.sort_unstable();
        map
    }

    #[test]
    fn a_map_whose_indices_lead_nowhere_is_not_sound() {
        assert!(map().is_sound());
        let broken = |change: fn(&mut PathMap)| {
            let mut map = map();
            change(&mut map);
            map.is_sound()
        };
        assert!(!broken(|map| map.files.clear()));
        assert!(!broken(|map| map.paths[2].outer = Some(2)));
        assert!(!broken(|map| map.paths[0].site = 9));
        assert!(!broken(|map| map.contexts[0].path = 8));
        assert!(!broken(|map| map.contexts.swap(0, 7)));
    }

    #[test]
    fn paths_have_ends_in_common_which_never_overlap() {
        let map = map();
        assert_eq!(map.calls(6), [5, 2, 0]);
        let at = |sites: &[u32]| sites.iter().map(|&site| Call::At(site)).collect::<Vec<_>>();
        assert_eq!(map.common(&[6]), (at(&[5, 2, 0]), vec![]));
        // main A B D and main B D: the call in B.
        assert_eq!(map.common(&[6, 5]), (at(&[5]), vec![Call::In(MAIN)]));
        // main A D and main A B D: the call in main, and one in A.
        assert_eq!(map.common(&[4, 6]), (vec![], vec![Call::In(A), Call::At(0)]));
        assert_eq!(map.common(&[]), (vec![], vec![]));
        // The same call twice, and once: a recursion has no more in common than the shorter path.
        let mut deeper = map.clone();
        deeper.paths.push(Path { outer: Some(2), site: 2 });
        assert_eq!(deeper.common(&[2, 8]), (at(&[2]), at(&[0])));
    }

    #[test]
    fn calls_of_one_function_are_the_same_by_function() {
        let mut map = map();
        assert_eq!(map.firsts(), [0, 0, 2, 3, 2, 3, 6, 7]);
        // D is called once more by A behind main, and from there B.
        map.sites.push(site(A, 0x10, 0x20));
        map.paths.extend([Path { outer: Some(0), site: 6 }, Path { outer: Some(8), site: 5 }]);
        assert_eq!(map.firsts()[6..], [6, 7, 2, 6]);
        assert_eq!(map.common(&[4, 8]), (vec![Call::In(A), Call::At(0)], vec![]));
    }

    #[test]
    fn a_depth_is_known_where_both_neighbours_agree_and_has_a_pad_from_the_first_call_on() {
        let mut map = map();
        let depth = |address, bytes| Depth { function: A, address, bytes };
        map.depths = vec![depth(0x202, 0x10), depth(0x206, 0x20), depth(0x20c, 0x20)];
        assert_eq!(map.depth(A, 0x202), Some((0x10, false)));
        assert_eq!(map.depth(A, 0x208), Some((0x20, true)));
        assert_eq!(map.depth(A, 0x20c), Some((0x20, true)));
        // Between two that differ, in front of the first and behind the last one.
        assert_eq!([0x204, 0x201, 0x20d].map(|at| map.depth(A, at)), [None; 3]);
        assert_eq!(map.depth(B, 0x206), None);
        // D calls nothing.
        let depth = |address, bytes| Depth { function: D, address, bytes };
        map.depths.extend([depth(0x401, 0x10), depth(0x404, 0x30), depth(0x408, 0x30)]);
        assert_eq!(map.depth(D, 0x401), Some((0x10, false)));
        assert_eq!(map.depth(D, 0x406), Some((0x30, true)));
    }
}
