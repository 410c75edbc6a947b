//! Whose placement explains how long a program takes, in words and a table.
#![forbid(unsafe_code)]

pub mod words;

use szc_stats::fixed::Interval;

use self::words::{called, class, feature, head, noun, possession, share, whose};
use super::number::{decimals_for, percent, range, short_p};
use super::text::align;
use crate::samples::luck::{
    Confirmation, DRAWS, Feature, FixRecord, HotRecord, InterventionRecord, LuckRecord,
    NamedRecord, Part,
};
use crate::samples::printable;

/// p below which layouts differ by more than runs of one layout.
const SIGNIFICANT: f64 = 0.05;

/// All that is said; `quiet`: the sentences alone.
#[must_use]
pub fn report(found: &LuckRecord, quiet: bool) -> String {
    let mut text = String::new();
    if !quiet && !found.named.is_empty() {
        let mut rows = vec![head(found.part).map(str::to_owned).to_vec()];
        rows.extend(found.named.iter().map(row));
        text.push_str(&align(&rows));
        text.push('\n');
    }
    for sentence in sentences(found) {
        text.push_str(&sentence);
        text.push('\n');
    }
    text
}

/// What follows, a sentence each.
#[must_use]
pub fn sentences(found: &LuckRecord) -> Vec<String> {
    let mut sentences = vec![variance_sentence(found)];
    sentences.extend(hottest_sentence(found));
    match found.named.first() {
        None => sentences.push(nobody_sentence(found)),
        Some(named) => {
            sentences.push(named_sentence(named, found.metric.title()));
            sentences.extend(asked_sentence(named));
        }
    }
    sentences.extend(found.intervention.as_ref().map(intervention_sentence));
    sentences.extend(found.fix.as_ref().map(fix_sentence));
    sentences
}

/// Which functions a pilot chose.
fn hottest_sentence(found: &LuckRecord) -> Option<String> {
    if found.pairs == 0 || found.hottest.is_empty() {
        return None;
    }
    let named = |one: &HotRecord| format!("{} {}", printable(&one.function), share(one.share));
    let hottest: Vec<String> = found.hottest.iter().map(named).collect();
    let pairs = if found.pairs == 1 { "pair" } else { "pairs" };
    Some(format!(
        "Looked at are also the distances of {} {pairs}, of the functions that take the most \
         time: {}.",
        found.pairs,
        hottest.join(", ")
    ))
}

fn nobody_sentence(found: &LuckRecord) -> String {
    let (whose, which, by) = match found.part {
        Part::Code => ("placement", "functions", "its offset in 32 bytes, in a line, or in a page"),
        Part::Stack => (
            "frame",
            "functions with pads",
            "where its frame begins in a line or in a page, or by its pad",
        ),
        Part::Heap => return no_blocks_sentence(found),
    };
    let pairs = match found.pairs {
        0 => String::new(),
        1 => ", nor does one pair by its distance in a page".to_owned(),
        pairs => format!(", nor does one of {pairs} pairs by its distance in a page"),
    };
    format!(
        "No function's {whose} alone explains it: of {} {which} that ran in all {} layouts none \
         goes with {} at 5 % together, by {by}{pairs}.",
        found.functions,
        found.layouts,
        found.metric.title()
    )
}

fn no_blocks_sentence(found: &LuckRecord) -> String {
    format!(
        "No size of blocks alone explains it: of {} size classes that all {} layouts have none \
         goes with {} at 5 % together, by its {DRAWS} draws.",
        found.functions,
        found.layouts,
        found.metric.title()
    )
}

fn variance_sentence(found: &LuckRecord) -> String {
    let of = noun(found.part);
    let amount = format!("{} layouts of {of}, {} runs", found.layouts, found.runs);
    let title = found.metric.title();
    match (found.sd_layouts, found.p_layouts) {
        (Some(sd), Some(p)) if p < SIGNIFICANT => format!(
            "The layout of {of} changes {title}: standard deviation between layouts {} \
             ({amount}).",
            percent(sd)
        ),
        (Some(_), Some(p)) => format!(
            "Layouts of {of} do not differ in {title} by more than runs of one layout do (p = {}; \
             {amount}).",
            short_p(p)
        ),
        _ => format!("How much of {title} is layout is not known ({amount})."),
    }
}

fn row(named: &NamedRecord) -> Vec<String> {
    let mut offsets = named.offsets.clone();
    offsets.sort_by(|one, other| one.ratio.total_cmp(&other.ratio));
    let at = |place: Option<&crate::samples::luck::OffsetRecord>| {
        place.map_or_else(String::new, |one| format!("{:.3} at {}", one.ratio, one.offset))
    };
    vec![
        whose(named),
        feature(named.feature).to_owned(),
        named.share.map_or_else(|| "~".to_owned(), share),
        short_p(named.adjusted_p),
        at(offsets.first()),
        at(offsets.last()),
    ]
}

