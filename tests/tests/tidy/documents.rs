//! Documents: how long those are that everybody reads, and where their links lead.

use crate::tree::{Breach, Rule, Tree, Violation};

macro_rules! eight {
    ($text:expr) => {
        concat!($text, $text, $text, $text, $text, $text, $text, $text)
    };
}

/// Documents and their largest size in bytes.
const SIZES: &[(&str, usize)] = &[("README.md", 7 * 1024), ("DESIGN.md", 20 * 1024)];

pub const SIZE: Rule = Rule {
    name: "README.md has 7 KB at most, DESIGN.md 20 KB",
    find: find_large,
    not_yet: &[],
    breaches: &[Breach { added: &[("README.md", ONE_KIB_TIMES_8)], reported: "README.md: " }],
};

pub const LINKS: Rule = Rule {
    name: "links in documents lead to files of the project",
    find: find_dead_links,
    not_yet: &[],
    breaches: &[
        Breach {
            added: &[("tests/pages/a.md", "see [b](../nothing/b.md#part)\n")],
            reported: "tests/pages/a.md:1: ../nothing/b.md leads nowhere",
        },
        Breach {
            added: &[("tests/pages/a.md", "see [b][1]\n\n[1]: b.rs\n")],
            reported: "tests/pages/a.md:3: b.rs leads nowhere",
        },
        Breach {
            added: &[(
                "tests/pages/a.md",
                "see [b](https://github.com/szc-project/szc/blob/main/b.md)\n",
            )],
            reported: "tests/pages/a.md:1: b.md leads nowhere",
        },
        Breach {
            added: &[("szc/docs/src/lost.md", "see [b](../examples/szc.ini)\n")],
            reported: "szc/docs/src/lost.md:1: ../examples/szc.ini leads out of the book",
        },
        Breach {
            added: &[("tests/pages/a.md", "# A part\n\nsee [it](#another-part)\n")],
            reported: "tests/pages/a.md:3: #another-part is no heading",
        },
    ],
};

pub const CONTENTS: Rule = Rule {
    name: "the contents of the book name each of its pages",
    find: find_unlisted,
    not_yet: &[],
    breaches: &[Breach {
        added: &[("szc/docs/src/lost.md", "# Lost\n")],
        reported: "szc/docs/src/lost.md:1: not in SUMMARY.md",
    }],
};

/// How pages of the book name files that are not in it: wherever the book is read, as pages that
/// mdBook made or below where szc is installed, those do not lie beside it.
const REPOSITORY: &str = "https://github.com/szc-project/szc/blob/main/";

/// Where mdBook looks for pages and, in the contents, for which of them it builds.
const BOOK: &str = "szc/docs/src/";

fn find_unlisted(tree: &Tree) -> Vec<Violation> {
    let contents = tree.text("szc/docs/src/SUMMARY.md").unwrap_or_default();
    let listed: Vec<String> = links(contents).into_iter().map(|(_, link)| link).collect();
    let pages = tree.ending(&[".md"]).filter_map(|(path, _)| path.strip_prefix(BOOK));
    let lost =
        pages.filter(|page| *page != "SUMMARY.md" && !listed.iter().any(|link| link == page));
    lost.map(|page| Violation::new(&format!("{BOOK}{page}"), 1, "not in SUMMARY.md")).collect()
}

fn find_large(tree: &Tree) -> Vec<Violation> {
    let size = |path: &str| tree.text(path).map_or(0, str::len);
    let large = SIZES.iter().filter(|(path, most)| size(path) > *most);
    large.map(|(path, _)| Violation::new(path, 0, format!("{} bytes", size(path)))).collect()
}

fn find_dead_links(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, text) in tree.ending(&[".md"]) {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for (line, link) in links(text) {
            let (folder, link) = match link.strip_prefix(REPOSITORY) {
                Some(inside) => ("", inside),
                None => (folder, link.as_str()),
            };
            let (file, part) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { path.to_owned() } else { resolve(folder, file) };
            if folder == BOOK.trim_end_matches('/') && !target.starts_with(BOOK) {
                violations.push(Violation::new(
                    path,
                    line,
                    format!("{file} leads out of the book"),
                ));
            } else if !tree.has(&target) {
                violations.push(Violation::new(path, line, format!("{file} leads nowhere")));
            } else if let Some(text) = tree.text(&target).filter(|_| target.ends_with(".md"))
                && !part.is_empty()
                && !headings(text).any(|heading| heading == part)
            {
                violations.push(Violation::new(path, line, format!("{link} is no heading")));
            }
        }
    }
    violations
}

