//! The environment variables of the runtime, read once at start.
//!
//! A malformed value ends the program with exit code 78 (`EX_CONFIG`) before any of it has run: a
//! measurement with a setting that was silently ignored would be worse than none.
#![forbid(unsafe_code)]

mod blocks;
mod functions;
mod number;

use self::blocks::{BLOCKS, blocks};
pub use self::functions::Inject;
use self::functions::{INJECT, PAD, PLACE, Places, inject, pad, places};
use self::number::number;
use core::ffi::CStr;
use szc_heap::{Draws, HeapBase};
use szc_layout::held::{HeldPad, MAX_HELD};
use szc_paths::{MAX_LENGTH, MIN_SPACING, Mode, Shape, words_of};

/// Exit code for a malformed setting (sysexits.h, `EX_CONFIG`).
pub const EXIT_CONFIG: i32 = 78;

/// Longest path of a log, with the NUL.
pub const PATH_BYTES: usize = 4096;

/// Where the names of copies are exported while the program runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Symbols {
    /// A debugger that started the program.
    #[default]
    IfDebugged,
    /// Debuggers that come later and read core dumps, too.
    Debugger,
    /// `perf`.
    Perf,
    /// Whoever reads the files that are mapped, `perf` among them.
    Files,
    /// Nobody.
    Nobody,
}

impl Symbols {
    fn named(name: &[u8]) -> Option<Self> {
        match name {
            b"gdb" => Some(Self::Debugger),
            b"perf" => Some(Self::Perf),
            b"elf" => Some(Self::Files),
            b"none" => Some(Self::Nobody),
            _ => None,
        }
    }
}

/// Largest `SZC_HEAP_SHUFFLE`.
pub const MAX_SHUFFLE: u32 = 1024;

/// Largest `SZC_STACK_ROOM_KIB`.
pub const MAX_ROOM_KIB: u32 = 64 << 10;

/// When old copies of code are freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeReclaim {
    /// Never.
    Off,
    /// When they take some memory.
    On,
    /// At once, and their places are used again first.
    Stress,
}

/// What passes between two layouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// Time.
    Wall,
    /// Processor time of the program's threads: the same number of layouts for the same work,
    /// however much else the machine does.
    Cpu,
}

/// What the environment asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings<'a> {
    /// `SZC_SEED`: seed of all layouts; absent: the kernel's.
    pub seed: Option<u64>,
    /// `SZC_CODE_SEED`: seed of the places of code, instead of `seed`.
    pub code_seed: Option<u64>,
    /// `SZC_STACK_SEED`: seed of the pads of frames, instead of `seed`.
    pub stack_seed: Option<u64>,
    /// `SZC_HEAP_SEED`: seed of the heap, instead of `seed`.
    pub heap_seed: Option<u64>,
    /// `SZC_INTERVAL_MS`: time between epochs; 0: one layout for the whole run.
    pub interval_ms: u32,
    /// `SZC_CLOCK`: what the interval is counted in.
    pub clock: Clock,
    /// `SZC_CODE`: randomize code.
    pub code: bool,
    /// `SZC_PLACE`: functions by name, and where they lie in lines or pages.
    pub places: Places<'a>,
    /// `SZC_PAD`: a function by name, and what its pad is held at.
    pub pad: Option<(&'a [u8], HeldPad)>,
    /// `SZC_INJECT`: a function by name, and what each call of it computes besides.
    pub inject: Option<Inject<'a>>,
    /// `SZC_STACK`: randomize the stack.
    pub stack: bool,
    /// `SZC_STACK_ROOM_KIB`: the part of each stack in which frames get pads; 0: none. `None`: as
    /// the program needs it.
    pub stack_room_kib: Option<u32>,
    /// `SZC_HEAP`: randomize the heap.
    pub heap: bool,
    /// `SZC_HEAP_SHUFFLE`: blocks that wait in each shuffle array.
    pub heap_shuffle: u32,
    /// `SZC_HEAP_BASE`: the allocator under the shuffle layer.
    pub heap_base: HeapBase,
    /// `SZC_BLOCKS`: draws of size classes apart from each other.
    pub blocks: Option<Draws>,
    /// `SZC_CODE_BUDGET_MIB`: most memory for copies of code.
    pub code_budget_mib: u32,
    /// `SZC_CODE_RECLAIM`: when old copies of code are freed.
    pub code_reclaim: CodeReclaim,
    /// `SZC_LOG`: file that gets a JSON line when the program ends.
    pub log: Option<&'a CStr>,
    /// `SZC_SYMBOLS`: where the names of copies are exported.
    pub symbols: Symbols,
    /// `SZC_MAP`: file that gets the places of all copies when the program ends, in perf's format.
    pub map: Option<&'a CStr>,
    /// `SZC_PATHS`: file that gets the profiles of subpaths when the program ends. Code stays.
    pub paths: Option<&'a CStr>,
    /// What each thread's profile is like.
    pub paths_shape: Shape,
}

