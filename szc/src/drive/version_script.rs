//! Version scripts that export names: one beside the user's, or the user's with the names in it.
//!
//! A library finds a program's `malloc` only without a version there, whatever version it asks for
//! itself. With scripts that give versions, GNU ld gives one to each name that it exports; so
//! the names get one of szc's, which the finished image then loses (`remove_version`): the entry of
//! `.gnu.version` says "global" again. Source: the ELF symbol versioning specification (U.
//! Drepper), GNU ld's manual, "VERSION Command".

use anyhow::{Context as _, Result};
use object::read::elf::{ElfFile64, FileHeader as _, SectionHeader as _};
use object::{Endianness, elf};
use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// The version of names in an image of GNU ld, for the time of its link.
const NODE: &str = "SZC_SHOWN";

/// A script that exports names without a version.
pub(super) fn anonymous(names: &[String]) -> String {
    format!("{{ global: {}; }};\n", names.join("; "))
}

/// A script that exports names with [`NODE`] as their version.
pub(super) fn versioned(names: &[String]) -> String {
    format!("{NODE} {{ global: {}; }};\n", names.join("; "))
}

/// A script without versions that exports these names, too; none if it gives versions.
pub(super) fn with(script: &str, names: &[String]) -> Option<String> {
    let rest = behind_blank(script).strip_prefix('{')?;
    let list: String = names.iter().map(|name| format!(" {name};")).collect();
    let body = behind_blank(rest);
    let label = |name: &str| behind_blank(body.strip_prefix(name)?).strip_prefix(':');
    Some(match (label("global"), label("local")) {
        (Some(entries), _) => format!("{{ global:{list} {entries}"),
        (_, Some(_)) => format!("{{ global:{list} {body}"),
        _ => format!("{{{list} {body}"),
    })
}

/// Whether a script has a name, by itself and not as a part of another or of a pattern.
pub(super) fn has(script: &str, name: &str) -> bool {
    let ends = |text: &str| !text.starts_with(|c: char| c.is_alphanumeric() || "_*?[".contains(c));
    let begins = |text: &str| !text.ends_with(|c: char| c.is_alphanumeric() || "_*?]".contains(c));
    let mut places = script.match_indices(name);
    places.any(|(at, _)| begins(&script[..at]) && ends(&script[at + name.len()..]))
}

/// What follows blanks and comments.
fn behind_blank(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        let behind = if let Some(comment) = rest.strip_prefix("/*") {
            comment.split_once("*/").map(|(_, behind)| behind)
        } else if rest.starts_with('#') {
            rest.split_once('\n').map(|(_, behind)| behind)
        } else {
            return rest;
        };
        rest = behind.unwrap_or_default().trim_start();
    }
}

/// Takes the version off the names of an image that have it from [`versioned`].
///
/// # Errors
/// The image cannot be read or written.
pub(super) fn remove_version(image: &Path) -> Result<()> {
    let data = fs::read(image).with_context(|| format!("cannot read {}", image.display()))?;
    let places = places_of_version(&data).unwrap_or_default();
    if places.is_empty() {
        return Ok(());
    }
    let file = OpenOptions::new().write(true).open(image);
    let global = elf::VER_NDX_GLOBAL.0.to_le_bytes();
    file.and_then(|file| places.iter().try_for_each(|&at| file.write_all_at(&global, at)))
        .with_context(|| format!("cannot write {}", image.display()))
}

/// Offsets in the file of the entries of `.gnu.version` that name [`NODE`].
fn places_of_version(data: &[u8]) -> Option<Vec<u64>> {
    let file = ElfFile64::<Endianness>::parse(data).ok()?;
    let endian = file.endian();
    let sections = file.elf_header().sections(endian, data).ok()?;
    let (mut definitions, strings) = sections.gnu_verdef(endian, data).ok()??;
    let strings = sections.strings(endian, data, strings).ok()?;
    let mut index = None;
    while let Some((definition, mut names)) = definitions.next().ok()? {
        if let Some(name) = names.next().ok()?
            && name.name(endian, strings) == Ok(NODE.as_bytes())
        {
            index = Some(definition.vd_ndx.get(endian));
        }
    }
    let index = index?;
    let (versions, _) = sections.gnu_versym(endian, data).ok()??;
    let start = sections
        .iter()
        .find(|section| section.sh_type(endian) == elf::SHT_GNU_VERSYM)?
        .sh_offset(endian);
    let places = (start..).step_by(2).zip(versions);
    Some(
        places
            .filter(|(_, version)| version.0.get(endian).0 == index.0)
            .map(|(at, _)| at)
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_into_a_script_without_versions_whatever_it_begins_with() {
        let names = ["a".to_owned(), "b".to_owned()];
        for (script, expected) in [
            ("{ global: main; local: *; };", Some("{ global: a; b;  main; local: *; };")),
            ("{global :main;};", Some("{ global: a; b; main;};")),
            ("{ local: *; };", Some("{ global: a; b; local: *; };")),
            ("{ main; };", Some("{ a; b; main; };")),
            ("{ global_x; };", Some("{ a; b; global_x; };")),
            ("{ };", Some("{ a; b; };")),
            ("/* x { */ # y\n {\n/* z */ local: *;\n};", Some("{ global: a; b; local: *;\n};")),
            ("V1 { global: main; local: *; };", None),
            ("", None),
        ] {
            assert_eq!(with(script, &names).as_deref(), expected, "{script}");
        }
    }

    #[test]
    fn a_name_is_found_only_by_itself() {
        for (script, found) in [
            ("{ malloc; };", true),
            ("{malloc;};", true),
            ("{ \"malloc\"; };", true),
            ("{ xmalloc; malloc_usable_size; };", false),
            ("{ *malloc; malloc*; };", false),
            ("{ xmalloc; malloc; };", true),
        ] {
            assert_eq!(has(script, "malloc"), found, "{script}");
        }
    }
}
