# SPDX-License-Identifier: GPL-3.0-or-later
# The gate of functions whose calls are only counted: for a call from a known site it costs a look
# into the table of record.c. On entry as in stubs.S: slot number and return address on the stack;
# only r11 is free.
#include "runtime/assembly/assembly.h"
#include "runtime/assembly/frame.inc"

        .hidden runtime_slots, runtime_thread, runtime_gate_full

        .text
        .globl runtime_gate_record
        .hidden runtime_gate_record
        .type runtime_gate_record, @function
        .p2align 4
runtime_gate_record:
        .cfi_startproc
        .cfi_def_cfa_offset 16
        endbr64
        save_three
        mov     ASM_FRAME_SLOT - ASM_FRAME_RAX(%rsp), %rax
        shl     $RECORD_SLOT_SHIFT, %rax
        or      ASM_FRAME_RETURN - ASM_FRAME_RAX(%rsp), %rax
        movabs  $RECORD_MULTIPLIER, %r10
        imul    %rax, %r10
        shr     $(RECORD_HASH_SHIFT - ASM_ENTRY_SHIFT), %r10 # in bytes; the mask cuts off the rest
        mov     runtime_thread@gottpoff(%rip), %r11
        mov     %fs:ASM_THREAD_RECORD(%r11), %r11
        test    %r11, %r11
        jz      2f                      # the thread has no table
        and     ASM_TABLE_MASK(%r11), %r10
        add     %r10, %r11
        cmp     %rax, ASM_TABLE_ENTRIES + ASM_ENTRY_KEY(%r11)
        jne     4f
5:      mov     ASM_TABLE_ENTRIES + ASM_ENTRY_COUNT(%r11), %r11
        incq    (%r11)                  # no other thread writes there
        .cfi_remember_state
        pass_on
        .cfi_restore_state
4:      .rept   RECORD_NEIGHBOURS - 1   # the next entries
        add     $ASM_ENTRY_SIZE, %r11
        cmp     %rax, ASM_TABLE_ENTRIES + ASM_ENTRY_KEY(%r11)
        je      5b
        .endr
2:      .set    saved_at, ASM_FRAME_RAX
        restore rax, ASM_FRAME_RAX
        restore r10, ASM_FRAME_R10
        restore r11, ASM_FRAME_TARGET
        jmp     runtime_gate_full
        .cfi_endproc
        .size runtime_gate_record, . - runtime_gate_record

        .section .note.gnu.property, "a", @note
        .p2align 3
        .long   4, 16, 5
        .asciz  "GNU"
        .long   0xc0000002, 4, 3, 0     # x86 features: IBT and SHSTK
        .section .note.GNU-stack, "", @progbits
