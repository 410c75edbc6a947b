//! What setups do to several programs, and to their mean: the form of an experiment over a suite.
//!
//! Each program was measured by itself, in the same sizes of the environment. After Mytkowicz,
//! Diwan, Hauswirth and Sweeney, "Producing wrong data without doing anything obviously wrong!"
//! (ASPLOS 2009), sections 4.2, 5.2 and 6.1: in how many programs the violin straddles 1, its
//! median height, and by how much the mean over the programs still differs between setups.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;

use szc_stats::describe::{mean, median};

use crate::samples::SamplesFile;
use crate::samples::bias::{BiasSuiteRecord, Factor, SuiteFactorRecord};

/// Value of the field `format`.
const FORMAT: &str = "szc-bias-suite";

/// What `files` say together; each has a name. Factors that none has are left out.
#[must_use]
pub fn suite(files: &[(String, SamplesFile)]) -> BiasSuiteRecord {
    let factors = Factor::ALL.into_iter().filter_map(|factor| of_factor(files, factor));
    BiasSuiteRecord {
        format: FORMAT.to_owned(),
        programs: files.iter().map(|(name, _)| name.clone()).collect(),
        factors: factors.collect(),
    }
}

fn of_factor(files: &[(String, SamplesFile)], factor: Factor) -> Option<SuiteFactorRecord> {
    let found: Vec<_> = files
        .iter()
        .filter_map(|(_, file)| {
            let found = file.bias.as_ref()?.factors.iter().find(|one| one.factor == factor)?;
            // Times of one program have no mean with those of another.
            (file.programs.len() == 2).then_some(found)
        })
        .collect();
    let heights: Vec<f64> = found.iter().map(|one| one.height).collect();
    let mut by_level: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for setup in found.iter().flat_map(|one| &one.setups) {
        let level = setup.order.or(setup.layout).unwrap_or(setup.size_bytes);
        by_level.entry(level).or_default().push(setup.value.ln());
    }
    // An order or layout of one program has nothing to do with that of another, but a user has one
    // of each.
    let common = by_level.values().filter(|values| values.len() == found.len());
    let means: Vec<f64> = common.filter_map(|values| mean(values)).map(f64::exp).collect();
    let lowest = means.iter().copied().reduce(f64::min)?;
    let highest = means.iter().copied().reduce(f64::max)?;
    Some(SuiteFactorRecord {
        factor,
        programs: found.len(),
        straddling: found.iter().filter(|one| one.straddles == Some(true)).count(),
        median_height: median(&heights)?,
        setups: means.len(),
        lowest,
        highest,
        height: highest / lowest - 1.0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::file_of;
    use crate::samples::bias::{BiasRecord, FactorRecord, SetupRecord};

    fn file(values: [f64; 3]) -> SamplesFile {
        let mut file = file_of(&[1000, 1000], 2);
        let setup =
            |(size_bytes, value)| SetupRecord { size_bytes, order: None, layout: None, value };
        let lowest = values.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = values.iter().copied().fold(0.0, f64::max);
        let factor = FactorRecord {
            factor: Factor::Env,
            setups: [0, 16, 32].into_iter().zip(values).map(setup).collect(),
            lowest,
            highest,
            height: highest / lowest - 1.0,
            straddles: Some(lowest < 1.0 && highest > 1.0),
            p: None,
            sd_setups: None,
        };
        file.bias = Some(BiasRecord { factors: vec![factor], ..BiasRecord::default() });
        file
    }

    #[test]
    fn violins_that_straddle_are_counted_and_the_mean_over_programs_varies_less() {
        let files = [
            ("one".to_owned(), file([0.95, 1.05, 1.0])),
            ("two".to_owned(), file([1.04, 1.02, 1.03])),
        ];
        let found = suite(&files);
        let [env] = &found.factors[..] else { panic!("{found:?}") };
        assert_eq!((env.programs, env.straddling, env.setups), (2, 1, 3));
        assert!((env.median_height - (1.05 / 0.95 - 1.0 + 1.04 / 1.02 - 1.0) / 2.0).abs() < 1e-12);
        assert!((env.lowest - (0.95_f64 * 1.04).sqrt()).abs() < 1e-12, "{env:?}");
        assert!((env.highest - (1.05_f64 * 1.02).sqrt()).abs() < 1e-12, "{env:?}");
        assert_eq!(found.programs, ["one", "two"]);
    }

    #[test]
    fn single_programs_have_no_mean_over_a_suite() {
        let mut alone = file([1.0, 1.1, 1.2]);
        alone.programs.truncate(1);
        assert!(suite(&[("one".to_owned(), alone)]).factors.is_empty());
    }
}
