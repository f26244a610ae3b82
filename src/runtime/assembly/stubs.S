# SPDX-License-Identifier: GPL-3.0-or-later
# The pool of stubs, the gates behind them, and the ways back. A stub may use r11 only: every other
# register may carry an argument. Layouts and numbers that C knows are in assembly.h.
#include "runtime/assembly/assembly.h"
#include "runtime/assembly/frame.inc"

        .hidden runtime_slots, runtime_single_threaded, runtime_decide, runtime_performed
        .hidden runtime_thread, runtime_closed_base, runtime_count_base, runtime_row_deltas
        .hidden runtime_site_filter
        .hidden runtime_late_initialise, runtime_save_size, runtime_save_mask
        .hidden runtime_save_by_moves

# Where in a stub the instructions stand that change the stack pointer. `.org` puts them there.
        .set COUNTED, RUNTIME_STUB_COUNTED
        .set ASKED, RUNTIME_STUB_ASKED
        .set PUSH_RAX, 192              # one byte
        .set POP_RAX, 212               # one byte
        .set GATED, RUNTIME_STUB_GATED  # a jump from the beginning may lead here
        .set PUSH_NUMBER, 232           # five bytes
        .set PUSHED_RAX, PUSH_RAX + 1   # the places behind them
        .set POPPED_RAX, POP_RAX + 1
        .set PUSHED_NUMBER, PUSH_NUMBER + 5

# DWARF's numbers.
        .set DW_CFA_def_cfa_expression, 0x0f
        .set DW_OP_const1u, 0x08
        .set DW_OP_and, 0x1a
        .set DW_OP_plus, 0x22
        .set DW_OP_shl, 0x24
        .set DW_OP_ge, 0x2a
        .set DW_OP_lt, 0x2d
        .set DW_OP_lit3, 0x33
        .set DW_OP_breg7, 0x77          # rsp
        .set DW_OP_breg16, 0x80         # rip

# Part of an expression: compares the place in the stub with another one.
        .macro compare_place operation, place
        .cfi_escape DW_OP_breg16, 0, DW_OP_const1u, RUNTIME_STUB_SIZE - 1, DW_OP_and
        .cfi_escape DW_OP_const1u, \place, \operation
        .endm
        .set COMPARE_SIZE, 8            # bytes of that

        .section .stubs, "ax", @progbits
        .globl runtime_stubs, runtime_stub_end
        .hidden runtime_stubs, runtime_stub_end
        .balign RUNTIME_STUB_SIZE
        .type runtime_stubs, @function
# One unwind description for all stubs: CFA = rsp + 8, and 8 more where rax or the number is pushed,
# p >= PUSHED_NUMBER or p >= PUSHED_RAX && p < POPPED_RAX, with p = rip & (RUNTIME_STUB_SIZE - 1).
# Only operations that valgrind knows.
runtime_stubs:
        .cfi_startproc
        .cfi_escape DW_CFA_def_cfa_expression, 2 + 3 * COMPARE_SIZE + 5, DW_OP_breg7, 8
        compare_place DW_OP_ge, PUSHED_NUMBER
        compare_place DW_OP_ge, PUSHED_RAX
        compare_place DW_OP_lt, POPPED_RAX
        .cfi_escape DW_OP_and, DW_OP_plus, DW_OP_lit3, DW_OP_shl, DW_OP_plus
        .set number, 0
        .rept RUNTIME_SLOTS
        .set stub, number * RUNTIME_STUB_SIZE
        .set slot, number * ASM_SLOT_SIZE
        .org runtime_stubs + stub, 0xcc
        endbr64
        .if number >= ROW_SLOTS
        jmp     7f
        .else
        .set entry, number * 8
        mov     runtime_thread@gottpoff(%rip), %r11
        mov     %fs:ASM_THREAD_ROW(%r11), %r11
        add     runtime_closed_base(%rip), %r11
        add     runtime_row_deltas + ASM_DELTA_OPEN(%rip), %r11
        subq    $1, entry(%r11)         # one instruction: see credits.c
        js      5f
        add     runtime_row_deltas + ASM_DELTA_COUNT(%rip), %r11
        incq    ROW_WINDOW + entry(%r11)
        jmp     *(runtime_slots + slot + ASM_SLOT_NEXT)(%rip)
        .org runtime_stubs + stub + COUNTED, 0xcc
