//! Images of which the linker or a tool has lost relocations: what would have to be known stays, or
//! is known otherwise.

use super::{by_name, decided, link_in};
use szc_abi::Reason;
use szc_table::pins::Policy;
use szc_table::read::Image;
use szc_tests::tools::Place;

/// What is decided of a function of an image whose linker or a tool has lost relocations.
fn without_relocations(
    source: &str,
    options: &[&str],
    lost: &[&str],
    name: &str,
) -> Option<Reason> {
    let place = Place::new();
    link_in(&place, &[source], options);
    if !lost.is_empty() {
        let lost = lost.iter().map(|section| format!("--remove-section={section}"));
        place.run("llvm-objcopy-22", &lost.chain(["image".to_owned()]).collect::<Vec<_>>());
    }
    let data = place.read("image");
    let image = Image::parse(&data).expect("an image");
    by_name(&decided(&image, &Policy::default()))[name]
}

#[test]
fn addresses_that_no_retained_relocation_tells_of_are_seen_in_other_ways() {
    let labels = |options: &[&str], lost: &[&str]| {
        without_relocations("labels/mutable_array.c", options, lost, "run")
    };
    let in_data = Some(Reason::InteriorInData);
    let whole = |options: &[&str]| labels(options, &[]);
    // What the loader relocates: lld leaves an empty entry for it with `-O2`, and there are several
    // forms.
    assert_eq!(whole(&["-O2"]), in_data);
    assert_eq!(whole(&["-O2", "-Wl,-O2"]), in_data);
    for form in ["-Wl,-z,pack-relative-relocs", "-Wl,-z,rel"] {
        let lost = [".rel.data", ".rela.data", ".rel.data.rel.ro", ".rela.data.rel.ro"];
        assert_eq!(labels(&["-O2", form], &lost), in_data, "{form}");
    }
    // At a fixed address, where the loader relocates nothing, by the words themselves.
    for lost in [&[][..], &[".rela.data"]] {
        assert_eq!(labels(&["-O2", "-no-pie", "-fno-pic"], lost), in_data, "{lost:?}");
    }
}

#[test]
fn a_switch_whose_table_lost_its_relocations_keeps_its_function() {
    let dense = |options: &[&str], lost: &[&str]| {
        without_relocations("switches/dense.c", options, lost, "dense")
    };
    assert_eq!(dense(&["-O2"], &[]), None);
    assert_eq!(dense(&["-O2"], &[".rela.rodata"]), Some(Reason::TableUnexplained));
    let fixed = ["-O2", "-no-pie", "-fno-pic"];
    assert_eq!(dense(&fixed, &[]), None);
    assert_eq!(dense(&fixed, &[".rela.rodata"]), None);
}
