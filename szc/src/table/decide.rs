//! Decides for each function whether it may move, and if so what its copies must patch.
//!
//! Fails closed: a function moves only if every reference it makes and every reference to its
//! middle is understood. Pinning one function can pin others, so decisions run to a fixed point.

use std::collections::HashSet;

use super::compiler;
use super::emit::Emitter;
use super::frame::{PreparedFrames, Resizable};
use super::jump_tables::{self, Found, Table};
use super::pc_tables::{self, Covered};
use super::read::{Image, Kind};
use super::stack_switch;
use super::survey::{Function, Survey};
use super::tail_calls;
use szc_abi::{ENTRY_JUMP_BYTES, Field, FixedFrame, RUNTIME_ENTRY_SYMBOLS, Reason, TableTarget};

/// What may move in an image and what stays.
#[derive(Debug)]
pub struct Decision {
    /// Functions that may move, by address.
    pub movable: Vec<MovableFunction>,
    /// Functions that stay, by address.
    pub pinned: Vec<PinnedFunction>,
    /// Code that stays switches stacks.
    pub switches_in_place: bool,
}

/// A function that may move. Offsets in the image are from its link base.
#[derive(Debug)]
pub struct MovableFunction {
    /// Name as in the symbol table.
    pub name: Vec<u8>,
    /// Offset of the first byte in the image.
    pub start: u32,
    /// Bytes.
    pub size: u32,
    /// The program can read label addresses of the function as data.
    pub labels_escape: bool,
    /// The function goes on on other stacks.
    pub switches_stacks: bool,
    /// Index of the next function of its unit.
    pub unit_next: u32,
    /// What to patch, by offset.
    pub fields: Vec<Field>,
    /// Tables that each copy gets.
    pub tables: Vec<CopiedTable>,
    /// Its frame, if copies may have one of another size; or why not, if the compiler prepared it.
    pub frame: Option<Result<Resizable, FixedFrame>>,
    /// What it calls may run on another stack than it began on.
    pub leaves_stack: bool,
    /// Its copies have an inner entry.
    pub inner_entry: bool,
    /// Pushes in front of the instruction at which copies may be left by a detour, if they may.
    pub detour: Option<u32>,
}

/// A jump table as its function's copies hold it.
#[derive(Debug)]
pub struct CopiedTable {
    /// Entries are 8-byte addresses.
    pub absolute: bool,
    /// Where the entries lead.
    pub targets: Vec<TableTarget>,
}

/// A function that stays.
#[derive(Debug)]
pub struct PinnedFunction {
    /// Name as in the symbol table.
    pub name: Vec<u8>,
    /// Offset of the first byte in the image.
    pub start: u64,
    /// Bytes.
    pub size: u64,
    /// Why.
    pub reason: Reason,
}

/// What is known about an image beyond its own bytes.
#[derive(Debug, Default)]
pub struct Policy {
    /// Names of functions of the C library and the compiler's support library in a static image.
    pub c_library: HashSet<Vec<u8>>,
}

/// Largest offset in an image that a table can hold: table targets keep two bits for a tag.
const MAX_IMAGE_OFFSET: u64 = 1 << 30;

/// Sections whose pieces are run one after the other by start-up code, or that hold stubs.
const START_UP_SECTIONS: &[&str] = &[".init", ".fini", ".plt", ".plt.got", ".plt.sec", ".iplt"];

/// Names by which libc calls an allocator that the program brings along.
const ALLOCATOR: &[&[u8]] =
    &[b"malloc", b"free", b"calloc", b"realloc", b"memalign", b"aligned_alloc", b"posix_memalign"];

/// In the names of the runtime's own functions.
const RUNTIME_CRATE: &[u8] = b"szc_runtime";

/// How names begin of the unwinder's functions, which go back to older frames of the same stack.
const UNWINDER_PREFIX: &[u8] = b"_Unwind_";

/// What goes on on another stack in a C library that is linked statically. (Its jumps go back to
/// older frames.)
const OTHER_CONTEXTS: &[&[u8]] = &[b"setcontext", b"swapcontext"];

/// Who refers to what in an image.
#[derive(Debug)]
pub struct References<'data> {
    pub(super) survey: Survey<'data>,
    pub(super) found: Found,
    /// What a table of return addresses covers, if there is one.
    pub(super) covered: Option<Covered>,
}

impl<'data> References<'data> {
    /// Collects them.
    #[must_use]
    pub fn of(image: &Image<'data>) -> Self {
        let survey = Survey::new(image);
        let found = jump_tables::find(image, &survey);
        Self { survey, found, covered: pc_tables::covered(image) }
    }
}

/// Decides for all functions of an image.
#[must_use]
pub fn decide<'data>(
    image: &Image<'data>,
    references: &References<'data>,
    frames: PreparedFrames,
    policy: &Policy,
) -> Decision {
    let References { survey, found, covered } = references;
    let mut pins = Pins::new(survey);
    pins.by_policy(image, survey, policy);
    pins.by_runtime(survey);
    if let Some(covered) = covered {
        pins.by_pc_tables(image, survey, covered);
    }
    for &(index, reason) in &found.pinned {
        pins.pin(index, reason);
    }
    for index in tail_calls::callers_that_matter(image, survey) {
        pins.pin(index, Reason::CallerMatters);
    }
    let dependencies = pins.by_references(survey, &found.tables);
    pins.settle(&dependencies);
    let (tables, pins) = (&found.tables, &pins.reasons);
    let switches = stack_switch::find(image, survey, |index| {
        let has_name = |is: fn(&[u8]) -> bool| survey.functions[index].has_name(is);
        match pins[index] {
            Some(Reason::Runtime) => true,
            Some(Reason::CLibrary) => !has_name(|name| OTHER_CONTEXTS.contains(&name)),
            _ => has_name(|name| name.starts_with(UNWINDER_PREFIX)),
        }
    });
    let switches = &switches;
    Emitter { image, survey, tables, pins, switches }.emit(&dependencies, frames)
}

/// If the user of this pair stays, the target must stay: its middle is entered from there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dependency {
    pub(super) user: usize,
    pub(super) target: usize,
}

struct Pins {
    reasons: Vec<Option<Reason>>,
}

impl Pins {
    fn new(survey: &Survey<'_>) -> Self {
        Self { reasons: survey.functions.iter().map(|function| function.pinned).collect() }
    }

    fn pin(&mut self, index: usize, reason: Reason) {
        self.reasons[index].get_or_insert(reason);
    }

    fn by_policy(&mut self, image: &Image<'_>, survey: &Survey<'_>, policy: &Policy) {
        for (index, function) in survey.functions.iter().enumerate() {
            if let Some(reason) = policy_reason(image, function, policy) {
                self.pin(index, reason);
            }
        }
        for known in compiler::records(image) {
            if let (Some(reason), Some((index, _))) = (known.stays, survey.function_at(known.entry))
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
    fn by_runtime(&mut self, survey: &Survey<'_>) {
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
                    || name.windows(RUNTIME_CRATE.len()).any(|part| part == RUNTIME_CRATE)
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
    fn by_pc_tables(&mut self, image: &Image<'_>, survey: &Survey<'_>, covered: &Covered) {
        let recorded: HashSet<u64> = compiler::records(image).map(|known| known.entry).collect();
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
    fn by_references(&mut self, survey: &Survey<'_>, tables: &[Table]) -> Vec<Dependency> {
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
        // taken one by one may be stored for later: such functions stay as well.
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

    fn settle(&mut self, dependencies: &[Dependency]) {
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
