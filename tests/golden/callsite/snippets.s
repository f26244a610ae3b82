# SPDX-License-Identifier: GPL-3.0-or-later
# Ways to check a result that compilers write, some nobody writes, and some that only look like it.
        .text

# what is -1 becomes 0
        .globl add_one
        .type add_one, @function
add_one:
        .cfi_startproc
        pushq %rbx
        .cfi_adjust_cfa_offset 8
        subq $16, %rsp
        .cfi_adjust_cfa_offset 16
        call open@PLT
        addl $1, %eax
        je 1f
        movl %eax, %edi
        call use@PLT
1:
        addq $16, %rsp
        popq %rbx
        movl $0, %eax
        ret
        .cfi_endproc
        .size add_one, .-add_one

        .globl inverted
        .type inverted, @function
inverted:
        .cfi_startproc
        pushq %rbx
        .cfi_adjust_cfa_offset 8
        subq $16, %rsp
        .cfi_adjust_cfa_offset 16
        call open@PLT
        notl %eax
        testl %eax, %eax
        je 1f
        call use@PLT
1:
        addq $16, %rsp
        popq %rbx
        movl $0, %eax
        ret
        .cfi_endproc
        .size inverted, .-inverted

        .globl negated
        .type negated, @function
negated:
        .cfi_startproc
        pushq %rbx
        .cfi_adjust_cfa_offset 8
        subq $16, %rsp
        .cfi_adjust_cfa_offset 16
        call open@PLT
        negl %eax
        jns 1f
        movl %eax, %edi
        call use@PLT
1:
        addq $16, %rsp
        popq %rbx
        movl $0, %eax
        ret
        .cfi_endproc
        .size negated, .-negated

# carry if NULL
        .globl borrowed
        .type borrowed, @function
borrowed:
        .cfi_startproc
        pushq %rbx
        .cfi_adjust_cfa_offset 8
        subq $16, %rsp
        .cfi_adjust_cfa_offset 16
        call malloc@PLT
        cmpq $1, %rax
        sbbl %eax, %eax
        movl %eax, %edi
        call use@PLT
        addq $16, %rsp
        popq %rbx
        movl $0, %eax
        ret
        .cfi_endproc
        .size borrowed, .-borrowed

        .globl set_in_memory
        .type set_in_memory, @function
set_in_memory:
        .cfi_startproc
        pushq %rbx
        .cfi_adjust_cfa_offset 8
        subq $16, %rsp
        .cfi_adjust_cfa_offset 16
        call open@PLT
        cmpl $-1, %eax
        sete 8(%rsp)
        call nothing@PLT
        addq $16, %rsp
        popq %rbx
        movl $0, %eax
        ret
        .cfi_endproc
        .size set_in_memory, .-set_in_memory

        .globl sign_shifted
        .type sign_shifted, @function
sign_shifted:
        .cfi_startproc
        pushq %rbx
        .cfi_adjust_cfa_offset 8
        subq $16, %rsp
        .cfi_adjust_cfa_offset 16
        call open@PLT
        sarl $31, %eax
        movl %eax, %edi
        call use@PLT
        addq $16, %rsp
        popq %rbx
        movl $0, %eax
        ret
        .cfi_endproc
        .size sign_shifted, .-sign_shifted

        .globl bit_tested
        .type bit_tested, @function
bit_tested:
        .cfi_startproc
        pushq %rbx
        .cfi_adjust_cfa_offset 8
        subq $16, %rsp
        .cfi_adjust_cfa_offset 16
        call open@PLT
        btl $31, %eax
        jc 1f
        movl %eax, %edi
        call use@PLT
1:
        addq $16, %rsp
        popq %rbx
        movl $0, %eax
        ret
        .cfi_endproc
        .size bit_tested, .-bit_tested

        .globl masked
        .type masked, @function
masked:
        .cfi_startproc
        pushq %rbx
        .cfi_adjust_cfa_offset 8
        subq $16, %rsp
        .cfi_adjust_cfa_offset 16
        call open@PLT
        testl $0x80000000, %eax
        jne 1f
        movl %eax, %edi
        call use@PLT
1:
        addq $16, %rsp
        popq %rbx
        movl $0, %eax
        ret
        .cfi_endproc
        .size masked, .-masked

        .globl chosen
        .type chosen, @function
chosen:
        .cfi_startproc
        pushq %rbx
        .cfi_adjust_cfa_offset 8
        subq $16, %rsp
        .cfi_adjust_cfa_offset 16
        call malloc@PLT
        leaq spare(%rip), %rdx
        testq %rax, %rax
        cmoveq %rdx, %rax
        movq %rax, %rdi
        call use@PLT
        addq $16, %rsp
        popq %rbx
        movl $0, %eax
        ret
        .cfi_endproc
        .size chosen, .-chosen

        .globl chosen_for_other_reasons
        .type chosen_for_other_reasons, @function
