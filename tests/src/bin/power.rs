//! What `campaign/power.sh` makes of its pools: how often a planted slowdown is found, against the
//! CPU time that it takes.
//!
//! A folder holds pools as files `PROGRAM,PLANT,METHOD,PART.json` (an experiment of szc, or what
//! hyperfine exports) or `.tsv` (wall seconds of A and B, a pair a line). Experiments are drawn
//! from a pool: blocks without replacement, in random order; of a rival, whose part has links of
//! its own, runs of one part. A method finds a slowdown if its own rule says "slower".

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Parser;
use szc::report::plot::frame::{Frame, Margins};
use szc::report::plot::marks::polyline;
use szc::report::plot::scale::Kind;
use szc::report::plot::svg::{Alternative, Anchor, Svg};
use szc::samples::sample::block_log_ratios;
use szc::samples::{Metric, io};
use szc_stats::data::DataError;
use szc_stats::describe::{mean, standard_deviation};
use szc_stats::fixed::t_interval;
use szc_stats::groups::welch;
use szc_stats::random::Draws;
use szc_stats::sequential::{MIN_BLOCKS, mean_sequence};
use szc_tests::hyperfine::Export;
use szc_tests::statistics::clopper_pearson;

/// Numbers of blocks whose power is shown. A block of szc by turns or of a rival is one run of each
/// version, of ABBA two.
const BLOCKS: [usize; 7] = [4, 8, 12, 25, 30, 50, 100];

/// The rate at which a slowdown counts as found.
const FOUND: f64 = 0.95;

/// Rates of detection from pools of blocks.
#[derive(Parser)]
#[command(name = "power")]
struct Options {
    /// The folder with the pools
    pools: PathBuf,
    /// Experiments drawn for each rate
    #[arg(long, default_value_t = 1000)]
    experiments: usize,
    /// Seed of the draws
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Where the plot goes
    #[arg(long)]
    svg: Option<PathBuf>,
}

/// Runs of one part of a pool.
enum Part {
    /// The log ratio of each block and its CPU seconds; the rule looks after each block.
    Sequential { ratios: Vec<f64>, seconds: f64 },
    /// The same of pairs, judged once.
    Paired { ratios: Vec<f64>, seconds: f64 },
    /// Log times of A and of B, without pairs, judged once; seconds of a run of each.
    Unpaired { times: [Vec<f64>; 2], seconds: f64 },
}

#[derive(Clone, Copy, PartialEq)]
enum Said {
    Slower,
    Faster,
    Nothing,
}

/// What a method says of an interval of the log ratio.
fn said(lower: f64, upper: f64) -> Said {
    match (lower > 0.0, upper < 0.0) {
        (true, _) => Said::Slower,
        (_, true) => Said::Faster,
        _ => Said::Nothing,
    }
}

impl Part {
    fn len(&self) -> usize {
        match self {
            Self::Sequential { ratios, .. } | Self::Paired { ratios, .. } => ratios.len(),
            Self::Unpaired { times, .. } => times[0].len().min(times[1].len()),
        }
    }

    /// Mean log ratio and its spread from block to block; of unpaired runs that of two runs.
    fn ratio(&self) -> Option<(f64, f64)> {
        match self {
            Self::Sequential { ratios, .. } | Self::Paired { ratios, .. } => {
                Some((mean(ratios)?, standard_deviation(ratios)?))
            }
            Self::Unpaired { times: [one, other], .. } => {
                let spread = standard_deviation(one)?.hypot(standard_deviation(other)?);
                Some((mean(other)? - mean(one)?, spread))
            }
        }
    }

    /// One experiment of at most `blocks` blocks, and the CPU seconds until its verdict.
    fn experiment(&self, blocks: usize, draws: &mut Draws) -> Result<(Said, f64), DataError> {
        let mut drawn = |values: &[f64]| {
            let mut values = values.to_vec();
            draws.shuffle(&mut values);
            values.truncate(blocks);
            values
        };
        match self {
            Self::Sequential { ratios, seconds } => {
                let ratios = drawn(ratios);
                for count in MIN_BLOCKS..=ratios.len() {
                    let interval = mean_sequence(&ratios[..count])?.interval;
                    let said = said(interval.lower, interval.upper);
                    if said != Said::Nothing {
                        return Ok((said, count as f64 * seconds));
                    }
                }
                Ok((Said::Nothing, ratios.len() as f64 * seconds))
            }
            Self::Paired { ratios, seconds } => {
                let needed = DataError::TooFew { needed: 2, found: ratios.len() };
                let interval = t_interval(&drawn(ratios), 0.95).ok_or(needed)?;
                Ok((said(interval.lower, interval.upper), blocks as f64 * seconds))
            }
            Self::Unpaired { times: [one, other], seconds } => {
                let interval = welch(&drawn(one), &drawn(other), 0.95)?.interval;
                Ok((said(interval.lower, interval.upper), blocks as f64 * seconds))
            }
        }
    }
}

