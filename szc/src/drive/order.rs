//! The order in which a link gets its object files: as given, by name, or at random by a seed.
//!
//! Mytkowicz et al. (2009) show that it changes speed as much as optimizations do. Only objects
//! change places, and sources that become objects on the way: libraries, archives and start files
//! stay where they are, since what the linker takes out of an archive depends on what stands in
//! front of it. What a language leaves open may change with the order: in C++ that of constructors
//! of different files, and which of several weak definitions counts.

use anyhow::bail;
use std::collections::hash_map::RandomState;
use std::ffi::OsStr;
use std::hash::BuildHasher as _;
use std::os::unix::ffi::OsStrExt as _;
use szc_stats::random::Draws;

/// The environment variable that says in which order objects are linked.
pub(super) const ORDER_VARIABLE: &str = "SZC_LINK_ORDER";

/// In which order objects are linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinkOrder {
    /// As on the command line.
    Given,
    /// By the name as given.
    Alphabetical,
    /// A random one, which follows from this seed and the number of objects.
    Seed(u64),
}

impl LinkOrder {
    /// Reads the value of [`ORDER_VARIABLE`]; an empty value counts as absent.
    ///
    /// # Errors
    /// A value that is none of the allowed ones.
    pub(super) fn from_environment(value: Option<&OsStr>) -> anyhow::Result<Option<Self>> {
        let Some(value) = value.filter(|value| !value.is_empty()) else { return Ok(None) };
        Ok(Some(match value.as_bytes() {
            b"given" => Self::Given,
            b"alphabetical" => Self::Alphabetical,
            other => match str::from_utf8(other).ok().and_then(|digits| digits.parse().ok()) {
                Some(seed) => Self::Seed(seed),
                None => bail!(
                    "{ORDER_VARIABLE}={}: given, alphabetical or a whole number from 0 to {} is \
                     needed, the seed of a random order",
                    value.display(),
                    u64::MAX
                ),
            },
        }))
    }

    /// A random order that nobody chose.
    pub(super) fn drawn() -> Self {
        Self::Seed(RandomState::new().hash_one(std::process::id()))
    }

    /// Puts names in this order.
    pub(super) fn apply<T: Ord>(self, names: &mut [T]) {
        match self {
            Self::Given => {}
            Self::Alphabetical => names.sort(),
            Self::Seed(seed) => Draws::new(seed).shuffle(names),
        }
    }
}

/// Whether an input file is one whose place in the link is free.
pub(super) fn is_free(path: &[u8]) -> bool {
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
    let Some(dot) = name.iter().rposition(|&byte| byte == b'.') else { return false };
    let (stem, extension) = (&name[..dot], &name[dot + 1..]);
    let is_start_file = START_FILES.iter().any(|start| stem.starts_with(start));
    EXTENSIONS.contains(&extension) && !(is_start_file && extension == b"o")
}

/// Objects, and sources that need no other one to be compiled before them, as Fortran's do.
const EXTENSIONS: [&[u8]; 11] =
    [b"o", b"c", b"cc", b"cp", b"cpp", b"cxx", b"c++", b"C", b"s", b"S", b"i"];

/// How the names of objects begin that must be first or last.
const START_FILES: [&[u8]; 5] = [b"crt", b"Scrt", b"gcrt", b"rcrt", b"grcrt"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_a_permutation_that_follows_from_its_seed() {
        let ordered = |order: LinkOrder| {
            let mut names: Vec<u32> = (0..50).rev().collect();
            order.apply(&mut names);
            names
        };
        let given = ordered(LinkOrder::Given);
        assert_eq!(ordered(LinkOrder::Alphabetical), (0..50).collect::<Vec<_>>());
        assert_eq!(ordered(LinkOrder::Seed(3)), ordered(LinkOrder::Seed(3)));
        assert_ne!(ordered(LinkOrder::Seed(3)), ordered(LinkOrder::Seed(4)));
        let mut sorted = ordered(LinkOrder::Seed(3));
        assert_ne!(sorted, given);
        sorted.sort_unstable();
        assert_eq!(sorted, ordered(LinkOrder::Alphabetical));
    }

    #[test]
    fn the_variable_takes_a_word_or_a_seed() {
        let read = |value: &str| LinkOrder::from_environment(Some(OsStr::new(value)));
        assert_eq!(read("").unwrap(), None);
        assert_eq!(LinkOrder::from_environment(None).unwrap(), None);
        assert_eq!(read("given").unwrap(), Some(LinkOrder::Given));
        assert_eq!(read("alphabetical").unwrap(), Some(LinkOrder::Alphabetical));
        assert_eq!(read("18446744073709551615").unwrap(), Some(LinkOrder::Seed(u64::MAX)));
        for wrong in ["random", "-1", "1,2", "18446744073709551616"] {
            let message = read(wrong).unwrap_err().to_string();
            assert!(message.contains(&format!("SZC_LINK_ORDER={wrong}")), "{message}");
        }
    }

    #[test]
    fn start_files_and_libraries_keep_their_places() {
        for free in [&b"a.o"[..], b"dir.x/a.o", b"x.c", b"x.cpp", b"crt.c"] {
            assert!(is_free(free), "{}", String::from_utf8_lossy(free));
        }
        for fixed in
            [&b"libx.a"[..], b"/usr/lib/Scrt1.o", b"crtbeginS.o", b"x.so", b"x.f90", b"o", b"-"]
        {
            assert!(!is_free(fixed), "{}", String::from_utf8_lossy(fixed));
        }
    }
}
