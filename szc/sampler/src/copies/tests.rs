//! Tests of the translation, in a process made of bytes: two functions, two places.

use super::*;
use std::cell::Cell;

const DIRECTORY: u64 = 0x1000;
const IMAGE: u64 = 0x40_0000;
const ARENA: u64 = 0x7000_0000;
const PLACE_BYTES: u64 = 0x1000;

/// Bytes from addresses on, and whether they can be read.
struct Fake {
    parts: Vec<(u64, Vec<u8>)>,
    is_gone: Cell<bool>,
}

impl Memory for Fake {
    fn read(&self, address: u64, bytes: &mut [u8]) -> Option<()> {
        if self.is_gone.get() {
            return None;
        }
        let found = self.parts.iter().find_map(|(start, part)| {
            let at = usize::try_from(address.checked_sub(*start)?).ok()?;
            part.get(at..at + bytes.len())
        })?;
        bytes.copy_from_slice(found);
        Some(())
    }
}

fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn numbers(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// A process whose second function has a padded frame. In the layout of its first place the second
/// function lies in front of the first one.
fn process(epoch: u64) -> Fake {
    process_of(&[epoch, 0])
}

/// One with the layouts of these epochs, by place; 0 is a place that was never used.
fn process_of(epochs: &[u64]) -> Fake {
    let head = |&epoch: &u64| if epoch == 0 { [0; 3] } else { [epoch, 0x9000, 100 + epoch] };
    let heads: Vec<u64> = epochs.iter().flat_map(head).collect();
    let description = [
        IMAGE,
        ARENA,
        epochs.len() as u64 * PLACE_BYTES,
        PLACE_BYTES,
        2,
        0x5000,
        16,
        4,
        0x6000,
        24,
        0,
        8,
        0x8000,
        0x400,
        0x500,
        0x580,
        16,
        16,
        8,
        16,
        0x70_u64.wrapping_neg(),
    ];
    let [first, second] = DIRECTORY_MAGIC;
    let parts = vec![
        (DIRECTORY, words(&[first, second, 0x2000, 0x2100, 0x10])),
        (0x2000, words(&[1])),
        (0x2100, words(&[0x3000])),
        (0x3010, words(&description)),
        (0x5000, numbers(&[9, 0x100, 31, 0, 9, 0x200, 32, 0])),
        (0x6000, words(&heads)),
        // The clone of the second function is all there is.
        (0x8000, numbers(&[0x500, 0x500, 0x400, 0x400, 0x3c0, 0x3c0])),
        // The word in front of the second function, its check and the beginning of its body, and
        // its FDE.
        (ARENA + 0x78, [&[0x5b, 0xe9][..], &[0; 38]].concat()),
        (ARENA + 0x3c0, numbers(&[12, 7, 7, 7])),
        (0x9000, numbers(&[1, 0, 0x300, 0x80])),
    ];
    Fake { parts, is_gone: Cell::new(false) }
}

fn copies() -> Copies {
    Copies { directory: DIRECTORY, images: Vec::new() }
}

#[test]
fn an_address_in_a_copy_is_that_in_the_original_by_its_distance_from_the_body() {
    let (memory, mut copies) = (process(7), copies());
    let mut original = |offset| {
        let found = copies.original_in(&memory, ARENA + offset)?;
        assert_eq!((found.epoch, found.image), (7, IMAGE));
        Some(found.address - IMAGE)
    };
    // The first function has no check in front of its body.
    assert_eq!(original(0x300), Some(0x100));
    assert_eq!(original(0x305), Some(0x105));
    // The second has one, which belongs to its first instruction.
    assert_eq!(original(0x80), Some(0x200));
    assert_eq!(original(0x90), Some(0x200));
    assert_eq!(original(0x93), Some(0x203));
    // Its unpadded clone, its full check, and the stubs of both.
    assert_eq!(original(0x504), Some(0x204));
    assert_eq!(original(0x410), Some(0x200));
    assert_eq!(original(PLACE_BYTES - 32), Some(0x100));
    assert_eq!(original(PLACE_BYTES - 1), Some(0x200));
    // In front of all of them there is nothing.
    assert_eq!(original(0x10), None);
}

#[test]
fn an_address_outside_of_copies_and_a_place_never_used_are_of_no_function() {
    let (memory, mut copies) = (process(7), copies());
    assert_eq!(copies.original_in(&memory, IMAGE + 0x100), None);
    assert_eq!(copies.original_in(&memory, ARENA + PLACE_BYTES + 0x300), None);
    assert_eq!(copies.original_in(&memory, ARENA + 2 * PLACE_BYTES), None);
}

#[test]
fn a_layout_is_known_after_its_process_has_gone_and_read_anew_when_the_place_is() {
    let (memory, mut copies) = (process(7), copies());
    let epoch = |copies: &mut Copies, memory: &Fake| {
        copies.original_in(memory, ARENA + 0x300).map(|original| original.epoch)
    };
    assert_eq!(epoch(&mut copies, &memory), Some(7));
    memory.is_gone.set(true);
    assert_eq!(epoch(&mut copies, &memory), Some(7));
    assert_eq!(epoch(&mut copies, &process(8)), Some(8));
}

#[test]
fn a_process_whose_directory_leads_nowhere_yet_has_no_copies() {
    let mut memory = process(7);
    memory.parts[0].1[16..24].fill(0);
    assert_eq!(copies().original_in(&memory, ARENA + 0x300), None);
    memory.parts[0].1[0] = 0;
    assert_eq!(copies().original_in(&memory, ARENA + 0x300), None);
}

#[test]
fn a_frame_in_a_copy_is_as_in_the_original_but_for_a_pad_and_what_is_in_front() {
    let (memory, mut copies) = (process(7), copies());
    let mut rules = |offset| copies.rules_in(&memory, ARENA + offset).unwrap().1.unwrap();
    let original = |offset| Rules::Original(IMAGE + offset);
    assert_eq!(rules(0x305), original(0x105));
    // The beginning is as in the original whether or not the copy is there yet.
    assert_eq!((rules(0x90), rules(0x96)), (original(0x200), original(0x206)));
    let fde = numbers(&[12, 7, 7, 7]).into();
    assert_eq!(rules(0x97), Rules::Own { fde, at: ARENA + 0x3c0, original: IMAGE + 0x207 });
    assert_eq!(rules(0x504), original(0x204));
    // A push of the function's is undone, the check, the full check.
    let called = |bytes| Rules::Called { bytes };
    assert_eq!([0x78, 0x79, 0x80, 0x410].map(&mut rules), [8, 0, 0, 0].map(called));
    assert_eq!([PLACE_BYTES - 32, PLACE_BYTES - 1].map(&mut rules), [0, 128].map(called));
    // What was read before is known when the process is gone, and nothing else.
    memory.is_gone.set(true);
    assert_eq!(copies.rules_in(&memory, ARENA + 0x98).unwrap().1.map(|_| ()), Some(()));
    copies.images[0].layouts.get_mut(&0).unwrap().fdes.clear();
    assert_eq!(copies.rules_in(&memory, ARENA + 0x98).unwrap().1, None);
}

#[test]
fn a_layout_that_a_function_stays_in_is_kept_however_old_it_is() {
    let epochs: Vec<u64> = (1..=MAX_LAYOUTS as u64 + 2).collect();
    let (memory, mut copies) = (process_of(&epochs), copies());
    let epoch = |copies: &mut Copies, place: u64| {
        let found = copies.original_in(&memory, ARENA + place * PLACE_BYTES + 0x300);
        found.map(|original| original.epoch)
    };
    for place in 1..epochs.len() as u64 {
        assert_eq!((epoch(&mut copies, 0), epoch(&mut copies, place)), (Some(1), Some(place + 1)));
    }
    memory.is_gone.set(true);
    assert_eq!((epoch(&mut copies, 0), epoch(&mut copies, 1)), (Some(1), None));
}

#[test]
fn frames_with_pads_have_those_that_the_layouts_of_all_places_have_drawn() {
    let (memory, mut copies) = (process_of(&[7, 0, 9]), copies());
    let second = IMAGE + 0x200;
    let expected = ImagePads {
        functions: [(second, 32)].into(),
        layouts: vec![(7, 107), (9, 109)],
        starts: [IMAGE + 0x100, second].into(),
    };
    assert_eq!(copies.pads_in(&memory), std::slice::from_ref(&expected));
    let pad = |seed| szc_layout::slot::pad(seed, 32);
    let both = vec![(7, pad(107)), (9, pad(109))];
    assert_eq!(expected.of(second, second + 9), both);
    // A part of it in front, what begins behind it, and what lies in front of all.
    assert_eq!(expected.of(second - 8, second + 9), both);
    assert_eq!(expected.of(second + 4, second + 9), []);
    assert_eq!(expected.of(IMAGE + 0x100, IMAGE + 0x105), []);
    // In the body, and not in the clone, or in a function without one.
    let mut at = |offset| copies.pad_in(&memory, ARENA + offset);
    assert_eq!([0x97, 0x504, 0x305].map(&mut at), [Some(pad(107)), None, None]);
    memory.is_gone.set(true);
    assert_eq!(copies.pads_in(&memory), [expected]);
}
