//! Which functions can be made longer, of those that are hot.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result, anyhow, bail};
use object::{Object as _, ObjectSection as _};
use szc_abi::{TABLE_SECTION, Table};
use szc_stats::random::Draws;

use super::record::LeftOut;
use crate::measure::names::readable;
use crate::profile::profilers::Hotness;

/// How many functions are hot.
const HOTTEST: usize = 10;

/// A function of a program that may move.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Movable {
    symbol: String,
    bytes: u32,
}

/// The functions of a program that may move, by readable name.
#[derive(Debug, Default)]
pub(super) struct Functions(BTreeMap<String, Vec<Movable>>);

/// A function that can be made longer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Candidate {
    /// Readable name.
    pub function: String,
    /// Its symbol.
    pub symbol: String,
    /// Share of the program's time.
    pub share: f64,
}

impl Functions {
    /// Reads the table of a program.
    ///
    /// # Errors
    /// It has none.
    pub fn of(path: &Path) -> Result<Self> {
        let shown = path.display();
        let data = std::fs::read(path).with_context(|| format!("cannot read {shown}"))?;
        let table = object::File::parse(&*data)
            .ok()
            .and_then(|file| file.section_by_name(TABLE_SECTION)?.data().map(<[u8]>::to_vec).ok());
        let table = table.ok_or_else(|| {
            anyhow!(
                "no function of {shown} may move, which is how calls are made longer: build it \
                 with szc (CC=szc), without -Rnone"
            )
        })?;
        let table = Table::parse(&table).map_err(|error| anyhow!("{shown}: {error}"))?;
        let mut functions = Self::default();
        for function in (0..table.movable_count()).filter_map(|index| table.movable(index)) {
            let symbol = String::from_utf8_lossy(table.name(function.name_at)).into_owned();
            functions.add(symbol, function.size);
        }
        Ok(functions)
    }

    fn add(&mut self, symbol: String, bytes: u32) {
        self.0.entry(readable(&symbol)).or_default().push(Movable { symbol, bytes });
    }

    /// The symbol of a function that can be made longer by so many bytes, or why it cannot.
    fn symbol(&self, function: &str, bytes: u32) -> Result<&str, String> {
        match self.0.get(function).map(Vec::as_slice) {
            None | Some([]) => Err("does not move".to_owned()),
            Some([one]) if one.bytes < bytes => {
                Err(format!("has {} bytes, and {bytes} are needed", one.bytes))
            }
            Some([one]) => Ok(&one.symbol),
            Some(several) => Err(format!("is the name of {} functions", several.len())),
        }
    }

    /// The hottest functions that can be made longer, and the others with the reason.
    pub fn among(&self, hotness: &Hotness, bytes: u32) -> (Vec<Candidate>, Vec<LeftOut>) {
        let (mut candidates, mut left_out) = (Vec::new(), Vec::new());
        for function in hotness.hottest().into_iter().take(HOTTEST) {
            let share = hotness.share(function);
            let function = function.to_owned();
            match self.symbol(&function, bytes) {
                Ok(symbol) => {
                    candidates.push(Candidate { symbol: symbol.to_owned(), function, share });
                }
                Err(why) => left_out.push(LeftOut { function, why }),
            }
        }
        (candidates, left_out)
    }

    /// Those that somebody names.
    ///
    /// # Errors
    /// One cannot be made longer.
    pub fn named(&self, names: &[String], hotness: &Hotness, bytes: u32) -> Result<Vec<Candidate>> {
        let candidate = |name: &String| {
            let function = readable(name);
            let symbol = self.symbol(&function, bytes).map_err(|why| anyhow!("{name} {why}"))?;
            let share = hotness.share(&function);
            Ok(Candidate { symbol: symbol.to_owned(), function, share })
        };
        names.iter().map(candidate).collect()
    }
}

/// Draws some of them.
///
/// # Errors
/// There are none.
pub(super) fn drawn(
    mut candidates: Vec<Candidate>,
    left_out: &[LeftOut],
    count: usize,
    draws: &mut Draws,
) -> Result<Vec<Candidate>> {
    if candidates.is_empty() {
        let why: Vec<String> =
            left_out.iter().map(|one| format!("{} {}", one.function, one.why)).collect();
        bail!("none of the ten hottest functions can be made longer: {}", why.join("; "));
    }
    draws.shuffle(&mut candidates);
    candidates.truncate(count);
    Ok(candidates)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn functions() -> Functions {
        let mut functions = Functions::default();
        for (symbol, bytes) in [("_ZN1a1bEv", 80), ("small", 20), ("twice", 90), ("twice", 90)] {
            functions.add(symbol.to_owned(), bytes);
        }
        functions
    }

    fn hotness() -> Hotness {
        let amounts = [("a::b()", 5.0), ("small", 3.0), ("twice", 1.0), ("[kernel]", 1.0)];
        Hotness {
            functions: amounts.map(|(name, own)| (name.to_owned(), own)).into(),
            total: 10.0,
            ..Hotness::default()
        }
    }

    #[test]
    fn what_is_hot_and_cannot_be_made_longer_is_left_out_with_a_reason() {
        let (candidates, left_out) = functions().among(&hotness(), 48);
        let expected =
            Candidate { function: "a::b()".into(), symbol: "_ZN1a1bEv".into(), share: 0.5 };
        assert_eq!(candidates, [expected]);
        let why: Vec<&str> = left_out.iter().map(|one| one.why.as_str()).collect();
        assert_eq!(why[0], "has 20 bytes, and 48 are needed");
        assert!(why.contains(&"does not move") && why.contains(&"is the name of 2 functions"));
    }

    #[test]
    fn functions_are_found_by_symbol_or_name_and_unknown_ones_are_refused() {
        let functions = functions();
        for name in ["a::b()", "_ZN1a1bEv"] {
            let found = functions.named(&[name.to_owned()], &hotness(), 48).unwrap();
            assert_eq!(found[0].symbol, "_ZN1a1bEv");
        }
        let error = functions.named(&["none".to_owned()], &hotness(), 48).unwrap_err();
        assert_eq!(error.to_string(), "none does not move");
    }

    #[test]
    fn as_many_are_drawn_as_there_are() {
        let (candidates, left_out) = functions().among(&hotness(), 48);
        let drawn = |candidates| drawn(candidates, &left_out, 2, &mut Draws::new(1));
        assert_eq!(drawn(candidates).unwrap().len(), 1);
        let error = drawn(Vec::new()).unwrap_err().to_string();
        assert!(error.contains("small has 20 bytes"), "{error}");
    }
}
