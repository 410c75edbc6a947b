//! Names by which functions are the same in two versions of a program: what compilers and linkers
//! number anew with each build is left out, and what tells functions of one name apart is added.
//!
//! The runtime draws where a function lies by a number of its name, so that a change of one
//! function leaves the layouts of all others as they are.

use crate::read::{Image, without_version};
use crate::survey::{Function, Survey};
use std::collections::HashMap;

/// The number of each function's canonical name, by index in the survey. No two are equal.
///
/// Functions of one name (instances of a template whose types rustc only hashes, functions of files
/// of one name) are told apart by their bytes, so that one more of them changes no other; and if
/// they have the same, by their order.
pub(crate) fn name_hashes(image: &Image<'_>, survey: &Survey<'_>) -> Vec<u64> {
    let names: Vec<_> = survey.functions.iter().map(name).collect();
    let mut times: HashMap<&[u8], u32> = HashMap::new();
    for name in &names {
        *times.entry(name).or_default() += 1;
    }
    let mut seen: HashMap<Vec<u8>, u64> = HashMap::new();
    let number = |(function, name): (&Function<'_>, &Vec<u8>)| {
        let is_alone = !name.is_empty() && times.get(&name[..]) == Some(&1);
        let bytes = if is_alone { Vec::new() } else { without_fields(image, function) };
        let key = [&name[..], b"\0", &bytes].concat();
        let ordinal = seen.entry(key.clone()).or_default();
        *ordinal += 1;
        szc_abi::digest(&[key, ordinal.to_le_bytes().to_vec()].concat())
    };
    survey.functions.iter().zip(&names).map(number).collect()
}

/// File and name of a function; nothing if it has no name.
fn name(function: &Function<'_>) -> Vec<u8> {
    let names = function.names.iter().filter(|name| !name.is_empty() && **name != b"?");
    names.map(|name| canonical(name)).min().map_or_else(Vec::new, |name| {
        [&file(function.file.unwrap_or_default())[..], b"\0", &name].concat()
    })
}

/// The bytes of a function but for what depends on addresses.
fn without_fields(image: &Image<'_>, function: &Function<'_>) -> Vec<u8> {
    let bytes = image.bytes(function.start, function.end - function.start).unwrap_or_default();
    let mut bytes = bytes.to_vec();
    for operand in &function.decoded.operands {
        let at = usize::try_from(operand.place - function.start).unwrap_or(usize::MAX);
        let field = bytes.iter_mut().skip(at).take(usize::from(operand.width));
        field.for_each(|byte| *byte = 0);
    }
    bytes
}

/// A file symbol without its folder, and without the hash that rustc gives a codegen unit.
fn file(name: &[u8]) -> Vec<u8> {
    let name = name.rsplit(|&byte| byte == b'/').next().unwrap_or(name);
    let is_unit = name.windows(5).any(|part| part == b"-cgu.");
    let end = name.iter().position(|&byte| byte == b'.').filter(|_| is_unit);
    name[..end.unwrap_or(name.len())].to_vec()
}

/// A symbol's name without version, hashes of rustc, and numbers of clones.
fn canonical(name: &[u8]) -> Vec<u8> {
    let name = without_rust_hashes(without_version(name));
    // A first part may be empty: the name then begins with a dot.
    let mut parts = name.split(|&byte| byte == b'.');
    let mut canonical = parts.next().unwrap_or_default().to_vec();
    for part in parts {
        let is_number = !part.is_empty() && part.iter().all(u8::is_ascii_digit);
        if !is_number && part != b"llvm" && part != b"lto_priv" {
            canonical.push(b'.');
            canonical.extend(part);
        }
    }
    canonical
}

/// Without the hash at the end of rustc's older names, and without the disambiguators of crates in
/// its newer ones.
fn without_rust_hashes(name: &[u8]) -> Vec<u8> {
    const HASH_DIGITS: usize = 16;
    const HASH: &[u8] = b"17h";
    let hash_bytes = HASH.len() + HASH_DIGITS + 1;
    let older = name.windows(hash_bytes).position(|part| {
        let digits = &part[HASH.len()..hash_bytes - 1];
        part.starts_with(HASH) && part.ends_with(b"E") && digits.iter().all(u8::is_ascii_hexdigit)
    });
    if let Some(at) = older.filter(|_| name.starts_with(b"_ZN")) {
        return [&name[..at], &name[at + hash_bytes - 1..]].concat();
    }
    if !name.starts_with(b"_R") {
        return name.to_vec();
    }
    let (mut rest, mut without) = (name, Vec::new());
    while let Some(at) = rest.windows(2).position(|part| part == b"Cs") {
        let digits = rest[at + 2..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        without.extend(&rest[..=at]);
        rest = &rest[at + 2 + digits..];
    }
    [&without, rest].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_between_builds_is_left_out_of_a_name() {
        let expected = [
            ("luaV_execute", "luaV_execute"),
            ("memcpy@@GLIBC_2.14", "memcpy"),
            ("helper.llvm.1234567890", "helper"),
            ("helper.lto_priv.3", "helper"),
            ("fill.constprop.0.isra.7", "fill.constprop.isra"),
            ("sort.part.2.cold", "sort.part.cold"),
            (".hidden.5", ".hidden"),
            ("_ZN4core3fmt5write17h0123456789abcdefE", "_ZN4core3fmt5writeE"),
            ("_ZN4core3fmt5write17h0123456789abcdefE.llvm.77", "_ZN4core3fmt5writeE"),
            ("_ZN4core3fmt5write17hE", "_ZN4core3fmt5write17hE"),
            // Of the guide to rustc's v0 names: mycrate::example.
            ("_RNvCskwGfYPst2Cb_7mycrate7example", "_RNvC_7mycrate7example"),
            ("_RNvNtCs1234_7mycrate3foo3bar", "_RNvNtC_7mycrate3foo3bar"),
        ];
        for (name, wanted) in expected {
            let found = canonical(name.as_bytes());
            assert_eq!(String::from_utf8_lossy(&found), wanted, "{name}");
        }
    }

    #[test]
    fn files_are_known_by_their_last_name() {
        for (name, wanted) in
            [("lapi.c", "lapi.c"), ("/build/2/lapi.c", "lapi.c"), ("app.7rcb-cgu.0", "app")]
        {
            assert_eq!(String::from_utf8_lossy(&file(name.as_bytes())), wanted);
        }
    }
}
