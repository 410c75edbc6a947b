//! Probes inside a program: what has to be there to count its calls and writes.
//!
//! - Calls and blocks: a uprobe at the first instruction of a function, or of each of its blocks
//!   (perf_event_open(2)), a trap each.
//! - Writes: a hardware breakpoint, of which a processor has four.
//! - Preload: a library of the user's that counts by itself; its counter is read from the
//!   memory of the process.
#![forbid(unsafe_code)]

use std::ffi::{CString, OsString};
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use object::SymbolKind;
use perf_event::events::{Breakpoint, BreakpointAccess, Software};
use perf_event::{Builder, Counter};

use super::blocks;
use super::image::{self, Symbol};
use super::metric::Inside;
use super::outside::is_gone;

/// Functions that allocate and free.
const HEAP: [&str; 7] =
    ["malloc", "calloc", "realloc", "free", "memalign", "aligned_alloc", "posix_memalign"];

/// Most blocks of a function that are counted: each takes a descriptor and a trap.
const MAX_BLOCKS: usize = 400;

/// What is known of a program before it is probed.
#[derive(Clone, Debug)]
pub(super) struct Target {
    /// Its file.
    pub(super) executable: PathBuf,
    /// The C library that it uses, if that is a file of its own.
    pub(super) c_library: Option<PathBuf>,
    /// Whether szc moves its functions.
    pub(super) moves: bool,
}

/// A probe whose places are known.
#[derive(Clone, Debug)]
pub(super) enum Probe {
    /// Functions of a file.
    Functions(PathBuf, Vec<Symbol>),
    /// A variable of a program.
    Variable(PathBuf, Symbol),
    /// The counter of a library.
    Library(PathBuf, Symbol),
}

impl Probe {
    /// Finds the places of a metric in a program.
    pub(super) fn find(inside: &Inside, target: &Target) -> Result<Self> {
        let executable = &target.executable;
        let functions = |path: &Path, names: &[&str]| image::symbols(path, names, SymbolKind::Text);
        match inside {
            Inside::HeapCalls => {
                let own = functions(executable, &HEAP)?;
                if !own.is_empty() {
                    return Ok(Self::Functions(executable.clone(), own));
                }
                let library = target.c_library.as_ref().with_context(|| {
                    format!("heap-calls: {} uses no malloc that is known", executable.display())
                })?;
                Ok(Self::Functions(library.clone(), functions(library, &HEAP)?))
            }
            Inside::Calls(function) | Inside::Blocks(function) => {
                if target.moves {
                    bail!(
                        "{inside}: szc moves the functions of {}, and a probe at the first \
                         address of one would miss its copies. Count a variable (writes:VARIABLE) \
                         or by a library (preload:LIBRARY), or run it with SZC_CODE=0",
                        executable.display()
                    );
                }
                let found = functions(executable, &[function])?;
                if found.is_empty() {
                    bail!("{inside}: {} has no such function", executable.display());
                }
                let places = match inside {
                    Inside::Blocks(_) => blocks_of(executable, &found, inside)?,
                    _ => found,
                };
                Ok(Self::Functions(executable.clone(), places))
            }
            Inside::Writes(variable) => {
                let found = image::symbols(executable, &[variable], SymbolKind::Data)?;
                let symbol = match found[..] {
                    [symbol] if matches!(symbol.size, 1 | 2 | 4 | 8) => symbol,
                    [symbol] => bail!(
                        "writes:{variable}: {} bytes, and a processor watches 1, 2, 4 or 8",
                        symbol.size
                    ),
                    _ => bail!(
                        "writes:{variable}: {} has {} variables of that name, and one is needed",
                        executable.display(),
                        found.len()
                    ),
                };
                Ok(Self::Variable(executable.clone(), symbol))
            }
            Inside::Preload { library, counter } => {
                let path = library
                    .canonicalize()
                    .with_context(|| format!("preload: no library {}", library.display()))?;
                let found = image::symbols(&path, &[counter], SymbolKind::Data)?;
                match found[..] {
                    [symbol] if symbol.size == 8 => Ok(Self::Library(path, symbol)),
                    _ => bail!(
                        "preload: {} needs a variable of eight bytes that is called {counter}, \
                         such as `unsigned long {counter};`",
                        path.display()
                    ),
                }
            }
        }
    }

    /// The library that has to be loaded in front of all others.
    pub(super) fn preloads(&self) -> Option<&Path> {
        match self {
            Self::Library(path, _) => Some(path),
            _ => None,
        }
    }

