//! One function's pad, held while all others follow from the seed.

use std::collections::BTreeMap;
use std::path::Path;
use szc_tests::build::moving;
use szc_tests::directives::Ending;
use szc_tests::records::{Copy, read_map};
use szc_tests::run::run;

/// The functions of a run with one layout, by name.
fn functions(image: &Path, settings: &[(&str, &str)]) -> BTreeMap<String, Copy> {
    let place = tempfile::tempdir().expect("a temporary directory");
    let map = place.path().join("map").display().to_string();
    let own = [("SZC_SEED", "5"), ("SZC_INTERVAL_MS", "0"), ("SZC_MAP", map.as_str())];
    let outcome = run(image, &[&own[..], settings].concat(), &["4"]);
    assert!(outcome.log_of_success().randomize.stack, "{}", outcome.stderr);
    let copies = read_map(Path::new(&map)).into_iter();
    copies.map(|copy| (copy.name.clone(), copy)).collect()
}

fn pads(functions: &BTreeMap<String, Copy>) -> BTreeMap<&str, u64> {
    functions.iter().filter_map(|(name, copy)| Some((name.as_str(), copy.pad?))).collect()
}

#[test]
fn one_pad_is_held_by_bytes_or_by_where_the_frame_begins_and_others_stay() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("campaign/programs/lucky-frame.c");
    let place = tempfile::tempdir().expect("a temporary directory");
    let image = moving(&source, &["-O2"], place.path());
    let all_drawn = functions(&image, &[]);
    let drawn = pads(&all_drawn);
    assert!(["main", "holder", "walk", "other"].iter().all(|name| drawn.contains_key(name)));
    let frame = |functions: &BTreeMap<String, Copy>, name: &str| {
        let copy = &functions[name];
        copy.stack.expect("it was called") - copy.pad.expect("it has one")
    };
    // A frame lies below that of its caller, by the caller's bytes and no more.
    let distance = frame(&all_drawn, "holder") - all_drawn["walk"].stack.expect("it was called");
    assert!((8..1024).contains(&distance), "{distance}");
    for bytes in [0, 1040, 4080] {
        let held = functions(&image, &[("SZC_PAD", &format!("holder:{bytes}"))]);
        let mut expected = drawn.clone();
        expected.insert("holder", bytes);
        assert_eq!(pads(&held), expected);
        assert_eq!(held["walk"].stack, Some(frame(&held, "holder") - distance));
    }
    for (offset, modulus) in [(48, 64), (0, 64), (2064, 4096)] {
        let held = functions(&image, &[("SZC_PAD", &format!("walk:{offset:04}/{modulus}"))]);
        assert_eq!(frame(&held, "walk") % modulus, offset);
        let others = |mut all: BTreeMap<_, _>| all.remove("walk").map(|_| all);
        assert_eq!(others(pads(&held)), others(drawn.clone()));
        // Within a line the rest of the pad stays.
        assert!(modulus == 4096 || pads(&held)["walk"] / 64 == drawn["walk"] / 64);
    }
    // In later layouts, too, by where its first call was.
    let settings = [("SZC_PAD", "holder:16/64"), ("SZC_INTERVAL_MS", "1")];
    assert_eq!(frame(&functions(&image, &settings), "holder") % 64, 16);
    for (value, symbols) in
        [("use:16", "none"), ("nobody:16/64", "none"), ("holder:16/64", "elf"), ("walk:8", "none")]
    {
        let refused = run(&image, &[("SZC_PAD", value), ("SZC_SYMBOLS", symbols)], &[]);
        assert_eq!((refused.ending, refused.text()), (Ending::Code(78), String::new()), "{value}");
        let said = refused.stderr.contains("SZC_PAD") && refused.stderr.contains("need");
        assert!(said, "{value}: {}", refused.stderr);
    }
    let none = run(&image, &[("SZC_PAD", "holder:16"), ("SZC_STACK", "0")], &[]);
    assert_eq!(none.ending, Ending::Code(78), "{}", none.stderr);
}
