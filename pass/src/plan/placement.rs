//! Where in a function the pad belongs: on every path to a call, on as few others as possible, and
//! never on a cycle, where each turn would take another pad.
//!
//! A pad is *due* where every path that returns makes a call. It is taken at the points where a pad
//! becomes due, like a computation in lazy code motion (Knoop, Rüthing and Steffen, "Lazy Code
//! Motion", 1992). A path may so take a second pad, where it joins one that has none. If it would
//! take more, or there would be many points, then one pad is taken where the paths to all calls
//! part from the others.

use super::flow::{Flow, ProgramPoint};

/// Program points beyond which one pad for all is better: each costs some 50 bytes of code.
const MAX_POINTS: usize = 4;

/// Pads that one path may take. A fast path beside two slow ones, of which the first can lead to
/// the second (a table's array part, its hash part, its metamethod), is common; sequences of calls
/// that all can be skipped are better off with one pad.
const MAX_PADS: u32 = 2;

/// Pads taken on the paths that lead to a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Taken {
    least: u32,
    most: u32,
}

impl Taken {
    const NONE: Taken = Taken { least: 0, most: 0 };

    fn or(self, other: Taken) -> Taken {
        Taken { least: self.least.min(other.least), most: self.most.max(other.most) }
    }
}

/// The points of the pads, so that every block of `calling` that is not `noreturn` lies behind one;
/// none if there is nothing to pad.
pub(crate) fn points(flow: &Flow, calling: &[bool], noreturn: &[bool]) -> Vec<ProgramPoint> {
    let wanted: Vec<bool> =
        calling.iter().zip(noreturn).map(|(&calls, &noreturn)| calls && !noreturn).collect();
    due_points(flow, &wanted, noreturn)
        .or_else(|| flow.meeting_point(&wanted).map(|point| vec![point]))
        .unwrap_or_default()
}

/// The points where a pad becomes due; none if some path would meet too many, or there are too
/// many.
fn due_points(flow: &Flow, wanted: &[bool], noreturn: &[bool]) -> Option<Vec<ProgramPoint>> {
    // From here on components are numbered, those behind a component before it.
    let components = flow.components();
    let mut component_of = vec![0; wanted.len()];
    for (number, blocks) in components.iter().enumerate() {
        blocks.iter().for_each(|&block| component_of[block] = number);
    }
    // Edges between components, without the `noreturn` blocks.
    let mut entering = vec![Vec::new(); components.len()];
    let mut leaving = vec![Vec::new(); components.len()];
    for &from in flow.reachable().iter().filter(|&&from| !noreturn[from]) {
        for &to in flow.successors(from).iter().filter(|&&to| !noreturn[to]) {
            if component_of[from] != component_of[to] {
                entering[component_of[to]].push((from, to));
                leaving[component_of[from]].push(component_of[to]);
            }
        }
    }
    let mut due = vec![false; components.len()];
    for number in 0..components.len() {
        due[number] = components[number].iter().any(|&block| wanted[block])
            || (!leaving[number].is_empty() && leaving[number].iter().all(|&to| due[to]));
    }

    let mut points = Vec::new();
    let mut taken = vec![Taken::NONE; components.len()];
    for number in (0..components.len()).rev() {
        let before = |edge: &(usize, usize)| taken[component_of[edge.0]];
        taken[number] = if due[number] {
            let (padded, lacking): (Vec<_>, Vec<_>) =
                entering[number].iter().partition(|&edge| before(edge).least > 0);
            points.extend(points_on(flow, &components[number], &entering[number], &lacking));
            let most = |edges: &[(usize, usize)]| edges.iter().map(|edge| before(edge).most).max();
            let with_new = match entering[number].is_empty() || !lacking.is_empty() {
                true => most(&lacking).unwrap_or(0) + 1,
                false => 0,
            };
            Taken { least: 1, most: with_new.max(most(&padded).unwrap_or(0)) }
        } else {
            entering[number].iter().map(before).reduce(Taken::or).unwrap_or(Taken::NONE)
        };
        if taken[number].most > MAX_PADS {
            return None;
        }
    }
    points.sort_unstable();
    (points.len() <= MAX_POINTS).then_some(points)
}

