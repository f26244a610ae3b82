// SPDX-License-Identifier: GPL-3.0-or-later
// What the tracer and its code inside traced processes share: one file, mapped at the same address
// in all of them. Code, then what concerns everybody, then a slot for each task. The slots are
// memory of the program too: the tracer checks all that it reads there.
#ifndef ORDEAL_OBSERVE_INSIDE_LAYOUT_H
#define ORDEAL_OBSERVE_INSIDE_LAYOUT_H

// The address is the program's own to all sanitizers, and mmap() comes there only after hundreds of
// gigabytes. The filter compares its upper half.
#define INSIDE_BASE      0x7ea000000000
#define INSIDE_CODE_SIZE 0x10000
#define INSIDE_SLOT_AT   0x20000 // the first slot
#define INSIDE_SLOT_SIZE 0x20000
#define INSIDE_SLOT_BITS 17
#define INSIDE_SLOTS     256 // a task has the slot of the last byte of its number, or none
#define INSIDE_SIZE      (INSIDE_SLOT_AT + INSIDE_SLOTS * INSIDE_SLOT_SIZE)

// Offsets in a slot, for assembly.
#define INSIDE_TID     0
#define INSIDE_PHASE   4
#define INSIDE_RDI     8
#define INSIDE_RSI     16
#define INSIDE_RDX     24
#define INSIDE_R10     32
#define INSIDE_R8      40
#define INSIDE_R9      48
#define INSIDE_RBX     56
#define INSIDE_RBP     64
#define INSIDE_R12     72
#define INSIDE_R13     80
#define INSIDE_R14     88
#define INSIDE_R15     96
#define INSIDE_RSP     104
#define INSIDE_NEAR    112
#define INSIDE_RESULT  120
#define INSIDE_STACK   0x4000 // ends here
#define INSIDE_RECORDS 0x4000 // begin here

// A stub near each call that has been replaced; offsets in it. Kind A: `mov $n, %eax` before the
// call has become a jump to the stub; the call itself is still there. Kind B: the call behind `xor
// %eax, %eax`, and the comparison of its result with -4095 or -4096, have.
#define INSIDE_STUB        64
#define INSIDE_STUB_BACK   11  // where the code inside returns to
#define INSIDE_STUB_DONE   19  // goes on behind the call
#define INSIDE_STUB_UNDONE 32  // makes the call after all
#define INSIDE_STUB_CALL   40  // the same, with the program's own stack
#define INSIDE_STUB_ENTRY  48  // where the code inside begins
#define INSIDE_STUB_NUMBER 56  // of the system call
#define INSIDE_STUB_SKIP   128 // bytes of stack that belong to the program

#define INSIDE_FILES 64

#ifndef __ASSEMBLER__
#include <stdint.h>

enum inside_phase {
    INSIDE_OUT,
    INSIDE_BEFORE, // of the call
    INSIDE_BEHIND, // it has been made, and may not be recorded yet
};

// What a descriptor was open on when the tracer looked.
struct inside_file {
    uint64_t device, inode;
    uint32_t links, generation;
    uint32_t number; // the descriptor + 1
    uint32_t text;   // the tracer has its text by this number, or one of the two below
    uint32_t reads;  // whether reading is invisible
    uint32_t unused;
};

#define INSIDE_INVISIBLE 0u          // writing is
#define INSIDE_STOPS     0xffffffffu // whoever writes

struct inside_slot {
    uint32_t tid;                                                           // 0: nobody's
    uint32_t phase;                                                         // enum inside_phase
    uint64_t rdi, rsi, rdx, r10, r8, r9, rbx, rbp, r12, r13, r14, r15, rsp; // of the program
    uint64_t near; // where the stub goes on
    uint64_t result;
    uint32_t used; // bytes of records that are complete
    uint32_t used_before;
    uint32_t text; // of the call, which is visible
    uint32_t shown_pid, shown_tid;
    uint32_t unused;
    uint64_t now_ns; // as in struct virtual_task
    struct inside_file files[INSIDE_FILES];
};

struct inside_shared {
    uint32_t generation; // of names of files: incremented before and after one changes
};

// A visible call, and the bytes that it has written behind it. Aligned to 8 bytes.
struct inside_record {
    uint32_t size; // of both
    uint32_t number, text, data;
    uint64_t arguments[4];
    int64_t result;
};
#define INSIDE_RECORD_ROOM (INSIDE_SLOT_SIZE - INSIDE_RECORDS)

// The section with the code, and places in it.
extern const char __start_ordeal_inside[], __stop_ordeal_inside[];
extern const char inside_entry[], inside_made[], inside_kept[], inside_return_done[],
    inside_return_undone[], inside_started[];
#endif

#endif
