//! The options that say what is built: revisions, flags, parameters; and the levels they make.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use clap::Args;

use super::placeholders::{Value, mentions};

/// Options of every command that can build what it measures.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Building what is measured")]
pub struct BuildOptions {
    /// Shell command that builds one version: in a copy of the tree of its own, or into {out}
    #[arg(long, value_name = "CMD")]
    pub build: Option<String>,

    /// Compiler flags of each version, put in place of {flags}; \, is a comma inside one
    #[arg(long, value_name = "F1,F2,…", allow_hyphen_values = true)]
    pub flags: Vec<String>,

    /// A parameter of each version, put in place of {NAME} in both commands
    #[arg(long = "param", value_name = "NAME=V1,V2,…")]
    pub parameters: Vec<String>,

    /// A git revision to build
    #[arg(long = "rev", value_name = "REV")]
    pub revisions: Vec<String>,

    /// Folder to build in [default: this one]
    #[arg(long, value_name = "DIR")]
    pub tree: Option<PathBuf>,

    /// Where builds are kept [default: szc/builds in $XDG_CACHE_HOME or ~/.cache]
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,

    /// Build again what was built before
    #[arg(long)]
    pub rebuild: bool,

    /// Build HEAD although files have changed since
    #[arg(long)]
    pub allow_dirty: bool,
}

/// One version to measure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Level {
    /// What it is called: its revision, flags and parameters.
    pub label: String,
    /// Its revision.
    pub revision: Option<String>,
    /// What is put in place of placeholders.
    pub values: Vec<Value>,
}

impl BuildOptions {
    /// Whether versions are asked for at all.
    #[must_use]
    pub fn is_used(&self) -> bool {
        self.build.is_some()
            || !self.flags.is_empty()
            || !self.parameters.is_empty()
            || !self.revisions.is_empty()
    }

    /// All combinations of revisions, flags and parameters; the last one varies fastest.
    ///
    /// # Errors
    /// When a list is malformed or a value is used nowhere in the build command or `commands`.
    pub fn levels(&self, commands: &[String]) -> Result<Vec<Level>, String> {
        if !self.revisions.is_empty() && self.build.is_none() {
            return Err("--rev needs --build, the command that builds a revision".to_owned());
        }
        let mut axes: Vec<(String, Vec<String>)> = Vec::new();
        let flags: Vec<String> = self.flags.iter().flat_map(|list| split_list(list)).collect();
        if !flags.is_empty() {
            axes.push(("flags".to_owned(), flags));
        }
        for parameter in &self.parameters {
            let (name, list) = parameter.split_once('=').ok_or_else(|| {
                format!("--param {parameter}: a name and values are needed, as in --param n=1,2,4")
            })?;
            let valid =
                |character: char| character.is_ascii_alphanumeric() || "_-".contains(character);
            if name.is_empty() || !name.chars().all(valid) || ["out", "flags"].contains(&name) {
                return Err(format!(
                    "--param {parameter}: {name:?} cannot be a name (letters, digits, - and _; not \
                     out, not flags)"
                ));
            }
            axes.push((name.to_owned(), split_list(list)));
        }
        for (position, (name, _)) in axes.iter().enumerate() {
            if axes[..position].iter().any(|(other, _)| other == name) {
                return Err(format!("--param {name} is given twice: put all values into one list"));
            }
            let used = self.build.iter().chain(commands).any(|command| mentions(command, name));
            if !used {
                return Err(format!(
                    "{{{name}}} stands in no command, so all versions would be the same: write it \
                     where the value belongs"
                ));
            }
        }
        let mut levels: Vec<Level> = match self.revisions.as_slice() {
            [] => vec![Level { label: String::new(), revision: None, values: Vec::new() }],
            revisions => revisions
                .iter()
                .map(|name| Level {
                    label: name.clone(),
                    revision: Some(name.clone()),
                    values: Vec::new(),
                })
                .collect(),
        };
        for (name, texts) in &axes {
            levels = levels
                .iter()
                .flat_map(|level| texts.iter().map(move |text| extended(level, name, text)))
                .collect();
        }
        Ok(levels)
    }
}

fn extended(level: &Level, name: &str, text: &str) -> Level {
    let mut level = level.clone();
    let part = match (name, text) {
        ("flags", "") => "no flags".to_owned(),
        ("flags", flags) => flags.to_owned(),
        (name, text) => format!("{name}={text}"),
    };
    level.label = if level.label.is_empty() { part } else { format!("{} {part}", level.label) };
    level.values.push(Value::text(name, text));
    level
}

/// The parts between commas; `\,` is a comma in a part.
fn split_list(list: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut characters = list.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            ',' => parts.push(String::new()),
            '\\' if characters.next_if_eq(&',').is_some() => {
                parts.last_mut().expect("never empty").push(',');
            }
            other => parts.last_mut().expect("never empty").push(other),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(flags: &[&str], parameters: &[&str], revisions: &[&str]) -> BuildOptions {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        BuildOptions {
            build: Some("make CFLAGS={flags}".to_owned()),
            flags: owned(flags),
            parameters: owned(parameters),
            revisions: owned(revisions),
            ..BuildOptions::default()
        }
    }

    fn labels(options: &BuildOptions) -> Vec<String> {
        let levels = options.levels(&["./bench {n}".to_owned()]).unwrap();
        levels.into_iter().map(|level| level.label).collect()
    }

    #[test]
    fn lists_are_split_at_commas_and_given_more_than_once() {
        assert_eq!(labels(&options(&["-O2,-O3"], &[], &[])), ["-O2", "-O3"]);
        assert_eq!(labels(&options(&["-O2", "-O3 -g"], &[], &[])), ["-O2", "-O3 -g"]);
        assert_eq!(labels(&options(&[r"-Wl\,-z\,now,"], &[], &[])), ["-Wl,-z,now", "no flags"]);
    }

    #[test]
    fn all_combinations_are_levels() {
        assert_eq!(
            labels(&options(&["-O2,-O3"], &["n=1,2"], &["main"])),
            ["main -O2 n=1", "main -O2 n=2", "main -O3 n=1", "main -O3 n=2"]
        );
        assert_eq!(labels(&options(&[], &[], &["a", "b"])), ["a", "b"]);
    }

    #[test]
    fn malformed_and_useless_lists_are_refused() {
        let error = |options: &BuildOptions| options.levels(&["./bench".to_owned()]).unwrap_err();
        assert!(error(&options(&[], &["n"], &[])).contains("--param n=1,2,4"));
        assert!(error(&options(&[], &["n=1,2"], &[])).contains("{n} stands in no command"));
        assert!(error(&options(&[], &["out=1"], &[])).contains("cannot be a name"));
        assert!(error(&options(&[], &["{=1"], &[])).contains("cannot be a name"));
        let without = BuildOptions { build: None, ..options(&[], &[], &["main"]) };
        assert!(error(&without).contains("--rev needs --build"));
        let twice = options(&["-O2"], &["n=1", "n=2"], &[]);
        assert!(twice.levels(&["{n}".to_owned()]).unwrap_err().contains("given twice"));
    }
}