/// All parts of a pool.
type Pool = Vec<Part>;

/// What experiments of some size found.
#[derive(Clone, Copy)]
struct Power {
    blocks: usize,
    slower: usize,
    faster: usize,
    /// Mean CPU seconds of an experiment.
    seconds: f64,
}

/// The power of each size that the pool has blocks for: at most half of them, since experiments on
/// nearly all would be nearly one.
fn powers(pool: &Pool, experiments: usize, draws: &mut Draws) -> Result<Vec<Power>, DataError> {
    let all: usize = pool.iter().map(Part::len).sum();
    let most = pool.iter().map(Part::len).min().unwrap_or(0).min(all / 2);
    let sizes = BLOCKS.into_iter().filter(|blocks| *blocks <= most);
    sizes
        .map(|blocks| {
            let mut power = Power { blocks, slower: 0, faster: 0, seconds: 0.0 };
            for _ in 0..experiments {
                let part = &pool[draws.index(pool.len())];
                let (said, seconds) = part.experiment(blocks, draws)?;
                power.slower += usize::from(said == Said::Slower);
                power.faster += usize::from(said == Said::Faster);
                power.seconds += seconds / experiments as f64;
            }
            Ok(power)
        })
        .collect()
}

fn unpaired(path: &Path) -> Result<Part> {
    let Export { results } = Export::read(path)?;
    let seconds = results.iter().filter_map(|one| mean(&one.times)).sum();
    let times = results.map(|one| one.times.iter().map(|time| time.ln()).collect());
    Ok(Part::Unpaired { times, seconds })
}

fn paired(path: &Path) -> Result<Part> {
    let mut ratios = Vec::new();
    let mut seconds = 0.0;
    for line in fs::read_to_string(path)?.lines() {
        let (one, other) = line.split_once('\t').context("a line has two columns")?;
        let [one, other] = [one, other].map(str::parse::<f64>);
        let (one, other) = (one?, other?);
        ratios.push((other / one).ln());
        seconds += one + other;
    }
    let seconds = seconds / ratios.len() as f64;
    Ok(Part::Paired { ratios, seconds })
}

fn sequential(path: &Path) -> Result<Part> {
    let file = io::read(path)?;
    let blocks = file.runs.last().context("there are no runs")?.block + 1;
    let ratios = block_log_ratios(&file.runs, blocks, 0, 1, &Metric::Cpu)
        .context("a block lacks a program, or its time")?;
    let seconds: f64 = file.runs.iter().map(|run| run.value(&Metric::Cpu)).sum();
    Ok(Part::Sequential { ratios, seconds: seconds / f64::from(blocks) })
}

/// Program, plant in percent as it is written, and method.
type Name = (String, String, String);

fn read(folder: &Path) -> Result<BTreeMap<Name, Pool>> {
    let mut pools: BTreeMap<Name, Pool> = BTreeMap::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let kind = path.extension().and_then(|kind| kind.to_str()).unwrap_or_default();
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let [program, plant, method, _] = stem.split(',').collect::<Vec<_>>()[..] else {
            continue;
        };
        let part = match (kind, method) {
            ("json", "hyperfine") => unpaired(&path),
            ("json", _) => sequential(&path),
            ("tsv", _) => paired(&path),
            _ => continue,
        };
        let part = part.with_context(|| path.display().to_string())?;
        let name = [program, plant, method].map(str::to_owned);
        pools.entry(name.into()).or_default().push(part);
    }
    if pools.is_empty() {
        bail!("{}: no pool; campaign/power.sh measures them", folder.display());
    }
    Ok(pools)
}

fn main() -> Result<()> {
    let options = Options::parse();
    let mut draws = Draws::new(options.seed);
    let mut rows = Vec::new();
    for (name, pool) in read(&options.pools)? {
        let found = powers(&pool, options.experiments, &mut draws)?;
        rows.push((name, pool, found));
    }
    for (name, pool, found) in &rows {
        print(name, pool, found, options.experiments);
    }
    if let Some(path) = options.svg {
        let rows: Vec<_> = rows.iter().map(|(name, _, found)| (name, &found[..])).collect();
        fs::write(&path, plot(&rows, options.experiments))
            .with_context(|| path.display().to_string())?;
    }
    Ok(())
}