    /// Puts it into a process that has not begun yet.
    pub(super) fn attach(&self, pid: u32) -> Result<Attached> {
        let counters = match self {
            Self::Library(path, symbol) => {
                return Ok(Attached::Memory { pid, path: path.clone(), symbol: *symbol, at: None });
            }
            Self::Functions(path, symbols) => {
                let counter = |symbol: &Symbol| uprobe(path, symbol.offset, pid);
                symbols.iter().map(counter).collect::<io::Result<Vec<_>>>()
            }
            Self::Variable(path, symbol) => {
                let bias = image::bias(pid, path)?
                    .ok_or_else(|| anyhow!("{} is not mapped", path.display()))?;
                let (addr, len) = (bias.wrapping_add(symbol.address), symbol.size);
                let access = BreakpointAccess::WRITE;
                counter(Builder::new(Breakpoint::Data { access, addr, len }), pid)
                    .map(|counter| vec![counter])
            }
        };
        counters.map(Attached::Counters).map_err(|error| anyhow!(why_not(&error)))
    }
}

/// The basic blocks of functions.
fn blocks_of(path: &Path, functions: &[Symbol], inside: &Inside) -> Result<Vec<Symbol>> {
    let mut found = Vec::new();
    for symbol in functions {
        let code = image::code(path, symbol)?;
        found.extend(blocks::starts(&code, symbol.address).into_iter().map(|address| Symbol {
            address,
            offset: symbol.offset + (address - symbol.address),
            size: 0,
        }));
    }
    if found.is_empty() || found.len() > MAX_BLOCKS {
        bail!(
            "{inside}: {} blocks in {}, and 1 to {MAX_BLOCKS} are counted, a probe each",
            found.len(),
            path.display()
        );
    }
    Ok(found)
}

/// Counts how often a process comes to a place in a file. The crate has no event for that.
fn uprobe(path: &Path, offset: u64, pid: u32) -> io::Result<Counter> {
    let kind = std::fs::read_to_string("/sys/bus/event_source/devices/uprobe/type")?;
    let kind = kind.trim().parse().map_err(io::Error::other)?;
    // The kernel reads the path when the counter is opened.
    let path = CString::new(path.as_os_str().as_bytes())?;
    let mut builder = Builder::new(Software::DUMMY);
    let attributes = builder.attrs_mut();
    attributes.type_ = kind;
    attributes.config = 0;
    attributes.config1 = path.as_ptr() as usize as u64;
    attributes.config2 = offset;
    counter(builder, pid)
}

fn counter(mut builder: Builder<'_>, pid: u32) -> io::Result<Counter> {
    builder
        .observe_pid(pid.cast_signed())
        .any_cpu()
        .exclude_kernel(true)
        .exclude_hv(true)
        .inherit(true)
        .enabled(true)
        .build()
}

fn why_not(error: &io::Error) -> String {
    let level = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap_or_default();
    format!(
        "the kernel gives no probe: {error}. Calls need uprobes (root, or CAP_PERFMON and \
         CAP_SYS_ADMIN), writes a free one of four debug registers; kernel.perf_event_paranoid \
         is {}",
        level.trim()
    )
}

/// A probe in a process.
pub(super) enum Attached {
    /// Counts of the kernel's, to be added.
    Counters(Vec<Counter>),
    /// Eight bytes of its memory.
    Memory {
        /// The process.
        pid: u32,
        /// The library.
        path: PathBuf,
        /// The counter.
        symbol: Symbol,
        /// The memory, and where in it, once the library is loaded.
        at: Option<(File, u64)>,
    },
}

impl Attached {
    /// The count now; nothing once the process has ended.
    pub(super) fn read(&mut self) -> Result<Option<f64>> {
        match self {
            Self::Counters(counters) => {
                let mut sum = 0;
                for counter in counters {
                    sum += counter.read().context("cannot read a probe")?;
                }
                Ok(Some(sum as f64))
            }
            Self::Memory { pid, path, symbol, at } => {
                if at.is_none() {
                    let Ok(bias) = image::bias(*pid, path) else { return Ok(None) };
                    // Not loaded yet.
                    let Some(bias) = bias else { return Ok(Some(0.0)) };
                    let memory = File::open(format!("/proc/{pid}/mem"))
                        .with_context(|| format!("cannot read the memory of process {pid}"))?;
                    *at = Some((memory, bias.wrapping_add(symbol.address)));
                }
                let Some((memory, address)) = at else { return Ok(None) };
                let mut bytes = [0; 8];
                match memory.read_at(&mut bytes, *address) {
                    Ok(8) => Ok(Some(u64::from_le_bytes(bytes) as f64)),
                    Ok(_) => Ok(None),
                    // Not mapped to its end yet, or not any more.
                    Err(error) if is_gone(&error) || error.raw_os_error() == Some(5) => Ok(None),
                    Err(error) => Err(error).context("cannot read the counter of a library"),
                }
            }
        }
    }
}

/// `LD_PRELOAD` with these libraries in front of those that are there.
pub(super) fn preload<'a>(libraries: impl Iterator<Item = &'a Path>) -> Option<OsString> {
    let mut value = OsString::new();
    for library in libraries {
        value.push(library);
        value.push(":");
    }
    if value.is_empty() {
        return None;
    }
    value.push(std::env::var_os("LD_PRELOAD").unwrap_or_default());
    Some(value)
}
