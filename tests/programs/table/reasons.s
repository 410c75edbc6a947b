# One function for each reason to stay, and some that look similar and move. A name before the first
# `__` says which reason is meant.
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

        .text
FUNCTION _start
        call moves__plain
        movl $60, %eax
        syscall
        ud2
END _start

FUNCTION moves__plain
        leaq 1(%rdi,%rdi), %rax
        ret
END moves__plain

# Through the local labels, so that the assembler needs no relocation.
FUNCTION moves__calls
        call .Lmoves__plain
        call .Lmoves__calls
        {disp32} jmp moves__plain
END moves__calls

# Exactly as long as the jump that replaces its entry.
FUNCTION moves__six_bytes
        leal 5(%rdi,%rdi), %eax
        xchgw %ax, %ax
        .byte 0xc3
END moves__six_bytes

FUNCTION TooShort__five_bytes
        leal 5(%rdi), %eax
        nop
        ret
END TooShort__five_bytes

FUNCTION Overlaps__outer
        leaq 1(%rdi,%rdi), %rax
        .globl Overlaps__inner
        .type Overlaps__inner, @function
Overlaps__inner:
        leaq 2(%rdi,%rdi), %rax
        ret
END Overlaps__outer
END Overlaps__inner

FUNCTION Undecodable__
        leaq 1(%rdi,%rdi), %rax
        ret
        .byte 0x06, 0xc3
END Undecodable__

FUNCTION Undecodable__address_size
        movl moves__plain(%eip), %eax
        ret
END Undecodable__address_size

# A byte of data that hides the instruction behind it.
FUNCTION Undecodable__jumps_over_data
        jmp 1f
        .byte 0xe8
1:      leaq moves__plain(%rip), %rax
        ret
END Undecodable__jumps_over_data

FUNCTION ShortBranchOut__
        leaq 1(%rdi,%rdi), %rax
        jmp .Lmoves__beside
END ShortBranchOut__
FUNCTION moves__beside
        leaq 1(%rdi,%rdi), %rax
        ret
END moves__beside

FUNCTION ShortBranchOut__conditional
        leaq 1(%rdi,%rdi), %rax
        jrcxz .Lmoves__beside
        ret
END ShortBranchOut__conditional

FUNCTION FallsThrough__
        leaq 1(%rdi,%rdi), %rax
        cmpq %rax, %rdi
END FallsThrough__
FUNCTION moves__fallen_into
        leaq 1(%rdi,%rdi), %rax
        ret
END moves__fallen_into

# A call at the end that returns into what follows, and one that does not.
FUNCTION FallsThrough__a_call_returns
        subq $8, %rsp
        call .Lmoves__plain
END FallsThrough__a_call_returns
        .globl moves__returned_into
        .type moves__returned_into, @function
moves__returned_into:
        addq $8, %rsp
        leaq 1(%rdi,%rdi), %rax
        ret
END moves__returned_into
FUNCTION moves__never_returns
        subq $8, %rsp
1:      call .Lmoves__plain
        testq %rax, %rax
        je 1b
        hlt
END moves__never_returns
FUNCTION moves__ends_in_its_call
        subq $8, %rsp
        call .Lmoves__never_returns
END moves__ends_in_its_call
        .globl moves__behind_that_call
        .type moves__behind_that_call, @function
moves__behind_that_call:
        leaq 1(%rdi,%rdi), %rax
        ret
END moves__behind_that_call

# A constant that a relocation calls an address.
FUNCTION RelocationMismatch__
        .reloc .+1, R_X86_64_PC32, moves__plain-4
        movl $0, %eax
        ret
END RelocationMismatch__

FUNCTION RelocationUnknown__
        movabsq $switch_table-., %rax
        ret
END RelocationUnknown__

FUNCTION InteriorReferenced__called
        leaq 1(%rdi,%rdi), %rax
called_middle:
        leaq 2(%rdi,%rdi), %rax
        ret
END InteriorReferenced__called
FUNCTION moves__calls_a_middle
        call called_middle
        {disp32} jmp called_middle
END moves__calls_a_middle

FUNCTION InteriorReferenced__address_taken
        leaq 1(%rdi,%rdi), %rax
taken_middle:
        leaq 2(%rdi,%rdi), %rax
        ret
END InteriorReferenced__address_taken
FUNCTION moves__takes_an_address
        leaq taken_middle(%rip), %rax
        ret
END moves__takes_an_address

# Its middle is an entry of the global offset table, which the linker may leave out (GOTPCRELX) or
# not.
FUNCTION InteriorReferenced__by_the_offset_table
        leaq 1(%rdi,%rdi), %rax
        .globl middle_in_offset_table
middle_in_offset_table:
        leaq 2(%rdi,%rdi), %rax
        ret
END InteriorReferenced__by_the_offset_table
FUNCTION moves__asks_the_offset_table
        addq middle_in_offset_table@GOTPCREL(%rip), %rax
        xorq middle_in_offset_table@GOTPCREL(%rip), %rax
        ret
END moves__asks_the_offset_table
FUNCTION InteriorReferenced__by_the_offset_table_unrelaxed
        leaq 1(%rdi,%rdi), %rax
        .globl other_middle_in_offset_table
other_middle_in_offset_table:
        leaq 2(%rdi,%rdi), %rax
        ret
