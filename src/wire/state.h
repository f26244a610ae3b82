// SPDX-License-Identifier: GPL-3.0-or-later
// The state file: a fault in a register or in memory for ordeal-tracer, and what came of it. The
// controller writes the plan before the command starts. The tracer maps the file and writes the
// result. Targets do not know of it. Addresses are link-time addresses of the program, or of the
// library that the fault is in, unless something else is said.
#ifndef ORDEAL_WIRE_STATE_H
#define ORDEAL_WIRE_STATE_H

#include <stdint.h>

#define WIRE_STATE_MAGIC   0x5453524fu // "ORST"
#define WIRE_STATE_VERSION 6
#define WIRE_STATE_BYTES   64 // of the largest register
#define WIRE_STATE_STUB    256
#define WIRE_STATE_FIXUPS  24
#define WIRE_STATE_USES    2
#define WIRE_STATE_PATH    256
#define WIRE_STATE_CODE    16 // bytes that contain the longest instruction

enum wire_state_class { // of registers
    WIRE_STATE_GENERAL, // by DWARF number
    WIRE_STATE_PC,
    WIRE_STATE_FLAGS,
    WIRE_STATE_VECTOR, // xmm, ymm or zmm, by size
    WIRE_STATE_MASK,   // k0 to k7
    WIRE_STATE_X87,    // st0 is the top of the stack
    WIRE_STATE_MXCSR,
};

enum wire_state_base { // of a place in memory
    WIRE_STATE_ABSOLUTE,
    WIRE_STATE_MODULE,   // offset is a link-time address
    WIRE_STATE_REGISTER, // the content of general registers when the fault is injected
};

// A displacement within the stub. It leads to `target`, counted from the end of its instruction.
struct wire_state_fixup {
    uint32_t at, end; // offsets in the stub
    uint64_t target;
};

// Code that counts executions of the stop address. Instead of the instructions in [start, end) the
// program executes their copies in the stub, which decrements a counter before the copy of the
// stop address. At 0 it executes the breakpoint at `trap`.
struct wire_state_counter {
    uint32_t size;                  // 0: there is none, and every execution traps
    uint32_t trap;                  // offset of the breakpoint
    uint32_t use_count;             // displacements that lead to the counter: their offsets, and
    uint32_t uses[WIRE_STATE_USES]; // where their instructions end
    uint32_t use_ends[WIRE_STATE_USES];
    uint64_t start, end;
    uint32_t fixup_count, reserved;
    struct wire_state_fixup fixups[WIRE_STATE_FIXUPS];
    unsigned char code[WIRE_STATE_STUB];
};

enum wire_state_read { // whether the instruction at the stop address reads what is faulty
    WIRE_STATE_READ_NEVER,
    WIRE_STATE_READ_ALWAYS,
};

struct wire_state_fault {
    uint32_t memory; // 1: in memory, 0: in a register
    uint32_t permanent;
    uint64_t stop;
    uint64_t count; // which execution of the stop address; if permanent, the first one
    // Instead of all that: when a process has used so much processor time since it began to execute
    // the program; 0: at the stop address.
    uint64_t moment_ns;
    uint32_t register_class, register_number;
    uint32_t base, base_register;
    uint32_t index_register, scale; // of WIRE_STATE_REGISTER; scale 0: no index
    int64_t offset;                 // of memory
    uint32_t size;                  // bytes of the register, or of memory
    uint32_t read;                  // enum wire_state_read
    uint32_t system_call;           // 1: the instruction at the stop address is a system call
    uint32_t repeats;               // 1: it is a string instruction that a single step does not end
    uint32_t thread; // whose executions count, by creation in its process from 1; 0: all
    uint32_t reserved;
    uint64_t instruction; // that the faulty memory is a part of, or 0
    // new = (old & keep) ^ change
    unsigned char keep[WIRE_STATE_BYTES], change[WIRE_STATE_BYTES];
    // The first one is for a process with one thread. The other one, in its place, counts also
    // where several threads do at the same time, and takes longer.
    struct wire_state_counter counter, shared_counter;
};

