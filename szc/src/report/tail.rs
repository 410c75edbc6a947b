//! What a verdict does not know: layouts that were not met, and the slowest of those that were.
#![forbid(unsafe_code)]

use szc_stats::decision::SLOWEST_LAYOUT;
use szc_stats::planning::unseen_share;

use super::number::{decimals_for, percent, range};
use super::price::price;
use crate::results::tolerance::tolerance_of;
use crate::samples::{ResultRecord, SamplesFile, SlowestRecord};
use szc_stats::fixed::Interval;

/// Whether a verdict without an answer has an interval that would do, and only lacks layouts.
pub(super) fn lacks_layouts(result: &ResultRecord, tolerance: f64) -> bool {
    let [lower, upper] = result.interval;
    let within = upper < 1.0 + tolerance;
    match result.verdict {
        crate::samples::Verdict::Inconclusive => within,
        _ => within && lower > 1.0 / (1.0 + tolerance),
    }
}

/// ": 121 of each, in about 61 blocks, would have shown …".
pub(super) fn layouts_needed(file: &SamplesFile, result: &ResultRecord) -> String {
    let layouts = tolerance_of(&file.design, &result.metric).min_layouts();
    let price = price(file, result).map_or_else(String::new, |price| format!(", in {price}"));
    format!(
        ": {} of each{price}, would have shown one that is {} times slower and frequent enough to \
         matter",
        layouts,
        slowest_layout(file)
    )
}

/// What a verdict of "no slower" rests on besides its interval.
pub(super) fn assumption(file: &SamplesFile, result: &ResultRecord) -> String {
    let varying = result.layouts.filter(|_| result.sd_log_ratio != 0.0);
    varying.map_or_else(String::new, |layouts| {
        format!(
            " It assumes that no layout is more than {} times slower than the others; one rarer \
             than {} was likely not met ({layouts} layouts of each).",
            slowest_layout(file),
            rare(layouts)
        )
    })
}

fn slowest_layout(file: &SamplesFile) -> f64 {
    file.design.slowest_layout.unwrap_or(SLOWEST_LAYOUT)
}

fn rare(layouts: usize) -> String {
    let share = unseen_share(layouts.max(1));
    let percents = 100.0 * share;
    if percents >= 10.0 { format!("{percents:.0} %") } else { format!("{percents:.1} %") }
}

/// The tail as a question of its own; nothing of values that never differ.
pub(super) fn remark(file: &SamplesFile, result: &ResultRecord) -> Option<String> {
    let (layouts, slowest) = (result.layouts?, result.slowest?);
    if result.never_differed() {
        return None;
    }
    let [reference, program] =
        [result.reference, result.program].map(|program| file.programs[program].title());
    let what = format!("Tail: the slowest tenth of the layouts of {program} begins at");
    let known = ratio(&slowest).map_or_else(
        || {
            format!(
                "{what} {:.3} times that of {reference}, an interval of which takes {} layouts of \
                 each",
                slowest.value, slowest.layouts_needed
            )
        },
        |ratio| format!("{what} {ratio} times that of {reference}"),
    );
    Some(format!(
        "{known}. A layout rarer than {} was likely not met ({layouts} of each).",
        rare(layouts)
    ))
}

/// "1.020 (95 % interval 0.990 to 1.050)"; `None` if an end is open.
fn ratio(slowest: &SlowestRecord) -> Option<String> {
    let interval = Interval { lower: slowest.lower?, upper: slowest.upper? };
    let decimals = decimals_for(slowest.value, interval);
    let ends = range(interval, decimals);
    Some(format!("{:.decimals$} (95 % interval {ends})", slowest.value))
}

/// Where the slowest tenth of one program's layouts begins, as a share of the median.
pub(super) fn remark_on_one(median: f64, layouts: usize, slowest: &SlowestRecord) -> String {
    let above = |value: f64| percent((value / median - 1.0).max(0.0));
    let ends = match (slowest.lower, slowest.upper) {
        (Some(lower), Some(upper)) => {
            format!(" (95 % interval {} to {})", above(lower), above(upper))
        }
        _ => format!(", an interval of which takes {} layouts", slowest.layouts_needed),
    };
    format!(
        "Tail: the slowest tenth of the layouts begins {} above the median{ends}. A layout rarer \
         than {} was likely not met.",
        above(slowest.value),
        rare(layouts)
    )
}

#[cfg(test)]
mod tests {
    use crate::examples::{analysed, comparison, file_of, layouts_of};
    use crate::report::layouts::run_remarks;
    use crate::report::sentence::remarks_on;
    use crate::samples::{Command, RuleRecord, Verdict};

    #[test]
    fn a_gate_of_few_layouts_says_what_they_cannot_show() {
        let mut file = file_of(&[1000, 1000], 20);
        file.command = Command::Gate;
        file.design.slowest_layout = None;
        file.design.rule = RuleRecord::Sequential;
        let few = analysed(file.clone());
        assert_eq!(few.results[0].verdict, Verdict::Inconclusive);
        assert_eq!(few.results[0].blocks_needed, Some(61));
        let sentence = &few.results[0].sentence;
        assert!(sentence.contains("is below 1.01"), "{sentence}");
        assert!(
            sentence.contains("too few layouts: 121 of each, in about 61 blocks"),
            "{sentence}"
        );
        file.design.slowest_layout = Some(1.05);
        let enough = analysed(file);
        assert_eq!(enough.results[0].verdict, Verdict::Pass);
        let sentence = &enough.results[0].sentence;
        assert!(sentence.contains("no layout is more than 1.05 times slower"), "{sentence}");
        assert!(sentence.contains("rarer than 7.2 % was likely not met (40 layouts of each)"));
    }

    #[test]
    fn the_tail_has_a_line_of_its_own() {
        let file = comparison(1000, 900);
        let found = remarks_on(&file, &file.results[0]);
        let line = found.iter().find(|line| line.starts_with("Tail: ")).unwrap();
        assert!(line.contains("takes 42 layouts of each"), "{line}");
        assert!(line.contains("rarer than 7.2 %"), "{line}");
        let file = analysed(file_of(&[1000, 900], 60));
        let found = remarks_on(&file, &file.results[0]);
        let line = found.iter().find(|line| line.starts_with("Tail: ")).unwrap();
        assert!(line.contains("begins at 0.90") && line.contains("(95 % interval 0."), "{line}");
    }

    #[test]
    fn the_slowest_layouts_of_one_program_are_told_from_its_median() {
        let file = layouts_of(&[(1000, 1), (1100, 0), (1200, 1), (1300, 0), (1400, 1), (1500, 0)]);
        let found = run_remarks(&file, 0);
        let line = found.iter().find(|line| line.starts_with("Tail: ")).unwrap();
        assert!(
            line.contains("begins 16 % above the median, an interval of which takes 36"),
            "{line}"
        );
    }
}
