//! The noise floor: how differently a program and itself run here.
#![forbid(unsafe_code)]

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::finding::{Area, Finding};
use crate::samples::{ResultRecord, io};

/// How long it is measured. The tolerance is too small for a verdict that would end it earlier.
const OPTIONS: [&str; 6] = ["compare", "--budget", "10s", "--delta", "0.001%", "--quiet"];

/// An interval as wide as the usual tolerance on both sides.
const USUAL_HALF_WIDTH: f64 = 0.01;

/// Compares a program with itself for ten seconds, by this szc.
pub(super) fn floor(szc: &Path, program: &str, folder: &Path) -> Finding {
    const NAME: &str = "noise floor";
    match compare(szc, program, folder) {
        Ok(record) => finding(NAME, &record),
        Err(error) => Finding::limited(
            Area::Measuring,
            NAME,
            format!("{error:#}"),
            "run `szc compare -- A A` with a program A of yours",
        ),
    }
}

fn compare(szc: &Path, program: &str, folder: &Path) -> Result<ResultRecord> {
    let file = folder.join("noise.json");
    let output = Command::new(szc)
        .args(OPTIONS)
        .arg("--json")
        .arg(&file)
        .args(["--", program, program])
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot run {}", szc.display()))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        bail!("{}", text.lines().find(|line| line.contains("error")).unwrap_or("it failed"));
    }
    let samples = io::read(&file)?;
    samples.results.into_iter().find(|record| record.deciding).context("too few runs")
}

fn finding(name: &'static str, record: &ResultRecord) -> Finding {
    let [lower, upper] = record.interval;
    let half_width = (upper.ln() - lower.ln()) / 2.0;
    let found = format!(
        "a program against itself: {:.3} to {:.3} of its CPU time after {} blocks in 10 s; a \
         block varies by {:.2} %",
        lower,
        upper,
        record.n,
        100.0 * record.sd_log_ratio
    );
    if half_width <= USUAL_HALF_WIDTH {
        return Finding::ok(Area::Measuring, name, found);
    }
    let needed = (half_width / USUAL_HALF_WIDTH).powi(2);
    let next = format!(
        "for verdicts within 1 % measure about {needed:.0} times as long, or make the machine \
         quieter by the lines above"
    );
    Finding::limited(Area::Measuring, name, found, next)
}