enum wire_state_activation {
    WIRE_STATE_NOT_ACTIVATED, // neither read nor overwritten until the end
    WIRE_STATE_ACTIVATED,     // read
    WIRE_STATE_OVERWRITTEN,   // before it was read
    WIRE_STATE_UNKNOWN,       // it could not be watched
};

enum wire_state_problem { // why nothing was injected at the stop address
    WIRE_STATE_OK,
    WIRE_STATE_NO_REGISTER, // the processor does not have it, or it is not in use
    WIRE_STATE_NO_MEMORY,   // nothing is mapped there
    WIRE_STATE_NO_STUB,     // no room for the stub near the program, or system calls are filtered
    WIRE_STATE_SAME,        // the value is what it was before
};

struct wire_state_result {
    uint32_t programs;   // processes that started the program, or mapped the library
    uint32_t problem;    // enum wire_state_problem
    uint64_t executions; // of the stop address that are known
    uint64_t injected;   // how often
    uint64_t traps;      // at the stop address
    // Of the first injection, CLOCK_MONOTONIC; 0: not yet.
    uint64_t injected_ns, activated_ns, crashed_ns;
    uint32_t activation; // enum wire_state_activation
    uint32_t pid, tid;
    uint32_t by_kernel; // 1: a system call has read or overwritten it
    uint64_t address;   // of the faulty memory, as the process knows it
    uint64_t access;    // link-time address after the instruction that read or overwrote it
    // Of a fault at a moment: the processor time used, and before which instruction it was: a
    // link-time address of the program, or of the library `module`, as the process knows it; or an
    // address that belongs to no file.
    uint64_t used_ns, place;
    uint64_t place_in_program; // 1: of the program
    char module[WIRE_STATE_PATH];
    unsigned char before[WIRE_STATE_BYTES], after[WIRE_STATE_BYTES];
    char task[64]; // ancestry of the thread
    char program[16];
    // The first fatal signal after the injection.
    uint32_t crash_signal, crash_in_program; // 1: crash_place is a link-time address
    uint64_t crash_place, crash_address;
    uint64_t traced; // numbers in the trace
    uint32_t trace;  // enum wire_state_trace
    uint32_t reserved;
    uint64_t steps; // that are in the file; the controller reduces them to those up to the
                    // instruction that read or overwrote what is faulty
};

// A trace of the program's own code, by single-stepping: after the blocks, one number for each
// instruction, which is its link-time address, or WIRE_STATE_AWAY where control left the code.
// Blocks are then the places where control may come back: the starts of functions.
#define WIRE_STATE_AWAY UINT32_MAX

enum wire_state_trace {
    WIRE_STATE_TRACED,
    WIRE_STATE_TRACE_FULL,   // no room for more
    WIRE_STATE_TRACE_TASKS,  // a second process or thread executes the program
    WIRE_STATE_TRACE_FAILED, // the kernel refuses something
};

// Instructions that the thread executes after a fault in a register at a moment, by
// single-stepping. What they read and overwrite says what became of the fault. System calls and
// signal handlers are not stepped through. Of a repeated instruction there is one step.
struct wire_state_step {
    uint64_t address; // as the process knows it
    uint64_t time_ns; // CLOCK_MONOTONIC, before it
    uint64_t call;    // rax before it: the number of a system call
    unsigned char code[WIRE_STATE_CODE];
};

struct wire_state_block { // executed for the first time: one breakpoint each
    uint64_t address;
    uint32_t reached, reserved;
};

struct wire_state {
    uint32_t magic, version;
    uint64_t size;
    uint64_t fingerprint; // wire_fingerprint() of the program headers
    uint64_t headers;     // link-time address of the program headers
    uint64_t end;         // of the last segment
    uint64_t code_shift;  // address minus file offset in the segment of the stop address or blocks
    uint32_t header_bytes;
    uint32_t library; // 1: a library, which is recognised when it is mapped
    uint32_t has_fault;
    uint32_t block_count;
    uint64_t trace_at, trace_room; // where the trace is in the file, and for how many numbers
    uint64_t steps_at, step_room;  // and steps
    uint64_t code_start, code_end; // of the code that is traced
    struct wire_state_fault fault;
    struct wire_state_result result;
    struct wire_state_block blocks[]; // by address
};

#endif
