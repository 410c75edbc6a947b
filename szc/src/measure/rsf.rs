//! Raw results of SPEC CPU2006 and CPU2017: the times in a file `.rsf`.
//!
//! Such a file has a line `KEY: VALUE` for everything that is known of a run. Of a benchmark it
//! says, with underscores for dots, tune and number of the iteration,
//! `spec.cpu2017.results.505_mcf_r.base.000.reported_time: 312.5`, `….valid: S` and more; what was
//! built is called `spec.cpu2017.label` (CPU2006: `spec.cpu2006.ext`). SPEC's "Result File Fields"
//! describes the fields. Other lines, such as compressed copies of configurations, are skipped.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};

/// Longest time that is believed, s.
const MAX_SECONDS: f64 = 1e8;

/// What is used of a raw file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RawResult {
    /// The label of the builds.
    pub label: Option<String>,
    /// Size of the workloads: test, train, ref, refrate …
    pub size: Option<String>,
    /// All iterations, by benchmark and number.
    pub iterations: Vec<Iteration>,
}

/// One run of a benchmark.
#[derive(Clone, Debug, PartialEq)]
pub struct Iteration {
    /// Number and name: 505.mcf_r.
    pub benchmark: String,
    /// base or peak.
    pub tune: String,
    /// Place among the iterations of the file.
    pub number: u32,
    /// Time that SPEC's tools report, s; of several copies the longest.
    pub seconds: f64,
}

/// Reads a raw file.
///
/// # Errors
/// When it is none, a run failed, or a time is missing or no time.
pub fn parse(text: &str) -> Result<RawResult> {
    let mut raw = RawResult::default();
    let mut found: BTreeMap<(&str, &str, u32), BTreeMap<&str, &str>> = BTreeMap::new();
    let mut is_raw = false;
    for line in text.lines() {
        let Some((key, value)) = key_and_value(line) else {
            continue;
        };
        is_raw = true;
        match key {
            "label" | "ext" => raw.label = Some(value.to_owned()),
            "size" => raw.size = Some(value.to_owned()),
            _ => {
                let Some(rest) = key.strip_prefix("results.") else {
                    continue;
                };
                let words: Vec<&str> = rest.split('.').collect();
                if let [benchmark, tune, number, field] = words[..]
                    && let Ok(number) = number.parse()
                {
                    found.entry((benchmark, tune, number)).or_default().insert(field, value);
                }
            }
        }
    }
    if !is_raw {
        bail!(
            "it has no line that begins with spec.cpu2006. or spec.cpu2017.: give a file .rsf of \
             runspec or runcpu"
        );
    }
    for ((benchmark, tune, number), fields) in found {
        let name = name_of(benchmark, &fields);
        let context = || format!("{name}, {tune}, iteration {number}");
        match fields.get("valid").copied() {
            Some("S") => {}
            // Known to the suite, but not asked for.
            Some("NR") => continue,
            Some(code) => bail!("{}: the run failed: {}", context(), meaning(code)),
            None => bail!("{}: no line says whether the run is valid", context()),
        }
        let seconds = fields.get("reported_time").copied().unwrap_or_default();
        let seconds = seconds
            .parse()
            .ok()
            .filter(|seconds: &f64| *seconds > 0.0 && *seconds < MAX_SECONDS)
            .with_context(|| {
                format!("{}: reported_time is {seconds:?}, and a time is needed", context())
            })?;
        raw.iterations.push(Iteration { benchmark: name, tune: tune.to_owned(), number, seconds });
    }
    Ok(raw)
}

/// The part of a line behind the name of the suite.
fn key_and_value(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix("spec.cpu2006.").or_else(|| line.strip_prefix("spec.cpu2017."))?;
    let (key, value) = rest.split_once(':')?;
    Some((key, value.trim()))
}

/// The name with its dot: the file says it, and else the number ends at the first underscore.
fn name_of(key: &str, fields: &BTreeMap<&str, &str>) -> String {
    match fields.get("benchmark") {
        Some(name) if !name.is_empty() => (*name).to_owned(),
        _ => key.replacen('_', ".", 1),
    }
}

fn meaning(code: &str) -> String {
    match code {
        "CE" => "it did not compile (CE)".to_owned(),
        "RE" => "it ended with an error (RE)".to_owned(),
        "VE" => "it computed something else (VE)".to_owned(),
        other => format!("its code is {other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = "\
spec.cpu2017.label: O3
spec.cpu2017.size: refrate
spec.cpu2017.hw_cpu_name: A: B
spec.cpu2017.rawconfig000: QUJDRA==
spec.cpu2017.results.505_mcf_r.base.001.benchmark: 505.mcf_r
spec.cpu2017.results.505_mcf_r.base.001.reported_time: 310.25
spec.cpu2017.results.505_mcf_r.base.001.valid: S
spec.cpu2017.results.505_mcf_r.base.000.reported_time: 312.5
spec.cpu2017.results.505_mcf_r.base.000.valid: S
spec.cpu2017.results.557_xz_r.base.000.valid: NR
not a line of results
";

    #[test]
    fn times_are_read_by_benchmark_and_iteration() {
        let raw = parse(LINES).unwrap();
        assert_eq!((raw.label.as_deref(), raw.size.as_deref()), (Some("O3"), Some("refrate")));
        let found: Vec<(&str, u32, f64)> = raw
            .iterations
            .iter()
            .map(|run| (run.benchmark.as_str(), run.number, run.seconds))
            .collect();
        assert_eq!(found, [("505.mcf_r", 0, 312.5), ("505.mcf_r", 1, 310.25)]);
    }

    #[test]
    fn the_older_suite_calls_its_label_an_extension() {
        let text = LINES.replace("cpu2017.label", "cpu2006.ext").replace("cpu2017", "cpu2006");
        assert_eq!(parse(&text).unwrap().label.as_deref(), Some("O3"));
    }

    #[test]
    fn failed_runs_and_missing_times_are_no_results() {
        for (from, to, words) in [
            (
                "000.valid: S",
                "000.valid: RE",
                "505.mcf_r, base, iteration 0: the run failed: it ended",
            ),
            ("000.valid: S", "000.valid: VE", "it computed something else"),
            ("000.valid: S", "000.valid: CE", "did not compile"),
            ("000.valid: S", "000.valid: XX", "its code is \"XX\""),
            ("000.valid: S", "000.other: S", "no line says whether"),
            ("312.5", "--", "reported_time is \"--\""),
            ("312.5", "-1", "a time is needed"),
            ("312.5", "1e300", "a time is needed"),
            ("312.5", "NaN", "a time is needed"),
            ("spec.cpu2017", "something", "it has no line"),
        ] {
            let error = format!("{:#}", parse(&LINES.replace(from, to)).unwrap_err());
            assert!(error.contains(words), "{words}: {error}");
        }
        assert!(parse("").is_err());
    }
}
