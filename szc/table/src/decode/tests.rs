//! What decoding finds in instructions as assemblers write them.

use super::*;

const START: u64 = 0x1000;

#[test]
fn fields_stand_where_the_assembler_put_them() {
    // call 0x2000; lea rax, [rip+0x10]; ret
    let mut bytes = vec![0xe8];
    bytes.extend_from_slice(&0xffb_u32.to_le_bytes());
    bytes.extend_from_slice(&[0x48, 0x8d, 0x05, 0x10, 0, 0, 0, 0xc3]);
    let decoded = decode_function(START, &bytes);
    assert_eq!(decoded.pinned, None);
    assert_eq!(decoded.boundaries, [0x1000, 0x1005, 0x100c]);
    assert_eq!(
        decoded.operands,
        [
            Operand {
                place: 0x1001,
                width: 4,
                kind: OperandKind::Branch { target: 0x2000, call: true }
            },
            Operand {
                place: 0x1008,
                width: 4,
                kind: OperandKind::IpRelative { target: 0x101c, takes_address: true }
            },
        ]
    );
}

#[test]
fn a_short_branch_out_of_the_function_pins_it() {
    assert_eq!(decode_function(START, &[0xeb, 0x40]).pinned, Some(Reason::ShortBranchOut));
    assert_eq!(decode_function(START, &[0xeb, 0xfe]).pinned, None);
}

#[test]
fn a_function_that_runs_on_past_its_end_is_pinned() {
    assert_eq!(decode_function(START, &[0x90]).pinned, Some(Reason::FallsThrough));
    assert_eq!(decode_function(START, &[0x0f, 0x0b]).pinned, None);
}

#[test]
fn a_function_that_asks_for_its_own_address_is_pinned() {
    let bytes = [0xe8, 0, 0, 0, 0, 0x58, 0xc3];
    assert_eq!(decode_function(START, &bytes).pinned, Some(Reason::CallsItsMiddle));
}

#[test]
fn an_undefined_byte_pins_the_function_and_a_breakpoint_does_not() {
    assert_eq!(decode_function(START, &[0xcc, 0xc3]).pinned, None);
    assert_eq!(decode_function(START, &[0x06, 0xc3]).pinned, Some(Reason::Undecodable));
}

#[test]
fn a_branch_over_data_that_hides_an_instruction_pins_the_function() {
    // jmp over one byte; the byte; call 0x2000; ret
    let over = |byte: u8| [0xeb, 0x01, byte, 0xe8, 0xf8, 0x0f, 0, 0, 0xc3];
    assert_eq!(decode_function(START, &over(0x90)).pinned, None);
    assert_eq!(decode_function(START, &over(0xe8)).pinned, Some(Reason::Undecodable));
}

#[test]
fn what_becomes_of_an_element_of_an_array_is_seen() {
    let element = |bytes: &[u8]| {
        let decoded = decode_function(START, bytes);
        decoded.operands.iter().find_map(|operand| match operand.kind {
            OperandKind::Constant { element } => Some(element),
            _ => None,
        })
    };
    let load = [0x48, 0x8b, 0x04, 0xc5, 0, 0, 0x40, 0]; // mov 0x400000(,%rax,8), %rax
    let jump = [0xff, 0xe0]; // jmp *%rax
    let other_jump = [0xff, 0xe1];
    let store = [0x48, 0x89, 0x07]; // mov %rax, (%rdi)
    let through = [0xff, 0x24, 0xc5, 0, 0, 0x40, 0]; // jmp *0x400000(,%rax,8)
    let through_base = [0xff, 0xa4, 0xc3, 0, 0, 0x40, 0]; // jmp *0x400000(%rbx,%rax,8)
    assert_eq!(element(&through), Some(Some(Element::JumpedTo)));
    assert_eq!(element(&through_base), Some(None));
    assert_eq!(element(&[&load[..], &jump].concat()), Some(Some(Element::LoadedAndJumpedTo)));
    let notrack = [&load[..], &[0x3e], &jump].concat();
    assert_eq!(element(&notrack), Some(Some(Element::LoadedAndJumpedTo)));
    for rest in [&other_jump[..], &[&store[..], &jump].concat()] {
        assert_eq!(element(&[&load[..], rest].concat()), Some(Some(Element::Read)));
    }
}

#[test]
fn recursion_by_the_own_entry_is_allowed() {
    let bytes = [0xe8, 0xfb, 0xff, 0xff, 0xff, 0xc3];
    assert_eq!(decode_function(START, &bytes).pinned, None);
}
