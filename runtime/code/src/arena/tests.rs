//! An arena for the code of this test program.

use super::reach::REACH_BYTES;
use super::*;

const PRIVATE: Private = Private { bytes: 100, side_bytes: 5000 };

/// An address in this program, an arena of a megabyte for it, and the memory in front.
fn own(place_bytes: usize) -> (usize, Arena, *mut u8) {
    let image = arch::copy_bytes as *const () as usize & !(PAGE_BYTES - 1);
    let (range, form) = (image..image + (4 << 20), Form::Plain);
    let made = Arena::new(&range, place_bytes, 1 << 20, PRIVATE, form, FileRoom::default());
    let (arena, private) = made.ok().unwrap();
    (image, arena, private)
}

/// Opens a place that no thread reaches.
fn open(arena: &Arena, place: u32, bytes: usize) {
    // SAFETY: nobody runs in these arenas.
    unsafe { arena.open((place, false), bytes) }.unwrap();
}

#[test]
fn both_aliases_show_the_same_bytes_and_rx_is_within_reach() {
    let (image, arena, private) = own(10_000);
    // SAFETY: the private memory has at least 100 bytes.
    unsafe { private.write(1) };
    assert_eq!(arena.place_bytes, 12_288);
    assert_eq!(arena.places(), 85);
    open(&arena, 2, 100);
    let address = arena.address(2, 7);
    assert!(address.abs_diff(image) < REACH_BYTES);
    assert_eq!(arena.locate(address), Some((2, 7)));
    assert_eq!(arena.locate(image), None);
    // SAFETY: the address lies in a place that is open.
    assert_eq!(unsafe { (address as *const u8).read() }, TRAP);
    arena.set_word(arena.address(2, 16), 0x1122_3344_5566_7788);
    // SAFETY: as above.
    assert_eq!(unsafe { (arena.address(2, 16) as *const u64).read() }, 0x1122_3344_5566_7788);
}

#[test]
fn a_place_that_was_closed_takes_no_memory_and_can_be_opened_again() {
    let (_, arena, _) = own(8192);
    open(&arena, 2, 8192);
    let resident = |address: usize| os::is_readable(address, PAGE_BYTES);
    assert!(resident(arena.address(2, 0)));
    arena.close(&(1..3)).unwrap();
    assert!(!resident(arena.address(1, 0)) && !resident(arena.address(2, 4096)));
    assert!(resident(arena.address(0, 0)));
    open(&arena, 1, 100);
    let byte = |offset| {
        // SAFETY: the address lies in a place that is open.
        unsafe { (arena.address(1, offset) as *const u8).read() }
    };
    assert_eq!((byte(99), byte(100)), (TRAP, 0), "zeros are new memory");
}

#[test]
fn a_layout_larger_than_the_budget_is_refused() {
    let (image, form) = (1 << 40..1 << 40, Form::Plain);
    let refused = Arena::new(&image, 2 << 20, 1 << 20, PRIVATE, form, FileRoom::default()).err();
    assert_eq!(refused, Some(Unavailable::Budget));
}

#[test]
#[should_panic(expected = "an address of the arena")]
fn a_word_elsewhere_is_none_of_the_arena() {
    let (image, arena, _) = own(8192);
    arena.set_word(image, 0);
}
