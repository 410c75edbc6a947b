//! Documents: where their links lead.

use crate::tree::{Breach, Rule, Tree, Violation};

pub const LINKS: Rule = Rule {
    name: "links in documents lead to files of the project",
    find: find_dead_links,
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
            added: &[("tests/pages/a.md", "# A part\n\nsee [it](#another-part)\n")],
            reported: "tests/pages/a.md:3: #another-part is no heading",
        },
    ],
};

fn find_dead_links(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, text) in tree.ending(&[".md"]) {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for (line, link) in links(text) {
            let (file, part) = link.split_once('#').unwrap_or((&link, ""));
            let target = if file.is_empty() { path.to_owned() } else { resolve(folder, file) };
            if !tree.has(&target) {
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
        let local = targets.filter(|target| !target.contains(':') && !target.is_empty());
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
