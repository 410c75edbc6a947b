//! A function's control flow. It comes as lists of successors, so that this knows nothing of LLVM.
//!
//! Dominators after Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001);
//! components after Tarjan, "Depth-First Search and Linear Graph Algorithms" (1972).

/// A function's control flow: the successors of each block; block 0 is the entry.
#[derive(Debug)]
pub(crate) struct Flow {
    successors: Vec<Vec<usize>>,
    predecessors: Vec<Vec<usize>>,
    /// Position of each block in reverse postorder; none if no path leads there.
    order: Vec<Option<usize>>,
    /// Blocks in reverse postorder.
    reachable: Vec<usize>,
}

/// A point of the control flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ProgramPoint {
    /// In a block.
    Block(usize),
    /// On the way from one block to another.
    Edge(usize, usize),
}

impl Flow {
    pub(crate) fn new(successors: Vec<Vec<usize>>) -> Self {
        let mut predecessors = vec![Vec::new(); successors.len()];
        for (block, targets) in successors.iter().enumerate() {
            for &target in targets {
                predecessors[target].push(block);
            }
        }
        let mut reachable = postorder(&successors);
        reachable.reverse();
        let mut order = vec![None; successors.len()];
        for (position, &block) in reachable.iter().enumerate() {
            order[block] = Some(position);
        }
        Self { successors, predecessors, order, reachable }
    }

    /// Blocks from which every path ends in a block without return to the caller (`dead_ends`). A
    /// block on an endless loop is not among them.
    pub(crate) fn noreturn(&self, dead_ends: &[bool]) -> Vec<bool> {
        let mut noreturn = dead_ends.to_vec();
        let mut changed = true;
        while changed {
            changed = false;
            for &block in self.reachable.iter().rev() {
                let targets = &self.successors[block];
                if !noreturn[block] && !targets.is_empty() && targets.iter().all(|&to| noreturn[to])
                {
                    noreturn[block] = true;
                    changed = true;
                }
            }
        }
        noreturn
    }

    /// The last point that lies on all paths to each of `wanted` and on no cycle; none if no path
    /// leads to any of them.
    pub(crate) fn meeting_point(&self, wanted: &[bool]) -> Option<ProgramPoint> {
        let dominators = self.immediate_dominators();
        let mut meeting = None;
        for &block in self.reachable.iter().filter(|&&block| wanted[block]) {
            meeting = Some(meeting.map_or(block, |other| self.common(&dominators, block, other)));
        }
        let mut block = meeting?;
        loop {
            let behind = self.reachable_behind(block);
            if !behind[block] {
                return Some(ProgramPoint::Block(block));
            }
            // On a cycle, which may have one way in that other paths do not take.
            if let Some(point) = self.way_in(block, &behind) {
                return Some(point);
            }
            // So is every dominator that can be reached from here. The entry has no predecessors
            // in LLVM.
            while behind[block] && block != 0 {
                block = dominators[block];
            }
        }
    }

    /// The only edge into the cycles that `block` is on; `behind` is what can be reached from it.
    fn way_in(&self, block: usize, behind: &[bool]) -> Option<ProgramPoint> {
        let ahead = self.reachable_before(block);
        let on_cycle = |other: usize| behind[other] && ahead[other];
        let mut entering =
            self.reachable.iter().filter(|&&from| !on_cycle(from)).flat_map(|&from| {
                let targets = self.successors[from].iter();
                targets.filter(|&&to| on_cycle(to)).map(move |&to| (from, to))
            });
        let (from, to) = entering.next()?;
        if entering.next().is_some() {
            return None;
        }
        Some(if self.successors[from].len() == 1 {
            ProgramPoint::Block(from)
        } else {
            ProgramPoint::Edge(from, to)
        })
    }

    /// The blocks that some path from the entry leads to, in reverse postorder.
    pub(super) fn reachable(&self) -> &[usize] {
        &self.reachable
    }

    /// Where a block can go on.
    pub(super) fn successors(&self, block: usize) -> &[usize] {
        &self.successors[block]
    }

    /// The reachable blocks, those on common cycles together, each group behind all groups
    /// that it leads to.
    pub(super) fn components(&self) -> Vec<Vec<usize>> {
        const UNSEEN: usize = usize::MAX;
        let count = self.successors.len();
        let (mut index, mut low) = (vec![UNSEEN; count], vec![0; count]);
        let mut on_stack = vec![false; count];
        let (mut stack, mut found, mut next) = (Vec::new(), Vec::new(), 0);
        let mut path = vec![(0, 0)];
        while let Some((block, edge)) = path.last_mut() {
            let block = *block;
            if *edge == 0 {
                (index[block], low[block], on_stack[block]) = (next, next, true);
                next += 1;
                stack.push(block);
            }
            if let Some(&to) = self.successors[block].get(*edge) {
                *edge += 1;
                if index[to] == UNSEEN {
                    path.push((to, 0));
                } else if on_stack[to] {
                    low[block] = low[block].min(index[to]);
                }
                continue;
            }
            path.pop();
            if let Some(&(from, _)) = path.last() {
                low[from] = low[from].min(low[block]);
            }
            if low[block] == index[block] {
                let start = stack.iter().rposition(|&other| other == block).expect("it is there");
                let component = stack.split_off(start);
                component.iter().for_each(|&other| on_stack[other] = false);
                found.push(component);
            }
        }
        found
    }

    fn immediate_dominators(&self) -> Vec<usize> {
        const UNKNOWN: usize = usize::MAX;
        let mut dominators = vec![UNKNOWN; self.successors.len()];
        dominators[0] = 0;
        let mut changed = true;
        while changed {
            changed = false;
            for &block in &self.reachable[1..] {
                let known = self.predecessors[block].iter().copied();
                let new = known
                    .filter(|&from| dominators[from] != UNKNOWN)
                    .reduce(|a, b| self.common(&dominators, a, b))
                    .unwrap_or(UNKNOWN);
                if dominators[block] != new {
                    dominators[block] = new;
                    changed = true;
                }
            }
        }
        dominators
    }

