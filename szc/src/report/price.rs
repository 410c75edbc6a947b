//! What an answer takes that is not there yet: blocks, and the time to wait for them.
#![forbid(unsafe_code)]

use super::number::many;
use crate::results::block_time::seconds_per_block;
use crate::samples::{ResultRecord, SamplesFile};

/// "about 45 blocks, 12 min": those measured included, and at their pace.
pub(super) fn price(file: &SamplesFile, result: &ResultRecord) -> Option<String> {
    let blocks = result.blocks_needed?;
    let time = seconds_per_block(file, result).filter(|_| blocks < 1_000_000);
    let time = time.map(|seconds| format!(", {}", waiting(seconds * blocks as f64)));
    Some(format!("{} blocks{}", many(blocks), time.unwrap_or_default()))
}

/// A time to wait: "40 s", "12 min", "3.5 h".
fn waiting(seconds: f64) -> String {
    match seconds {
        time if time < 99.5 => format!("{time:.0} s"),
        time if time < 99.5 * 60.0 => format!("{:.0} min", time / 60.0),
        time if time < 99.5 * 3600.0 => format!("{:.1} h", time / 3600.0),
        time => format!("{:.0} days", time / 86_400.0),
    }
}

/// ", an answer in about 45 blocks", while there are fewer; and if there may not be as many.
#[must_use]
pub fn expectation(blocks_needed: u64, possible: u32) -> String {
    let needed = many(blocks_needed);
    if blocks_needed <= u64::from(possible) {
        format!(", an answer in {needed} blocks")
    } else {
        format!(", an answer would take {needed} blocks and there is room for {possible}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::{analysed, file_of};

    #[test]
    fn times_to_wait_have_the_unit_that_people_wait_in() {
        let texts = [0.4, 99.0, 600.0, 7200.0, 1e6].map(waiting);
        assert_eq!(texts, ["0 s", "99 s", "10 min", "2.0 h", "12 days"]);
    }

    #[test]
    fn a_verdict_that_is_missing_has_its_price() {
        // Blocks of 4 s.
        let mut file = file_of(&[1000, 1000], 20);
        file.design.tolerance = Some(1e-4);
        let file = analysed(file);
        let blocks = file.results[0].blocks_needed.unwrap();
        let found = price(&file, &file.results[0]).unwrap();
        assert!(found.starts_with(&format!("about {blocks} blocks, ")), "{found}");
        assert!(found.ends_with(" h") && file.results[0].sentence.contains(&found), "{found}");
        let decided = analysed(file_of(&[1000, 900], 20));
        assert_eq!(price(&decided, &decided.results[0]), None);
    }

    #[test]
    fn what_does_not_fit_into_the_budget_is_said_before_it_is_spent() {
        assert_eq!(expectation(45, 45), ", an answer in about 45 blocks");
        let text = ", an answer would take about 45 blocks and there is room for 44";
        assert_eq!(expectation(45, 44), text);
    }
}
