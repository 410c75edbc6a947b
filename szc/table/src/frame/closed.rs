//! Which functions hold all the code that runs with their frames, so that a frame changes in all of
//! it or not at all.
//!
//! Compilers put parts of a function elsewhere, under names of their own: basic blocks in sections,
//! cold paths, landing pads. A function is *closed* if with its frame taken nothing leaves it but
//! by calls, and nothing comes into its middle from outside. Direct branches out are seen where the
//! stack pointer is followed; here are the other ways: branches into it, exceptions, addresses that
//! something else knows, and indirect jumps, which must all be those of switches whose tables lead
//! nowhere else.

use super::flow::StackFlow;
use crate::landing_pads;
use crate::read::Image;
use crate::references::References;
use std::collections::{HashMap, HashSet};
use szc_abi::FixedFrame;
use szc_abi::unwind::Frames;

/// The ways into functions and out of them.
pub(super) struct Closed<'a, 'data> {
    references: &'a References<'data>,
    /// Functions that something comes into, or that exceptions leave, by index.
    open: HashMap<usize, FixedFrame>,
    /// Functions that may jump by more than tables of their own, by index.
    leaving: HashSet<usize>,
    /// Whether each jump table leads into no function but the one that uses it, by address of a
    /// jump through it.
    jumps: HashMap<u64, bool>,
}

impl<'a, 'data> Closed<'a, 'data> {
    pub(super) fn new(
        image: &Image<'data>,
        references: &'a References<'data>,
        unwind: Option<&Frames<'_>>,
    ) -> Self {
        let mut closed = Self {
            references,
            open: HashMap::new(),
            leaving: references.found.unproven.clone(),
            jumps: HashMap::new(),
        };
        let survey = &references.survey;
        for branch in &survey.branches {
            closed.open_middle(branch.target, FixedFrame::Parts);
        }
        for pad in unwind.map(|unwind| landing_pads::distant(image, unwind)).unwrap_or_default() {
            for address in [Some(pad.from), pad.to].into_iter().flatten() {
                if let Some((index, _)) = survey.function_at(address) {
                    closed.open.entry(index).or_insert(FixedFrame::Parts);
                }
            }
        }
        let taken = survey.references.iter().map(|reference| reference.target);
        let known = taken.chain(survey.stray_targets.iter().copied());
        for address in known.chain(image.exported.iter().copied()) {
            closed.open_middle(address, FixedFrame::Labels);
        }
        for &(index, _) in &references.found.pinned {
            closed.open.entry(index).or_insert(FixedFrame::Labels);
        }
        closed.add_tables();
        closed
    }

    /// Something else knows an address; if it lies in the middle of a function, that is not closed.
    fn open_middle(&mut self, address: u64, reason: FixedFrame) {
        if let Some((index, _)) = self.references.survey.middle_of(address) {
            self.open.entry(index).or_insert(reason);
        }
    }

    fn add_tables(&mut self) {
        let survey = &self.references.survey;
        for table in &self.references.found.tables {
            let users: Vec<usize> = table.users.iter().filter_map(|user| user.function).collect();
            let own = |user: usize| {
                let function = &survey.functions[user];
                let inside = |&target: &u64| (function.start..=function.end).contains(&target);
                !table.readable && table.targets.iter().all(inside)
            };
            let is_own = users.iter().all(|&user| own(user));
            for &jump in &table.jumps {
                *self.jumps.entry(jump).or_insert(true) &= is_own;
            }
            if !is_own {
                self.leaving.extend(users);
                for &target in &table.targets {
                    self.open_middle(target, FixedFrame::Parts);
                }
            }
        }
    }

    /// Whether all code is seen that runs with the frame of the function at `start`.
    ///
    /// # Errors
    /// Why it may not be.
    pub(super) fn check(&self, start: u64, flow: &StackFlow) -> Result<(), FixedFrame> {
        let function = self.references.survey.function_at(start);
        let (index, _) = function.ok_or(FixedFrame::Parts)?;
        if let Some(&reason) = self.open.get(&index) {
            return Err(reason);
        }
        let is_known = |jump: &u64| self.jumps.get(jump).copied().unwrap_or(false);
        let stays = !self.leaving.contains(&index) && flow.jumps.iter().all(is_known);
        if flow.jumps.is_empty() || stays { Ok(()) } else { Err(FixedFrame::Jump) }
    }
}
