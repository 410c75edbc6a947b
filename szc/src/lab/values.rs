//! Values of options: budgets, times, shares and names of programs.
#![forbid(unsafe_code)]

use std::time::Duration;

use crate::samples::RowTolerance;
use crate::samples::design::MAX_BLOCKS;

/// When measuring stops in any case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Budget {
    /// After as many blocks.
    Blocks(u32),
    /// With the last block that ends within this time.
    Time(Duration),
}

impl Budget {
    /// Most blocks; enough for any time if it is a time.
    #[must_use]
    pub fn blocks(self) -> u32 {
        match self {
            Self::Blocks(blocks) => blocks,
            Self::Time(_) => MAX_BLOCKS,
        }
    }

    /// The time, if it is one.
    #[must_use]
    pub fn time(self) -> Option<Duration> {
        match self {
            Self::Blocks(_) => None,
            Self::Time(time) => Some(time),
        }
    }
}

/// "100" is blocks; "90s", "5m", "1h" and "500ms" are times.
pub(super) fn parse_budget(text: &str) -> Result<Budget, String> {
    if let Ok(blocks) = text.parse() {
        return if (10..=MAX_BLOCKS).contains(&blocks) {
            Ok(Budget::Blocks(blocks))
        } else {
            Err(format!("10 to {MAX_BLOCKS} blocks are needed: fewer decide nothing"))
        };
    }
    parse_time(text).map(Budget::Time).map_err(|_| {
        "a number of blocks such as 100, or a time such as 90s, 5m or 1h is needed".to_owned()
    })
}

/// A time with its unit: "500ms", "90s", "1.5m", "1h".
pub(crate) fn parse_time(text: &str) -> Result<Duration, String> {
    let units = [("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    units
        .iter()
        .find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)))
        .and_then(|(number, seconds)| Some(number.parse::<f64>().ok()? * seconds))
        .filter(|seconds| *seconds > 0.0)
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| "a time such as 500ms, 90s, 5m or 1h is needed".to_owned())
}

/// A share such as "1%" or "0.01".
pub(crate) fn parse_share(text: &str) -> Result<f64, String> {
    share(text)
        .filter(|share| (1e-6..=1.0).contains(share))
        .ok_or_else(|| "a share up to 100 % such as 1% or 0.01 is needed".to_owned())
}

/// By how much of itself something grows, such as "100%" or "8".
pub(crate) fn parse_growth(text: &str) -> Result<f64, String> {
    share(text)
        .filter(|share| (0.01..=1000.0).contains(share))
        .ok_or_else(|| "a share from 1 % to 1000 times such as 100% or 8 is needed".to_owned())
}

fn share(text: &str) -> Option<f64> {
    match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().ok().map(|number| number / 100.0),
        None => text.parse().ok(),
    }
}

/// A tolerance of rows: "parse/*=2%". Names may have `=` in them, shares have none.
pub(super) fn parse_row_tolerance(text: &str) -> Result<RowTolerance, String> {
    let needed = || "a pattern of names and a share such as 'parse/*=2%' is needed".to_owned();
    let (name, share) = text.rsplit_once('=').ok_or_else(needed)?;
    if name.is_empty() {
        return Err(needed());
    }
    Ok(RowTolerance { name: name.to_owned(), tolerance: parse_share(share)? })
}

/// How many times slower than the others a layout may be: "1.2".
pub(super) fn parse_slowest_layout(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|times| (1.001..=1000.0).contains(times))
        .ok_or_else(|| "a factor above 1 such as 1.2 is needed".to_owned())
}

/// A name for a program: "A=old".
pub(super) fn parse_name(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((label, name))
            if !name.trim().is_empty()
                && label.len() == 1
                && label.chars().all(|letter| letter.is_ascii_uppercase()) =>
        {
            Ok((label.to_owned(), name.trim().to_owned()))
        }
        _ => Err("A=…, B=… and so on is needed; put -- before the commands".to_owned()),
    }
}

/// A number of seconds, or a time with its unit.
pub(super) fn parse_timeout(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds: &f64| *seconds > 0.0);
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .or_else(|| parse_time(text).ok())
        .ok_or_else(|| "a positive number of seconds is needed".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_blocks_or_times() {
        assert_eq!(parse_budget("100"), Ok(Budget::Blocks(100)));
        assert_eq!(parse_budget("90s"), Ok(Budget::Time(Duration::from_secs(90))));
        assert_eq!(parse_budget("1.5m"), Ok(Budget::Time(Duration::from_secs(90))));
        assert_eq!(parse_budget("1h"), Ok(Budget::Time(Duration::from_secs(3600))));
        assert_eq!(parse_time("500ms"), Ok(Duration::from_millis(500)));
        for wrong in ["", "9", "2000000", "-5s", "0s", "1e400s", "NaNs", "soon", "5 d", "5x"] {
            assert!(parse_budget(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn tolerances_of_rows_have_a_pattern_and_a_share() {
        let found = parse_row_tolerance("test[a=1]*=2%").unwrap();
        assert_eq!(found, RowTolerance { name: "test[a=1]*".to_owned(), tolerance: 0.02 });
        for wrong in ["", "2%", "=2%", "a=", "a=-1%"] {
            assert!(parse_row_tolerance(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn shares_are_percents_or_fractions() {
        assert_eq!(parse_growth("800%"), Ok(8.0));
        assert_eq!(parse_growth("8"), Ok(8.0));
        for wrong in ["0%", "-1", "1001", "NaN", "much"] {
            assert!(parse_growth(wrong).is_err(), "{wrong:?}");
        }
        assert_eq!(parse_share("1%"), Ok(0.01));
        assert_eq!(parse_share("0.5 %"), Ok(0.005));
        assert_eq!(parse_share("0.03"), Ok(0.03));
        for wrong in ["", "%", "0", "-1%", "101%", "NaN", "inf", "1e-9"] {
            assert!(parse_share(wrong).is_err(), "{wrong:?}");
        }
    }
}
