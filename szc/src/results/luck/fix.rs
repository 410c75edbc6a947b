//! Where a function has to lie so that its placement does no more harm, what in a source keeps it
//! there, and what that changes.
#![forbid(unsafe_code)]

use szc_stats::describe::standard_deviation;
use szc_stats::groups::brown_forsythe;

use super::{extremes, held_in};
use crate::samples::SamplesFile;
use crate::samples::luck::{Feature, FixRecord, NamedRecord};
use crate::samples::sample::values_of;

/// The offset that a fix would give the function: the beginning of a line, if that is as good as
/// the best within `tolerance`, since an attribute keeps it there; else the best. None where its
/// distance from another function is what matters.
#[must_use]
pub fn target(named: &NamedRecord, tolerance: f64) -> Option<u32> {
    if named.from.is_some() {
        return None;
    }
    let [best, _] = extremes(named)?;
    let ratio = |offset: u32| {
        named.offsets.iter().find(|class| class.offset == offset).map(|class| class.ratio)
    };
    let is_as_good = ratio(0)? <= ratio(best)? * (1.0 + tolerance);
    Some(if is_as_good && named.feature != Feature::Page { 0 } else { best })
}

/// What to write, for a function at `offset` of what it is held in.
#[must_use]
pub fn advice(named: &NamedRecord, offset: u32) -> Vec<String> {
    let modulus = held_in(named.feature);
    if modulus == 4096 {
        return vec![
            "__attribute__((section(\".text.placed\")))".to_owned(),
            format!("-Wl,--section-start=.text.placed=ADDRESS (ADDRESS % 4096 = {offset})"),
        ];
    }
    if offset == 0 {
        return vec![format!("__attribute__((aligned({modulus})))")];
    }
    vec![format!(
        "__attribute__((aligned({modulus}), patchable_function_entry({offset}, {offset})))"
    )]
}

/// What holding the function did: `file` compares the program that holds it, B, with the one that
/// does not, A.
#[must_use]
pub fn fix(named: &NamedRecord, offset: u32, file: &SamplesFile) -> Option<FixRecord> {
    let result = file.deciding_results().next()?;
    let logs = |program| -> Vec<f64> {
        values_of(&file.runs, program, &file.design.metric).iter().map(|one| one.ln()).collect()
    };
    let [free, held] = [logs(0), logs(1)];
    let found = brown_forsythe(&[&free, &held]).ok()?;
    Some(FixRecord {
        function: named.function.clone(),
        offset,
        modulus: held_in(named.feature),
        advice: advice(named, offset),
        runs: held.len(),
        sd: [standard_deviation(&free)?, standard_deviation(&held)?],
        p: found.p,
        ratio: result.ratio,
        interval: result.interval,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::{analysed, file_of};
    use crate::samples::luck::OffsetRecord;

    fn named(feature: Feature, ratios: [f64; 2]) -> NamedRecord {
        let (_, width) = feature.bytes();
        let class = |(place, ratio)| OffsetRecord { offset: place * width, layouts: 9, ratio };
        NamedRecord {
            function: "f".to_owned(),
            from: None,
            feature,
            asked_by: Vec::new(),
            adjusted_p: 0.001,
            share: None,
            offsets: [0, 1].into_iter().zip(ratios).map(class).collect(),
            places: Vec::new(),
        }
    }

    #[test]
    fn the_beginning_of_a_line_is_preferred_where_it_is_as_good() {
        let nearly = named(Feature::Line, [1.0, 0.998]);
        assert_eq!(target(&nearly, 0.01), Some(0));
        assert_eq!(advice(&nearly, 0), ["__attribute__((aligned(64)))"]);
        let worse = named(Feature::Line, [1.1, 0.9]);
        assert_eq!(target(&worse, 0.01), Some(16));
        assert!(advice(&worse, 16)[0].contains("patchable_function_entry(16, 16)"));
        let page = named(Feature::Page, [1.0, 0.999]);
        assert_eq!(target(&page, 0.01), Some(512));
        assert!(advice(&page, 512)[1].contains("ADDRESS % 4096 = 512"));
    }

    #[test]
    fn a_program_that_varies_less_when_held_is_told_by_its_spread() {
        let mut file = file_of(&[1000, 1000], 20);
        for run in &mut file.runs {
            let spread = if run.program == 0 { 90_000 } else { 9000 };
            run.user_us += u64::from(run.block * 7 % 10) * spread / 10;
        }
        let found = fix(&named(Feature::Line, [1.1, 0.9]), 16, &analysed(file)).unwrap();
        assert!(found.p < 1e-4 && found.sd[0] > 5.0 * found.sd[1], "{found:?}");
        assert!(found.ratio < 1.0 && found.runs == 40, "{found:?}");
    }
}