fn named_sentence(named: &NamedRecord, title: &str) -> String {
    let [low, high] = named.offsets.iter().fold([f64::INFINITY, 0.0_f64], |[low, high], one| {
        [low.min(one.ratio), high.max(one.ratio)]
    });
    let whose = possession(named);
    let classes = class(named.feature);
    let means = format!("means of its {classes} {low:.3} to {high:.3} of the mean");
    match named.share {
        Some(of) => {
            format!("About {} of the layout variance is {whose}: {means}.", share(of))
        }
        None => format!(
            "{whose} goes with {title}: {means}. What share of the layout variance that is cannot \
             be told."
        ),
    }
}

/// Who asks for the blocks.
fn asked_sentence(named: &NamedRecord) -> Option<String> {
    let asks = |one: &HotRecord| format!("{} {}", printable(&one.function), share(one.share));
    let asking: Vec<String> = named.asked_by.iter().map(asks).collect();
    (!asking.is_empty()).then(|| format!("Most of them are asked for by {}.", asking.join(", ")))
}

fn intervention_sentence(found: &InterventionRecord) -> String {
    let [best, worst] = found.offsets;
    let interval = Interval { lower: found.interval[0], upper: found.interval[1] };
    let decimals = decimals_for(found.ratio, interval);
    let name = called(&found.function, found.feature);
    let at = match (&found.from, found.feature) {
        (Some(from), _) => {
            format!("{name} alone, {worst} bytes behind {} in a page", printable(from))
        }
        (None, Some(Feature::Draw)) => format!("{name} alone at draw {worst} of {}", found.modulus),
        (None, Some(feature)) if feature.is_of_pad() => {
            format!("{name}'s pad alone at {worst} bytes")
        }
        (None, Some(_)) => format!("{name}'s frame alone at offset {worst} of {}", found.modulus),
        (None, None) => format!("{name} alone at offset {worst} of {}", found.modulus),
    };
    let measured = format!(
        "{at}, against {best}, all others as they were: {:.decimals$} times, 95 % interval {}, n = \
         {} layouts",
        found.ratio,
        range(interval, decimals),
        found.n
    );
    match found.verdict {
        Confirmation::Confirmed => format!("Confirmed: {measured}."),
        Confirmation::Rejected => format!("Rejected: {measured}."),
        Confirmation::Undecided => format!("Not decided: {measured}; --budget says how many more."),
    }
}

