//! Who imports whom: from the file that names something to the file that defines it, however many
//! modules pass the name on.

use crate::modules::{Crate, Mention, Module, Path, read};
use crate::tree::Tree;
use std::collections::{BTreeMap, BTreeSet};

/// A file that names something of another file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Import {
    /// The file that names it.
    pub from: String,
    /// The file that defines it.
    pub to: String,
    /// The first line that does so.
    pub line: usize,
    /// As it stands there.
    pub path: String,
}

/// The imports between files of each crate. Between crates cargo allows no circle.
pub fn imports(tree: &Tree) -> Vec<Import> {
    roots(tree).iter().flat_map(|root| of_crate(&read(tree, root, false))).collect()
}

/// The files of all crates, with what they have for tests only.
pub fn files(tree: &Tree) -> BTreeSet<String> {
    let crates = roots(tree).into_iter().map(|root| read(tree, &root, true));
    crates.flat_map(|modules| modules.into_values().map(|module| module.file)).collect()
}

/// The root files of all libraries, programs, tests, benches and build scripts.
fn roots(tree: &Tree) -> Vec<String> {
    let mut roots = Vec::new();
    for (manifest, _) in tree.ending(&["/Cargo.toml"]) {
        let package = manifest.strip_suffix("Cargo.toml").expect("it ends so");
        for (file, _) in tree.ending(&[".rs"]) {
            let Some(inside) = file.strip_prefix(package) else { continue };
            let parts: Vec<&str> = inside.split('/').collect();
            let is_root = match parts[..] {
                ["build.rs"] | ["src", "lib.rs" | "main.rs"] => true,
                ["src", "bin", _] | ["benches", _] => true,
                // Those of `tests/` are named in its manifest, each with modules.
                ["tests", name] => package != "tests/" || is_named(tree, name),
                ["src", "bin", _, "main.rs"] | ["tests", _, "main.rs"] => true,
                _ => false,
            };
            if is_root {
                roots.push(file.to_owned());
            }
        }
    }
    roots
}

/// Whether the manifest of the tests names a file as a target.
fn is_named(tree: &Tree, file: &str) -> bool {
    let entry = format!("[[test]]\nname = \"{}\"\n", file.trim_end_matches(".rs"));
    tree.text("tests/Cargo.toml").is_some_and(|manifest| manifest.contains(&entry))
}

fn of_crate(modules: &Crate) -> Vec<Import> {
    let mut found: BTreeMap<(String, String), Import> = BTreeMap::new();
    for (path, module) in modules {
        let imported = module.imports.iter().filter(|(name, _)| !module.passed_on.contains(*name));
        let imported = imported.map(|(_, mention)| mention);
        for mention in imported.chain(&module.mentions).chain(&module.globs) {
            let Some(target) = file_of(modules, path, &mention.path) else { continue };
            if target != module.file {
                let import = Import {
                    from: module.file.clone(),
                    to: target.clone(),
                    line: mention.line,
                    path: mention.path.join("::"),
                };
                let key = (module.file.clone(), target);
                let first = found.entry(key).or_insert_with(|| import.clone());
                if import.line < first.line {
                    *first = import;
                }
            }
        }
    }
    found.into_values().collect()
}

/// The file that defines what a module calls by this path; nothing for other crates' names.
fn file_of(modules: &Crate, module: &Path, path: &Path) -> Option<String> {
    let mut visited = BTreeSet::new();
    let found = resolve(modules, module, path, &mut visited)?;
    Some(modules[&found].file.clone())
}

/// The module that defines what `path` names, seen from `module`.
fn resolve(
    modules: &Crate,
    module: &Path,
    path: &[String],
    visited: &mut BTreeSet<(Path, Path)>,
) -> Option<Path> {
    let (first, rest) = path.split_first()?;
    let (start, rest) = match first.as_str() {
        "crate" => (Vec::new(), rest),
        "self" => (module.clone(), rest),
        "super" => {
            let up = path.iter().take_while(|name| *name == "super").count();
            (module[..module.len().checked_sub(up)?].to_vec(), &path[up..])
        }
        // A name of this module: a child of it, or one that it imports as a module.
        name => {
            let here = modules.get(module)?;
            let known = here.children.contains(name) || here.imports.contains_key(name);
            known.then_some((module.clone(), path))?
        }
    };
    within(modules, start, rest, visited)
}

/// The module that defines what `path` names in `module`.
fn within(
    modules: &Crate,
    mut module: Path,
    path: &[String],
    visited: &mut BTreeSet<(Path, Path)>,
) -> Option<Path> {
    for (index, name) in path.iter().enumerate() {
        let here = modules.get(&module)?;
        if here.children.contains(name) {
            module.push(name.clone());
            if !modules.contains_key(&module) {
                return None;
            }
            continue;
        }
        // An import that leads back to where it was asked for names something of this module.
        if !visited.insert((module.clone(), path[index..].to_vec())) {
            return None;
        }
        if here.items.contains(name) {
            return Some(module);
        }
        if let Some(Mention { path: imported, .. }) = here.imports.get(name) {
            let whole = [imported.as_slice(), &path[index + 1..]].concat();
            let from_elsewhere = starts_elsewhere(here, imported);
            return (!from_elsewhere).then(|| resolve(modules, &module, &whole, visited))?;
        }
        let by_glob = here.globs.iter().find_map(|glob| {
            let whole = [glob.path.as_slice(), &path[index..]].concat();
            let found = resolve(modules, &module, &whole, visited)?;
            // A glob's module need not have the name: only a definition elsewhere counts.
            defines(modules, &found, name).then_some(found)
        });
        // `#[macro_export]` puts a macro into the root, wherever it is defined.
        let exported = || module.is_empty().then(|| defining(modules, name)).flatten();
        return by_glob.or_else(exported).or(Some(module));
    }
    Some(module)
}

/// The module that defines a name, wherever it is.
fn defining(modules: &Crate, name: &str) -> Option<Path> {
    modules.iter().find(|(_, module)| module.items.contains(name)).map(|(path, _)| path.clone())
}

/// Whether an imported path begins with the name of another crate.
fn starts_elsewhere(here: &Module, path: &[String]) -> bool {
    !matches!(path[0].as_str(), "crate" | "self" | "super") && !here.children.contains(&path[0])
}

/// Whether a module defines such an item.
fn defines(modules: &Crate, module: &Path, name: &str) -> bool {
    modules.get(module).is_some_and(|module| module.items.contains(name))
}
