//! Where functions lie: uniformly, independently of one another, and as the seed says.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use szc_tests::build::moving;
use szc_tests::records::{Copy, Log, read_map};
use szc_tests::run::run;
use szc_tests::statistics::{chi_square, correlation};

/// What chi-square with 255 degrees of freedom exceeds once in a million times; in R:
/// qchisq(1e-6, 255, lower.tail = FALSE). Each of 7 such tests, and of 6 of correlation, may fail
/// so by chance, since it depends on the machine in which epochs functions were called.
const CHI_SQUARE_255: f64 = 377.08;

fn places(args: &[&str]) -> (tempfile::TempDir, PathBuf) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/runtime/places.c");
    let place = tempfile::tempdir().expect("a temporary directory");
    let image = moving(&source, args, place.path());
    (place, image)
}

/// The program, built once for all tests.
fn image() -> &'static Path {
    static IMAGE: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    &IMAGE.get_or_init(|| places(&["-O2"])).1
}

/// All copies of a run, with addresses relative to the image, and its log.
fn copies(image: &Path, settings: &[(&str, &str)], wanted: u32) -> (Vec<Copy>, Log) {
    let place = tempfile::tempdir().expect("a temporary directory");
    let map = place.path().join("map").display().to_string();
    let settings = [settings, &[("SZC_MAP", map.as_str())]].concat();
    let outcome = run(image, &settings, &[&wanted.to_string()]);
    let log = outcome.log_of_success().clone();
    let base = u64::from_str_radix(outcome.text().trim(), 16).expect("the image's address");
    let mut copies = read_map(Path::new(&map));
    for copy in &mut copies {
        copy.address = copy.address.wrapping_sub(base);
    }
    (copies, log)
}

/// Addresses by epoch.
fn of<'a>(copies: &'a [Copy], name: &'a str) -> BTreeMap<u64, u64> {
    copies.iter().filter(|copy| copy.name == name).map(|copy| (copy.epoch, copy.address)).collect()
}

type Layout = BTreeMap<(u64, String), u64>;

fn layout(copies: &[Copy]) -> Layout {
    copies.iter().map(|copy| ((copy.epoch, copy.name.clone()), copy.address)).collect()
}

#[test]
fn places_over_a_thousand_epochs_are_uniform_and_independent() {
    let settings =
        [("SZC_SEED", "20130316"), ("SZC_INTERVAL_MS", "1"), ("SZC_CODE_BUDGET_MIB", "1024")];
    let (copies, log) = copies(image(), &settings, 1280);
    assert!(log.epochs >= 1000 && !log.exhausted, "{log:?}");
    for name in ["first", "second", "third"] {
        let mut counts = [0; 256];
        let places = of(&copies, name);
        assert!(places.len() >= 1000, "{name} was copied {} times", places.len());
        for address in places.values() {
            counts[bits(*address, 4, 8)] += 1;
        }
        let chi = chi_square(&counts);
        assert!(chi < CHI_SQUARE_255, "{name}: chi-square {chi} of {} places", places.len());
        // Successive places of one function are independent of each other, too.
        let series: Vec<f64> = places.values().map(|address| bits(*address, 4, 8) as f64).collect();
        let successive: Vec<(f64, f64)> =
            series.windows(2).map(|pair| (pair[0], pair[1])).collect();
        assert_uncorrelated(name, &successive);
    }
    for (one, other) in [("first", "second"), ("second", "third"), ("first", "third")] {
        let (one_places, other_places) = (of(&copies, one), of(&copies, other));
        let pairs: Vec<(u64, u64)> = one_places
            .iter()
            .filter_map(|(epoch, place)| Some((*place, *other_places.get(epoch)?)))
            .collect();
        let mut counts = [0; 256];
        for (place, other_place) in &pairs {
            counts[bits(*place, 8, 4) << 4 | bits(*other_place, 8, 4)] += 1;
        }
        let chi = chi_square(&counts);
        assert!(chi < CHI_SQUARE_255, "{one}, {other}: chi-square {chi} of {} pairs", pairs.len());
        let series: Vec<(f64, f64)> =
            pairs.iter().map(|(a, b)| (bits(*a, 4, 8) as f64, bits(*b, 4, 8) as f64)).collect();
        assert_uncorrelated(&format!("{one}, {other}"), &series);
    }
}

/// Some bits of an address.
fn bits(address: u64, from: u32, count: u32) -> usize {
    usize::try_from(address >> from & ((1 << count) - 1)).expect("few bits")
}

/// |r| stays below 4.9 standard errors, which chance exceeds once in a million times.
fn assert_uncorrelated(what: &str, pairs: &[(f64, f64)]) {
    let r = correlation(pairs);
    assert!(r.abs() < 4.9 / (pairs.len() as f64).sqrt(), "{what}: r = {r} of {}", pairs.len());
}

#[test]
fn a_run_with_one_layout_is_reproducible_to_the_address() {
    for args in [&["-O2"][..], &["-O2", "-no-pie"], &["-O2", "-static"]] {
        let (_place, image) = places(args);
        let once = |seed: &str| {
            layout(&copies(&image, &[("SZC_SEED", seed), ("SZC_INTERVAL_MS", "0")], 1).0)
        };
        let expected = once("7");
        assert!(expected.len() >= 4, "{args:?}: {expected:?}");
        for _ in 0..4 {
            assert_eq!(once("7"), expected, "{args:?}");
        }
        let other = once("8");
        assert_eq!(other.len(), expected.len());
        assert!(other.iter().all(|(name, place)| expected[name] != *place), "{args:?}: {other:?}");
    }
}

#[test]
fn two_versions_of_a_program_have_their_functions_in_the_same_lines() {
    let (_place, other) = places(&["-O2", "-DMORE"]);
    let (mut all, mut alike) = (0, 0);
    for seed in ["1", "2", "3", "4", "5", "6"] {
        let of = |image: &Path| {
            layout(&copies(image, &[("SZC_SEED", seed), ("SZC_INTERVAL_MS", "0")], 1).0)
        };
        let (one, other) = (of(image()), of(&other));
        for (key, place) in &one {
            all += 1;
            alike += usize::from(other.get(key).is_some_and(|other| (place ^ other) & 0xfff == 0));
        }
    }
    // Of independent layouts, one in 256. Few functions may meet where there is little room.
    assert!(all >= 24 && 4 * alike >= 3 * all, "{alike} of {all}");
}

#[test]
fn the_layout_of_an_epoch_does_not_depend_on_timing() {
    let run = |interval| {
        layout(&copies(image(), &[("SZC_SEED", "99"), ("SZC_INTERVAL_MS", interval)], 60).0)
    };
    let expected = run("1");
    for interval in ["1", "1", "3"] {
        let found = run(interval);
        let common: Vec<_> = found.keys().filter(|key| expected.contains_key(*key)).collect();
        assert!(common.len() > 60, "only {} copies to compare", common.len());
        for key in common {
            assert_eq!(found[key], expected[key], "{key:?} at {interval} ms");
        }
    }
}

#[test]
fn every_epoch_has_a_layout_of_its_own() {
    let (copies, _) = copies(image(), &[("SZC_SEED", "3"), ("SZC_INTERVAL_MS", "1")], 50);
    let place = |address: u64| address & 0xfff;
    let places: std::collections::HashSet<u64> =
        of(&copies, "first").values().map(|&address| place(address)).collect();
    assert!(places.len() > 20, "{places:?}");
}
