# Calls a function with a value of its own in every register, and keeps what the registers hold
# afterwards. Everything lies in memory that is addressed without a register.
        .macro general operation
        \operation 0, %rax
        \operation 8, %rbx
        \operation 16, %rcx
        \operation 24, %rdx
        \operation 32, %rsi
        \operation 40, %rdi
        \operation 48, %rbp
        \operation 56, %r8
        \operation 64, %r9
        \operation 72, %r10
        \operation 80, %r11
        \operation 88, %r12
        \operation 96, %r13
        \operation 104, %r14
        \operation 112, %r15
        .endm
        .macro load at, register
        movq before+\at(%rip), \register
        .endm
        .macro store at, register
        movq \register, after+\at(%rip)
        .endm
        .macro load_vectors instruction, name, all
        .irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        \instruction before_vectors+64*\number(%rip), %\name\number
        .endr
        .if \all
        .irp number, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
        \instruction before_vectors+64*\number(%rip), %\name\number
        .endr
        kmovq before_masks(%rip), %k1
        kmovq before_masks+8(%rip), %k7
        .endif
        .endm
        .macro store_vectors instruction, name, all
        .irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        \instruction %\name\number, after_vectors+64*\number(%rip)
        .endr
        .if \all
        .irp number, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
        \instruction %\name\number, after_vectors+64*\number(%rip)
        .endr
        kmovq %k1, after_masks(%rip)
        kmovq %k7, after_masks+8(%rip)
        .endif
        .endm

        .macro caller suffix, instruction, name, upper, all
        .globl call_with_\suffix
        .type call_with_\suffix, @function
        .p2align 4
call_with_\suffix:
        pushq %rbx
        pushq %rbp
        pushq %r12
        pushq %r13
        pushq %r14
        pushq %r15
        movq %rdi, callee(%rip)
        movq %rsp, stack(%rip)
        fldpi
        fld1
        load_vectors \instruction, \name, \all
        pushq before_flags(%rip)
        popfq
        general load
        call *callee(%rip)
        general store
        pushfq
        popq after_flags(%rip)
        subq %rsp, stack(%rip)
        store_vectors \instruction, \name, \all
        fstpl after_x87(%rip)
        fstpl after_x87+8(%rip)
        cld
        popq %r15
        popq %r14
        popq %r13
        popq %r12
        popq %rbp
        popq %rbx
        .if \upper
        vzeroupper
        .endif
        ret
        .size call_with_\suffix, . - call_with_\suffix
        .endm

        .text
        caller sse, movups, xmm, 0, 0
        caller avx, vmovups, ymm, 1, 0
        caller avx512, vmovups, zmm, 1, 1

# Functions that change nothing.
        .macro nothing number
        .globl nothing_\number
        .type nothing_\number, @function
        .p2align 4
nothing_\number:
        nopw 0(%rax,%rax,1)
        ret
        .size nothing_\number, . - nothing_\number
        .endm
        .irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        nothing \number
        .endr

# A leaf function whose second half is a function to the symbol table. It is entered by a jump, with
# data in all of the red zone below the stack pointer.
        .macro halves number
        .globl first_half_\number
        .type first_half_\number, @function
        .p2align 4
first_half_\number:
        .set at, -128
        .rept 16
        movq %rdi, at(%rsp)
        incq %rdi
        .set at, at + 8
        .endr
        testq %rsi, %rsi
        {disp32} jne second_half_\number
        xorl %eax, %eax
        ret
        .size first_half_\number, . - first_half_\number
        .type second_half_\number, @function
        .p2align 4
second_half_\number:
        xorl %eax, %eax
        .set at, -128
        .rept 16
        imulq $3, %rax
        addq at(%rsp), %rax
        .set at, at + 8
        .endr
        ret
        .size second_half_\number, . - second_half_\number
        .endm
        .irp number, 0, 1, 2, 3, 4, 5, 6, 7
        halves \number
        .endr

        .data
        .p2align 3
        .globl nothings
nothings:
        .irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        .quad nothing_\number
        .endr
        .globl first_halves
first_halves:
        .irp number, 0, 1, 2, 3, 4, 5, 6, 7
        .quad first_half_\number
        .endr
callee: .quad 0
        .globl stack
stack:  .quad 0
        .section .note.GNU-stack, "", @progbits
