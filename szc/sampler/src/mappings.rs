//! What processes have mapped to execute, as it changes.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::sync::Arc;

/// A mapping of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// Bytes.
    pub bytes: u64,
    /// Offset in the file.
    pub offset: u64,
    /// The file, or a name in brackets or slashes of what is none.
    pub path: Arc<str>,
}

/// The mappings of a process, by address.
#[derive(Clone, Debug, Default)]
pub struct Mappings {
    by_start: BTreeMap<u64, Mapping>,
}

impl Mappings {
    /// What is mapped over something goes in its place.
    pub fn map(&mut self, start: u64, new: Mapping) {
        let end = start.saturating_add(new.bytes);
        let overlapping: Vec<u64> = self
            .by_start
            .range(..end)
            .filter(|(old, mapping)| *old + mapping.bytes > start)
            .map(|(&old, _)| old)
            .collect();
        for old_start in overlapping {
            let Some(old) = self.by_start.remove(&old_start) else { continue };
            let old_end = old_start + old.bytes;
            if old_start < start {
                let rest = Mapping { bytes: start - old_start, ..old.clone() };
                self.by_start.insert(old_start, rest);
            }
            if end < old_end {
                let offset = old.offset + (end - old_start);
                self.by_start.insert(end, Mapping { bytes: old_end - end, offset, ..old });
            }
        }
        self.by_start.insert(start, new);
    }

    /// The mapping that an address lies in, and where that starts.
    #[must_use]
    pub fn at(&self, address: u64) -> Option<(u64, &Mapping)> {
        let (&start, mapping) = self.by_start.range(..=address).next_back()?;
        (address - start < mapping.bytes).then_some((start, mapping))
    }

    /// The address that an offset of a file is mapped at.
    #[must_use]
    pub fn address(&self, path: &str, offset: u64) -> Option<u64> {
        self.by_start.iter().find_map(|(start, mapping)| {
            let inside = offset.wrapping_sub(mapping.offset);
            (inside < mapping.bytes && &*mapping.path == path).then(|| start + inside)
        })
    }

    /// The file that an address belongs to, and the offset in it.
    #[must_use]
    pub fn locate(&self, address: u64) -> Option<(&str, u64)> {
        let (start, mapping) = self.at(address)?;
        Some((&*mapping.path, mapping.offset + (address - start)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_belongs_to_what_was_mapped_there_last() {
        let mut mappings = Mappings::default();
        let mapping = |bytes, path: &str| Mapping { bytes, offset: 0x1000, path: path.into() };
        mappings.map(0x10, mapping(0x30, "a"));
        mappings.map(0x20, mapping(0x10, "b"));
        let found: Vec<Option<(String, u64)>> = [0xf, 0x10, 0x1f, 0x20, 0x2f, 0x30, 0x3f, 0x40]
            .map(|at| mappings.locate(at).map(|(path, offset)| (path.to_string(), offset)))
            .into();
        let a = |inside: u64| Some(("a".to_owned(), 0x1000 + inside));
        let b = |inside: u64| Some(("b".to_owned(), 0x1000 + inside));
        assert_eq!(mappings.address("a", 0x1005), Some(0x15));
        assert_eq!([0x1015, 0x1030].map(|offset| mappings.address("a", offset)), [None; 2]);
        assert_eq!(found, [None, a(0), a(0xf), b(0), b(0xf), a(0x20), a(0x2f), None]);
    }
}
