//! Code as assemblers and compilers write it: gcc 12 and clang 22 at the levels that are named.

use super::*;
use crate::stack_pointer::StackPointerUse;

const START: u64 = 0x1000;

/// Whether code is found to switch stacks, if its quick look finds anything at all.
fn found(code: &[u8], extent: Extent) -> bool {
    quick(code).may_switch() && switches(START, code, extent)
}

fn quick(code: &[u8]) -> StackPointerUse {
    let mut quick = StackPointerUse::default();
    decoder(START, code).into_iter().for_each(|instruction| quick.add(&instruction));
    quick
}

fn is_switch(code: &[&[u8]]) -> bool {
    found(&code.concat(), Extent::Function)
}

const RET: &[u8] = &[0xc3];
const PUSH_RBP: &[u8] = &[0x55];
const POP_RBP: &[u8] = &[0x5d];
const LEAVE: &[u8] = &[0xc9];
const MOV_RBP_RSP: &[u8] = &[0x48, 0x89, 0xe5]; // mov %rsp, %rbp
const MOV_RSP_RBP: &[u8] = &[0x48, 0x89, 0xec]; // mov %rbp, %rsp
const MOV_RAX_RSP: &[u8] = &[0x48, 0x89, 0xe0]; // mov %rsp, %rax
const MOV_RSP_RAX: &[u8] = &[0x48, 0x89, 0xc4]; // mov %rax, %rsp
const MOV_RSP_RDI: &[u8] = &[0x48, 0x89, 0xfc]; // mov %rdi, %rsp
const MOV_R12_RSP: &[u8] = &[0x49, 0x89, 0xe4]; // mov %rsp, %r12
const MOV_RSP_R12: &[u8] = &[0x4c, 0x89, 0xe4]; // mov %r12, %rsp
const STORE_RAX: &[u8] = &[0x48, 0x89, 0x45, 0xe8]; // mov %rax, -0x18(%rbp)
const STORE_RDI: &[u8] = &[0x48, 0x89, 0x7d, 0xe8]; // mov %rdi, -0x18(%rbp)
const LOAD_RAX: &[u8] = &[0x48, 0x8b, 0x45, 0xe8]; // mov -0x18(%rbp), %rax
const LOAD_RSP: &[u8] = &[0x48, 0x8b, 0x65, 0xe8]; // mov -0x18(%rbp), %rsp
const SUB_RSP_RCX: &[u8] = &[0x48, 0x29, 0xcc]; // sub %rcx, %rsp
const CALL: &[u8] = &[0xe8, 0, 0x10, 0, 0];

#[test]
fn a_frame_pointer_in_another_use_is_followed_only_if_it_comes_back_to_the_stack_pointer() {
    const MOV_EBP_EDI: &[u8] = &[0x89, 0xfd]; // mov %edi, %ebp
    const MOV_RBP_RDI: &[u8] = &[0x48, 0x89, 0xfd]; // mov %rdi, %rbp
    const LEA_RSP_RBP: &[u8] = &[0x48, 0x8d, 0x65, 0xe8]; // lea -0x18(%rbp), %rsp
    let follows = |code: &[&[u8]]| quick(&code.concat()).may_switch();
    assert!(!follows(&[PUSH_RBP, MOV_EBP_EDI, CALL, POP_RBP, RET]));
    assert!(!follows(&[PUSH_RBP, MOV_RBP_RSP, CALL, LEAVE, RET]));
    for back in [LEAVE, LEA_RSP_RBP] {
        assert!(follows(&[MOV_RBP_RDI, back, RET]));
        assert!(is_switch(&[MOV_RBP_RDI, back, RET]));
    }
}

#[test]
fn the_stack_pointer_from_an_argument_or_from_memory_is_a_switch() {
    // Boost.Context: mov %rsp, %rax; mov %rdi, %rsp
    assert!(is_switch(&[MOV_RAX_RSP, MOV_RSP_RDI, RET]));
    // mov %rsp, (%rdi); mov (%rsi), %rsp
    assert!(is_switch(&[&[0x48, 0x89, 0x27], &[0x48, 0x8b, 0x26], POP_RBP, RET]));
    // mov 0x20(%rip), %rsp
    assert!(is_switch(&[&[0x48, 0x8b, 0x25, 0x20, 0, 0, 0], RET]));
    // mov %fs:0, %rsp
    assert!(is_switch(&[&[0x64, 0x48, 0x8b, 0x24, 0x25, 0, 0, 0, 0], RET]));
}

#[test]
fn exchanging_popping_and_adding_to_the_stack_pointer_are_switches() {
    assert!(is_switch(&[&[0x48, 0x87, 0x27], RET])); // xchg %rsp, (%rdi)
    assert!(is_switch(&[&[0x48, 0x94], RET])); // xchg %rax, %rsp
    assert!(is_switch(&[&[0x57, 0x5c], RET])); // push %rdi; pop %rsp
    assert!(is_switch(&[&[0x48, 0x01, 0xfc], RET])); // add %rdi, %rsp
    assert!(is_switch(&[&[0x48, 0x0f, 0x44, 0xe7], RET])); // cmove %rdi, %rsp
    assert!(is_switch(&[&[0x48, 0x8d, 0x67, 0xf0], RET])); // lea -0x10(%rdi), %rsp
    assert!(is_switch(&[&[0x48, 0xcf]])); // iretq
}

#[test]
fn a_frame_pointer_that_came_from_elsewhere_makes_leave_a_switch() {
    let load: &[u8] = &[0x48, 0x8b, 0x2f]; // mov (%rdi), %rbp
    assert!(is_switch(&[load, LEAVE, RET]));
    assert!(is_switch(&[PUSH_RBP, MOV_RBP_RSP, load, MOV_RSP_RBP, POP_RBP, RET]));
}

