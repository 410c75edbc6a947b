//! What setups do to the answer, in words and tables.
#![forbid(unsafe_code)]

pub mod names;
pub mod simulated;
pub mod suite;

use szc_stats::fixed::Interval;

use self::names::{factor_name, setup_name};
use super::number::{decimals_for, percent, quantities, range, short_p};
use super::text::{align, schedule_lines};
use crate::samples::bias::{
    BiasRecord, CausalRecord, CauseRecord, CauseVerdict, DrawnRecord, FactorRecord, PartRecord,
};
use crate::samples::setups::Condition;
use crate::samples::{EndedRecord, SamplesFile};

/// p below which setups differ by more than noise.
pub const SIGNIFICANT: f64 = 0.05;

/// All that is said; `quiet`: the sentences alone.
#[must_use]
pub fn report(file: &SamplesFile, quiet: bool) -> String {
    let sentences = sentences(file);
    let mut text = String::new();
    if !quiet {
        for table in tables(file) {
            text.push_str(&align(&table));
            text.push('\n');
        }
    }
    let below = if quiet { Vec::new() } else { schedule_lines(file) };
    for line in sentences.iter().chain(&below) {
        text.push_str(line);
        text.push('\n');
    }
    text
}

/// What follows, a sentence each.
#[must_use]
pub fn sentences(file: &SamplesFile) -> Vec<String> {
    let mut sentences = match &file.bias {
        Some(found) => of_record(file, found),
        None => Vec::new(),
    };
    if sentences.is_empty() {
        sentences.push("Nothing is known yet: too few setups were measured.".to_owned());
    }
    if matches!(file.ended, EndedRecord::Interrupted { .. } | EndedRecord::Unfinished) {
        sentences.push(format!(
            "Stopped after {} of {} blocks.",
            file.design.complete_blocks, file.design.plan.blocks
        ));
    }
    sentences
}

fn of_record(file: &SamplesFile, found: &BiasRecord) -> Vec<String> {
    let mut sentences: Vec<String> =
        found.factors.iter().map(|factor| factor_sentence(file, factor)).collect();
    if let Some(drawn) = &found.drawn {
        sentences.push(drawn_sentence(file, drawn));
        sentences.push(single_sentence(file, drawn));
    }
    if let Some(causal) = &found.causal {
        sentences.extend(causal_sentences(file, causal));
    }
    for one in &found.simulated {
        sentences.extend(simulated::sentences(file, one));
    }
    sentences
}