5:      endbr64
        mov     runtime_thread@gottpoff(%rip), %r11
        mov     %fs:ASM_THREAD_ROW(%r11), %r11
        add     runtime_count_base(%rip), %r11
        add     runtime_row_deltas + ASM_DELTA_COUNT(%rip), %r11
        incq    entry(%r11)
        jmp     7f
        .endif
        .org runtime_stubs + stub + ASKED, 0x90
7:      endbr64
        mov     runtime_single_threaded(%rip), %r11
        cmpb    $0, (%r11)
        mov     $1, %r11d
        je      2f
        xadd    %r11, runtime_slots + slot + ASM_SLOT_COUNT(%rip)
1:      cmp     runtime_slots + slot + ASM_SLOT_QUIET(%rip), %r11
        jae     3f
4:      jmp     *(runtime_slots + slot + ASM_SLOT_ORIGINAL)(%rip)
2:      lock xadd %r11, runtime_slots + slot + ASM_SLOT_COUNT(%rip)
        jmp     1b
        .org runtime_stubs + stub + PUSH_RAX, 0xcc
3:      push    %rax                    # a caller of interest?
        mov     8(%rsp), %rax
        sub     runtime_slots + slot + ASM_SLOT_LOW(%rip), %rax
        cmp     runtime_slots + slot + ASM_SLOT_LENGTH(%rip), %rax
        .org runtime_stubs + stub + POP_RAX, 0x90
        pop     %rax
        jae     4b
        jmp     6f
        .org runtime_stubs + stub + GATED, 0xcc
        endbr64
        mov     $-1, %r11               # CALL_TOOK_CREDIT
        .org runtime_stubs + stub + PUSH_NUMBER, 0x90
6:      .byte   0x68                    # push imm32
        .long   number
        jmp     *(runtime_slots + slot + ASM_SLOT_GATE)(%rip)
        .set number, number + 1
        .endr
        .org runtime_stubs + RUNTIME_SLOTS * RUNTIME_STUB_SIZE, 0xcc
runtime_stub_end:
        .cfi_endproc
        .size runtime_stubs, . - runtime_stubs

        .section .text.hot, "ax", @progbits # beside the functions that they lead to

# Gates. On the stack: slot number, return address, the call's own stack arguments; in r11 the
# slot's earlier count.

# Passes calls whose return address is not in the filter of exact sites (runtime_site_word). The
# others find three registers saved already. The second one counts what it passes, for functions
# whose stub has not done so.
        .macro gate_of_sites name, counts
        .globl \name
        .hidden \name
        .type \name, @function
        .p2align 4
\name:
        .cfi_startproc
        .cfi_def_cfa_offset 16
        endbr64
        save_three
        mov     ASM_FRAME_RETURN - ASM_FRAME_RAX(%rsp), %rax
        mov     %eax, %r10d
        shr     $SITE_LINE_SHIFT, %r10d
        lea     runtime_site_filter(%rip), %r11
        and     $(SITE_FILTER_WORDS - 1), %r10d
        mov     (%r11, %r10, 8), %r10
        bt      %rax, %r10              # by the lowest six bits of the address
        jc      runtime_gate_rest
        .if     \counts
        row_of_calls
        mov     ASM_FRAME_SLOT - ASM_FRAME_RAX(%rsp), %r10
        incq    (%r11, %r10, 8)
        .endif
        pass_on
        .cfi_endproc
        .size \name, . - \name
        .endm
        gate_of_sites runtime_gate_sites, 0
        gate_of_sites runtime_gate_sites_count, 1

# Saves every argument register and asks runtime_decide.
        .globl runtime_gate_full
        .hidden runtime_gate_full
        .type runtime_gate_full, @function
        .p2align 4