#[test]
fn an_own_value_that_was_replaced_on_one_way_is_a_switch() {
    // mov %rsp, %rax; test %rdi, %rdi; je over; mov %rdi, %rax; over: mov %rax, %rsp
    let test_je: &[u8] = &[0x48, 0x85, 0xff, 0x74, 0x03];
    let replace: &[u8] = &[0x48, 0x89, 0xf8];
    assert!(is_switch(&[MOV_RAX_RSP, test_je, replace, MOV_RSP_RAX, RET]));
    // mov %rsp, %rax; xchg %rax, (%rdi); mov %rax, %rsp
    assert!(is_switch(&[MOV_RAX_RSP, &[0x48, 0x87, 0x07], MOV_RSP_RAX, RET]));
    // A call may leave anything in %rax.
    assert!(is_switch(&[MOV_RAX_RSP, CALL, MOV_RSP_RAX, RET]));
}

#[test]
fn inline_assembly_that_takes_the_pointer_out_of_a_frame_is_a_switch() {
    // clang -O0: the argument goes through its slot.
    let frame = [PUSH_RBP, MOV_RBP_RSP, STORE_RDI, LOAD_RSP, POP_RBP, RET];
    assert!(is_switch(&frame));
    assert!(is_switch(&[PUSH_RBP, MOV_RBP_RSP, STORE_RDI, LOAD_RAX, MOV_RSP_RAX, POP_RBP, RET]));
}

#[test]
fn frames_of_compilers_are_no_switches() {
    let lea_rsp: &[u8] = &[0x48, 0x8d, 0x65, 0xd8]; // lea -0x28(%rbp), %rsp
    let align: &[u8] = &[0x48, 0x83, 0xe4, 0xe0]; // and $-32, %rsp
    let sub: &[u8] = &[0x48, 0x83, 0xec, 0x20]; // sub $32, %rsp
    let add: &[u8] = &[0x48, 0x83, 0xc4, 0x20]; // add $32, %rsp
    assert!(!is_switch(&[PUSH_RBP, MOV_RBP_RSP, sub, LEAVE, RET]));
    assert!(!is_switch(&[PUSH_RBP, MOV_RBP_RSP, align, sub, CALL, lea_rsp, POP_RBP, RET]));
    assert!(!is_switch(&[sub, CALL, add, RET]));
    // A part of a function that is seldom run: lea -0x28(%rbp), %rsp; pop %rbp; ret
    assert!(!found(&[lea_rsp, POP_RBP, RET].concat(), Extent::Part));
}

#[test]
fn arrays_of_variable_length_are_no_switches() {
    // gcc -O2, in a loop: mov %rsp, %r12; sub %rcx, %rsp; call; mov %r12, %rsp
    let frame = [PUSH_RBP, MOV_RBP_RSP, MOV_R12_RSP, SUB_RSP_RCX, CALL, MOV_RSP_R12, LEAVE, RET];
    assert!(!is_switch(&frame));
    // clang -O0: mov %rsp, %rax; mov %rax, -0x18(%rbp); …; mov -0x18(%rbp), %rax; mov %rax, %rsp
    let save = [PUSH_RBP, MOV_RBP_RSP, MOV_RAX_RSP, STORE_RAX, SUB_RSP_RCX, CALL];
    let restore = [LOAD_RAX, MOV_RSP_RAX, MOV_RSP_RBP, POP_RBP, RET];
    assert!(!is_switch(&[&save[..], &restore[..]].concat()));
    // mov %rsp, %rax; sub %rcx, %rax; mov %rax, %rsp
    let sub: &[u8] = &[0x48, 0x29, 0xc8];
    assert!(!is_switch(&[PUSH_RBP, MOV_RBP_RSP, MOV_RAX_RSP, sub, MOV_RSP_RAX, LEAVE, RET]));
    // The same slot, into which something else is stored as well.
    assert!(is_switch(&[&save[..], &[STORE_RDI], &restore[..]].concat()));
}

#[test]
fn frames_that_gcc_aligns_are_no_switches() {
    // lea 8(%rsp), %r10; and $-64, %rsp; push -8(%r10); push %rbp; mov %rsp, %rbp
    let begin: &[u8] = &[
        0x4c, 0x8d, 0x54, 0x24, 0x08, 0x48, 0x83, 0xe4, 0xc0, 0x41, 0xff, 0x72, 0xf8, 0x55, 0x48,
        0x89, 0xe5,
    ];
    // sub $64, %rsp; call; mov -16(%rbp), %r10; leave; lea -8(%r10), %rsp
    let end: &[u8] = &[0x4c, 0x8b, 0x55, 0xf0, 0xc9, 0x49, 0x8d, 0x62, 0xf8, 0xc3];
    let sub: &[u8] = &[0x48, 0x83, 0xec, 0x40];
    let (push_r12, push_r10): (&[u8], &[u8]) = (&[0x41, 0x54], &[0x41, 0x52]);
    assert!(!is_switch(&[begin, push_r12, push_r10, sub, CALL, end]));
    // The other register lies where the pointer is taken from.
    assert!(is_switch(&[begin, push_r10, push_r12, sub, CALL, end]));
}

#[test]
fn a_case_of_a_switch_has_the_frame_of_its_function_and_unknown_code_has_none() {
    // jmp *%rax; case: lea -0x28(%rbp), %rsp …
    let jump: &[u8] = &[0xff, 0xe0];
    let case: &[u8] = &[0x48, 0x89, 0xec, 0x5d, 0xc3];
    let frame = [PUSH_RBP, MOV_RBP_RSP, MOV_R12_RSP, jump, MOV_RSP_R12, case].concat();
    assert!(!found(&frame, Extent::Function));
    assert!(found(&frame, Extent::Unknown));
}