impl Default for Settings<'_> {
    fn default() -> Self {
        Self {
            seed: None,
            code_seed: None,
            stack_seed: None,
            heap_seed: None,
            interval_ms: 500,
            clock: Clock::Wall,
            code: true,
            places: [None; MAX_HELD],
            pad: None,
            inject: None,
            stack: true,
            stack_room_kib: None,
            heap: true,
            heap_shuffle: 256,
            heap_base: HeapBase::Segregated,
            blocks: None,
            code_budget_mib: 512,
            code_reclaim: CodeReclaim::On,
            log: None,
            symbols: Symbols::default(),
            map: None,
            paths: None,
            paths_shape: Shape::default(),
        }
    }
}

/// A setting that cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadSetting<'a> {
    /// `NAME=value` as found.
    pub found: &'a [u8],
    /// What is needed.
    pub needed: &'static str,
}

/// Reads the settings from `NAME=value` strings. The last of equal names counts, as for a shell
/// they cannot be equal.
///
/// # Errors
/// The first setting of a known name whose value has no meaning.
pub fn read<'a>(
    environment: impl Iterator<Item = &'a CStr>,
) -> Result<Settings<'a>, BadSetting<'a>> {
    let mut settings = Settings::default();
    for entry in environment {
        let bytes = entry.to_bytes();
        let Some(rest) = bytes.strip_prefix(b"SZC_") else { continue };
        let Some(equals) = rest.iter().position(|&byte| byte == b'=') else { continue };
        let (name, value) = (&rest[..equals], &rest[equals + 1..]);
        let text = &entry.to_bytes_with_nul()[b"SZC_".len() + equals + 1..];
        let bad = |needed| BadSetting { found: bytes, needed };
        match name {
            b"SEED" | b"CODE_SEED" | b"STACK_SEED" | b"HEAP_SEED" => {
                let needed = "a whole number from 0 to 18446744073709551615";
                let seed = match name {
                    b"CODE_SEED" => &mut settings.code_seed,
                    b"STACK_SEED" => &mut settings.stack_seed,
                    b"HEAP_SEED" => &mut settings.heap_seed,
                    _ => &mut settings.seed,
                };
                *seed = Some(number(value, u64::MAX).ok_or(bad(needed))?);
            }
            b"INTERVAL_MS" => {
                let needed = "milliseconds from 1 to 4294967295, or 0 for one layout";
                let value = number(value, u64::from(u32::MAX)).ok_or(bad(needed))?;
                settings.interval_ms = value as u32;
            }
            b"CLOCK" => {
                settings.clock = match value {
                    b"wall" => Clock::Wall,
                    b"cpu" => Clock::Cpu,
                    _ => return Err(bad("wall or cpu")),
                };
            }
            b"CODE_BUDGET_MIB" => {
                let needed = "mebibytes from 1 to 1024";
                let value = number(value, 1024).filter(|&mib| mib > 0).ok_or(bad(needed))?;
                settings.code_budget_mib = value as u32;
            }
            b"CODE_RECLAIM" => {
                settings.code_reclaim = match value {
                    b"0" => CodeReclaim::Off,
                    b"1" => CodeReclaim::On,
                    b"stress" => CodeReclaim::Stress,
                    _ => return Err(bad("0, 1 or stress")),
                };
            }
            b"CODE" => settings.code = switch(value).ok_or(bad("0 or 1"))?,
            b"PLACE" => settings.places = places(value).ok_or(bad(PLACE))?,
            b"PAD" => settings.pad = Some(pad(value).ok_or(bad(PAD))?),
            b"INJECT" => settings.inject = Some(inject(value).ok_or(bad(INJECT))?),
            b"STACK" => settings.stack = switch(value).ok_or(bad("0 or 1"))?,
            b"STACK_ROOM_KIB" => {
                let needed = "kibibytes from 0 (no pads) to 65536";
                let value = number(value, u64::from(MAX_ROOM_KIB)).ok_or(bad(needed))?;
                settings.stack_room_kib = Some(value as u32);
            }
            b"HEAP" => settings.heap = switch(value).ok_or(bad("0 or 1"))?,
            b"HEAP_SHUFFLE" => {
                let needed = "a number of blocks from 1 to 1024";
                let value = number(value, u64::from(MAX_SHUFFLE)).filter(|&blocks| blocks > 0);
                settings.heap_shuffle = value.ok_or(bad(needed))? as u32;
            }
            b"HEAP_BASE" => {
                let needed = "segregated, tlsf or diehard";
                settings.heap_base = HeapBase::named(value).ok_or(bad(needed))?;
            }
            b"BLOCKS" => settings.blocks = Some(blocks(value).ok_or(bad(BLOCKS))?),
            b"LOG" => settings.log = Some(path(text).ok_or(bad("a path of 1 to 3000 bytes"))?),
            b"SYMBOLS" => {
                settings.symbols = Symbols::named(value).ok_or(bad("gdb, perf, elf or none"))?;
            }
            b"PATHS" => settings.paths = Some(path(text).ok_or(bad("a path of 1 to 3000 bytes"))?),
            b"PATHS_MEMORY_KIB" => {
                let needed = "kibibytes of a thread's profile, from 1 to 1048576";
                let kib = number(value, 1 << 20).filter(|&kib| kib > 0).ok_or(bad(needed))?;
                settings.paths_shape.words = words_of(kib as u32);
            }
            b"PATHS_MAX_LENGTH" => {
                let needed = "a power of two from 2 to 65536";
                let length = number(value, u64::from(MAX_LENGTH));
                let length = length.filter(|length| *length > 1 && length.is_power_of_two());
                settings.paths_shape.length = length.ok_or(bad(needed))? as u32;
            }
            b"PATHS_SPACING" => {
                let needed =
                    "a number of blocks from 128 to 1000000000, or 0 to count all subpaths";
                let spacing = number(value, 1_000_000_000).ok_or(bad(needed))?;
                settings.paths_shape.mode = match spacing as u32 {
                    0 => Mode::Exact,
                    spacing if spacing >= MIN_SPACING => Mode::Sampled { spacing },
                    _ => return Err(bad(needed)),
                };
            }
            b"MAP" => settings.map = Some(path(text).ok_or(bad("a path of 1 to 3000 bytes"))?),
            _ => {}
        }
    }
    Ok(settings)
}

