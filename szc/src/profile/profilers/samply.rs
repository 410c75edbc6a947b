//! samply: the Firefox profiler's JSON, in which addresses have no names yet.
//!
//! Source: the format of the Firefox profiler ("processed profile format"): tables of columns by
//! thread, or shared by all threads.
#![forbid(unsafe_code)]

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::hotness::Hotness;
use crate::profile::symbols::Symbols;

/// Name of its file; one that ended with `.gz` would be compressed.
pub const FILE: &str = "profile.json";

/// Reads a profile.
pub fn read(path: &Path) -> Result<Hotness> {
    let text = fs::read_to_string(path).context("it has left no profile")?;
    let profile: Value = serde_json::from_str(&text).context("its file is no JSON")?;
    Ok(parse(&profile, &mut Symbols::default()))
}

fn parse(profile: &Value, symbols: &mut Symbols) -> Hotness {
    let mut hotness = Hotness { in_seconds: true, ..Hotness::default() };
    let interval = profile["meta"]["interval"].as_f64().unwrap_or(1.0) / 1e3;
    let libraries = &profile["libs"];
    for thread in profile["threads"].as_array().into_iter().flatten() {
        let shared = &profile["shared"];
        let table = |name: &str| if thread[name].is_null() { &shared[name] } else { &thread[name] };
        let samples = &thread["samples"];
        let stacks = samples["stack"].as_array().map(Vec::as_slice).unwrap_or_default();
        for (index, stack) in stacks.iter().enumerate() {
            // A sample may stand for several, or for CPU time.
            let weight = samples["weight"][index].as_f64().unwrap_or(1.0);
            let name = at(stack).and_then(|stack| {
                let frame = at(&table("stackTable")["frame"][stack])?;
                leaf(&table, libraries, frame, symbols)
            });
            hotness.add(&name.unwrap_or_default(), weight * interval);
        }
    }
    hotness
}

fn at(value: &Value) -> Option<usize> {
    usize::try_from(value.as_u64()?).ok()
}

/// The function of a frame: by its address in its library, or as it is called.
fn leaf<'a>(
    table: &impl Fn(&str) -> &'a Value,
    libraries: &Value,
    frame: usize,
    symbols: &mut Symbols,
) -> Option<String> {
    let function = at(&table("frameTable")["func"][frame])?;
    let functions = table("funcTable");
    let strings = table("stringArray");
    let name = strings[at(&functions["name"][function])?].as_str()?.to_owned();
    let library = at(&functions["resource"][function])
        .and_then(|resource| at(&table("resourceTable")["lib"][resource]));
    let address = table("frameTable")["address"][frame].as_u64();
    if let (true, Some(library), Some(address)) = (name.starts_with("0x"), library, address) {
        let path = libraries[library]["path"].as_str()?;
        let offset = symbols.offset_of(path, address)?;
        return symbols.frames(path, offset).last().map(|frame| frame.function.clone());
    }
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn samples_count_for_the_innermost_function_by_their_weight() {
        let thread = json!({
            "samples": {"stack": [0, 1, null, 0], "weight": [1, 2, 1, 1]},
            "stackTable": {"frame": [0, 1], "prefix": [null, 0]},
            "frameTable": {"address": [16, -1], "func": [0, 1]},
            "funcTable": {"name": [0, 1], "resource": [0, -1]},
            "resourceTable": {"lib": [0]},
            "stringArray": ["main", "hot"]
        });
        let profile = json!({
            "meta": {"interval": 2.0}, "libs": [{"path": "/nowhere"}], "threads": [thread]
        });
        let hotness = parse(&profile, &mut Symbols::default());
        assert!((hotness.seconds("hot", 9.0) - 0.004).abs() < 1e-12, "{hotness:?}");
        assert!((hotness.share("main") - 0.4).abs() < 1e-12);
        assert!((hotness.total - 0.01).abs() < 1e-12);
    }
}
