//! The value of `--metric`: which metric decides, and which instruments it takes.
#![forbid(unsafe_code)]

use crate::measure::instrument::Instrument;
use crate::measure::metric::Metric;

/// Reads the value of `--metric`.
///
/// # Errors
/// What is wrong with it, and what can be given instead.
pub fn choose(text: &str) -> Result<(Metric, Vec<Box<dyn Instrument>>), String> {
    match text.parse() {
        Ok(metric @ (Metric::Cpu | Metric::Wall | Metric::Rss)) => Ok((metric, Vec::new())),
        _ => Err(format!("{text:?} is no metric: cpu, wall or rss is needed")),
    }
}

/// For clap: whether the text can be chosen.
pub(super) fn parse(text: &str) -> Result<String, String> {
    choose(text).map(|_| text.to_owned())
}
