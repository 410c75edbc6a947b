//! Functions as compilers write them, with and without what the compiler pass adds.

use super::*;
use szc_abi::stack::SLACK_MARK;

const START: u64 = 0x1000;

/// `sub $n, %rsp` and `add $n, %rsp` with constants of 4 bytes.
fn take(bytes: u32) -> Vec<u8> {
    [&[0x48, 0x81, 0xec][..], &bytes.to_le_bytes()].concat()
}

fn give_back(bytes: u32) -> Vec<u8> {
    [&[0x48, 0x81, 0xc4][..], &bytes.to_le_bytes()].concat()
}

const CALL: &[u8] = &[0xe8, 0x00, 0x10, 0x00, 0x00];
const RETURN: &[u8] = &[0xc3];
const PUSH_RBX: &[u8] = &[0x53];
const POP_RBX: &[u8] = &[0x5b];

fn flow(parts: &[&[u8]]) -> Result<StackFlow, FixedFrame> {
    StackFlow::of(START, &parts.concat())
}

/// `prefetcht1 disp32(%rsp)`: where the slack lies.
fn marker(distance: u32) -> Vec<u8> {
    [&[0x0f, 0x18, 0x94, 0x24][..], &distance.to_le_bytes()].concat()
}

#[test]
fn constants_that_take_and_give_back_a_frame_are_sites() {
    let (take, give_back) = (take(160), give_back(160));
    let found = flow(&[PUSH_RBX, &take, CALL, &give_back, POP_RBX, RETURN]).unwrap();
    assert_eq!(found.sites, [4, 16]);
    let at = |address| found.point_from(address).unwrap();
    assert_eq!((at(START).depth, at(START).resized), (0, false));
    assert_eq!((at(START + 8).depth, at(START + 8).resized), (168, true));
    assert_eq!((at(START + 20).depth, at(START + 20).resized), (8, false));
    assert_eq!(found.calls().map(|(address, _)| address).collect::<Vec<_>>(), [START + 8]);
}

/// `mov %rax, disp32(%rsp)`.
fn store(distance: u32) -> Vec<u8> {
    [&[0x48, 0x89, 0x84, 0x24][..], &distance.to_le_bytes()].concat()
}

/// `lea disp32(%rsp), %rax`.
fn address(distance: u32) -> Vec<u8> {
    [&[0x48, 0x8d, 0x84, 0x24][..], &distance.to_le_bytes()].concat()
}

/// A function with a frame of 208 bytes and this body.
fn frame(body: &[&[u8]]) -> StackFlow {
    let (take, give_back) = (take(208), give_back(208));
    flow(&[&[&take[..]], body, &[CALL, &give_back[..], RETURN]].concat()).unwrap()
}

#[test]
fn a_frame_shrinks_if_the_room_lies_at_its_upper_end() {
    assert_eq!(frame(&[]).slack, 0);
    for body in [&[&marker(64)[..]][..], &[&marker(64), &store(56)], &[&marker(64), &address(64)]] {
        let found = frame(body);
        assert_eq!((found.slack, &found.shifts[..]), (RESIZABLE_BYTES, &[][..]), "{body:x?}");
    }
    // What is used there is no slack.
    assert_eq!(frame(&[&marker(64), &store(64)]).slack, 0);
}

#[test]
fn the_guard_above_the_room_comes_nearer() {
    let found = frame(&[&marker(56), &address(8), &store(200)]);
    let at = 7 + 8 + 8 + 4;
    let shift = Shift { at, by: -144 };
    assert_eq!((found.slack, &found.shifts[..]), (RESIZABLE_BYTES, &[shift][..]));
    // Whose address is computed may be of something above or below.
    assert_eq!(frame(&[&marker(56), &address(200)]).slack, 0);
    // Something above the slack that no instruction is seen to use may be used by what is computed.
    assert_eq!(frame(&[&marker(40), &address(8), &store(200)]).slack, 0);
    let both = frame(&[&marker(40), &address(8), &store(200), &store(192)]);
    assert_eq!((both.slack, both.shifts.len()), (RESIZABLE_BYTES, 2));
}