chosen_for_other_reasons:
        .cfi_startproc
        pushq %rbx
        .cfi_adjust_cfa_offset 8
        subq $16, %rsp
        .cfi_adjust_cfa_offset 16
        call malloc@PLT
        movq other(%rip), %rdx
        testq %rdx, %rdx
        cmoveq %rax, %rdx
        movb $1, (%rdx)
        addq $16, %rsp
        popq %rbx
        movl $0, %eax
        ret
        .cfi_endproc
        .size chosen_for_other_reasons, .-chosen_for_other_reasons

# the flags are made in one block and asked in another
        .globl across_blocks
        .type across_blocks, @function
across_blocks:
        .cfi_startproc
        pushq %rbx
        .cfi_adjust_cfa_offset 8
        subq $16, %rsp
        .cfi_adjust_cfa_offset 16
        call open@PLT
        cmpl $0, %eax
        jmp 1f
1:
        jl 2f
        movl %eax, %edi
        call use@PLT
2:
        addq $16, %rsp
        popq %rbx
        movl $0, %eax
        ret
        .cfi_endproc
        .size across_blocks, .-across_blocks

        .globl against_register
        .type against_register, @function
against_register:
        .cfi_startproc
        pushq %rbx
        .cfi_adjust_cfa_offset 8
        subq $16, %rsp
        .cfi_adjust_cfa_offset 16
        call open@PLT
        movl $-1, %ecx
        cmpl %ecx, %eax
        je 1f
        movl %eax, %edi
        call use@PLT
1:
        addq $16, %rsp
        popq %rbx
        movl $0, %eax
        ret
        .cfi_endproc
        .size against_register, .-against_register

# through the stack
        .globl pushed
        .type pushed, @function
pushed:
        .cfi_startproc
        pushq %rbx
        .cfi_adjust_cfa_offset 8
        subq $16, %rsp
        .cfi_adjust_cfa_offset 16
        call open@PLT
        pushq %rax
        call nothing@PLT
        popq %rcx
        testl %ecx, %ecx
        js 1f
        movl %ecx, %edi
        call use@PLT
1:
        addq $16, %rsp
        popq %rbx
        movl $0, %eax
        ret
        .cfi_endproc
        .size pushed, .-pushed

        .globl extended
        .type extended, @function
extended:
        .cfi_startproc
        pushq %rbx
        .cfi_adjust_cfa_offset 8
        subq $16, %rsp
        .cfi_adjust_cfa_offset 16
        call open@PLT
        cltq
        movq %rax, %rbx
        call nothing@PLT
        cmpq $-1, %rbx
        je 1f
        movq %rbx, %rdi
        call use@PLT
1:
        addq $16, %rsp
        popq %rbx
        movl $0, %eax
        ret
        .cfi_endproc
        .size extended, .-extended

# called through a register
        .globl through_register
        .type through_register, @function
through_register:
        .cfi_startproc
        pushq %rbx
        .cfi_adjust_cfa_offset 8
        subq $16, %rsp
        .cfi_adjust_cfa_offset 16
        movq open@GOTPCREL(%rip), %rbx
        call nothing@PLT
        call *%rbx
        movl %eax, %edi
        call use@PLT
        addq $16, %rsp
        popq %rbx
        movl $0, %eax
        ret
        .cfi_endproc
        .size through_register, .-through_register

        .globl byte_only
        .type byte_only, @function
byte_only:
        .cfi_startproc
        pushq %rbx
        .cfi_adjust_cfa_offset 8
        subq $16, %rsp
        .cfi_adjust_cfa_offset 16
        call open@PLT
        cmpb $-1, %al
        je 1f
        movl %eax, %edi
        call use@PLT
1:
        addq $16, %rsp
        popq %rbx
        movl $0, %eax
        ret
        .cfi_endproc
        .size byte_only, .-byte_only

# zero is not what failure is
        .globl wrong_way
        .type wrong_way, @function
wrong_way:
        .cfi_startproc
        pushq %rbx
        .cfi_adjust_cfa_offset 8
        subq $16, %rsp
        .cfi_adjust_cfa_offset 16
        call open@PLT
        testl %eax, %eax
        je 1f
        movl %eax, %edi
        call use@PLT
1:
        addq $16, %rsp
        popq %rbx
        movl $0, %eax
        ret
        .cfi_endproc
        .size wrong_way, .-wrong_way

        .globl two_codes
        .type two_codes, @function
two_codes:
        .cfi_startproc
        pushq %rbx
        .cfi_adjust_cfa_offset 8
        subq $16, %rsp
        .cfi_adjust_cfa_offset 16
        call select@PLT
        cmpl $-1, %eax
        je 1f
        cmpl $-3, %eax
        je 1f
        movl %eax, %edi
        call use@PLT
1:
        addq $16, %rsp
        popq %rbx
        movl $0, %eax
        ret
        .cfi_endproc
        .size two_codes, .-two_codes

# -3 to -1 as an unsigned comparison
        .globl range
        .type range, @function
range:
        .cfi_startproc
        pushq %rbx
        .cfi_adjust_cfa_offset 8
        subq $16, %rsp
        .cfi_adjust_cfa_offset 16
        call select@PLT
        addl $3, %eax
        cmpl $2, %eax
        jbe 1f
        movl %eax, %edi
        call use@PLT
