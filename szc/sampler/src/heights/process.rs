//! What is known of the heights of one process: where its files lie, and the pads that its layouts
//! have drawn.
#![forbid(unsafe_code)]

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use super::index::{Found, Frames, Index, Pads, is_beyond_doubt};
use super::map::{Call, Function, PathMap, Site};
use super::{At, Inferred, Missing};
use crate::clock::now;
use crate::copies::ImagePads;
use crate::mappings::Mappings;
use crate::unwind::Unwinder;

/// A path map, with its files by name.
pub struct Known {
    map: PathMap,
    /// Of each path the first one through the same functions.
    firsts: Vec<u32>,
    /// A call of each function that calls.
    calls: HashMap<Function, u32>,
    files: HashMap<String, u32>,
}

impl Known {
    /// A sound map.
    #[must_use]
    pub fn of(map: PathMap) -> Self {
        let files = (0..).zip(&map.files).map(|(index, file)| (file.clone(), index)).collect();
        let calls = (0..).zip(&map.sites).map(|(index, site)| (site.function, index)).collect();
        Self { firsts: map.firsts(), calls, map, files }
    }

    /// The function of a place, if it is in a file of the map.
    #[must_use]
    pub fn function(&self, at: &At) -> Option<Function> {
        Some(Function { file: *self.files.get(&*at.file)?, start: at.function })
    }

    /// How far the stack pointer lies below the caller's, and whether that counts a pad.
    #[must_use]
    pub fn depth(&self, at: &At) -> Option<(u32, bool)> {
        self.map.depth(self.function(at)?, at.address)
    }

    /// The paths that a height may be of, and through how many sequences of functions they lead:
    /// one, if that [is beyond doubt](is_beyond_doubt).
    fn likely(&self, found: &Found) -> (Vec<u32>, u32) {
        let mut likely: HashMap<u32, f64> = HashMap::new();
        for &(path, weight) in &found.paths {
            *likely.entry(self.firsts[path as usize]).or_default() += weight;
        }
        let all = found.others + likely.values().sum::<f64>();
        let most = likely.iter().max_by(|a, b| a.1.total_cmp(b.1));
        let best = most.filter(|(_, weight)| is_beyond_doubt(**weight, all));
        let best = best.map(|(first, _)| *first);
        let is_likely = |path: &u32| best.is_none_or(|best| self.firsts[*path as usize] == best);
        let paths = found.paths.iter().map(|(path, _)| *path).filter(is_likely).collect();
        // Others may have any height, so there is at least one more.
        let more = u32::from(found.others > 0.0);
        let count = u32::try_from(likely.len()).unwrap_or(u32::MAX).saturating_add(more);
        (paths, if best.is_some() { 1 } else { count })
    }

    /// Whether one of some paths leads through these functions, innermost first.
    #[must_use]
    pub fn have(&self, paths: &[u32], functions: &[Option<Function>]) -> bool {
        let function = |site: u32| Some(self.map.sites[site as usize].function);
        let is_same = |&path: &u32| {
            let calls = self.map.calls(path);
            calls.len() == functions.len()
                && calls.into_iter().map(function).eq(functions.iter().copied())
        };
        paths.iter().any(is_same)
    }
}

/// Stacks of two threads do not begin so near to each other, unless they are smaller than usual.
const NEAR_BYTES: u64 = 4 << 20;

/// Heights in a process.
#[derive(Clone, Default)]
pub struct Heights {
    bases: HashMap<u32, Option<u64>>,
    /// Where frames of threads have pads: from an address on, and so many bytes.
    reserves: HashMap<u32, (u64, u64)>,
    /// Addresses of the pad states of threads.
    pad_states: HashMap<u32, u64>,
    /// Where stacks of threads begin, or began.
    known_bases: BTreeSet<u64>,
    /// Returns of the process, by site.
    returns: Vec<Option<Return>>,
    pads: Vec<ImagePads>,
    /// When they were looked at.
    looked_at: u64,
    index: Option<Rc<Index>>,
}

/// Where a call returns to in a process.
#[derive(Clone, Copy)]
pub(super) struct Return {
    pub(super) address: u64,
    /// Whether the frame begins at a fixed distance from the stack pointer.
    pub(super) has_fixed_frame: bool,
}

/// Where a sample is.
pub struct Leaf<'a> {
    /// The place.
    pub at: &'a At,
    /// The caller's stack pointer.
    pub cfa: u64,
    /// Where the thread's stack begins.
    pub base: u64,
    /// Epoch of its layout, if it is in a copy of the program's own.
    pub epoch: Option<u64>,
    /// Whether its stack is known to lie within the pad reserve.
    pub is_within_reserve: bool,
}

impl Heights {
    /// Where the stack of a thread with this stack pointer begins.
    pub fn base(&mut self, pid: u32, tid: u32, sp: u64) -> Option<u64> {
        let base = *self.bases.entry(tid).or_insert_with(|| super::base(pid, tid));
        self.known_bases.extend(base);
        // The C library gives stacks of threads that are gone to new ones.
        let near = || self.known_bases.range(sp..).next().filter(|base| *base - sp < NEAR_BYTES);
        base.or_else(|| near().copied())
    }