fn fix_sentence(found: &FixRecord) -> String {
    let name = printable(&found.function);
    let [free, held] = found.sd.map(percent);
    let interval = Interval { lower: found.interval[0], upper: found.interval[1] };
    let decimals = decimals_for(found.ratio, interval);
    let is_robust = found.p < SIGNIFICANT && found.sd[1] < found.sd[0];
    let does = if is_robust { "makes it robust" } else { "is not shown to make it robust" };
    format!(
        "To keep {name} at offset {} of {}: {}. That {does}: held there, runs in {} layouts have a \
         standard deviation of {held} instead of {free} (p = {}), and take {:.decimals$} times as \
         long, interval {}.",
        found.offset,
        found.modulus,
        found.advice.join(" and "),
        found.runs,
        short_p(found.p),
        found.ratio,
        range(interval, decimals)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::Metric;
    use crate::samples::luck::{FORMAT, OffsetRecord};

    fn record() -> LuckRecord {
        let offset = |offset, ratio| OffsetRecord { offset, layouts: 20, ratio };
        LuckRecord {
            format: FORMAT.to_owned(),
            command: "./a".to_owned(),
            seed: 1,
            part: Part::Code,
            metric: Metric::Cpu,
            layouts: 80,
            runs: 120,
            functions: 10,
            hottest: Vec::new(),
            pairs: 0,
            values: Vec::new(),
            p_layouts: Some(1e-9),
            sd_layouts: Some(0.05),
            named: vec![NamedRecord {
                function: "toffoli".to_owned(),
                from: None,
                feature: Feature::Line,
                asked_by: Vec::new(),
                adjusted_p: 0.001,
                share: Some(0.91),
                offsets: vec![offset(0, 0.87), offset(16, 1.0), offset(32, 1.12)],
                places: Vec::new(),
            }],
            intervention: Some(InterventionRecord {
                function: "toffoli".to_owned(),
                from: None,
                feature: None,
                offsets: [0, 32],
                modulus: 64,
                n: 30,
                ratio: 1.29,
                interval: [1.25, 1.33],
                verdict: Confirmation::Confirmed,
            }),
            fix: None,
        }
    }

    #[test]
    fn the_function_is_named_with_its_share_and_what_moving_it_did() {
        let text = report(&record(), false);
        for said in [
            "standard deviation between layouts 5 % (80 layouts of code, 120 runs)",
            "About 91 % of the layout variance is toffoli's offset mod 64: means of its offsets \
             0.870 to 1.120",
            "Confirmed: toffoli alone at offset 32 of 64, against 0",
            "0.870 at 0",
        ] {
            assert!(text.contains(said), "{said}: {text}");
        }
        assert!(!report(&record(), true).contains("0.870 at 0"));
        // Where layouts are not told from noise there is nothing to have a share of.
        let mut found = record();
        found.p_layouts = Some(0.16);
        found.named[0].share = None;
        let text = report(&found, true);
        assert!(text.contains("toffoli's offset mod 64 goes with CPU time: means"), "{text}");
        assert!(text.contains("cannot be told") && !text.contains("About"), "{text}");
    }

    #[test]
    fn frames_and_pads_are_called_so() {
        let mut found = LuckRecord { part: Part::Stack, ..record() };
        found.named[0].feature = Feature::FrameLine;
        let moved = found.intervention.as_mut().unwrap();
        moved.feature = Some(Feature::FrameLine);
        let text = report(&found, false);
        for said in [
            "(80 layouts of frames, 120 runs)",
            "what of its frame",
            "is toffoli's frame mod 64: means",
            "Confirmed: toffoli's frame alone at offset 32 of 64, against 0",
        ] {
            assert!(text.contains(said), "{said}: {text}");
        }
        found.intervention.as_mut().unwrap().feature = Some(Feature::PadSet);
        assert!(report(&found, true).contains("toffoli's pad alone at 32 bytes, against 0"));
        found.named.clear();
        let text = report(&found, true);
        assert!(text.contains("No function's frame alone explains it: of 10 functions with pads"));
    }

    #[test]
    fn blocks_are_told_by_their_draws() {
        let mut found = LuckRecord { part: Part::Heap, ..record() };
        (found.named[0].feature, found.named[0].function) = (Feature::Draw, "33-64".to_owned());
        let moved = found.intervention.as_mut().unwrap();
        (moved.feature, moved.function) = (Some(Feature::Draw), "33-64".to_owned());
        (moved.offsets, moved.modulus) = ([7, 3], DRAWS);
        let parse = HotRecord { function: "parse".to_owned(), share: 0.81 };
        found.named[0].asked_by = vec![parse];
        let text = report(&found, false);
        for said in [
            "(80 layouts of blocks, 120 runs)",
            "Most of them are asked for by parse 81 %.",
            "is the draw of blocks of 33 to 64 bytes: means of its draws 0.870 to 1.120",
            "Confirmed: blocks of 33 to 64 bytes alone at draw 3 of 16, against 7, all others",
        ] {
            assert!(text.contains(said), "{said}: {text}");
        }
        found.named.clear();
        assert!(report(&found, true).contains("No size of blocks alone explains it: of 10 size"));
    }

    #[test]
    fn of_a_pair_both_are_named() {
        let mut found = LuckRecord { pairs: 3, ..record() };
        found.named[0].feature = Feature::GapPage;
        found.named[0].from = Some("gate".to_owned());
        let moved = found.intervention.as_mut().unwrap();
        (moved.feature, moved.from) = (Some(Feature::GapPage), Some("gate".to_owned()));
        let text = report(&found, false);
        for said in [
            "gate and toffoli",
            "is gate and toffoli's distance in a page by eighths: means",
            "Confirmed: toffoli alone, 32 bytes behind gate in a page, against 0, all others",
        ] {
            assert!(text.contains(said), "{said}: {text}");
        }
        assert!(!text.contains("take the most time"));
        let hot = |name: &str, share| HotRecord { function: name.to_owned(), share };
        found.hottest = vec![hot("toffoli", 0.61), hot("gate", 0.2), hot("cnot", 0.1)];
        let chosen = "Looked at are also the distances of 3 pairs, of the functions that take the \
                      most time: toffoli 61 %, gate 20 %, cnot 10 %.";
        assert!(report(&found, true).contains(chosen), "{}", report(&found, true));
        found.named.clear();
        assert!(report(&found, true).contains("nor does one of 3 pairs by its distance in a page"));
    }

    #[test]
    fn a_fix_comes_with_what_it_was_measured_to_do() {
        let fix = FixRecord {
            function: "toffoli".to_owned(),
            offset: 0,
            modulus: 64,
            advice: vec!["__attribute__((aligned(64)))".to_owned()],
            runs: 60,
            sd: [0.05, 0.006],
            p: 1e-6,
            ratio: 0.97,
            interval: [0.96, 0.98],
        };
        let said = |fix| report(&LuckRecord { fix: Some(fix), ..record() }, true);
        let text = said(fix.clone());
        let robust = "To keep toffoli at offset 0 of 64: __attribute__((aligned(64))). That makes \
                      it robust: held there, runs in 60 layouts have a standard deviation of 0.6 \
                      % instead of 5 %";
        assert!(text.contains(robust), "{text}");
        assert!(said(FixRecord { p: 0.4, ..fix }).contains("is not shown to make it robust"));
    }

    #[test]
    fn where_nothing_is_found_that_is_said() {
        let none = LuckRecord { named: Vec::new(), intervention: None, ..record() };
        let text = report(&LuckRecord { p_layouts: Some(0.4), ..none }, false);
        assert!(text.contains("No function's placement alone explains it: of 10 functions"));
        assert!(text.contains("do not differ in CPU time by more than runs of one layout do"));
    }
}