runtime_gate_full:
        .cfi_startproc
        .cfi_def_cfa_offset 16
        endbr64
        save_three
runtime_gate_rest:
        save    r9, ASM_FRAME_ARGUMENTS + 40
        save    r8, ASM_FRAME_ARGUMENTS + 32
        save    rcx, ASM_FRAME_ARGUMENTS + 24
        save    rdx, ASM_FRAME_ARGUMENTS + 16
        save    rsi, ASM_FRAME_ARGUMENTS + 8
        save    rdi, ASM_FRAME_ARGUMENTS
        save    rbx, ASM_FRAME_RBX
        save    rbp, ASM_FRAME_RBP
        save    r12, ASM_FRAME_R12
        save    r13, ASM_FRAME_R13
        save    r14, ASM_FRAME_R14
        save    r15, ASM_FRAME_R15
        .set    PADDING, 8              # below the frame: calls need an aligned stack
        mov     %rsp, %rdi
        sub     $PADDING, %rsp
        .cfi_adjust_cfa_offset PADDING
        call    runtime_decide
        cmp     $ASM_DECIDE_PERFORM, %eax
        je      5f
6:      add     $(PADDING + ASM_FRAME_ARGUMENTS), %rsp # the callee-saved ones are as they were
        .cfi_adjust_cfa_offset -(PADDING + ASM_FRAME_ARGUMENTS)
        cmp     $ASM_DECIDE_INTEGER, %eax
        jae     1f                      # less is ASM_DECIDE_PASS
        .cfi_remember_state
        .set    saved_at, ASM_FRAME_ARGUMENTS
        restore rdi, ASM_FRAME_ARGUMENTS
        restore rsi, ASM_FRAME_ARGUMENTS + 8
        restore rdx, ASM_FRAME_ARGUMENTS + 16
        restore rcx, ASM_FRAME_ARGUMENTS + 24
        restore r8, ASM_FRAME_ARGUMENTS + 32
        restore r9, ASM_FRAME_ARGUMENTS + 40
        restore rax, ASM_FRAME_RAX
        restore r10, ASM_FRAME_R10
        restore r11, ASM_FRAME_TARGET
        lea     ASM_FRAME_RETURN - ASM_FRAME_SLOT(%rsp), %rsp
        .cfi_adjust_cfa_offset ASM_FRAME_SLOT - ASM_FRAME_RETURN
        jmp     *%r11
        .cfi_restore_state
1:      je      4f
        cmp     $ASM_DECIDE_AS_IS, %eax
        je      3f
        cmp     $ASM_DECIDE_FLOATING, %eax
        je      2f
        cmp     $ASM_DECIDE_COMPLEX, %eax
        jne     9f
        fldz                            # the imaginary part
9:      fldt    (%rsp)                  # ASM_DECIDE_LONG_DOUBLE
        jmp     3f
2:      movsd   (%rsp), %xmm0
        movsd   8(%rsp), %xmm1          # the imaginary part of a complex number
        jmp     3f
4:      cvtsi2sdq (%rsp), %xmm0         # an integer given to a function that returns double
        xorps   %xmm1, %xmm1
3:      mov     (%rsp), %rax
        mov     8(%rsp), %rdx
        add     $(ASM_FRAME_RETURN - ASM_FRAME_ARGUMENTS), %rsp
        .cfi_adjust_cfa_offset ASM_FRAME_ARGUMENTS - ASM_FRAME_RETURN
        ret
# Calls the original as its caller did, with a copy of the stack's words above the return address.
# rbp + PADDING is the frame. Nothing is kept elsewhere: signals, exceptions and longjmp() may pass.
5:      .cfi_def_cfa_offset PADDING + ASM_FRAME_STACK
        mov     %rsp, %rbp
        .cfi_def_cfa_register %rbp
        .cfi_offset %rbp, ASM_FRAME_RBP - ASM_FRAME_STACK
        movzwl  PADDING + ASM_FRAME_SLOT + FRAME_WORDS_SHIFT / 8(%rbp), %ecx
        lea     (, %rcx, 8), %rax
        sub     %rax, %rsp
