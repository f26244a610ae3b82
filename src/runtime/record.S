# SPDX-License-Identifier: GPL-3.0-or-later
# The gate of functions whose calls are counted and nothing else: a call from a known site costs a
# look into the table of record.c. On entry as in stubs.S: slot number and return address on the
# stack; only r11 is free.

        .set SLOT_ORIGINAL, 16
        .set ENTRIES, 16
        .set RECORD_MULTIPLIER, 0x9e3779b97f4a7c15
        .hidden runtime_slots, runtime_single_threaded, runtime_record_table, runtime_gate_full

        .text
        .globl runtime_gate_record
        .hidden runtime_gate_record
        .type runtime_gate_record, @function
        .p2align 4
runtime_gate_record:
        .cfi_startproc
        .cfi_def_cfa_offset 16
        endbr64
        .irp register, r11, r10, rax
        push    %\register
        .cfi_adjust_cfa_offset 8
        .endr
        mov     24(%rsp), %rax          # slot number
        shl     $48, %rax
        or      32(%rsp), %rax          # return address
        movabs  $RECORD_MULTIPLIER, %r10
        imul    %rax, %r10
        shr     $28, %r10               # entries have 16 bytes
        mov     runtime_record_table(%rip), %r11
        and     (%r11), %r10
        add     %r10, %r11
        cmp     %rax, ENTRIES(%r11)
        jne     4f
5:      mov     ENTRIES + 8(%r11), %r11
        mov     runtime_single_threaded(%rip), %r10
        cmpb    $0, (%r10)
        je      2f
        incq    (%r11)
1:      mov     24(%rsp), %rax
        shl     $6, %rax
        lea     runtime_slots(%rip), %r11
        mov     SLOT_ORIGINAL(%r11, %rax), %r11
        .cfi_remember_state
        .irp register, rax, r10
        pop     %\register
        .cfi_adjust_cfa_offset -8
        .endr
        lea     16(%rsp), %rsp
        .cfi_adjust_cfa_offset -16
        jmp     *%r11
        .cfi_restore_state
2:      lock incq (%r11)
        jmp     1b
4:      .rept   3                       # the next entries
        add     $16, %r11
        cmp     %rax, ENTRIES(%r11)
        je      5b
        .endr
        .irp register, rax, r10, r11
        pop     %\register
        .cfi_adjust_cfa_offset -8
        .endr
        jmp     runtime_gate_full
        .cfi_endproc
        .size runtime_gate_record, . - runtime_gate_record

        .section .note.gnu.property, "a", @note
        .p2align 3
        .long   4, 16, 5
        .asciz  "GNU"
        .long   0xc0000002, 4, 3, 0     # x86 features: IBT and SHSTK
        .section .note.GNU-stack, "", @progbits
