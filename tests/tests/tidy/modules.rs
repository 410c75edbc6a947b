//! The modules of a crate: which file holds each, what they import, and what they mention by path.

use crate::rust::{Placed, Token, tokens, without_tests};
use crate::tree::Tree;
use std::collections::{BTreeMap, BTreeSet};

/// A path as it is written, from its first name on.
pub type Path = Vec<String>;

/// One name that a `use` brings, or a path in code.
#[derive(Clone, Debug)]
pub struct Mention {
    /// What is named.
    pub path: Path,
    /// Where.
    pub line: usize,
}

/// A module: a file, or a part of one.
#[derive(Debug, Default)]
pub struct Module {
    /// The file.
    pub file: String,
    /// Names of the modules in it.
    pub children: BTreeSet<String>,
    /// What its imports call by which name.
    pub imports: BTreeMap<String, Mention>,
    /// Modules of which it imports everything.
    pub globs: Vec<Mention>,
    /// Names that it imports only to pass them on.
    pub passed_on: BTreeSet<String>,
    /// Names of the items that it defines.
    pub items: BTreeSet<String>,
    /// Paths outside of imports.
    pub mentions: Vec<Mention>,
}

/// Keywords before the name of an item.
const ITEMS: [&str; 9] =
    ["fn", "struct", "enum", "union", "trait", "type", "const", "static", "macro_rules"];

/// The modules of a crate by their path in it; the root's is empty.
pub type Crate = BTreeMap<Path, Module>;

/// Reads a crate from its root file on, without what it has for tests only or with it.
pub fn read(tree: &Tree, root: &str, with_tests: bool) -> Crate {
    let mut modules = Crate::new();
    let folder = root.rsplit_once('/').map_or("", |(folder, _)| folder);
    let source = Source { tree, with_tests };
    read_file(source, root, folder, &Vec::new(), &mut modules);
    modules
}

/// What files are read from, and how.
#[derive(Clone, Copy)]
struct Source<'a> {
    tree: &'a Tree,
    with_tests: bool,
}

/// `folder`: where the files of its child modules lie.
fn read_file(source: Source<'_>, file: &str, folder: &str, module: &Path, modules: &mut Crate) {
    let tree = source.tree;
    let Some(text) = tree.text(file) else { return };
    let tokens = tokens(text);
    let tokens = if source.with_tests { tokens } else { without_tests(&tokens).into() };
    let mut scanner = Scanner { file, tokens: &tokens, modules, files: Vec::new() };
    scanner.module(0, module);
    for (child, path) in scanner.files {
        let name = child.last().expect("a child has a name").clone();
        // Children of a module in the file lie in a folder of its name.
        let inner = child[module.len()..child.len() - 1].join("/");
        let folder = [folder, inner.as_str()].join("/").trim_end_matches('/').to_owned();
        let candidates = match path {
            Some(path) => vec![(format!("{folder}/{path}"), folder.clone())],
            None => vec![
                (format!("{folder}/{name}.rs"), format!("{folder}/{name}")),
                (format!("{folder}/{name}/mod.rs"), format!("{folder}/{name}")),
            ],
        };
        let found = candidates.into_iter().find(|(file, _)| tree.text(file).is_some());
        if let Some((file, folder)) = found {
            read_file(source, &file, &folder, &child, modules);
        }
    }
}

struct Scanner<'a> {
    file: &'a str,
    tokens: &'a [Placed],
    modules: &'a mut Crate,
    /// Child modules in files of their own, and the path that an attribute gives.
    files: Vec<(Path, Option<String>)>,
}

