# SPDX-License-Identifier: GPL-3.0-or-later
# Functions whose calls are only counted, by site. Their calls enter at stubs of their own: if the
# call comes from the same place as the function's last call by this thread, the entry of that place
# in the table of record.c is at hand. All other calls go through the stub of stubs.S, which counts
# them, to the gate below, which looks into the table.
#include "runtime/assembly/assembly.h"
#include "runtime/assembly/frame.inc"

        .hidden runtime_slots, runtime_thread, runtime_gate_full, runtime_stubs
        .hidden runtime_count_base, runtime_row_deltas

# Only r11 is free. rax is kept below the stack pointer, where signal handlers leave 128 bytes alone.
        .section .stubs, "ax", @progbits
        .globl runtime_record_stubs, runtime_record_stub_end
        .hidden runtime_record_stubs, runtime_record_stub_end
        .balign RECORD_STUB_SIZE
        .type runtime_record_stubs, @function
runtime_record_stubs:
        .cfi_startproc
        .set number, ROW_SLOTS - 1      # the first ones stand last, beside the first of stubs.S
        .rept ROW_SLOTS
        .org runtime_record_stubs + (ROW_SLOTS - 1 - number) * RECORD_STUB_SIZE, 0xcc
        endbr64
        mov     %rax, -8(%rsp)
        mov     runtime_thread@gottpoff(%rip), %r11
        mov     %fs:ASM_THREAD_ROW(%r11), %r11
        add     runtime_count_base(%rip), %r11
        mov     ASM_ROW_ENTRY + number * 8(%r11), %rax
        test    %rax, %rax
        jz      1f
        add     runtime_row_deltas + ASM_DELTA_COUNT(%rip), %r11
        incq    number * 8(%r11)
        mov     ASM_ENTRY_KEY(%rax), %r11 # the slot's number above the return address?
        xor     (%rsp), %r11
        rol     $(64 - RECORD_SLOT_SHIFT), %r11
        cmp     $number, %r11
        jne     2f
        mov     ASM_ENTRY_COUNT(%rax), %r11
        incq    (%r11)                  # no other thread writes there
        mov     -8(%rsp), %rax
        jmp     *(runtime_slots + number * ASM_SLOT_SIZE + ASM_SLOT_ORIGINAL)(%rip)
1:      mov     -8(%rsp), %rax
        jmp     runtime_stubs + number * RUNTIME_STUB_SIZE
2:      mov     -8(%rsp), %rax          # it is counted
        jmp     runtime_stubs + number * RUNTIME_STUB_SIZE + RUNTIME_STUB_GATED
        .set number, number - 1
        .endr
        .org runtime_record_stubs + ROW_SLOTS * RECORD_STUB_SIZE, 0xcc
runtime_record_stub_end:
        .cfi_endproc
        .size runtime_record_stubs, . - runtime_record_stubs

# The gate. On entry as in stubs.S: slot number and return address on the stack.
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
5:      lea     ASM_TABLE_ENTRIES(%r11), %rax
        mov     ASM_ENTRY_COUNT(%rax), %r11
        incq    (%r11)                  # no other thread writes there
        mov     ASM_FRAME_SLOT - ASM_FRAME_RAX(%rsp), %r10
        mov     runtime_thread@gottpoff(%rip), %r11
        mov     %fs:ASM_THREAD_ROW(%r11), %r11
        test    %r11, %r11
        jz      6f                      # threads without a row share row 0
        cmp     $ROW_SLOTS, %r10
        jae     6f
        add     runtime_count_base(%rip), %r11
        mov     %rax, ASM_ROW_ENTRY(%r11, %r10, 8)
6:      .cfi_remember_state
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