7:      sub     $1, %ecx
        js      8f
        mov     PADDING + ASM_FRAME_STACK(%rbp, %rcx, 8), %rax
        mov     %rax, (%rsp, %rcx, 8)
        jmp     7b
8:      mov     PADDING + ASM_FRAME_ARGUMENTS(%rbp), %rdi
        mov     PADDING + ASM_FRAME_ARGUMENTS + 8(%rbp), %rsi
        mov     PADDING + ASM_FRAME_ARGUMENTS + 16(%rbp), %rdx
        mov     PADDING + ASM_FRAME_ARGUMENTS + 24(%rbp), %rcx
        mov     PADDING + ASM_FRAME_ARGUMENTS + 32(%rbp), %r8
        mov     PADDING + ASM_FRAME_ARGUMENTS + 40(%rbp), %r9
        mov     PADDING + ASM_FRAME_RAX(%rbp), %rax
        mov     PADDING + ASM_FRAME_R10(%rbp), %r10
        mov     PADDING + ASM_FRAME_TARGET(%rbp), %r11
        call    *%r11
        mov     %rbp, %rsp
        lea     PADDING(%rbp), %rdi
        mov     %rax, %rsi              # what it returned; the second half is in rdx
        call    runtime_performed
        cmp     $ASM_DECIDE_AS_IS, %eax
        je      9f
        emms                            # forgets a long double that it may have returned
9:      mov     %rbp, %rsp
        mov     PADDING + ASM_FRAME_RBP(%rbp), %rbp
        .cfi_restore %rbp
        .cfi_def_cfa %rsp, PADDING + ASM_FRAME_STACK
        jmp     6b
        .cfi_endproc
        .size runtime_gate_full, . - runtime_gate_full

# int runtime_call_plugin(eval, state, call): a plug-in is ordinary code and may use every register.
# On a processor with AVX and no more, moving the sixteen vector registers is much quicker than
# XRSTOR. The x87 has no register in use when a function is called: only its control and status words
# are restored, and its registers are emptied. Upper halves that are not in use are not loaded:
# loading them, even with zero, would slow the target down.
        .globl runtime_call_plugin
        .hidden runtime_call_plugin
        .type runtime_call_plugin, @function
        .p2align 4
runtime_call_plugin:
        .cfi_startproc
        endbr64
        push    %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %rbp, 0
        mov     %rsp, %rbp
        .cfi_def_cfa_register %rbp
        push    %rbx
        .cfi_offset %rbx, -24
        push    %rbx
        mov     %rdi, %rbx
        mov     %rsi, %rdi
        mov     %rdx, %rsi
        cmpb    $0, runtime_save_by_moves(%rip)
        je      4f
        sub     $576, %rsp
        and     $-64, %rsp
        .set    SAVED_CONTROL, 512      # of the x87
        .set    SAVED_STATUS, 514       # likewise
        .set    SAVED_MXCSR, 516
        .set    ENVIRONMENT, 520        # of the x87, as it is after the call
        mov     $1, %ecx
        xgetbv
        stmxcsr SAVED_MXCSR(%rsp)
        fnstcw  SAVED_CONTROL(%rsp)
        fnstsw  SAVED_STATUS(%rsp)
        test    $4, %al                 # upper halves in use?
        jz      1f
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        vmovdqa %ymm\n, 32 * \n(%rsp)
        .endr
        call    *%rbx
        mov     %eax, %ebx
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        vmovdqa 32 * \n(%rsp), %ymm\n
        .endr
        jmp     2f
1:      .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        movaps  %xmm\n, 16 * \n(%rsp)
        .endr
        call    *%rbx
        mov     %eax, %ebx
        vzeroupper
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        movaps  16 * \n(%rsp), %xmm\n
        .endr
