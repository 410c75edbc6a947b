//! Reads `suite.toml`, and says what is wrong with it and in which line.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::fs;
use std::ops::Range;
use std::path::{Component, Path};

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use szc::lab::config::{Problem, Problems};

use super::records::{PLACEHOLDERS, Program, Size, Suite, Workload};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    program: Vec<Program>,
}

/// Reads a suite from its file.
///
/// # Errors
/// When the file cannot be read or is no valid suite: all problems that were found, one a line.
pub fn load(file: &Path) -> Result<Suite> {
    let text = fs::read_to_string(file)
        .with_context(|| format!("cannot read the suite {}", file.display()))?;
    // Builds and scripts for inputs run elsewhere, and need its files.
    let place = file.canonicalize().with_context(|| format!("cannot find {}", file.display()))?;
    let folder = place.parent().unwrap_or(Path::new("/")).to_owned();
    let programs = parse(&file.display().to_string(), &text)?;
    Ok(Suite { programs, folder })
}

/// Reads the text of a file that is called `file` in messages.
pub(super) fn parse(file: &str, text: &str) -> Result<Vec<Program>> {
    let mut problems = Problems::new(file, text);
    let programs = match toml::from_str::<Document>(text) {
        Ok(document) => document.program,
        Err(error) => {
            problems.add(error.span().unwrap_or(0..0), error.message());
            Vec::new()
        }
    };
    let mut names = BTreeSet::new();
    for program in &programs {
        if !names.insert(program.name()) {
            problems.add(program.name.span(), format!("a second program {:?}", program.name()));
        }
        check(program, &mut problems);
    }
    let lines: Vec<String> = problems.in_order().iter().map(Problem::to_string).collect();
    if lines.is_empty() { Ok(programs) } else { bail!("{}", lines.join("\n")) }
}

fn check(program: &Program, problems: &mut Problems<'_>) {
    let name = program.name();
    let mut say = |span: Range<usize>, text: String| problems.add(span, format!("{name}: {text}"));
    let valid = |character: char| character.is_ascii_lowercase() || character.is_ascii_digit();
    if name.is_empty()
        || !name.chars().all(|character| valid(character) || "+.".contains(character))
    {
        say(program.name.span(), "a name of small letters and digits is needed".to_owned());
    }
    if program.languages.get_ref().is_empty() {
        say(program.languages.span(), "`languages` is empty".to_owned());
    }
    for archive in &program.sources {
        for hash in archive.sha256.iter().chain(&archive.url_sha256) {
            if !is_sha256(hash.get_ref()) {
                say(
                    hash.span(),
                    format!("{:?} is no SHA-256 in small hexadecimal digits", hash.get_ref()),
                );
            }
        }
        let pinned = archive.sha256.is_some() || archive.url_sha256.is_some();
        if archive.pool.is_none() && archive.url.is_none() || !pinned {
            say(program.name.span(), "a source needs `pool` or `url`, and its `sha256`".to_owned());
        }
    }
    if program.bundled != program.sources.is_empty() {
        say(program.name.span(), "either `sources` or `bundled = true` is needed".to_owned());
    }
    if program.products.get_ref().is_empty() {
        say(program.products.span(), "`products` is empty: the executable is needed".to_owned());
    }
    for product in program.products.get_ref() {
        if !Path::new(product).components().all(|part| matches!(part, Component::Normal(_))) {
            say(program.products.span(), format!("product {product:?} is no path inside the tree"));
        }
    }
    let workloads = program.workloads.get_ref();
    match workloads.first() {
        None => say(program.workloads.span(), "a [[program.workload]] is needed".to_owned()),
        Some(first) if !first.name.is_empty() => {
            say(
                program.workloads.span(),
                "the first workload is the main one: without `name`".to_owned(),
            );
        }
        Some(_) => {}
    }
    for workload in workloads {
        check_workload(program, workload, problems);
    }
}

fn check_workload(program: &Program, workload: &Workload, problems: &mut Problems<'_>) {
    let name = program.workload_name(workload);
    let mut say = |span: Range<usize>, text: String| problems.add(span, format!("{name}: {text}"));
    let args = workload.run.get_ref();
    if !args.first().is_some_and(|word| word.starts_with("{out}/")) {
        say(workload.run.span(), "the first word must be a program in {out}".to_owned());
    }
    let stdin = workload.stdin.iter().map(|word| (word.get_ref(), word.span()));
    for (word, span) in args.iter().map(|word| (word, workload.run.span())).chain(stdin) {
        if word.starts_with("/dev/std") && word != "/dev/stdin" {
            // As root, a program that removes its output first would remove the link for everyone.
            say(
                span.clone(),
                format!("{word} as a file to write: make the program use standard output"),
            );
        }
        for unknown in unknown_placeholders(word) {
            say(span.clone(), format!("unknown {{{unknown}}}; known: {}", PLACEHOLDERS.join(", ")));
        }
        let needs_size = word.contains("{size}") || word.contains("{inputs}");
        if needs_size && program.size.len() < 2 {
            say(
                span,
                "`size = { full = …, test = … }` is needed, since it depends on it".to_owned(),
            );
        }
    }
    let stdout = workload.stdout.get_ref();
    for size in [Size::Full, Size::Test] {
        if !stdout.get(&size).is_some_and(|hash| is_sha256(hash)) {
            say(workload.stdout.span(), format!("`stdout` needs the SHA-256 for {}", size.name()));
        }
    }
}

/// Words in braces that are not known.
fn unknown_placeholders(word: &str) -> Vec<&str> {
    let names = word.split('{').skip(1).filter_map(|rest| rest.split_once('}'));
    names.map(|(name, _)| name).filter(|name| !PLACEHOLDERS.contains(name)).collect()
}

fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
