//! The pinned functions, and why they are.
//!
//! Fails closed: a function moves only if every reference it makes and every reference to its
//! middle is understood. Pinning one function can pin others, so pins spread to a fixed point.

use crate::jump_tables::JumpTable;
use crate::pc_tables::Covered;
use crate::read::{Image, Kind};
use crate::records;
use crate::survey::{Function, Survey};
use anyhow::Result;
use object::read::archive::ArchiveFile;
use object::{Object as _, ObjectSymbol};
use std::collections::HashSet;
use szc_abi::{ENTRY_JUMP_BYTES, RUNTIME_CRATES, RUNTIME_ENTRY_SYMBOLS, Reason};

/// What is known about an image beyond its own bytes.
#[derive(Debug, Default)]
pub struct Policy {
    /// Names of functions of the C library and the compiler's support library in a static image.
    pub c_library: HashSet<Vec<u8>>,
}

impl Policy {
    /// Adds the names of all functions that an archive of the C library defines, local ones
    /// included.
    ///
    /// # Errors
    /// The bytes are no archive.
    pub fn add_archive(&mut self, data: &[u8]) -> Result<()> {
        for member in ArchiveFile::parse(data)?.members() {
            let Ok(object) = object::File::parse(member?.data(data)?) else { continue };
            let defined = object.symbols().filter(ObjectSymbol::is_definition);
            let names = defined.filter_map(|symbol| symbol.name_bytes().ok());
            self.c_library.extend(names.map(<[u8]>::to_vec));
        }
        Ok(())
    }
}

/// Largest offset in an image that a table can hold: table targets keep two bits for a tag.
const MAX_IMAGE_OFFSET: u64 = 1 << 30;

/// Sections whose pieces are run one after the other by start-up code, or that hold stubs.
const START_UP_SECTIONS: &[&str] = &[".init", ".fini", ".plt", ".plt.got", ".plt.sec", ".iplt"];

/// Names by which libc calls an allocator that the program brings along.
const ALLOCATOR: &[&[u8]] =
    &[b"malloc", b"free", b"calloc", b"realloc", b"memalign", b"aligned_alloc", b"posix_memalign"];

/// If the user of this pair is pinned, so is the target: its middle is entered from there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dependency {
    pub(crate) user: usize,
    pub(crate) target: usize,
}

pub(crate) struct Pins {
    /// By index of the function.
    pub(crate) reasons: Vec<Option<Reason>>,
}

impl Pins {
    pub(crate) fn new(survey: &Survey<'_>) -> Self {
        Self { reasons: survey.functions.iter().map(|function| function.pinned).collect() }
    }

    pub(crate) fn pin(&mut self, index: usize, reason: Reason) {
        self.reasons[index].get_or_insert(reason);
    }

    pub(crate) fn by_policy(&mut self, image: &Image<'_>, survey: &Survey<'_>, policy: &Policy) {
        for (index, function) in survey.functions.iter().enumerate() {
            if let Some(reason) = policy_reason(image, function, policy) {
                self.pin(index, reason);
            }
        }
        for known in records::all(image) {
            if let (Some(reason), Some((index, _))) =
                (known.pinned, survey.function_at(known.entry))
            {
                self.pin(index, reason);
            }
        }
        for &address in &image.exported {
            if let Some((index, _)) = survey.middle_of(address) {
                self.pin(index, Reason::InteriorReferenced);
            }
        }
    }

