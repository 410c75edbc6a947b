//! What setups do to several programs, in words and a table.
#![forbid(unsafe_code)]

use super::super::number::percent;
use super::super::text::align;
use super::names::factor_name;
use super::{SIGNIFICANT, sentences};
use crate::samples::bias::{BiasSuiteRecord, FactorRecord, SuiteFactorRecord};
use crate::samples::{SamplesFile, printable};

/// A table of programs and factors, and a sentence for each factor; `quiet`: the sentences alone.
#[must_use]
pub fn report(files: &[(String, SamplesFile)], found: &BiasSuiteRecord, quiet: bool) -> String {
    let mut text = String::new();
    if !quiet {
        let head = ["program", "differs in", "lowest", "highest", "height", "straddles 1", "more"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for (name, file) in files {
            let factors = file.bias.iter().flat_map(|bias| &bias.factors);
            rows.extend(factors.map(|factor| row(name, factor)));
        }
        if rows.len() > 1 {
            text.push_str(&align(&rows));
            text.push('\n');
        }
    }
    for factor in &found.factors {
        text.push_str(&sentence(factor));
        text.push('\n');
    }
    let drawn = files
        .iter()
        .filter(|(_, file)| file.bias.as_ref().is_some_and(|bias| bias.drawn.is_some()));
    for (name, file) in drawn {
        text.push_str(&format!("{}: {}\n", printable(name), sentences(file).join(" ")));
    }
    if text.is_empty() {
        text.push_str("Nothing is known yet: no file has two programs and enough setups.\n");
    }
    text
}

fn row(name: &str, factor: &FactorRecord) -> Vec<String> {
    let straddles = match factor.straddles {
        Some(true) => "yes",
        Some(false) => "no",
        None => "~",
    };
    let more = match factor.p {
        Some(p) if p < SIGNIFICANT => "than noise",
        Some(_) => "not shown",
        None => "~",
    };
    vec![
        printable(name),
        factor_name(factor.factor).to_owned(),
        format!("{:.3}", factor.lowest),
        format!("{:.3}", factor.highest),
        percent(factor.height),
        straddles.to_owned(),
        more.to_owned(),
    ]
}

fn sentence(found: &SuiteFactorRecord) -> String {
    format!(
        "Over {} programs the {}: {} of their violins straddle 1, the median height is {}; the \
         mean ratio of all programs is between {:.3} and {:.3} in {} setups, by {}.",
        found.programs,
        factor_name(found.factor),
        found.straddling,
        percent(found.median_height),
        found.lowest,
        found.highest,
        found.setups,
        percent(found.height)
    )
}