impl Scanner<'_> {
    fn is(&self, at: usize, name: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(name))
    }

    fn marks(&self, at: usize, mark: char) -> bool {
        self.tokens.get(at).is_some_and(|token| token.marks(mark))
    }

    fn name(&self, at: usize) -> Option<&str> {
        self.tokens.get(at)?.name()
    }

    /// Whether `::` stands there.
    fn joins(&self, at: usize) -> bool {
        self.marks(at, ':') && self.marks(at + 1, ':')
    }

    /// Reads a module's tokens up to the end of its braces; where that is.
    fn module(&mut self, start: usize, path: &Path) -> usize {
        let mut module = Module { file: self.file.to_owned(), ..Module::default() };
        let (mut at, mut depth) = (start, 0);
        let mut public = BTreeSet::new();
        let mut spoken: BTreeMap<String, usize> = BTreeMap::new();
        while at < self.tokens.len() {
            let token = &self.tokens[at];
            match &token.token {
                Token::Mark('{') => depth += 1,
                Token::Mark('}') if depth == 0 => break,
                Token::Mark('}') => depth -= 1,
                Token::Name(name) if name == "mod" && self.name(at + 1).is_some() => {
                    let name = self.name(at + 1).expect("a name").to_owned();
                    let child = [path.as_slice(), std::slice::from_ref(&name)].concat();
                    module.children.insert(name);
                    if self.marks(at + 2, ';') {
                        self.files.push((child, None));
                    } else if self.marks(at + 2, '{') {
                        at = self.module(at + 3, &child);
                    }
                    at += 1;
                }
                Token::Name(name) if name == "use" => {
                    let mut found = Vec::new();
                    let passes_on = self.is_public(at);
                    at = self.import(at + 1, &Vec::new(), &mut found);
                    for (name, mention) in found {
                        if name == "*" {
                            module.globs.push(mention);
                        } else {
                            if passes_on && depth == 0 {
                                public.insert(name.clone());
                            }
                            module.imports.insert(name, mention);
                        }
                    }
                    continue;
                }
                Token::Name(name) => {
                    if ITEMS.contains(&name.as_str()) {
                        let bang = usize::from(self.marks(at + 1, '!'));
                        module.items.extend(self.name(at + 1 + bang).map(str::to_owned));
                    }
                    let (mention, after) = self.path(at);
                    if mention.path.len() > 1 && !self.continues(at) {
                        module.mentions.push(mention);
                    }
                    *spoken.entry(name.clone()).or_default() += 1;
                    at = after;
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
        public.retain(|name| !spoken.contains_key(name));
        module.passed_on = public;
        self.modules.insert(path.clone(), module);
        at
    }

    /// Whether `pub` or `pub(…)` stands before.
    fn is_public(&self, at: usize) -> bool {
        let mut before = at;
        if before > 0 && self.marks(before - 1, ')') {
            before = (0..before).rev().find(|&index| self.marks(index, '(')).unwrap_or(0);
        }
        before > 0 && self.is(before - 1, "pub")
    }

    /// Whether the name there belongs to a longer path, or is a field or method.
    fn continues(&self, at: usize) -> bool {
        at > 0 && (self.marks(at - 1, '.') || (at > 1 && self.joins(at - 2)))
    }

    /// The names joined by `::` from here on, and where they end.
    fn path(&self, start: usize) -> (Mention, usize) {
        let name = |at: usize| self.name(at).map(str::to_owned);
        let mut path = vec![name(start).expect("a path begins with a name")];
        let mut at = start + 1;
        while self.joins(at) {
            let Some(next) = name(at + 2) else { break };
            path.push(next);
            at += 3;
        }
        (Mention { path, line: self.tokens[start].line }, at)
    }

    /// Reads the tree of a `use` from here on; where it ends.
    fn import(&self, start: usize, base: &Path, found: &mut Vec<(String, Mention)>) -> usize {
        let mut at = start;
        let mut path = base.clone();
        let line = self.tokens.get(at).map_or(0, |token| token.line);
        loop {
            if self.joins(at) {
                at += 2;
            } else if self.marks(at, '{') {
                at += 1;
                while !self.marks(at, '}') && at < self.tokens.len() {
                    at = self.import(at, &path, found);
                    at += usize::from(self.marks(at, ','));
                }
                return at + 1;
            } else if self.marks(at, '*') {
                found.push(("*".to_owned(), Mention { path, line }));
                return at + 1;
            } else if let Some(name) = self.name(at).filter(|name| *name != "as") {
                path.push(name.to_owned());
                at += 1;
            } else {
                break;
            }
        }
        if path.last().is_some_and(|last| last == "self") && path.len() > 1 {
            path.pop();
        }
        let mut name = path.last().cloned().unwrap_or_default();
        if self.is(at, "as") {
            name = self.name(at + 1).unwrap_or("_").to_owned();
            at += 2;
        }
        // `as _` gives no name; the line keeps two of them apart.
        let name = if name == "_" { format!("_{line}:{}", path.join("::")) } else { name };
        found.push((name, Mention { path, line }));
        at
    }
}