    /// Pins whatever the runtime can reach: the resolver must never call itself.
    pub(crate) fn by_runtime(&mut self, survey: &Survey<'_>) {
        let has_runtime = survey.functions.iter().any(|function| {
            function.has_name(|name| name == szc_abi::RUNTIME_START_SYMBOL.as_bytes())
        });
        if !has_runtime {
            return;
        }
        let branches = survey.branches.iter().map(|branch| (branch.function, branch.target));
        let references =
            survey.references.iter().map(|reference| (reference.function, reference.target));
        // By the function that refers. Few of them are reached, so what the others refer to is
        // never looked up.
        let mut edges: Vec<(usize, u64)> = branches
            .chain(references)
            .filter_map(|(from, target)| from.map(|from| (from, target)))
            .collect();
        edges.sort_unstable();
        // What the runtime calls by pointers alone is known by its name.
        let is_root = |function: &Function<'_>| {
            function.has_name(|name| {
                RUNTIME_ENTRY_SYMBOLS.iter().any(|symbol| symbol.as_bytes() == name)
                    || names_runtime_crate(name)
            })
        };
        let mut queue: Vec<usize> =
            (0..survey.functions.len()).filter(|&i| is_root(&survey.functions[i])).collect();
        let mut reached: HashSet<usize> = queue.iter().copied().collect();
        while let Some(index) = queue.pop() {
            self.pin(index, Reason::Runtime);
            let first = edges.partition_point(|&(from, _)| from < index);
            for &(_, target) in edges[first..].iter().take_while(|&&(from, _)| from == index) {
                if let Some((next, _)) = survey.function_at(target)
                    && reached.insert(next)
                {
                    queue.push(next);
                }
            }
        }
    }

    /// Pins what a table of return addresses covers; where that cannot be read, whatever the pass
    /// has not recorded.
    pub(crate) fn by_pc_tables(
        &mut self,
        image: &Image<'_>,
        survey: &Survey<'_>,
        covered: &Covered,
    ) {
        let recorded: HashSet<u64> = records::all(image).map(|known| known.entry).collect();
        let is_covered = |function: &Function<'_>| match covered {
            Covered::Ranges(ranges) => {
                ranges.iter().any(|&(from, to)| function.start < to && from < function.end)
            }
            Covered::Unknown => !recorded.contains(&function.start),
        };
        for (index, function) in survey.functions.iter().enumerate() {
            if is_covered(function) {
                self.pin(index, Reason::PcTable);
            }
        }
    }

    /// Pins functions whose middle is referred to by something that cannot be patched, and returns
    /// the references that can be patched as long as their own function moves.
    pub(crate) fn by_references(
        &mut self,
        survey: &Survey<'_>,
        tables: &[JumpTable],
    ) -> Vec<Dependency> {
        let mut dependencies = Vec::new();
        for branch in &survey.branches {
            let Some((target, function)) = survey.middle_of(branch.target) else { continue };
            match branch.function {
                Some(user) if !branch.call && function.decoded.is_boundary(branch.target) => {
                    dependencies.push(Dependency { user, target });
                }
                _ => self.pin(target, Reason::InteriorReferenced),
            }
        }
        // Data inside a function would be taken for instructions and patched, and label addresses
        // taken one by one may be stored for later: such functions are pinned as well.
        for reference in &survey.references {
            if let Some((target, _)) = survey.middle_of(reference.target) {
                self.pin(target, Reason::InteriorReferenced);
            }
        }
        for &address in &survey.stray_targets {
            if let Some((target, _)) = survey.middle_of(address) {
                self.pin(target, Reason::InteriorReferenced);
            }
        }
        for table in tables {
            for user in table.users.iter().filter_map(|user| user.function) {
                for &address in &table.targets {
                    if let Some((target, _)) = survey.middle_of(address) {
                        dependencies.push(Dependency { user, target });
                    }
                }
            }
        }
        dependencies.sort_unstable_by_key(|dependency| (dependency.user, dependency.target));
        dependencies.dedup_by_key(|dependency| (dependency.user, dependency.target));
        dependencies
    }

    pub(crate) fn propagate(&mut self, dependencies: &[Dependency]) {
        loop {
            let mut changed = false;
            for dependency in dependencies {
                if self.reasons[dependency.user].is_some()
                    && self.reasons[dependency.target].is_none()
                {
                    self.reasons[dependency.target] = Some(Reason::InteriorReferenced);
                    changed = true;
                }
            }
            if !changed {
                return;
            }
        }
    }
}

fn policy_reason(image: &Image<'_>, function: &Function<'_>, policy: &Policy) -> Option<Reason> {
    let contains = |address| (function.start..function.end).contains(&address);
    if function.end.saturating_sub(image.link_base) > MAX_IMAGE_OFFSET
        || function.start < image.link_base
    {
        Some(Reason::OutOfRange)
    } else if image.kind != Kind::SharedLibrary && contains(image.entry) {
        Some(Reason::EntryPoint)
    } else if START_UP_SECTIONS.contains(&function.section) {
        Some(Reason::StartupSection)
    } else if function.ifunc {
        Some(Reason::IfuncResolver)
    } else if function.has_name(|name| policy.c_library.contains(name)) {
        Some(Reason::CLibrary)
    } else if function.has_name(|name| ALLOCATOR.contains(&name)) {
        Some(Reason::Allocator)
    } else if function.end - function.start < ENTRY_JUMP_BYTES as u64 {
        Some(Reason::TooShort)
    } else {
        None
    }
}

/// Whether the name of a crate of the runtime stands in a function's.
fn names_runtime_crate(name: &[u8]) -> bool {
    let begins_one = |rest: &[u8]| RUNTIME_CRATES.iter().any(|of| rest.starts_with(of.as_bytes()));
    (0..name.len()).any(|at| name[at] == b's' && begins_one(&name[at..]))
}