1:
        addq $16, %rsp
        popq %rbx
        movl $0, %eax
        ret
        .cfi_endproc
        .size range, .-range

        .globl indexed
        .type indexed, @function
indexed:
        .cfi_startproc
        pushq %rbx
        .cfi_adjust_cfa_offset 8
        subq $16, %rsp
        .cfi_adjust_cfa_offset 16
        call open@PLT
        movslq %eax, %rdx
        leaq other(%rip), %rcx
        movl $1, (%rcx,%rdx,4)
        movq pointer(%rip), %rcx
        movl $1, (%rcx,%rdx,4)
        addq $16, %rsp
        popq %rbx
        movl $0, %eax
        ret
        .cfi_endproc
        .size indexed, .-indexed

# reloaded from a variable
        .globl double_store
        .type double_store, @function
double_store:
        .cfi_startproc
        pushq %rbx
        .cfi_adjust_cfa_offset 8
        subq $16, %rsp
        .cfi_adjust_cfa_offset 16
        call malloc@PLT
        movq %rax, other(%rip)
        movq other(%rip), %rcx
        testq %rcx, %rcx
        je 1f
        movb $1, (%rcx)
1:
        addq $16, %rsp
        popq %rbx
        movl $0, %eax
        ret
        .cfi_endproc
        .size double_store, .-double_store

# the slot holds something else by then
        .globl overwritten
        .type overwritten, @function
overwritten:
        .cfi_startproc
        pushq %rbx
        .cfi_adjust_cfa_offset 8
        subq $16, %rsp
        .cfi_adjust_cfa_offset 16
        call malloc@PLT
        movq %rax, 8(%rsp)
        movq $0, 8(%rsp)
        movq 8(%rsp), %rcx
        testq %rcx, %rcx
        je 1f
        call nothing@PLT
1:
        addq $16, %rsp
        popq %rbx
        movl $0, %eax
        ret
        .cfi_endproc
        .size overwritten, .-overwritten

        .globl endless
        .type endless, @function
endless:
        .cfi_startproc
        pushq %rbx
        .cfi_adjust_cfa_offset 8
        subq $16, %rsp
        .cfi_adjust_cfa_offset 16
        call read@PLT
1:
        jmp 1b
        addq $16, %rsp
        popq %rbx
        movl $0, %eax
        ret
        .cfi_endproc
        .size endless, .-endless

# where it leads is not known, but the frame is there
        .globl unknown_jump
        .type unknown_jump, @function
unknown_jump:
        .cfi_startproc
        pushq %rbx
        .cfi_adjust_cfa_offset 8
        subq $16, %rsp
        .cfi_adjust_cfa_offset 16
        call open@PLT
        movq pointer(%rip), %rdx
        jmp *%rdx
        addq $16, %rsp
        popq %rbx
        movl $0, %eax
        ret
        .cfi_endproc
        .size unknown_jump, .-unknown_jump

        .globl jump_into_nowhere
        .type jump_into_nowhere, @function
jump_into_nowhere:
        .cfi_startproc
        pushq %rbx
        .cfi_adjust_cfa_offset 8
        subq $16, %rsp
        .cfi_adjust_cfa_offset 16
        call open@PLT
        jmp 0x10
        addq $16, %rsp
        popq %rbx
        movl $0, %eax
        ret
        .cfi_endproc
        .size jump_into_nowhere, .-jump_into_nowhere

        .globl stack_lost
        .type stack_lost, @function
stack_lost:
        .cfi_startproc
        pushq %rbx
        .cfi_adjust_cfa_offset 8
        subq $16, %rsp
        .cfi_adjust_cfa_offset 16
        call malloc@PLT
        movq pointer(%rip), %rsp
        movq %rax, (%rsp)
        movq (%rsp), %rcx
        testq %rcx, %rcx
        je 1f
        movb $1, (%rcx)
1:
        addq $16, %rsp
        popq %rbx
        movl $0, %eax
        ret
        .cfi_endproc
        .size stack_lost, .-stack_lost

# Uses what its caller left in a register; the result comes as an argument.
        .local odd
        .type odd, @function
odd:
        .cfi_startproc
        movl (%rbx), %eax
        testq %rdi, %rdi
        je 1f
        movb $1, (%rdi)
1:
        ret
        .cfi_endproc
        .size odd, .-odd

        .globl entered
        .type entered, @function
entered:
        .cfi_startproc
        pushq %rbx
        .cfi_adjust_cfa_offset 8
        call malloc@PLT
        movq %rax, %rdi
        call odd
        popq %rbx
        xorl %eax, %eax
        ret
        .cfi_endproc
        .size entered, .-entered

# A tail call: who calls this one gets the result.
        .globl tail
        .type tail, @function
tail:
        .cfi_startproc
        jmp open@PLT
        .cfi_endproc
        .size tail, .-tail

        .data
        .local other, pointer, spare
other:  .quad 0, 0, 0, 0
pointer: .quad 0
spare:  .quad 0
        .section .note.GNU-stack,"",@progbits
