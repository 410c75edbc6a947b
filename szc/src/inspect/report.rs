//! What the relocation table of an image says: the form of `szc inspect --json`.

use anyhow::{Context, Result, anyhow, ensure};
use object::{Object as _, ObjectSection as _, ObjectSymbol as _};
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use szc_abi::stack::FUNCTIONS_SECTION;
use szc_abi::{FieldKind, FixedFrame, Header, Movable, Reason, TABLE_SECTION, Table};
use szc_table::read::Image;
use szc_table::records::{self, Record};

/// What a table says.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Path as given.
    pub file: String,
    /// Kind of image.
    pub image: String,
    /// Version of the table's format.
    pub abi: u32,
    /// Size of the table.
    pub table_bytes: u32,
    /// Whether the runtime is linked into the image.
    pub runtime: bool,
    /// Functions with a size.
    pub total: usize,
    /// Functions that may move.
    pub movable: usize,
    /// Their bytes.
    pub movable_bytes: u64,
    /// Pinned functions.
    pub pinned: usize,
    /// Their bytes.
    pub pinned_bytes: u64,
    /// Functions that pad their frames themselves.
    pub padded: usize,
    /// Functions whose copies pad their frames.
    pub padded_by_copies: usize,
    /// Number of other functions that the compiler prepared for that, by reason.
    pub fixed_frames_by_reason: BTreeMap<String, usize>,
    /// Calls between functions with pads from their copies that need no stack-room check.
    pub unchecked_calls: usize,
    /// Names of functions that seem to bound the stack by addresses: pads count there.
    pub stack_bounds: Vec<String>,
    /// Names of movable functions that go on on other stacks: once one is entered, no copies are
    /// freed.
    pub stack_switches: Vec<String>,
    /// Pinned code does so: no copies are freed.
    pub stack_switches_in_place: bool,
    /// Places patched in copies.
    pub fields: u32,
    /// Jump tables that copies get.
    pub jump_tables: u32,
    /// Number of pinned functions by reason.
    pub pinned_by_reason: BTreeMap<String, usize>,
    /// Every function, by address.
    pub functions: Vec<FunctionReport>,
}

/// One function of a [`Report`].
#[derive(Clone, Debug, Serialize)]
pub struct FunctionReport {
    /// Name.
    pub name: String,
    /// Offset from the image's lowest address.
    pub offset: u32,
    /// Bytes.
    pub size: u32,
    /// Its frame gets a pad, from itself or from its copies.
    pub padded: bool,
    /// Why its frame gets none, if the compiler prepared it for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fixed_frame: Option<&'static str>,
    /// Places to patch; none for a pinned function.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fields: Option<u32>,
    /// Why it is pinned; none for a movable function.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pinned: Option<&'static str>,
}

impl Report {
    /// Reads the table of a file.
    ///
    /// # Errors When the file cannot be read, is not an image, or has no valid table; the message
    /// says what it is and how to build one with a table.
    pub fn of_file(path: &Path) -> Result<Self> {
        let data =
            std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        Self::of_image(path, &data).with_context(|| path.display().to_string())
    }

    /// Reads the table from the bytes of an image; foreign or damaged bytes give an error.
    ///
    /// # Errors
    /// As of [`Report::of_file`].
    pub fn of_image(path: &Path, data: &[u8]) -> Result<Self> {
        let file = object::File::parse(data).map_err(|_| {
            let kind = if data.starts_with(b"#!") { "a script" } else { "not an ELF file" };
            anyhow!("it is {kind}; name a program or library linked by szc")
        })?;
        let section = file
            .section_by_name(TABLE_SECTION)
            .ok_or_else(|| anyhow!("it is {}", without_table(&file)))?;
        let bytes = section.data().context("its relocation table lies outside the file")?;
        let table = Table::parse(bytes)?;
        table.validate().context("its relocation table is damaged")?;
        ensure!(table.is_whole(), "its relocation table is damaged: it has another digest");
        let padded = offsets_of(data, |known| known.padded);
        let bounds = offsets_of(data, |known| known.bounds_stack);
        let report = summarize(path, &file, &table, &padded);
        let bounding = report.functions.iter().filter(|it| bounds.contains(&u64::from(it.offset)));
        let stack_bounds = bounding.map(|function| function.name.clone()).collect();
        Ok(Report { stack_bounds, ..report })
    }
}

