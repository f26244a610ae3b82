// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers that C and assembly share. Macros only, since the assembler reads this file, too. Counts
// and sizes are defined here and used by both. ASM_ numbers repeat what the compiler decides about
// a struct or an enum: assembly.c and record.c do not compile where one of them is wrong.
#ifndef ORDEAL_RUNTIME_ASSEMBLY_ASSEMBLY_H
#define ORDEAL_RUNTIME_ASSEMBLY_ASSEMBLY_H

// The pool of stubs: one for each struct stub_slot.
#define RUNTIME_SLOTS     16384
#define RUNTIME_STUB_SIZE 256

// Places in a stub: the entries of functions that get no credits, and of those that C counts; where
// calls that took a credit may go instead of on, which leads to the gate.
#define RUNTIME_STUB_COUNTED 64
#define RUNTIME_STUB_ASKED   104
#define RUNTIME_STUB_GATED   221

// Where calls enter that are only recorded by site: one for each of the first ROW_SLOTS stubs.
#define RECORD_STUB_SIZE 128

// Where calls enter that are passed by their caller: likewise.
#define CALLER_STUB_SIZE 128

// Entries that stand in for initialisers of late modules.
#define RUNTIME_LATE_INITS     256
#define RUNTIME_LATE_INIT_SIZE 16

// The filter of exact call sites: a word for each line of code, a bit in it for each byte.
#define SITE_LINE_SIZE    64
#define SITE_LINE_SHIFT   6
#define SITE_FILTER_WORDS 8192

// call_frame.slot: the slot's number; for DECIDE_PERFORM also how many words of the stack to hand
// on and the rule.
#define FRAME_SLOT_MASK   0xffff
#define FRAME_WORDS_SHIFT 16
#define FRAME_RULE_SHIFT  32

// The table of recorded calls. A key without a stack is the return address and the slot's number.
#define RECORD_SLOT_SHIFT 48
#define RECORD_MULTIPLIER 0x9e3779b97f4a7c15
#define RECORD_HASH_SHIFT 32 // the product's upper half is the hash
#define RECORD_NEIGHBOURS 4  // entries that the assembly looks at, one after the other

// Rows of calls and credits, see credits.h: the first stubs have an entry in each row. Four
// windows of the same size stand one behind the other.
#define ROW_SLOTS       512
#define ROW_SLOTS_SHIFT 9
#define ROW_COUNT       256
#define ROW_SIZE        (ROW_SLOTS * 8)
#define ROW_WINDOW      (ROW_COUNT * ROW_SIZE)
#define ASM_ROW_ENTRY   (2 * ROW_WINDOW) // from ROW_CALLS to ROW_ENTRY

// struct row_deltas
#define ASM_DELTA_COUNT 0
#define ASM_DELTA_OPEN  8

// struct thread
#define ASM_THREAD_ROW    0
#define ASM_THREAD_RECORD 8

// struct stub_slot
#define ASM_SLOT_SIZE     64
#define ASM_SLOT_SHIFT    6
#define ASM_SLOT_COUNT    0
#define ASM_SLOT_QUIET    8
#define ASM_SLOT_ORIGINAL 16
#define ASM_SLOT_GATE     24
#define ASM_SLOT_LOW      32
#define ASM_SLOT_LENGTH   40
#define ASM_SLOT_NEXT     48

// struct call_frame
#define ASM_FRAME_R15       0
#define ASM_FRAME_R14       8
#define ASM_FRAME_R13       16
#define ASM_FRAME_R12       24
#define ASM_FRAME_RBP       32
#define ASM_FRAME_RBX       40
#define ASM_FRAME_ARGUMENTS 48 // rdi rsi rdx rcx r8 r9
#define ASM_FRAME_RAX       96
#define ASM_FRAME_R10       104
#define ASM_FRAME_TARGET    112
#define ASM_FRAME_SLOT      120
#define ASM_FRAME_RETURN    128
#define ASM_FRAME_STACK     136

// enum decision
#define ASM_DECIDE_PASS        0
#define ASM_DECIDE_INTEGER     1
#define ASM_DECIDE_FLOATING    2
#define ASM_DECIDE_LONG_DOUBLE 3
#define ASM_DECIDE_COMPLEX     4
#define ASM_DECIDE_PERFORM     5
#define ASM_DECIDE_AS_IS       6

// struct record_table and struct record_entry
#define ASM_TABLE_MASK    0
#define ASM_TABLE_ENTRIES 24
#define ASM_ENTRY_SIZE    16
#define ASM_ENTRY_SHIFT   4
#define ASM_ENTRY_KEY     0
#define ASM_ENTRY_COUNT   8

#endif
