# Functions of one section: the assembler resolves the branches between them, because they name
# local labels, so that no relocation tells of them.
        .text
        .macro FUNCTION name
        .globl \name
        .type \name, @function
        .p2align 4
\name:
.L\name:
        .endm
        .macro END name
        .size \name, . - \name
        .endm

FUNCTION neighbour
        leaq 100(%rdi,%rdi,2), %rax
        ret
END neighbour

# A near call and a conditional near jump to neighbours.
FUNCTION calls_neighbour
        pushq %rbx
        movq %rdi, %rbx
        call .Lneighbour
        addq %rax, %rbx
        movq %rbx, %rdi
        cmpq $1000, %rbx
        popq %rbx
        {disp32} jg .Lneighbour
        {disp32} jmp .Ltail
END calls_neighbour

# A short jump to a neighbour cannot reach it from a copy.
FUNCTION jumps_short
        addq $1, %rdi
        jmp .Lneighbour_close
END jumps_short
FUNCTION neighbour_close
        leaq 7(%rdi,%rdi), %rax
        ret
END neighbour_close

FUNCTION tail
        imulq $5, %rdi
        {disp32} jmp .Lneighbour
END tail

# The loop head is the entry.
FUNCTION loops_to_entry
        addq $1, %rsi
        subq $1, %rdi
        jne .Lloops_to_entry
        movl $55, %eax
        ret
END loops_to_entry

FUNCTION first_is_long
        movabsq $0x1122334455667788, %rax
        addq %rdi, %rax
        shrq $8, %rax
        ret
END first_is_long

FUNCTION reads_constant
        movq constant(%rip), %rax
        addq inside(%rip), %rax
        ret
inside: .quad 0x90909090c3c3
END reads_constant

# Data behind the function, outside its size.
FUNCTION reads_after_itself
        movq behind(%rip), %rax
        leaq behind(%rip), %rcx
        addq (%rcx), %rax
        ret
END reads_after_itself
behind: .quad 12345

# No branch at the end: control runs on into the next function.
FUNCTION falls_into
        addq $3, %rdi
        nop
        nop
        nop
END falls_into
        .globl fallen_into
        .type fallen_into, @function
fallen_into:
        leaq 1(%rdi,%rdi,8), %rax
        ret
END fallen_into

FUNCTION indirect
        leaq tail(%rip), %rax
        pushq %rax
        movq pointer(%rip), %rax
        call *%rax
        movq %rax, %rdi
        popq %rax
        jmp *%rax
END indirect

# A function with a second entry in its middle.
FUNCTION has_middle
        addq $1, %rdi
        addq $2, %rdi
middle:
        leaq (%rdi,%rdi,4), %rax
        ret
END has_middle
FUNCTION into_the_middle
        addq $7, %rdi
        {disp32} jmp middle
END into_the_middle

FUNCTION pointer_call
        subq $8, %rsp
        call *table+8(%rip)
        addq $8, %rsp
        ret
END pointer_call

# A label without type and size: the table does not know that it is a function.
        .globl no_size
no_size:
        subq $8, %rsp
        call .Lneighbour
        addq $8, %rsp
        leaq 1(%rax), %rax
        ret

        .section .rodata
constant: .quad 77
        .section .data.rel.ro, "aw"
        .p2align 3
pointer: .quad neighbour
table:  .quad tail, calls_neighbour
        .section .note.GNU-stack, "", @progbits