/// What a file without a table is, and what to do about it.
fn without_table(file: &object::File<'_>) -> &'static str {
    if file.kind() == object::ObjectKind::Relocatable {
        "an object file, and relocation tables are made at link time: link it with szc"
    } else if was_built_for_one(file) {
        "an image without a relocation table: it was linked without -Rcode, or the table was \
         stripped, which strip, llvm-strip, eu-strip and -s do not, but sstrip, --strip-sections \
         and --strip-non-alloc do: link it again with szc (CC=szc)"
    } else if file.sections().next().is_none() {
        "a linked image without sections (sstrip and --strip-sections drop them), and so without a \
         relocation table"
    } else {
        "a linked image without a relocation table: link it with szc (CC=szc), without -Rnone"
    }
}

/// Whether the compiler left records of functions, as it does for tables.
fn was_built_for_one(file: &object::File<'_>) -> bool {
    file.section_by_name(FUNCTIONS_SECTION).is_some_and(|section| section.size() > 0)
}

/// Offsets in the image of the functions that the compiler knows something about.
fn offsets_of(data: &[u8], is_meant: impl Fn(&Record) -> bool) -> HashSet<u64> {
    Image::parse(data).map_or_else(
        |_| HashSet::new(),
        |image| {
            records::all(&image)
                .filter(is_meant)
                .map(|known| known.entry.wrapping_sub(image.link_base))
                .collect()
        },
    )
}

fn summarize(
    path: &Path,
    file: &object::File<'_>,
    table: &Table<'_>,
    padded: &HashSet<u64>,
) -> Report {
    let name = |at| String::from_utf8_lossy(table.name(at)).into_owned();
    let mut functions = Vec::new();
    let mut by_reason = BTreeMap::new();
    let (mut movable_bytes, mut pinned_bytes) = (0, 0);
    let mut stack_switches = Vec::new();
    let (mut padded_by_copies, mut fixed_frames_by_reason) = (0, BTreeMap::new());
    let mut unchecked_calls = 0;
    for function in (0..table.movable_count()).filter_map(|index| table.movable(index)) {
        movable_bytes += u64::from(function.size);
        padded_by_copies += usize::from(function.has_frame());
        unchecked_calls += inner_calls(table, &function);
        if function.flags & Movable::FLAG_SWITCHES_STACKS != 0 {
            stack_switches.push(name(function.name_at));
        }
        if let Some(reason) = function.fixed_frame() {
            *fixed_frames_by_reason.entry(reason.text().to_owned()).or_insert(0) += 1;
        }
        functions.push(FunctionReport {
            name: name(function.name_at),
            offset: function.start,
            size: function.size,
            padded: padded.contains(&u64::from(function.start)) || function.has_frame(),
            fixed_frame: function.fixed_frame().map(FixedFrame::text),
            fields: Some(field_count(table, &function)),
            pinned: None,
        });
    }
    for function in (0..table.pinned_count()).filter_map(|index| table.pinned(index)) {
        pinned_bytes += u64::from(function.size);
        let reason = Reason::from_code(function.reason).map_or("unknown reason", Reason::text);
        *by_reason.entry(reason.to_owned()).or_insert(0) += 1;
        functions.push(FunctionReport {
            name: name(function.name_at),
            offset: function.start,
            size: function.size,
            padded: padded.contains(&u64::from(function.start)),
            fixed_frame: None,
            fields: None,
            pinned: Some(reason),
        });
    }
    functions.sort_by_key(|function| function.offset);
    Report {
        file: path.display().to_string(),
        image: image_text(file),
        abi: szc_abi::ABI_VERSION,
        table_bytes: table.header().total_bytes,
        runtime: has_runtime(file),
        total: functions.len(),
        movable: table.movable_count(),
        movable_bytes,
        pinned: table.pinned_count(),
        pinned_bytes,
        padded: padded.len(),
        padded_by_copies,
        fixed_frames_by_reason,
        unchecked_calls,
        stack_bounds: Vec::new(),
        stack_switches,
        stack_switches_in_place: table.header().flags & Header::FLAG_SWITCHES_STACKS != 0,
        fields: table.header().field_count,
        jump_tables: table.header().table_count,
        pinned_by_reason: by_reason,
        functions,
    }
}

fn field_count(table: &Table<'_>, function: &Movable) -> u32 {
    table.fields(function).field_count().unwrap_or(0)
}

/// Number of calls of a function that lead behind the stack-room check of another.
fn inner_calls(table: &Table<'_>, function: &Movable) -> usize {
    let mut reader = table.fields(function);
    let count = reader.field_count().unwrap_or(0);
    let fields = (0..count).filter_map(|_| reader.next_field().ok());
    fields.filter(|field| matches!(field.kind, FieldKind::Inner(_))).count()
}

fn image_text(file: &object::File<'_>) -> String {
    let kind = match file.kind() {
        object::ObjectKind::Executable => "executable",
        object::ObjectKind::Dynamic if file.section_by_name(".interp").is_some() => {
            "executable (PIE)"
        }
        object::ObjectKind::Dynamic => "shared library or static PIE",
        _ => "image",
    };
    format!("{kind}, {:?}", file.architecture()).to_lowercase()
}

/// The runtime starts itself through `.preinit_array`; in a stripped image that is what is left.
fn has_runtime(file: &object::File<'_>) -> bool {
    file.section_by_name(".preinit_array").is_some()
        || file.symbols().any(|symbol| symbol.name() == Ok(szc_abi::RUNTIME_START_SYMBOL))
}