#[test]
fn what_is_kept_behind_the_room_comes_nearer_to_the_frame_pointer() {
    const ENTER: &[u8] = &[0x55, 0x48, 0x89, 0xe5]; // push %rbp; mov %rsp, %rbp
    const POP_RBP: &[u8] = &[0x5d];
    let by = |opcode: &[u8], distance: i32| [opcode, &distance.to_le_bytes()].concat();
    let spill = |distance| by(&[0x48, 0x89, 0x85], distance); // mov %rax, d(%rbp)
    let lea = |distance| by(&[0x48, 0x8d, 0x85], distance);
    let mark = |distance| [by(&[0xc7, 0x85], distance), SLACK_MARK.to_le_bytes().to_vec()].concat();
    let frame = |body: &[&[u8]]| {
        let (take, give_back) = (take(176), give_back(176));
        let ends = [&give_back[..], POP_RBP, RETURN];
        flow(&[&[ENTER, &take[..]][..], body, &[CALL], &ends].concat()).unwrap()
    };
    let spilled = frame(&[&mark(-160), &lea(-16), &spill(-168), &spill(-176)]);
    let shifts: Vec<_> =
        [4 + 7 + 10 + 7 + 3, 4 + 7 + 10 + 7 + 7 + 3].map(|at| Shift { at, by: 144 }).into();
    assert_eq!((spilled.slack, spilled.shifts), (RESIZABLE_BYTES, shifts));
    assert_eq!(spilled.markers, [(11, 10)]);
    // No instruction is seen to use what lies behind, or its address is computed, or the frame
    // pointer goes elsewhere.
    assert_eq!(frame(&[&mark(-160), &lea(-16)]).slack, 0);
    assert_eq!(frame(&[&mark(-160), &lea(-168), &spill(-168), &spill(-176)]).slack, 0);
    let copy = &[0x48, 0x89, 0xe8]; // mov %rbp, %rax
    assert_eq!(frame(&[&mark(-160), copy, &spill(-168), &spill(-176)]).slack, 0);
}

#[test]
fn what_an_indirect_jump_leads_to_may_have_no_frame_yet() {
    const JUMP: &[u8] = &[0xff, 0xe0]; // jmp *%rax
    let (take, give_back) = (take(160), give_back(160));
    let found = flow(&[JUMP, RETURN, &take, &marker(16), CALL, &give_back, RETURN]).unwrap();
    assert_eq!((found.sites, found.slack), (vec![6, 26], RESIZABLE_BYTES));
    assert_eq!(flow(&[JUMP, RETURN, POP_RBX, RETURN]).err(), Some(FixedFrame::Unusual));
}

#[test]
fn an_empty_frame_with_constants_of_four_bytes_can_grow() {
    let found = flow(&[PUSH_RBX, &take(0), CALL, &give_back(0), POP_RBX, RETURN]).unwrap();
    assert_eq!(found.sites, [4, 16]);
}