    /// Whether a stack pointer is known to lie where frames have pads, in a program whose threads
    /// have their pad state at this distance from the thread pointer.
    pub fn is_within_reserve(&mut self, (pid, tid): (u32, u32), sp: u64, offset: u64) -> bool {
        let known = self.reserves.get(&tid).copied().or_else(|| {
            let known = self.pad_states.get(&tid).copied();
            let state = known.or_else(|| super::pad_state(pid, tid, offset))?;
            self.pad_states.insert(tid, state);
            super::padded(pid, state)
        });
        let Some((low, bytes)) = known else { return false };
        self.reserves.insert(tid, (low, bytes));
        sp.wrapping_sub(low) < bytes
    }

    /// A thread ended, and its number may be another's.
    pub fn forget(&mut self, tid: u32) {
        self.bases.remove(&tid);
        self.reserves.remove(&tid);
        self.pad_states.remove(&tid);
    }

    /// Something was mapped.
    pub fn mapped(&mut self) {
        self.returns.clear();
        self.index = None;
    }

    /// Whether each activation of a function whose frame has no fixed size takes a pad.
    #[must_use]
    pub fn is_padded_by_activation(&self, start: u64) -> bool {
        let has = |image: &ImagePads| image.has(start) && image.of(start, start).is_empty();
        self.pads.iter().any(has)
    }

    /// Looks which layouts there are, unless that was done after a sample was taken.
    pub fn look_at_layouts(&mut self, sampled: u64, pads: impl FnOnce() -> Vec<ImagePads>) {
        if sampled < self.looked_at {
            return;
        }
        self.looked_at = now();
        let pads = pads();
        if self.pads != pads {
            self.pads = pads;
            self.index = None;
        }
    }

    /// The callers of a thread, in originals, what they are worth, and the paths.
    pub fn infer(
        &mut self,
        known: &Known,
        leaf: &Leaf<'_>,
        (mappings, unwinder): (&Mappings, &mut Unwinder),
    ) -> (Vec<u64>, Inferred, Vec<u32>) {
        let missing = |missing| (Vec::new(), Inferred::none(missing), Vec::new());
        let Some(function) = known.function(leaf.at) else { return missing(Missing::Function) };
        let height = leaf.base.checked_sub(leaf.cfa).and_then(|height| u32::try_from(height).ok());
        let Some(height) = height else { return missing(Missing::Path) };
        if self.returns.len() != known.map.sites.len() {
            self.returns = returns(&known.map, mappings, unwinder);
            self.index = None;
        }
        let index = self.index.get_or_insert_with(|| {
            Rc::new(Index::of(&known.map, &site_pads(&known.map, &self.returns, &self.pads)))
        });
        let (epoch, are_within_reserve) = (leaf.epoch, leaf.is_within_reserve);
        let found = index.paths(&known.map, function, Frames { height, epoch, are_within_reserve });
        if found.paths.is_empty() {
            return missing(match (found.is_known, found.others > 0.0) {
                (false, _) => Missing::Function,
                (true, false) => Missing::Path,
                (true, true) => Missing::Layouts,
            });
        }
        let (of_height, count) = known.likely(&found);
        let (inner, outer) = known.map.common(&of_height);
        let gap = (count > 1).then(|| u32::try_from(inner.len()).unwrap_or(u32::MAX));
        let calls = inner.iter().chain(&outer);
        let callers = calls.map(|call| self.address(known, *call).unwrap_or(0)).collect();
        (callers, Inferred { paths: count, gap, ..Inferred::default() }, of_height)
    }

    /// Where a call returns to, in the process; behind the first byte of the function if that is
    /// all that is known.
    fn address(&self, known: &Known, call: Call) -> Option<u64> {
        let address = |site: u32| Some((*self.returns.get(site as usize)?)?.address);
        match call {
            Call::At(site) => address(site),
            Call::In(function) => {
                let site = *known.calls.get(&function)?;
                let inside = known.map.sites[site as usize].address - function.start;
                Some(address(site)? - inside + 1)
            }
        }
    }
}

fn returns(map: &PathMap, mappings: &Mappings, unwinder: &mut Unwinder) -> Vec<Option<Return>> {
    let mut place = |site: &Site| {
        let file = map.files.get(site.function.file as usize)?;
        let address = unwinder.address(mappings, file, site.address)?;
        // The call in front of the return address.
        let has_fixed_frame = unwinder.has_fixed_frame(file, site.address - 1);
        Some(Return { address, has_fixed_frame })
    };
    map.sites.iter().map(&mut place).collect()
}

/// The pads of the frames of calls.
pub(super) fn site_pads(
    map: &PathMap,
    returns: &[Option<Return>],
    images: &[ImagePads],
) -> Vec<Pads> {
    let pads = |(site, back): (&Site, &Option<Return>)| {
        let Some(Return { address, has_fixed_frame }) = back else { return Pads::default() };
        let (start, call) = (address - (site.address - site.function.start), address - 1);
        let of = |(index, image): (usize, &ImagePads)| {
            let by_epoch = image.of(start, call);
            let are_of_activations = by_epoch.is_empty() && !has_fixed_frame && image.has(start);
            let are_the_programs = index == 0;
            (are_of_activations || !by_epoch.is_empty()).then_some(Pads {
                by_epoch,
                are_the_programs,
                are_of_activations,
            })
        };
        images.iter().enumerate().find_map(of).unwrap_or_default()
    };
    map.sites.iter().zip(returns).map(pads).collect()
}
