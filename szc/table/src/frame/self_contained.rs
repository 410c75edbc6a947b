//! Which functions hold all the code that runs with their frames, so that a frame changes in all of
//! it or not at all.
//!
//! Compilers put parts of a function elsewhere, under names of their own: basic blocks in sections,
//! cold paths, landing pads. A function is *self-contained* if with its frame taken nothing leaves
//! it but by calls, and nothing comes into its middle from outside. Direct branches out are seen
//! where the stack pointer is followed; here are the other ways: branches into it, exceptions,
//! addresses that something else knows, and indirect jumps, which must all be those of switches
//! whose tables lead nowhere else.

use super::flow::StackFlow;
use crate::landing_pads;
use crate::read::Image;
use crate::references::References;
use std::collections::{HashMap, HashSet};
use szc_abi::FixedFrame;
use szc_abi::unwind::EhFrame;

/// The ways into functions and out of them.
pub(super) struct SelfContained<'a, 'data> {
    references: &'a References<'data>,
    /// Functions that something comes into, or that exceptions leave, by index.
    entered: HashMap<usize, FixedFrame>,
    /// Functions that may jump by more than tables of their own, by index.
    leaving: HashSet<usize>,
    /// Whether each jump table leads into no function but the one that uses it, by address of a
    /// jump through it.
    jumps: HashMap<u64, bool>,
}

impl<'a, 'data> SelfContained<'a, 'data> {
    pub(super) fn new(
        image: &Image<'data>,
        references: &'a References<'data>,
        unwind: Option<&EhFrame<'_>>,
    ) -> Self {
        let mut this = Self {
            references,
            entered: HashMap::new(),
            leaving: references.jump_tables.unproven.clone(),
            jumps: HashMap::new(),
        };
        let survey = &references.survey;
        for branch in &survey.branches {
            this.enter_middle(branch.target, FixedFrame::Parts);
        }
        for pad in unwind.map(|unwind| landing_pads::distant(image, unwind)).unwrap_or_default() {
            for address in [Some(pad.from), pad.to].into_iter().flatten() {
                if let Some((index, _)) = survey.function_at(address) {
                    this.entered.entry(index).or_insert(FixedFrame::Parts);
                }
            }
        }
        let taken = survey.references.iter().map(|reference| reference.target);
        let known = taken.chain(survey.stray_targets.iter().copied());
        for address in known.chain(image.exported.iter().copied()) {
            this.enter_middle(address, FixedFrame::Labels);
        }
        for &(index, _) in &references.jump_tables.pinned {
            this.entered.entry(index).or_insert(FixedFrame::Labels);
        }
        this.add_tables();
        this
    }

    /// Something else knows an address; if it lies in the middle of a function, that is not this.
    fn enter_middle(&mut self, address: u64, reason: FixedFrame) {
        if let Some((index, _)) = self.references.survey.middle_of(address) {
            self.entered.entry(index).or_insert(reason);
        }
    }

    fn add_tables(&mut self) {
        let survey = &self.references.survey;
        for table in &self.references.jump_tables.tables {
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
                    self.enter_middle(target, FixedFrame::Parts);
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
        if let Some(&reason) = self.entered.get(&index) {
            return Err(reason);
        }
        let is_known = |jump: &u64| self.jumps.get(jump).copied().unwrap_or(false);
        let keeps_inside = !self.leaving.contains(&index) && flow.jumps.iter().all(is_known);
        if flow.jumps.is_empty() || keeps_inside { Ok(()) } else { Err(FixedFrame::Jump) }
    }
}
