# SPDX-License-Identifier: GPL-3.0-or-later
# Functions with one rule, which is about a range of callers and asks for no number. Their calls enter
# at stubs of their own: a call from elsewhere is counted in the thread's row, and goes on. So no two
# threads write to one line of memory. A call from there goes to the gate, and is counted in C.
#include "runtime/assembly/assembly.h"
#include "runtime/assembly/frame.inc"

        .hidden runtime_slots, runtime_thread, runtime_stubs, runtime_count_base, runtime_row_deltas

# Only r11 is free. rax is kept below the stack pointer, where signal handlers leave 128 bytes alone.
        .section .stubs, "ax", @progbits
        .globl runtime_caller_stubs, runtime_caller_stub_end
        .hidden runtime_caller_stubs, runtime_caller_stub_end
        .balign CALLER_STUB_SIZE
        .type runtime_caller_stubs, @function
runtime_caller_stubs:
        .cfi_startproc
        .set number, 0
        .rept ROW_SLOTS
        .set slot, number * ASM_SLOT_SIZE
        .org runtime_caller_stubs + number * CALLER_STUB_SIZE, 0xcc
        endbr64
        mov     %rax, -8(%rsp)
        mov     (%rsp), %rax
        sub     runtime_slots + slot + ASM_SLOT_LOW(%rip), %rax
        cmp     runtime_slots + slot + ASM_SLOT_LENGTH(%rip), %rax
        mov     -8(%rsp), %rax
        jb      runtime_stubs + number * RUNTIME_STUB_SIZE + RUNTIME_STUB_GATED
        row_of_calls
        incq    number * 8(%r11)
        jmp     *(runtime_slots + slot + ASM_SLOT_ORIGINAL)(%rip)
        .set number, number + 1
        .endr
        .org runtime_caller_stubs + ROW_SLOTS * CALLER_STUB_SIZE, 0xcc
runtime_caller_stub_end:
        .cfi_endproc
        .size runtime_caller_stubs, . - runtime_caller_stubs

        .section .note.gnu.property, "a", @note
        .p2align 3
        .long   4, 16, 5
        .asciz  "GNU"
        .long   0xc0000002, 4, 3, 0     # x86 features: IBT and SHSTK
        .section .note.GNU-stack, "", @progbits