2:      ldmxcsr SAVED_MXCSR(%rsp)
        fnstcw  ENVIRONMENT(%rsp)
        fnstsw  %ax
        movzwl  SAVED_CONTROL(%rsp), %ecx
        movzwl  SAVED_STATUS(%rsp), %edx
        cmp     %ax, %dx
        jne     3f
        cmp     ENVIRONMENT(%rsp), %cx
        je      6f
3:      fnstenv ENVIRONMENT(%rsp)       # masks what is pending, which fldenv would raise
        mov     %cx, ENVIRONMENT(%rsp)
        mov     %dx, 4 + ENVIRONMENT(%rsp)
        movl    $0xffff, 8 + ENVIRONMENT(%rsp) # every register is empty
        fldenv  ENVIRONMENT(%rsp)
        jmp     6f
4:      mov     runtime_save_size(%rip), %ecx
        test    %ecx, %ecx
        jz      5f
        sub     %rcx, %rsp
        and     $-64, %rsp
        movq    $0, 512(%rsp)
        movq    $0, 520(%rsp)
        movq    $0, 528(%rsp)
        movq    $0, 536(%rsp)
        movq    $0, 544(%rsp)
        movq    $0, 552(%rsp)
        movq    $0, 560(%rsp)
        movq    $0, 568(%rsp)
        mov     runtime_save_mask(%rip), %eax
        mov     4 + runtime_save_mask(%rip), %edx
        xsave64 (%rsp)
        call    *%rbx
        mov     %eax, %ebx
        mov     runtime_save_mask(%rip), %eax
        mov     4 + runtime_save_mask(%rip), %edx
        xrstor64 (%rsp)
        jmp     6f
5:      sub     $512, %rsp
        and     $-64, %rsp
        fxsave64 (%rsp)
        call    *%rbx
        mov     %eax, %ebx
        fxrstor64 (%rsp)
6:      mov     %ebx, %eax
        mov     -8(%rbp), %rbx
        leave
        .cfi_def_cfa %rsp, 8
        ret
        .cfi_endproc
        .size runtime_call_plugin, . - runtime_call_plugin

# dlopen() looks at who called it, so it is entered with the stack as it is; its flags are noted.
        .globl runtime_enter_dlopen
        .hidden runtime_enter_dlopen, runtime_real_dlopen, runtime_open_flags
        .hidden runtime_loader_hooked, runtime_dlopen_and_scan
        .type runtime_enter_dlopen, @function
        .p2align 4
runtime_enter_dlopen:
        .cfi_startproc
        endbr64
        mov     runtime_open_flags@gottpoff(%rip), %r11
        mov     %esi, %fs:(%r11)
        cmpb    $0, runtime_loader_hooked(%rip)
        je      runtime_dlopen_and_scan
        mov     runtime_real_dlopen(%rip), %r11
        jmp     *%r11
        .cfi_endproc
        .size runtime_enter_dlopen, . - runtime_enter_dlopen

        .text                           # many, and seldom used

# Entries that stand in for the initialisers of late modules: (argc, argv, envp) plus a number.
        .globl runtime_late_init
        .hidden runtime_late_init
        .type runtime_late_init, @function
        .p2align 4
runtime_late_init:
        .cfi_startproc
        .set number, 0
        .rept RUNTIME_LATE_INITS
        .org runtime_late_init + number * RUNTIME_LATE_INIT_SIZE, 0xcc
        endbr64
        mov     $number, %eax
        .byte   0xe9                    # jmp rel32, whatever the distance
        .long   1f - . - 4
        .set number, number + 1
        .endr
        .org runtime_late_init + RUNTIME_LATE_INITS * RUNTIME_LATE_INIT_SIZE, 0xcc
1:      mov     %rdx, %rcx
        mov     %rsi, %rdx
        mov     %edi, %esi
        mov     %eax, %edi
        jmp     runtime_late_initialise
        .cfi_endproc
        .size runtime_late_init, . - runtime_late_init

        .section .note.gnu.property, "a", @note
        .p2align 3
        .long   4, 16, 5
        .asciz  "GNU"
        .long   0xc0000002, 4, 3, 0     # x86 features: IBT and SHSTK
        .section .note.GNU-stack, "", @progbits