fn switch(value: &[u8]) -> Option<bool> {
    match value {
        b"0" => Some(false),
        b"1" => Some(true),
        _ => None,
    }
}

/// Leaves room in `PATH_BYTES` for a directory before it and process numbers inside it.
fn path(text_with_nul: &[u8]) -> Option<&CStr> {
    let path = CStr::from_bytes_with_nul(text_with_nul).ok()?;
    (1..=3000).contains(&path.to_bytes().len()).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use szc_layout::held::Held;

    fn one(entry: &CStr) -> Result<Settings<'_>, BadSetting<'_>> {
        read([entry].into_iter())
    }

    #[test]
    fn an_empty_environment_gives_the_documented_defaults() {
        let settings = read([c"HOME=/", c"SZC=1", c"SZC_HOME=/x"].into_iter()).unwrap();
        assert_eq!(settings, Settings::default());
        assert_eq!((settings.interval_ms, settings.code_budget_mib), (500, 512));
    }

    #[test]
    fn every_setting_is_read() {
        let settings = read(
            [
                c"SZC_SEED=18446744073709551615",
                c"SZC_CODE_SEED=1",
                c"SZC_STACK_SEED=2",
                c"SZC_HEAP_SEED=3",
                c"SZC_INTERVAL_MS=0",
                c"SZC_CLOCK=cpu",
                c"SZC_CODE=0",
                c"SZC_CODE_BUDGET_MIB=64",
                c"SZC_CODE_RECLAIM=stress",
                c"SZC_PLACE=a::b:48",
                c"SZC_PAD=f:16",
                c"SZC_STACK=0",
                c"SZC_STACK_ROOM_KIB=65536",
                c"SZC_HEAP=0",
                c"SZC_HEAP_SHUFFLE=16",
                c"SZC_HEAP_BASE=diehard",
                c"SZC_LOG=/tmp/a=b",
                c"SZC_SYMBOLS=gdb",
                c"SZC_PATHS=p",
                c"SZC_PATHS_MEMORY_KIB=2",
                c"SZC_PATHS_MAX_LENGTH=32",
                c"SZC_PATHS_SPACING=0",
            ]
            .into_iter(),
        )
        .unwrap();
        assert_eq!(settings.seed, Some(u64::MAX));
        let seeds = [settings.code_seed, settings.stack_seed, settings.heap_seed];
        assert_eq!(seeds, [1, 2, 3].map(Some));
        assert_eq!((settings.interval_ms, settings.code), (0, false));
        assert_eq!(settings.clock, Clock::Cpu);
        let held = |offset, modulus| Held { offset, modulus };
        assert_eq!(settings.places, [Some((&b"a::b"[..], held(48, 64))), None]);
        assert_eq!(settings.pad, Some((&b"f"[..], HeldPad::Bytes(16))));
        let both = one(c"SZC_PLACE=f:4080/4096,g:16").unwrap().places;
        let expected = [(&b"f"[..], held(4080, 4096)), (&b"g"[..], held(16, 64))];
        assert_eq!(both, expected.map(Some));
        assert_eq!((settings.code_budget_mib, settings.code_reclaim), (64, CodeReclaim::Stress));
        assert_eq!((settings.stack, settings.heap, settings.heap_shuffle), (false, false, 16));
        assert_eq!(settings.stack_room_kib, Some(65_536));
        assert_eq!(settings.heap_base, HeapBase::DieHard);
        assert_eq!(settings.log, Some(c"/tmp/a=b"));
        assert_eq!(settings.symbols, Symbols::Debugger);
        let exact = Shape { words: 512, length: 32, mode: Mode::Exact };
        assert_eq!((settings.paths, settings.paths_shape), (Some(c"p"), exact));
        assert_eq!(one(c"SZC_SYMBOLS=elf").unwrap().symbols, Symbols::Files);
    }

    #[test]
    fn a_malformed_value_is_never_ignored() {
        for entry in [
            c"SZC_SEED=",
            c"SZC_SEED=-1",
            c"SZC_SEED=0x10",
            c"SZC_SEED=18446744073709551616",
            c"SZC_HEAP_SEED=",
            c"SZC_INTERVAL_MS=1.5",
            c"SZC_INTERVAL_MS=4294967296",
            c"SZC_CODE=",
            c"SZC_CODE_BUDGET_MIB=0",
            c"SZC_PLACE=f",
            c"SZC_PLACE=:16",
            c"SZC_PLACE=f:64",
            c"SZC_PLACE=f:8",
            c"SZC_PLACE=f:4096/4096",
            c"SZC_PLACE=f:0,g:0,h:0",
            c"SZC_PAD=f:8",
            c"SZC_INJECT=f:array",
            c"SZC_CODE_RECLAIM=2",
            c"SZC_LOG=",
            c"SZC_STACK=2",
            c"SZC_STACK_ROOM_KIB=",
            c"SZC_STACK_ROOM_KIB=65537",
            c"SZC_STACK_ROOM_KIB=64K",
            c"SZC_HEAP=on",
            c"SZC_HEAP_SHUFFLE=0",
            c"SZC_HEAP_SHUFFLE=1025",
            c"SZC_HEAP_BASE=glibc",
            c"SZC_SYMBOLS=yes",
            c"SZC_PATHS=",
            c"SZC_PATHS_MEMORY_KIB=0",
            c"SZC_PATHS_MAX_LENGTH=48",
            c"SZC_PATHS_SPACING=127",
        ] {
            assert_eq!(one(entry).unwrap_err().found, entry.to_bytes());
        }
    }
}