END InteriorReferenced__by_the_offset_table_unrelaxed
FUNCTION moves__asks_the_offset_table_directly
        pushq other_middle_in_offset_table@GOTPCREL(%rip)
        popq %rax
        ret
END moves__asks_the_offset_table_directly

# Entered in its middle by a function that stays.
FUNCTION InteriorReferenced__from_one_that_stays
        leaq 1(%rdi,%rdi), %rax
middle_from_one_that_stays:
        leaq 2(%rdi,%rdi), %rax
        ret
END InteriorReferenced__from_one_that_stays
FUNCTION Undecodable__jumps_into_another
        {disp32} jmp middle_from_one_that_stays
        .byte 0x06, 0xc3
END Undecodable__jumps_into_another

# Functions that jump into one another's middle move together.
FUNCTION moves__with_a_middle
        leaq 1(%rdi,%rdi), %rax
common_middle:
        leaq 2(%rdi,%rdi), %rax
        ret
END moves__with_a_middle
FUNCTION moves__into_a_middle
        leaq 1(%rdi,%rdi), %rax
        {disp32} jmp common_middle
END moves__into_a_middle

FUNCTION InteriorInData__
        leaq 1(%rdi,%rdi), %rax
middle_in_data:
        leaq 2(%rdi,%rdi), %rax
        ret
END InteriorInData__

FUNCTION CallsItsMiddle__
        call 1f
1:      popq %rax
        ret
END CallsItsMiddle__

FUNCTION moves__breakpoint
        leaq 1(%rdi,%rdi), %rax
        int3
        ret
END moves__breakpoint

# A switch whose table is known to lead into this function alone.
FUNCTION moves__switch
        leaq switch_table(%rip), %rax
        movslq (%rax,%rdi,4), %rcx
        addq %rax, %rcx
        jmp *%rcx
case_0: leaq 1(%rdi,%rdi), %rax
        ret
case_1: leaq 2(%rdi,%rdi), %rax
        ret
END moves__switch

# The same, but the program can write to the table.
FUNCTION InteriorInData__writable_table
        leaq writable_table(%rip), %rax
        movslq (%rax,%rdi,4), %rcx
        addq %rax, %rcx
        jmp *%rcx
case_2: leaq 1(%rdi,%rdi), %rax
        ret
case_3: leaq 2(%rdi,%rdi), %rax
        ret
END InteriorInData__writable_table

        .globl IfuncResolver__
        .type IfuncResolver__, @gnu_indirect_function
        .p2align 4
IfuncResolver__:
        leaq moves__plain(%rip), %rax
        ret
END IfuncResolver__

        # What the compiler says in its records of functions.
        .macro RECORD name, stay
        .section szc_functions, "aw", @progbits
        .long \name - ., 5, \stay << 16
        .text
        .endm

        .text
FUNCTION Naked__recorded
        leaq 1(%rdi,%rdi), %rax
        ret
END Naked__recorded
        RECORD Naked__recorded, 1

        .text
FUNCTION PatchedByOthers__recorded
        leaq 1(%rdi,%rdi), %rax
        ret
END PatchedByOthers__recorded
        RECORD PatchedByOthers__recorded, 2

        .text
FUNCTION Interrupt__recorded
        leaq 1(%rdi,%rdi), %rax
        ret
END Interrupt__recorded
        RECORD Interrupt__recorded, 3

        .text
FUNCTION Assembly__recorded
        leaq 1(%rdi,%rdi), %rax
        ret
END Assembly__recorded
        RECORD Assembly__recorded, 4

        .text
FUNCTION moves__recorded
        leaq 1(%rdi,%rdi), %rax
        ret
END moves__recorded
        RECORD moves__recorded, 0

        # What Go's table of return addresses covers, as its linker writes it.
        .type runtime.text, @function
runtime.text:
FUNCTION PcTable__first
        leaq 1(%rdi,%rdi), %rax
        ret
END PcTable__first
FUNCTION PcTable__last
        leaq 1(%rdi,%rdi), %rax
        ret
END PcTable__last
        .type runtime.etext, @function
runtime.etext:
FUNCTION moves__behind_the_table
        leaq 1(%rdi,%rdi), %rax
        ret
END moves__behind_the_table
        .section .gopclntab, "a", @progbits
        .p2align 5
        .long 0xfffffff1, 8 << 24 | 1 << 16
        .quad 2, 1, runtime.text, 72, 72, 72, 72, 72
        .long PcTable__first - runtime.text, 0, PcTable__last - runtime.text, 0
        .long runtime.etext - runtime.text

        .section .init, "ax", @progbits
FUNCTION StartupSection__
        leaq 1(%rdi,%rdi), %rax
        ret
END StartupSection__

        # Writable, so that it gets a segment of its own and the file stays small.
        .section .far, "awx", @progbits
FUNCTION OutOfRange__
        leaq 1(%rdi,%rdi), %rax
        ret
END OutOfRange__

        .section .rodata
        .p2align 2
switch_table:
        .long case_0 - switch_table, case_1 - switch_table
        .data
        .p2align 3
        .quad middle_in_data, moves__plain
        .p2align 2
writable_table:
        .long case_2 - writable_table, case_3 - writable_table
        .section .note.GNU-stack, "", @progbits