pub const BLOCKS: Rule = Rule {
    name: "blocks of the shell in documents are run, or marked as not run",
    find: find_unmarked_blocks,
    not_yet: &[],
    breaches: &[
        Breach {
            added: &[("tests/pages/a.md", "```sh\nrm -rf /\n```\n")],
            reported: "tests/pages/a.md:1: a block of sh",
        },
        Breach {
            added: &[("tests/pages/a.md", "Text.\n\n```console\nno prompt\n```\n")],
            reported: "tests/pages/a.md:3: a block of console without a command",
        },
    ],
};

/// How many blocks of commands a document has that are not run, and why they are not.
const NOT_RUN_WHY: &[(&str, usize, &str)] = &[
    ("README.md", 1, "it installs: the campaign from-source.sh runs it, in a system of its own"),
    ("spec-scripts/OTHERS.md", 1, "hours"),
    ("spec-scripts/open-suite/README.md", 1, "hours; tests/run.sh has its check in short"),
    ("spec-scripts/spec/README.md", 1, "SPEC's suites, for which one pays"),
    ("szc/docs/src/first-steps.md", 1, "it installs, as README's, which has the same lines"),
    ("szc/docs/src/in-process.md", 1, "Google Benchmark, criterion: the campaign in-process.sh"),
    ("szc/docs/src/recipes.md", 5, "meson and bazel are not installed; GitHub, GitLab, Jenkins"),
];

pub const NOT_RUN: Rule = Rule {
    name: "blocks of commands in documents are run, but for some for which there is a reason",
    find: find_not_run,
    not_yet: &[],
    breaches: &[
        Breach {
            added: &[("tests/pages/a.md", NOT_RUN_BLOCK)],
            reported: "tests/pages/a.md: 1 blocks of commands are not run, 0 may be",
        },
        Breach {
            added: &[("szc/docs/src/first-steps.md", NOT_RUN_BLOCK)],
            reported: "szc/docs/src/first-steps.md: 2 blocks of commands are not run, 1 may be",
        },
    ],
};

const NOT_RUN_BLOCK: &str = "```sh,norun\n```\n";

fn find_not_run(tree: &Tree) -> Vec<Violation> {
    let blocks =
        |text: &str| text.lines().filter(|l| l.starts_with("```") && l.ends_with(",norun")).count();
    let permitted = |path: &str| {
        NOT_RUN_WHY.iter().find(|(known, ..)| *known == path).map_or(0, |(_, count, _)| *count)
    };
    let counts = tree.ending(&[".md"]).map(|(path, text)| (path, blocks(text), permitted(path)));
    let wrong = counts.filter(|(_, found, permitted)| found > permitted);
    wrong
        .map(|(path, found, permitted)| {
            let what = format!("{found} blocks of commands are not run, {permitted} may be");
            Violation::new(path, 0, what)
        })
        .collect()
}

fn find_unmarked_blocks(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, text) in tree.ending(&[".md"]) {
        let lines: Vec<&str> = text.lines().collect();
        let mut in_block = false;
        for (index, line) in lines.iter().enumerate() {
            let Some(kind) = line.trim_start().strip_prefix("```") else { continue };
            in_block = !in_block;
            let shell = ["sh", "bash", "shell", "console"].contains(&kind);
            let has_command = lines.get(index + 1).is_some_and(|next| next.starts_with("$ "));
            let is_run = ["console", "console,fails", "console,long"].contains(&kind);
            if in_block && (shell || is_run) && !(is_run && has_command) {
                let what = if is_run {
                    "a block of console without a command".to_owned()
                } else {
                    format!("a block of {kind} is console, sh,staged or sh,norun")
                };
                violations.push(Violation::new(path, index + 1, what));
            }
        }
    }
    violations
}

/// Targets of links that are no addresses, outside of code, each with its line.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut in_code = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        if in_code {
            continue;
        }
        let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join("code");
        let inline = prose.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0));
        let named = prose.strip_prefix('[').and_then(|rest| Some(rest.split_once("]: ")?.1));
        let targets = inline.chain(named).map(|target| target.split(' ').next().unwrap_or(target));
        let is_local = |target: &&str| !target.contains(':') || target.starts_with(REPOSITORY);
        let local = targets.filter(|target| is_local(target) && !target.is_empty());
        found.extend(local.map(|target| (index + 1, target.to_owned())));
    }
    found
}

/// A path from a folder on, without its dots.
fn resolve(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/').filter(|part| !matches!(*part, "" | ".")) {
        if part == ".." {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    parts.join("/")
}

/// The names under which links find headings.
fn headings(text: &str) -> impl Iterator<Item = String> {
    text.lines().filter(|line| line.starts_with('#')).map(|line| {
        let kept = line.trim_start_matches('#').trim().to_lowercase();
        let kept = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.collect::<String>().replace(' ', "-")
    })
}

const ONE_KIB_TIMES_8: &str = eight!(eight!(eight!("sixteen letters\n")));