/// Rows of tables, each with its head.
#[must_use]
pub fn tables(file: &SamplesFile) -> Vec<Vec<Vec<String>>> {
    let Some(found) = &file.bias else { return Vec::new() };
    let mut tables = Vec::new();
    if !found.factors.is_empty() {
        let head = ["", "setups", "lowest", "highest", "height", "sd of setups", "p"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for factor in &found.factors {
            let [lowest, highest] = values(file, [factor.lowest, factor.highest]);
            rows.push(vec![
                factor_name(factor.factor).to_owned(),
                factor.setups.len().to_string(),
                lowest,
                highest,
                percent(factor.height),
                factor.sd_setups.map_or_else(|| "~".to_owned(), percent),
                factor.p.map_or_else(|| "~".to_owned(), short_p),
            ]);
        }
        tables.push(rows);
    }
    if !found.split.is_empty() {
        let head = ["drawn setups by", "sd of its levels", "95 % interval", "p"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        rows.extend(found.split.iter().map(|part| {
            let name = factor_name(part.factor).to_owned();
            vec![name, percent(part.sd), sd_interval(part), short_p(part.p)]
        }));
        tables.push(rows);
    }
    if let Some(causal) = found.causal.as_ref().filter(|causal| causal.shown) {
        let head = ["held", "difference", "95 % interval", "remains", "verdict"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        let row = |held: &str, effect, interval: [f64; 2], remains: String, verdict: &str| {
            let interval = Interval { lower: interval[0], upper: interval[1] };
            let decimals = decimals_for(effect, interval);
            let effect = format!("{effect:.decimals$}");
            vec![held.to_owned(), effect, range(interval, decimals), remains, verdict.to_owned()]
        };
        rows.push(row("nothing", causal.effect, causal.interval, String::new(), ""));
        for cause in &causal.causes {
            let verdict = verdict_word(cause.verdict);
            let remains = format!("{:.0} %", 100.0 * cause.remains);
            rows.push(row(held(cause.cause), cause.effect, cause.interval, remains, verdict));
        }
        tables.push(rows);
    }
    for one in &found.simulated {
        tables.push(simulated::events(file, one));
        if !one.functions.is_empty() {
            tables.push(simulated::places(one));
        }
    }
    tables
}

/// "0.5 % to 1.2 %".
#[must_use]
pub fn sd_interval(part: &PartRecord) -> String {
    part.interval.map_or_else(
        || "~".to_owned(),
        |[low, high]| format!("{} to {}", percent(low), percent(high)),
    )
}

/// What is said of a cause; "~" of one that is not decided.
#[must_use]
pub const fn verdict_word(verdict: CauseVerdict) -> &'static str {
    match verdict {
        CauseVerdict::Confirmed => "confirmed",
        CauseVerdict::Rejected => "rejected",
        CauseVerdict::Undecided => "~",
    }
}

/// What a condition holds.
#[must_use]
pub const fn held(condition: Condition) -> &'static str {
    match condition {
        Condition::Plain => "nothing",
        Condition::Stack => "start of the stack",
        Condition::Heap => "start of the heap",
        Condition::Contents => "contents of the environment",
    }
}

/// What the values of setups are: "B / A", or "CPU time of A".
#[must_use]
pub fn quantity(file: &SamplesFile) -> String {
    match &file.programs[..] {
        [one] => format!("{} of {}", file.design.metric.title(), one.title_label()),
        [first, second, ..] => format!("{} / {}", second.title_label(), first.title_label()),
        [] => String::new(),
    }
}

/// Ratios, or amounts of the metric.
fn values<const N: usize>(file: &SamplesFile, values: [f64; N]) -> [String; N] {
    if file.programs.len() > 1 {
        values.map(|value| format!("{value:.3}"))
    } else {
        quantities(&file.design.metric, values)
    }
}

fn factor_sentence(file: &SamplesFile, found: &FactorRecord) -> String {
    let at = |value: f64| {
        let setup = found.setups.iter().find(|setup| setup.value == value);
        setup.map_or_else(String::new, |setup| setup_name(file, setup))
    };
    let [lowest, highest] = values(file, [found.lowest, found.highest]);
    let (what, count) = (quantity(file), found.setups.len());
    let range = format!(
        "{what} is between {lowest} ({}) and {highest} ({}) in {count} setups",
        at(found.lowest),
        at(found.highest)
    );
    let name = format!("the {}", factor_name(found.factor));
    if found.height == 0.0 {
        return format!("{what} is {lowest} in all {count} setups that differ in {name}.");
    }
    match found.p {
        None => format!(
            "{range} that differ in {name}; whether that is more than noise, a single block \
             of each does not tell: --repeats 2."
        ),
        Some(p) if p >= SIGNIFICANT => format!(
            "{range} that differ in {name}, which is not more than blocks of one setup differ \
             by (p = {}).",
            short_p(p)
        ),
        Some(_) => {
            let straddles = match found.straddles {
                Some(true) => ", and which is faster depends on it",
                Some(false) => ", and which is faster does not depend on it",
                None => "",
            };
            format!("What changes the answer is {name}: {range}{straddles}.")
        }
    }
}

fn drawn_sentence(file: &SamplesFile, drawn: &DrawnRecord) -> String {
    let [lower, upper] = drawn.interval;
    let text = if file.programs.len() > 1 {
        let interval = Interval { lower, upper };
        let decimals = decimals_for(drawn.value, interval);
        format!("{:.decimals$}: 95 % interval {}", drawn.value, range(interval, decimals))
    } else {
        let [value, lower, upper] = quantities(&file.design.metric, [drawn.value, lower, upper]);
        format!("{value}: 95 % interval {lower} to {upper}")
    };
    let reached = match file.design.precision {
        Some(asked) if drawn.precision > asked => {
            format!(", not yet the ± {} that were asked for", percent(asked))
        }
        _ => String::new(),
    };
    format!(
        "Over setups {} is {text} (± {}{reached}), n = {} setups drawn at random.",
        quantity(file),
        percent(drawn.precision),
        drawn.n
    )
}

fn single_sentence(file: &SamplesFile, drawn: &DrawnRecord) -> String {
    let tolerance = file.design.tolerance.unwrap_or(crate::results::tolerance::USUAL_TOLERANCE);
    let side = match drawn.wrong_side {
        Some(share) => format!(", and takes the slower for the faster one in {}", rounded(share)),
        None => String::new(),
    };
    format!(
        "A single setup, however often it is measured, is off by more than {} in {} of cases{side} \
         (standard deviation of setups {}).",
        percent(tolerance),
        rounded(drawn.off),
        percent(drawn.sd_setups)
    )
}

/// A share of cases to a percent.
fn rounded(share: f64) -> String {
    if share < 0.005 { "less than 1 %".to_owned() } else { format!("{:.0} %", 100.0 * share) }
}

fn causal_sentences(file: &SamplesFile, found: &CausalRecord) -> Vec<String> {
    let [low, high] = found.sizes_bytes;
    if !found.shown {
        return vec![format!(
            "Measured anew in {} blocks, {} does not differ between +{high} and +{low} bytes of \
             environment (ratio {:.4}, 95 % interval {:.4} to {:.4}): there is no cause to name.",
            found.n,
            quantity(file),
            found.effect,
            found.interval[0],
            found.interval[1]
        )];
    }
    let mut sentences = vec![format!(
        "Measured anew in {} blocks, {} is {:.3} times as large at +{high} as at +{low} bytes of \
         environment.",
        found.n,
        quantity(file),
        found.effect
    )];
    sentences.extend(found.causes.iter().map(cause_sentence));
    sentences
}

fn cause_sentence(cause: &CauseRecord) -> String {
    let what = held(cause.cause);
    let remains = format!("{:.0} % of the difference", 100.0 * cause.remains);
    match cause.verdict {
        CauseVerdict::Confirmed => {
            format!("Cause confirmed: the {what}. With it held, {remains} remain.")
        }
        CauseVerdict::Rejected => {
            format!("Cause rejected: the {what}. With it held, {remains} remain.")
        }
        CauseVerdict::Undecided => format!(
            "Not decided whether the {what} is a cause: with it held, {remains} remain, and \
             neither at most a quarter nor at least three quarters of it were shown."
        ),
    }
}

#[cfg(test)]
mod tests;