/// The rates of a pool, a line for each size.
fn print((program, plant, method): &Name, pool: &Pool, found: &[Power], experiments: usize) {
    let ratios: Vec<_> = pool.iter().filter_map(Part::ratio).collect();
    let of = |which: fn(&(f64, f64)) -> f64| ratios.iter().map(which).collect::<Vec<_>>();
    let (centers, spreads) = (of(|ratio| ratio.0), of(|ratio| ratio.1));
    println!(
        "{program}, {plant} % planted, {method}: B / A {:.4}, spread of a block {:.2} %, {} blocks",
        mean(&centers).unwrap_or(f64::NAN).exp(),
        100.0 * mean(&spreads).unwrap_or(f64::NAN),
        pool.iter().map(Part::len).sum::<usize>(),
    );
    for Power { blocks, slower, faster, seconds } in found {
        let [slower, faster] = [slower, faster].map(|count| {
            let (lower, upper) = clopper_pearson(*count, experiments);
            let share = 100.0 * *count as f64 / experiments as f64;
            format!("{share:5.1} % ({:.1} to {:.1})", 100.0 * lower, 100.0 * upper)
        });
        println!("  {blocks:>4} blocks {seconds:>8.1} s  slower {slower:<24} faster {faster}");
    }
    if plant != "0" {
        let enough = |power: &&Power| power.slower as f64 >= FOUND * experiments as f64;
        match found.iter().find(enough) {
            Some(Power { blocks, seconds, .. }) => {
                println!("  found in 95 of 100 by {blocks} blocks, {seconds:.1} s");
            }
            None => println!(
                "  not found in 95 of 100 by {} blocks",
                found.last().map_or(0, |p| p.blocks)
            ),
        }
    }
}

/// A panel for each program and plant: rate of detection over CPU seconds, a line for each method.
fn plot(rows: &[(&Name, &[Power])], experiments: usize) -> String {
    const SIZE: [f64; 2] = [320.0, 220.0];
    const COLOURS: [&str; 4] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7"];
    let planted = || rows.iter().filter(|((_, plant, _), _)| plant != "0");
    let names = |which: fn(&Name) -> &String| {
        let mut names: Vec<&String> = planted().map(|(name, _)| which(name)).collect();
        names.sort();
        names.dedup();
        names
    };
    let (programs, plants) = (names(|name| &name.0), names(|name| &name.1));
    let methods = names(|name| &name.2);
    let mut all = Svg::new(SIZE[0] * plants.len() as f64, SIZE[1] * programs.len() as f64 + 24.0);
    for (row, program) in programs.iter().enumerate() {
        for (column, plant) in plants.iter().enumerate() {
            let margins = Margins { top: 28.0, right: 12.0, bottom: 42.0, left: 44.0 };
            let mut frame = Frame::new(
                SIZE,
                margins,
                [Kind::Logarithmic, Kind::Linear],
                [[1.0, 300.0], [0.0, 100.0]],
            );
            frame.horizontal_axis("CPU seconds");
            frame.vertical_axis(&format!("{program}, {plant} %: found, %"));
            for (name, found) in planted() {
                if (&name.0, &name.1) != (*program, *plant) {
                    continue;
                }
                let series = methods.iter().position(|method| **method == name.2).unwrap_or(0);
                let rate = |power: &Power| 100.0 * power.slower as f64 / experiments as f64;
                let points: Vec<_> =
                    found.iter().map(|power| frame.place(power.seconds, rate(power))).collect();
                frame.svg.path(&format!("m{}", series % COLOURS.len()), &polyline(&points));
            }
            all.inset([SIZE[0] * column as f64, SIZE[1] * row as f64], &frame.svg);
        }
    }
    let bottom = SIZE[1] * programs.len() as f64 + 14.0;
    for (series, method) in methods.iter().enumerate() {
        let place = [48.0 + 120.0 * series as f64, bottom];
        all.text(&format!("l{}", series % COLOURS.len()), Anchor::Start, place, method);
    }
    let alternative = Alternative {
        id: "power".to_owned(),
        title: "How often a planted slowdown is found".to_owned(),
        description: "Rate of detection over CPU seconds, by program, size and method".to_owned(),
    };
    let mut style = String::from(
        "<style>text{font:12px sans-serif;fill:#333}.grid{stroke:#ddd}.axis{stroke:#333}",
    );
    for (series, colour) in COLOURS.iter().enumerate() {
        style.push_str(&format!(
            ".m{series}{{fill:none;stroke:{colour};stroke-width:2}}.l{series}{{fill:{colour}}}"
        ));
    }
    let image = all.finish("plot", &alternative);
    image.replacen("<title", &format!("{style}</style>\n<title"), 1)
}