/// Points that cover the `lacking` ones of the edges that enter a component.
fn points_on(
    flow: &Flow,
    component: &[usize],
    entering: &[(usize, usize)],
    lacking: &[(usize, usize)],
) -> Vec<ProgramPoint> {
    match component {
        // None of the ways here has a pad: the entry, or a block that all of them share.
        &[block] if lacking.len() == entering.len() && !flow.successors(block).contains(&block) => {
            vec![ProgramPoint::Block(block)]
        }
        // The entry has no predecessors in LLVM, so that it is a component of its own.
        _ => lacking
            .iter()
            .map(|&(from, to)| match flow.successors(from) {
                [_] => ProgramPoint::Block(from),
                _ => ProgramPoint::Edge(from, to),
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::points;
    use crate::plan::flow::{Flow, ProgramPoint};

    fn points_of(
        successors: &[&[usize]],
        calling: &[usize],
        noreturn: &[usize],
    ) -> Vec<ProgramPoint> {
        let marks = |blocks: &[usize]| {
            let mut marks = vec![false; successors.len()];
            blocks.iter().for_each(|&block| marks[block] = true);
            marks
        };
        let flow = Flow::new(successors.iter().map(|to| to.to_vec()).collect());
        points(&flow, &marks(calling), &marks(noreturn))
    }

    #[test]
    fn a_fast_path_between_two_slow_ones_takes_no_pad() {
        // 0 goes to the slow 1, the fast 2, or by way of 3 to the slow 4.
        let branches: [&[usize]; 6] = [&[1, 2, 3], &[5], &[5], &[2, 4], &[5], &[]];
        assert_eq!(
            points_of(&branches, &[1, 4], &[]),
            [ProgramPoint::Block(1), ProgramPoint::Block(4)]
        );
    }

    #[test]
    fn a_call_that_padded_and_unpadded_paths_share_is_padded_on_the_unpadded_ones() {
        // 1 calls and goes on to 3, which calls too; 2 comes to 3 or returns.
        let shared: [&[usize]; 5] = [&[1, 2], &[3], &[3, 4], &[4], &[]];
        assert_eq!(
            points_of(&shared, &[1, 3], &[]),
            [ProgramPoint::Block(1), ProgramPoint::Edge(2, 3)]
        );
    }

    #[test]
    fn no_path_takes_three_pads() {
        // Calls behind each other, each of which can be skipped.
        let twice: [&[usize]; 5] = [&[1, 2], &[2], &[3, 4], &[4], &[]];
        assert_eq!(
            points_of(&twice, &[1, 3], &[]),
            [ProgramPoint::Block(1), ProgramPoint::Block(3)]
        );
        let thrice: [&[usize]; 7] = [&[1, 2], &[2], &[3, 4], &[4], &[5, 6], &[6], &[]];
        assert_eq!(points_of(&thrice, &[1, 3, 5], &[]), [ProgramPoint::Block(0)]);
    }

    #[test]
    fn noreturn_blocks_take_no_pad_and_hide_none() {
        let checked: [&[usize]; 4] = [&[1, 2], &[], &[3], &[]];
        assert_eq!(points_of(&checked, &[1], &[1]), []);
        assert_eq!(points_of(&checked, &[1, 3], &[1]), [ProgramPoint::Block(0)]);
    }

    #[test]
    fn a_loop_is_padded_where_it_is_entered() {
        let entered: [&[usize]; 4] = [&[1, 3], &[1, 2], &[3], &[]];
        assert_eq!(points_of(&entered, &[1], &[]), [ProgramPoint::Edge(0, 1)]);
        let always: [&[usize]; 4] = [&[1], &[1, 2], &[3], &[]];
        assert_eq!(points_of(&always, &[1], &[]), [ProgramPoint::Block(0)]);
    }

    #[test]
    fn many_points_become_one() {
        let many: [&[usize]; 8] = [&[1, 2, 3, 4, 5, 6], &[7], &[7], &[7], &[7], &[7], &[7], &[]];
        assert_eq!(points_of(&many, &[1, 2, 3, 4, 5], &[]), [ProgramPoint::Block(0)]);
        assert_eq!(
            points_of(&many, &[1, 2], &[]),
            [ProgramPoint::Block(1), ProgramPoint::Block(2)]
        );
    }

    #[test]
    fn a_function_without_calls_has_no_point() {
        assert_eq!(points_of(&[&[1], &[]], &[], &[]), []);
    }
}
