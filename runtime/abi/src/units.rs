//! Units: functions that are copied together, linked to a ring by [`Movable::unit_next`].
//!
//! [`Movable::unit_next`]: crate::Movable::unit_next

/// Whether the links of `count` functions form rings, so that each function is in exactly one and a
/// walk along its links comes back to it.
///
/// Needs no memory. A ring is counted at its lowest index alone, and links form rings if and only
/// if those of all rings together are all functions. A link below `index` belongs to a walk that
/// has been made before.
pub(crate) fn form_rings(count: u32, next: impl Fn(u32) -> Option<u32>) -> bool {
    let mut in_rings = 0u32;
    for index in 0..count {
        let (mut member, mut length) = (index, 0u32);
        loop {
            let Some(following) = next(member).filter(|&following| following < count) else {
                return false;
            };
            length += 1;
            if following < index {
                break;
            }
            if following == index {
                in_rings += length;
                break;
            }
            // The walk has come into a ring that does not lead back.
            if length == count {
                return false;
            }
            member = following;
        }
    }
    in_rings == count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn are_rings(links: &[u32]) -> bool {
        let count = u32::try_from(links.len()).unwrap();
        form_rings(count, |index| links.get(index as usize).copied())
    }

    #[test]
    fn functions_alone_and_units_in_any_order_are_rings() {
        for links in [&[][..], &[0], &[0, 1, 2], &[2, 1, 3, 0], &[3, 0, 1, 2], &[1, 2, 0, 4, 3]] {
            assert!(are_rings(links), "{links:?}");
        }
    }

    #[test]
    fn links_that_do_not_come_back_are_no_rings() {
        for links in [&[1, 1][..], &[0, 0], &[1, 2, 1], &[2, 2, 1], &[3, 1, 2, 2], &[1], &[1, 7]] {
            assert!(!are_rings(links), "{links:?}");
        }
        // A walk takes as many steps as there are functions, at most.
        let mut long: Vec<u32> = (1..2000).collect();
        long.push(1);
        assert!(!are_rings(&long));
    }
}
