# SPDX-License-Identifier: GPL-3.0-or-later
# The pool of stubs, the gates behind them, and the ways back. Layouts: struct slot and struct
# call_frame in runtime.h. A stub may use r11 only: every other register may carry an argument.

        .set SLOT_COUNT, 0
        .set SLOT_QUIET, 8
        .set SLOT_ORIGINAL, 16
        .set SLOT_GATE, 24
        .set SLOT_LOW, 32
        .set SLOT_LENGTH, 40
        .set SLOTS, 16384
        .set STUB_SIZE, 128
        .set STUB_FULL, 64              # the second half, with things on the stack
        .set LATE_INITS, 256

        .hidden runtime_slots, runtime_single_threaded, runtime_decide, runtime_performed
        .hidden runtime_site_filter
        .hidden runtime_late_initialise, runtime_save_size, runtime_save_mask
        .hidden runtime_save_by_moves

        .section .stubs, "ax", @progbits
        .globl runtime_stubs, runtime_stub_end
        .hidden runtime_stubs, runtime_stub_end
        .p2align 7
        .type runtime_stubs, @function
# One description for all: a place p in its stub has 8 bytes more on the stack if 65 <= p < 85 or
# 92 <= p. In words of DWARF, of which valgrind knows few: def_cfa_expression of 31 bytes; rsp + 8;
# rip & 127 >= 92; rip & 127 >= 65; rip & 127 < 85; and, plus, << 3, plus.
runtime_stubs:
        .cfi_startproc
        .cfi_escape 0x0f, 31, 0x77, 8, 0x80, 0, 0x08, 127, 0x1a, 0x08, 92, 0x2a
        .cfi_escape 0x80, 0, 0x08, 127, 0x1a, 0x08, 65, 0x2a, 0x80, 0, 0x08, 127, 0x1a, 0x08, 85, 0x2d
        .cfi_escape 0x1a, 0x22, 0x33, 0x24, 0x22
        .set slot, 0
        .rept SLOTS
        .org runtime_stubs + slot * STUB_SIZE, 0xcc
        endbr64
        mov     runtime_single_threaded(%rip), %r11
        cmpb    $0, (%r11)
        mov     $1, %r11d
        je      2f
        xadd    %r11, runtime_slots + 64 * slot + SLOT_COUNT(%rip)
1:      cmp     runtime_slots + 64 * slot + SLOT_QUIET(%rip), %r11
        jae     3f
4:      jmp     *(runtime_slots + 64 * slot + SLOT_ORIGINAL)(%rip)
2:      lock xadd %r11, runtime_slots + 64 * slot + SLOT_COUNT(%rip)
        jmp     1b
        .org runtime_stubs + slot * STUB_SIZE + STUB_FULL, 0xcc
3:      push    %rax                    # a caller of interest?
        mov     8(%rsp), %rax
        sub     runtime_slots + 64 * slot + SLOT_LOW(%rip), %rax
        cmp     runtime_slots + 64 * slot + SLOT_LENGTH(%rip), %rax
        pop     %rax
        jae     4b
        .byte   0x68                    # push imm32
        .long   slot
        jmp     *(runtime_slots + 64 * slot + SLOT_GATE)(%rip)
        .set slot, slot + 1
        .endr
        .org runtime_stubs + SLOTS * STUB_SIZE, 0xcc
runtime_stub_end:
        .cfi_endproc
        .size runtime_stubs, . - runtime_stubs

        .section .text.hot, "ax", @progbits # beside the functions that they lead to

# Gates. On the stack: slot number, return address, the call's own stack arguments; in r11 the
# slot's earlier count.

# Passes calls whose return address is not in the filter of exact sites: a word for each 64 bytes of
# code (runtime_site_word), and in it a bit for each byte. The others find three registers saved
# already.
        .globl runtime_gate_sites
        .hidden runtime_gate_sites
        .type runtime_gate_sites, @function
        .p2align 4
runtime_gate_sites:
        .cfi_startproc
        .cfi_def_cfa_offset 16
        endbr64
        .irp register, r11, r10, rax
        push    %\register
        .cfi_adjust_cfa_offset 8
        .endr
        mov     32(%rsp), %rax          # return address
        mov     %eax, %r10d
        shr     $6, %r10d
        lea     runtime_site_filter(%rip), %r11
        and     $8191, %r10d
        mov     (%r11, %r10, 8), %r10
        bt      %rax, %r10              # by the lowest six bits of the address
        jc      runtime_gate_rest
        mov     24(%rsp), %eax          # slot number
        shl     $6, %rax
        lea     runtime_slots(%rip), %r11
        mov     SLOT_ORIGINAL(%r11, %rax), %r11
        .irp register, rax, r10
        pop     %\register
        .cfi_adjust_cfa_offset -8
        .endr
        lea     16(%rsp), %rsp
        .cfi_adjust_cfa_offset -16
        jmp     *%r11
        .cfi_endproc
        .size runtime_gate_sites, . - runtime_gate_sites