    /// The nearest block that dominates both; both are reachable.
    fn common(&self, dominators: &[usize], mut a: usize, mut b: usize) -> usize {
        while a != b {
            if self.order[a] > self.order[b] {
                a = dominators[a];
            } else {
                b = dominators[b];
            }
        }
        a
    }

    /// The blocks that at least one step leads to from `block`.
    fn reachable_behind(&self, block: usize) -> Vec<bool> {
        closure(&self.successors, block)
    }

    /// The blocks from which at least one step leads to `block`.
    fn reachable_before(&self, block: usize) -> Vec<bool> {
        closure(&self.predecessors, block)
    }
}

/// What can be reached from `block` in one step or more.
fn closure(steps: &[Vec<usize>], block: usize) -> Vec<bool> {
    let mut seen = vec![false; steps.len()];
    let mut pending = steps[block].clone();
    while let Some(next) = pending.pop() {
        if !std::mem::replace(&mut seen[next], true) {
            pending.extend(&steps[next]);
        }
    }
    seen
}

/// The blocks that are reachable from block 0, each behind all that it leads to for the first time.
fn postorder(successors: &[Vec<usize>]) -> Vec<usize> {
    let mut seen = vec![false; successors.len()];
    let mut finished = Vec::new();
    seen[0] = true;
    let mut path = vec![(0, successors[0].iter())];
    while let Some((block, rest)) = path.last_mut() {
        match rest.next() {
            Some(&next) if !seen[next] => {
                seen[next] = true;
                path.push((next, successors[next].iter()));
            }
            Some(_) => {}
            None => {
                finished.push(*block);
                path.pop();
            }
        }
    }
    finished
}

#[cfg(test)]
mod tests {
    use super::{Flow, ProgramPoint};

    fn meeting_point(successors: &[&[usize]], wanted: &[usize]) -> Option<ProgramPoint> {
        let mut marks = vec![false; successors.len()];
        for &block in wanted {
            marks[block] = true;
        }
        Flow::new(successors.iter().map(|to| to.to_vec()).collect()).meeting_point(&marks)
    }

    #[test]
    fn a_path_without_calls_gets_no_pad() {
        // 0 returns early through 1, or goes on to 2, where the call is.
        assert_eq!(meeting_point(&[&[1, 2], &[], &[3], &[]], &[2]), Some(ProgramPoint::Block(2)));
    }

    #[test]
    fn calls_on_two_branches_share_the_pad_in_front_of_the_branch() {
        let diamond: [&[usize]; 5] = [&[1], &[2, 3], &[4], &[4], &[]];
        assert_eq!(meeting_point(&diamond, &[2, 3]), Some(ProgramPoint::Block(1)));
        assert_eq!(meeting_point(&diamond, &[3]), Some(ProgramPoint::Block(3)));
    }

    #[test]
    fn a_call_in_a_loop_is_padded_in_front_of_the_loop() {
        // 1 is in front of the loop of 2 and 3; 4 is a loop of its own in front.
        let loops: [&[usize]; 6] = [&[4], &[2], &[3, 5], &[2], &[4, 1], &[]];
        assert_eq!(meeting_point(&loops, &[3]), Some(ProgramPoint::Block(1)));
        assert_eq!(meeting_point(&loops, &[5]), Some(ProgramPoint::Block(5)));
        assert_eq!(meeting_point(&loops, &[4]), Some(ProgramPoint::Block(0)));
    }

    #[test]
    fn a_path_that_does_not_enter_the_loop_gets_no_pad() {
        let skipped: [&[usize]; 4] = [&[1, 3], &[2], &[1, 3], &[]];
        assert_eq!(meeting_point(&skipped, &[2]), Some(ProgramPoint::Edge(0, 1)));
        // With a second way in there is no such point.
        let twice: [&[usize]; 5] = [&[1, 4], &[2], &[1, 3], &[], &[1, 3]];
        assert_eq!(meeting_point(&twice, &[2]), Some(ProgramPoint::Block(0)));
    }

    #[test]
    fn an_inner_loop_is_left_together_with_the_loops_around_it() {
        // 1 to 4 is a loop that holds another, of 2 and 3.
        let nested: [&[usize]; 6] = [&[1, 5], &[2], &[3], &[2, 4], &[1, 5], &[]];
        assert_eq!(meeting_point(&nested, &[3]), Some(ProgramPoint::Edge(0, 1)));
    }

    #[test]
    fn a_cycle_with_two_entries_is_left_by_way_of_what_dominates_both() {
        assert_eq!(
            meeting_point(&[&[1, 2], &[2], &[1, 3], &[]], &[1]),
            Some(ProgramPoint::Block(0))
        );
    }

    #[test]
    fn blocks_that_nothing_leads_to_do_not_count() {
        assert_eq!(meeting_point(&[&[], &[0]], &[1]), None);
        assert_eq!(meeting_point(&[&[2], &[2], &[]], &[1, 2]), Some(ProgramPoint::Block(2)));
    }

    #[test]
    fn only_blocks_whose_every_path_is_a_dead_end_are_noreturn() {
        let successors: Vec<Vec<usize>> =
            vec![vec![1, 2], vec![3], vec![], vec![4, 5], vec![], vec![], vec![6]];
        let flow = Flow::new(successors);
        let dead_ends = [false, false, false, false, true, true, false];
        assert_eq!(flow.noreturn(&dead_ends), [false, true, false, true, true, true, false]);
    }
}
