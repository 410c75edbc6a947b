//! What szc's statistics say of numbers, one a line of standard input, for the scripts of
//! `tests/campaign`. Nothing is printed where there are no numbers.

use std::io::{Read, stdin};

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};
use szc_stats::data::DataError;
use szc_stats::describe::median;
use szc_stats::fixed::sign_interval;
use szc_stats::quantile::type_7;

#[derive(Parser)]
#[command(name = "figures", about = "Describes the numbers on standard input")]
struct Options {
    #[command(subcommand)]
    figure: Figure,
}

#[derive(Subcommand)]
enum Figure {
    /// The median
    Median,
    /// The number below which a share of them lies, interpolated between neighbours
    Quantile {
        /// From 0 to 1
        share: f64,
    },
    /// The bounds of an interval that holds the median of what 6 numbers or more were drawn from,
    /// with 95 % (the sign test, inverted)
    Interval,
}

fn main() -> Result<()> {
    let options = Options::parse();
    let mut text = String::new();
    stdin().read_to_string(&mut text).context("cannot read standard input")?;
    let number = |word: &str| word.parse().with_context(|| format!("{word:?} is no number"));
    let values: Vec<f64> = text.split_whitespace().map(number).collect::<Result<_>>()?;
    let figures = match options.figure {
        Figure::Median => median(&values).into_iter().collect(),
        Figure::Quantile { share } => quantile(&values, share)?.into_iter().collect(),
        Figure::Interval => {
            let bounds = sign_interval(&values, 0.95).map(|found| found.interval);
            bounds.map_or_else(Vec::new, |bounds| vec![bounds.lower, bounds.upper])
        }
    };
    let words: Vec<String> = figures.iter().map(f64::to_string).collect();
    if !words.is_empty() {
        println!("{}", words.join(" "));
    }
    Ok(())
}

/// The quantile; none of no numbers.
fn quantile(values: &[f64], share: f64) -> Result<Option<f64>, DataError> {
    let found = (!values.is_empty()).then(|| type_7(values, share.clamp(0.0, 1.0)));
    found.transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_agree_with_r() {
        // quantile(c(3, 1, 4, 1, 5, 9, 2, 6), c(0, 0.25, 0.9, 1)) in R
        let values = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0];
        for (share, expected) in [(0.0, 1.0), (0.25, 1.75), (0.9, 6.9), (1.0, 9.0)] {
            let found = quantile(&values, share).unwrap().expect("there are values");
            assert!((found - expected).abs() < 1e-12, "{share}: {found}");
        }
        assert_eq!(quantile(&[], 0.5), Ok(None));
        assert_eq!(quantile(&[7.0], 0.3), Ok(Some(7.0)));
    }
}