# Saves every argument register and asks runtime_decide.
        .globl runtime_gate_full
        .hidden runtime_gate_full
        .type runtime_gate_full, @function
        .p2align 4
runtime_gate_full:
        .cfi_startproc
        .cfi_def_cfa_offset 16
        endbr64
        .irp register, r11, r10, rax
        push    %\register
        .cfi_adjust_cfa_offset 8
        .endr
runtime_gate_rest:
        .irp register, r9, r8, rcx, rdx, rsi, rdi, rbx, rbp, r12, r13, r14, r15
        push    %\register
        .cfi_adjust_cfa_offset 8
        .endr
        mov     %rsp, %rdi
        sub     $8, %rsp
        .cfi_adjust_cfa_offset 8
        call    runtime_decide
        cmp     $4, %eax
        je      5f
6:      add     $56, %rsp               # the callee-saved ones are as they were
        .cfi_adjust_cfa_offset -56
        cmp     $1, %eax
        jae     1f
        .cfi_remember_state
        .irp register, rdi, rsi, rdx, rcx, r8, r9, rax, r10, r11
        pop     %\register
        .cfi_adjust_cfa_offset -8
        .endr
        lea     8(%rsp), %rsp
        .cfi_adjust_cfa_offset -8
        jmp     *%r11
        .cfi_restore_state
1:      je      4f
        cmp     $2, %eax
        je      2f
        fldt    (%rsp)
        jmp     3f
2:      movsd   (%rsp), %xmm0
        jmp     3f
4:      cvtsi2sdq (%rsp), %xmm0         # an integer given to a function that returns double
3:      mov     (%rsp), %rax
        mov     8(%rsp), %rdx
        add     $80, %rsp
        .cfi_adjust_cfa_offset -80
        ret
# The original, as its caller called it, with a copy of the stack's words above the return address;
# rbp - 8 is where the frame ends. Nothing is kept elsewhere: signals, exceptions and longjmp() may
# pass.
5:      .cfi_def_cfa_offset 144
        mov     %rsp, %rbp
        .cfi_def_cfa_register %rbp
        .cfi_offset %rbp, -104
        movzwl  130(%rbp), %ecx
        lea     (, %rcx, 8), %rax
        sub     %rax, %rsp
7:      sub     $1, %ecx
        js      8f
        mov     144(%rbp, %rcx, 8), %rax
        mov     %rax, (%rsp, %rcx, 8)
        jmp     7b
8:      mov     56(%rbp), %rdi
        mov     64(%rbp), %rsi
        mov     72(%rbp), %rdx
        mov     80(%rbp), %rcx
        mov     88(%rbp), %r8
        mov     96(%rbp), %r9
        mov     104(%rbp), %rax
        mov     112(%rbp), %r10
        mov     120(%rbp), %r11
        call    *%r11
        emms                            # forgets a long double that it may have returned
        mov     %rbp, %rsp
        lea     8(%rbp), %rdi
        call    runtime_performed
        mov     %rbp, %rsp
        mov     40(%rbp), %rbp
        .cfi_restore %rbp
        .cfi_def_cfa %rsp, 144
        jmp     6b
        .cfi_endproc
        .size runtime_gate_full, . - runtime_gate_full

# int runtime_call_plugin(eval, state, call): a plug-in is ordinary code and may use every register.
# Where the sixteen vector registers of AVX are all there is, moving them is much quicker than
# XRSTOR; of the x87 a function finds no register in use, so that its control and status words are
# all there is to restore, and what a plug-in left in its registers is forgotten. Upper halves that
# nobody uses are left so: to load them, even with zero, would slow the target down.
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
        .rept LATE_INITS
        .org runtime_late_init + number * 16, 0xcc
        endbr64
        mov     $number, %eax
        .byte   0xe9                    # jmp rel32, whatever the distance
        .long   1f - . - 4
        .set number, number + 1
        .endr
        .org runtime_late_init + LATE_INITS * 16, 0xcc
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
