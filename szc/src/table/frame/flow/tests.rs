use super::*;

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

/// `prefetcht1 disp32(%rsp)`: where the room lies.
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

#[test]
fn a_frame_shrinks_if_the_room_lies_at_its_upper_end() {
    let (take, give_back) = (take(160), give_back(160));
    let frame = |body: &[&[u8]]| {
        let parts = [&[&take[..]], body, &[&give_back[..], RETURN]].concat();
        flow(&parts).unwrap().slack
    };
    let store = |distance: u32| {
        [&[0x48, 0x89, 0x84, 0x24][..], &distance.to_le_bytes()].concat() // mov %rax, d(%rsp)
    };
    assert_eq!(frame(&[CALL]), 0);
    assert_eq!(frame(&[&marker(16), CALL]), RESIZABLE_BYTES);
    assert_eq!(frame(&[&marker(16), &store(8), CALL]), RESIZABLE_BYTES);
    // What lies at the upper end would come to lie where the frame is gone.
    assert_eq!(frame(&[&marker(16), &store(16), CALL]), 0);
    assert_eq!(frame(&[&marker(0), &store(152), CALL]), 0);
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
        (&[0x48, 0x89, 0x44, 0x24, 0xf8], FixedFrame::Above),              // mov %rax, -8(%rsp)
        (&[0x48, 0x83, 0xe4, 0xe0], FixedFrame::Unusual),                  // and $-32, %rsp
        (&[0x48, 0x29, 0xc4], FixedFrame::Unusual),                        // sub %rax, %rsp
        (&[0x48, 0x39, 0xe0], FixedFrame::Unusual),                        // cmp %rsp, %rax
        (&[0xc3], FixedFrame::Unusual),                                    // ret
        (&[0xc8, 0, 0, 0], FixedFrame::Unusual),                           // enter
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
