//! A program made ready for a step: built in all configurations, with the commands that run it.
#![forbid(unsafe_code)]

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use object::{Object, ObjectSection, ObjectSegment, SectionKind};

use super::record::{ConfigurationRecord, Evaluation, FileRecord};
use super::setting::Setting;
use super::step::{Configuration, LINK_ORDERS, Order, Step};
use crate::build::{self, Built, LinkOrders, Recipe};
use crate::hash;
use crate::suite::{Program, Workload};
use crate::workload::{Prepared, prepare, quoted};

/// A program, ready to be measured.
pub struct Subject<'a> {
    /// The program.
    pub program: &'a Program,
    /// The command of each configuration, without a shell and its settings.
    pub commands: Vec<Prepared>,
    /// What a shell runs, one line for each configuration.
    pub lines: Vec<String>,
    /// What is kept beside the samples.
    pub evaluation: Evaluation,
}

impl Subject<'_> {
    /// The command of the first configuration.
    ///
    /// # Errors
    /// When there is none.
    pub fn first(&self) -> Result<&Prepared> {
        self.commands.first().context("no configuration")
    }
}

/// Builds a program in all configurations of a step.
///
/// # Errors
/// When one cannot be built, in the words of the table of builds, or its input cannot be made.
pub fn ready<'a>(setting: &Setting<'a>, step: Step, program: &'a Program) -> Result<Subject<'a>> {
    let workload = program.workloads.get_ref().first().context("no workload")?;
    let size = setting.options.size(step);
    let mut subject = Subject {
        program,
        commands: Vec::new(),
        lines: Vec::new(),
        evaluation: Evaluation {
            step: step.source().name(),
            program: program.name().to_owned(),
            size: size.name().to_owned(),
            runs: setting.options.runs(step),
            commit: setting.commit.clone(),
            build: Some(setting.build.clone()),
            configurations: Vec::new(),
        },
    };
    for configuration in step.configurations() {
        let recipe = recipe(setting, &configuration, workload);
        let built = built(setting, program, &recipe)
            .with_context(|| format!("{}, {}", configuration.name, recipe.flags))?;
        let mut prepared =
            prepare(setting.suite, program, workload, &built.out, size, &setting.cache)?;
        let files = executables(&configuration, &built, &mut prepared)?;
        subject.lines.push(line(&configuration, &prepared));
        subject.commands.push(prepared);
        let settings = configuration.settings.iter().map(|(name, value)| format!("{name}={value}"));
        subject.evaluation.configurations.push(ConfigurationRecord {
            name: configuration.name.to_owned(),
            randomize: configuration.randomize.to_owned(),
            flags: recipe.flags.clone(),
            settings: settings.collect(),
            files,
        });
    }
    Ok(subject)
}

fn recipe(setting: &Setting<'_>, configuration: &Configuration, workload: &Workload) -> Recipe {
    let usual = setting.usual_recipe(configuration.randomize);
    Recipe {
        flags: configuration.flags.map_or_else(|| usual.flags.clone(), str::to_owned),
        link_orders: (configuration.order != Order::Usual).then(|| LinkOrders {
            number: LINK_ORDERS,
            of: file_name(workload.run.get_ref().first()),
            script: setting.suite.folder.join("link-orders.sh"),
        }),
        ..usual
    }
}

fn file_name(word: Option<&String>) -> String {
    let path = Path::new(word.map_or("", String::as_str));
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn built(setting: &Setting<'_>, program: &Program, recipe: &Recipe) -> Result<Built> {
    build::build(setting.suite, program, recipe, &setting.cache, &setting.jobserver).map_err(
        |missing| {
            let word = missing.word();
            missing.into_error().context(word)
        },
    )
}

/// The executables of a configuration; the first word of `prepared` becomes the one that runs, for
/// random orders with an expression of the shell in it.
fn executables(
    configuration: &Configuration,
    built: &Built,
    prepared: &mut Prepared,
) -> Result<Vec<FileRecord>> {
    let command = prepared.args.first_mut().context("an empty command")?;
    let name = file_name(Some(command));
    let ordered = |order: &str| built.out.join(build::ORDERS).join(order).join(&name);
    let paths: Vec<PathBuf> = match configuration.order {
        Order::Usual => vec![PathBuf::from(&*command)],
        Order::Given => vec![ordered("0")],
        Order::Random => (1..=LINK_ORDERS).map(|order| ordered(&order.to_string())).collect(),
    };
    match (configuration.order, paths.as_slice()) {
        (Order::Random, _) => *command = ordered(RANDOM).display().to_string(),
        (_, [path]) => *command = path.display().to_string(),
        _ => {}
    }
    paths.iter().map(|path| file_record(path)).collect()
}

/// Stands for the number of an order in a path.
const RANDOM: &str = "@order@";

/// The line that a shell runs. All configurations are run by one, so that none has its cost alone.
fn line(configuration: &Configuration, prepared: &Prepared) -> String {
    let mut line = String::new();
    for (name, value) in configuration.settings {
        line.push_str(&format!("export {name}={value}; "));
    }
    let args: Vec<String> = prepared
        .args
        .iter()
        .map(|word| {
            let word = quoted(word);
            // Nothing is computed inside quotation marks.
            let mark = if word.starts_with('\'') { "'" } else { "" };
            word.replace(RANDOM, &format!("{mark}$((SZC_SEED % {LINK_ORDERS} + 1)){mark}"))
        })
        .collect();
    line.push_str(&format!("exec {}", args.join(" ")));
    if let Some(file) = &prepared.stdin {
        line.push_str(&format!(" < {}", quoted(&file.display().to_string())));
    }
    line
}

fn file_record(path: &Path) -> Result<FileRecord> {
    let wrong = || format!("cannot use {}", path.display());
    let bytes = fs::read(path).with_context(wrong)?;
    let image = object::File::parse(&*bytes).with_context(wrong)?;
    let code = image.sections().filter(|section| section.kind() == SectionKind::Text);
    Ok(FileRecord {
        sha256: hash::of_file(path)?,
        bytes: bytes.len() as u64,
        code_bytes: code.map(|section| section.size()).sum(),
        loaded_bytes: image.segments().map(|segment| segment.size()).sum(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_and_the_order_of_a_run_are_part_of_its_line() {
        let configurations = Step::Overhead.configurations();
        let with = |args: &[&str], stdin: Option<&str>| Prepared {
            args: args.iter().map(|word| (*word).to_owned()).collect(),
            stdin: stdin.map(PathBuf::from),
        };
        assert_eq!(
            line(&configurations[2], &with(&["/a/lua", "x y"], Some("/in"))),
            "export SZC_INTERVAL_MS=500; exec /a/lua 'x y' < /in"
        );
        let random = with(&[&format!("/a/{RANDOM}/lua")], None);
        assert_eq!(line(&configurations[1], &random), "exec /a/$((SZC_SEED % 32 + 1))/lua");
    }

    #[test]
    fn an_executable_has_code_and_takes_memory() {
        let own = file_record(&std::env::current_exe().unwrap()).unwrap();
        assert!(own.code_bytes > 0 && own.code_bytes < own.loaded_bytes, "{own:?}");
        assert!(file_record(Path::new("/proc/self/status")).is_err());
    }
}