#[test]
fn frames_that_are_not_understood_keep_their_size() {
    let (take, give_back) = (take(160), give_back(160));
    let with = |body: &[u8]| flow(&[&take, body, &give_back, RETURN]).err();
    for (body, reason) in [
        (&[0x48, 0x8b, 0x84, 0x24, 0xa0, 0, 0, 0][..], FixedFrame::Above), // mov 160(%rsp), %rax
        (&[0x48, 0x8d, 0x84, 0x24, 0xa8, 0, 0, 0], FixedFrame::Above),     // lea 168(%rsp), %rax
        (&[0x48, 0x8b, 0x84, 0x04, 0xa8, 0, 0, 0], FixedFrame::Above), // mov 168(%rsp,%rax), %rax
        (&[0x48, 0x89, 0x44, 0x24, 0xf8], FixedFrame::Above),          // mov %rax, -8(%rsp)
        (&[0x48, 0x83, 0xe4, 0xe0], FixedFrame::Unusual),              // and $-32, %rsp
        (&[0x48, 0x29, 0xc4], FixedFrame::Unusual),                    // sub %rax, %rsp
        (&[0x48, 0x39, 0xe0], FixedFrame::Unusual),                    // cmp %rsp, %rax
        (&[0xc3], FixedFrame::Unusual),                                // ret
        (&[0xc8, 0, 0, 0], FixedFrame::Unusual),                       // enter
    ] {
        assert_eq!(with(body), Some(reason), "{body:x?}");
    }
    assert_eq!(with(&[0x48, 0x8d, 0x84, 0x24, 0xa0, 0, 0, 0]), None); // the end of an array
    assert_eq!(flow(&[CALL, RETURN]).err(), Some(FixedFrame::NoSite));
    let short = &[0x48, 0x83, 0xc4, 0x7f][..]; // add $127, %rsp, and then 33
    let rest = &[0x48, 0x83, 0xc4, 0x21][..];
    assert_eq!(flow(&[&take, CALL, short, rest, RETURN]).err(), Some(FixedFrame::ShortConstant));
    // One way comes with the frame, the other without.
    let skip = &[0x74, 0x07][..]; // je over the taking
    assert_eq!(flow(&[skip, &take, CALL, &give_back, RETURN]).err(), Some(FixedFrame::Ambiguous));
}

#[test]
fn the_distance_of_an_argument_on_the_stack_grows_with_the_frame() {
    const TAKEN: u32 = 160;
    let (take, give_back) = (take(TAKEN), give_back(TAKEN));
    let load = |distance: u32| [&[0x48, 0x8b, 0x84, 0x24][..], &distance.to_le_bytes()].concat();
    let with = |body: &[u8]| flow(&[PUSH_RBX, &take, body, CALL, &give_back, POP_RBX, RETURN]);
    let first = TAKEN + 8 + 8;
    let found = with(&[&marker(16)[..], &load(first), &load(first + 8)].concat()).unwrap();
    assert_eq!((found.sites, found.slack), (vec![4, 20, 28, 40], RESIZABLE_BYTES));
    // The return address, what was pushed, and both at once.
    for distance in [first - 8, first - 16, first - 12] {
        assert_eq!(with(&load(distance)).err(), Some(FixedFrame::Above));
    }
    // Before the frame is taken its size does not matter.
    let short = &[0x48, 0x8b, 0x44, 0x24, 0x10][..]; // mov 16(%rsp), %rax
    let before = flow(&[PUSH_RBX, short, &take, CALL, &give_back, POP_RBX, RETURN]).unwrap();
    assert_eq!(before.sites, [9, 21]);
    assert_eq!(with(short).unwrap().sites, [4, 21]); // a variable
}

#[test]
fn with_a_frame_pointer_only_arguments_move_with_the_stack_pointer() {
    const ENTER: &[u8] = &[0x55, 0x48, 0x89, 0xe5]; // push %rbp; mov %rsp, %rbp
    const LEAVE: &[u8] = &[0x5d]; // pop %rbp
    let (take, give_back) = (take(160), give_back(160));
    let with = |body: &[u8]| flow(&[ENTER, &take, body, CALL, &give_back, LEAVE, RETURN]);
    let local = [0x48, 0x89, 0x85, 0x70, 0xff, 0xff, 0xff]; // mov %rax, -144(%rbp)
    let argument = [0x48, 0x89, 0x04, 0x24]; // mov %rax, (%rsp)
    assert_eq!(with(&[&local[..], &argument].concat()).unwrap().sites, [7, 30]);
    let overlapping = [0x48, 0x89, 0x44, 0x24, 0x10]; // mov %rax, 16(%rsp)
    assert_eq!(with(&[&local[..], &overlapping].concat()).err(), Some(FixedFrame::Ambiguous));
    let address = [0x48, 0x8d, 0x44, 0x24, 0x08]; // lea 8(%rsp), %rax
    assert_eq!(with(&address).err(), Some(FixedFrame::Unusual));
    // `leave` gives the frame back whatever its size.
    let found = flow(&[ENTER, &take, CALL, &[0xc9], RETURN]).unwrap();
    assert_eq!(found.sites, [7]);
}
