// SPDX-License-Identifier: GPL-3.0-or-later
// The plan: what the controller decided, flat and position independent, read by the runtime inside
// the target. Offsets count bytes from the start of struct wire_plan. This header is the contract
// with the runtime: it includes nothing of the project, and every change of the layout raises
// WIRE_VERSION.
#ifndef ORDEAL_WIRE_PLAN_H
#define ORDEAL_WIRE_PLAN_H

#include <stdint.h>

#define WIRE_PLAN_MAGIC   0x4c50524fu // "ORPL"
#define WIRE_VERSION      20u
#define WIRE_NONE         0xffffffffu
#define WIRE_SYSTEM_CALLS "syscall"    // the library of a pattern that names system calls
#define WIRE_GO_CALLS     "go-runtime" // likewise: those that Go's runtime makes for itself
#define WIRE_STACK_DEPTH  32           // values an expression may hold at once; the compiler checks
#define WIRE_AFTER_MAX    32           // after() instances in one plan
#define WIRE_OUT_MAX      32           // output parameters of one rule
#define WIRE_OUT_STEPS    3            // pointers that lead to one, after the first
#define WIRE_ARGUMENTS    6            // integer arguments in registers

// An array inside the plan.
struct wire_span {
    uint32_t offset; // bytes from the start of the plan
    uint32_t count;  // elements
};

struct wire_plan {
    uint32_t magic, version;
    uint64_t size; // of the whole plan, bytes
    uint64_t seed;
    uint32_t query_count;    // locations the controller resolves per module, see region.h
    uint32_t variable_count; // likewise for program variables
    uint32_t uses;           // enum wire_use bits, over all rules
    uint32_t reserved;
    struct wire_span patterns; // struct wire_pattern
    struct wire_span
        exact_hash;         // uint32_t: open addressing by wire_hash(name), pattern + 1, 0 = free;
                            // a power of two of them; one entry per pattern without WIRE_GLOB
    struct wire_span globs; // uint32_t: the patterns with WIRE_GLOB
    struct wire_span rule_refs;   // uint32_t: rules by pattern, ascending within one
    struct wire_span rules;       // struct wire_rule, in the user's order
    struct wire_span code;        // struct wire_instruction
    struct wire_span stacks;      // struct wire_stack
    struct wire_span stack_items; // uint32_t: query number or WIRE_STACK_GAP
    struct wire_span outs;        // struct wire_out
    struct wire_span plugins;     // struct wire_plugin
    struct wire_span parameters;  // struct wire_parameter
    struct wire_span afters;      // struct wire_after
    struct wire_span stackless;   // uint64_t: wire_place() of calls whose stacks are not told apart
                                  // when they are recorded; open addressing, 0 = free; none, or a
                                  // power of two of them
    struct wire_span strings;     // bytes, NUL-terminated strings; offset 0 of it is ""
};

enum wire_use {
    WIRE_USE_MUTEX = 1 << 0,     // some rule asks holding_mutex
    WIRE_USE_NEW_STACK = 1 << 1, // some rule asks new_stack
    WIRE_USE_REMOTE = 1 << 2,
    WIRE_USE_SANITIZERS = 1 << 3, // rules apply to the sanitizers of traits.h, too
    WIRE_USE_VARIANTS = 1 << 4,   // some pattern has WIRE_VARIANTS
    WIRE_USE_STREAMS = 1 << 5,    // some pattern names a function with a FILE
};

enum wire_pattern_flag {
    WIRE_GLOB = 1 << 0,     // name holds * ? or [
    WIRE_VARIANTS = 1 << 1, // also the names of names.h that have this plain name
    WIRE_OUTSIDE = 1 << 2,  // only calls that leave the caller's module, and not to the C library
};

// What the user named: functions to intercept. Strings are offsets into `strings`.
struct wire_pattern {
    uint32_t name;
    uint32_t library; // glob over the defining library's file name or its stem ("libc" or
                      // "libc.so.6"); 0 = any
    uint32_t flags;
    struct wire_span rule_refs; // offset here is an index into plan.rule_refs
    uint32_t arguments;         // how many arguments are known to matter (0..6), for the journal
    uint32_t string_arguments;  // bit i: argument i+1 is a C string, captured in the journal
    uint32_t reserved;
};

enum wire_action {
    WIRE_RETURN = 1 << 0, // return value, and do not call the original
    WIRE_ERRNO = 1 << 1,  // set errno (without WIRE_RETURN: before calling through)
    WIRE_DELAY = 1 << 2,  // sleep delay_ns first
    WIRE_SIGNAL = 1 << 3, // raise a signal in the calling thread first
    WIRE_SHORT = 1 << 4,  // call through with argument short_argument reduced
    WIRE_OUT = 1 << 5,    // store output parameters
    // With WIRE_RETURN. Functions that release their argument even when they fail (traits.h) are
    // called without WIRE_PERFORMED, too. A record has PERFORMED set if the original was called.
    WIRE_PERFORMED = 1 << 6, // call the original, then return `value` instead of its result
    WIRE_SKIPPED = 1 << 7,   // do not call it, whatever its traits are
    // In records only: what was done to the FILE.
    WIRE_STREAM_ERROR = 1 << 8, // its error indicator was set
    WIRE_STREAM_END = 1 << 9,   // its end-of-file indicator was set
    // Call the original and return what it returns. What comes back is recorded
    // (WIRE_RECORD_RESULT); calls that the thread makes meanwhile are inside (WIRE_OP_INSIDE).
    WIRE_OBSERVE = 1 << 10,
    // The delay and the output parameters come when the original has returned.
    WIRE_AFTER = 1 << 11,
};

enum wire_value {
    WIRE_VALUE_INTEGER,     // rax
    WIRE_VALUE_FLOAT,       // xmm0, 32 bits
    WIRE_VALUE_DOUBLE,      // xmm0, 64 bits
    WIRE_VALUE_LONG_DOUBLE, // st(0), 80 bits in value[0] and value[1]
};

struct wire_rule {
    uint32_t text;      // string: the whole rule as the user wrote it
    uint32_t condition; // string: the part after `when`, or ""
    uint32_t actions;   // enum wire_action bits; 0: only watch, never inject
    uint32_t value_kind;
    uint64_t value[2];
    int32_t error;
    int32_t signal;
    uint64_t delay_ns;
    uint64_t short_limit;    // at most this many bytes or items; 0 = half of what was asked
    uint32_t short_argument; // 0-based register argument
    // For rules that only watch, when calls are recorded with their stacks.
    uint16_t descriptor; // 1-based register argument, a descriptor whose kind is recorded; 0: none
    uint16_t stackless;  // 1: some of its calls are from places in plan.stackless
    struct wire_span outs; // offset is an index into plan.outs
    struct wire_span code; // offset is an index into plan.code; count 0 = always true; behind
                           // the code of the rules before, or the same as the one before has

    // Gates: cheap tests that must hold for the condition to be true, so that most calls need no
    // evaluation. The compiler may leave a gate open (site = WIRE_NONE, count 1..UINT64_MAX step
    // 1). It may leave out of the code what a gate has proven: a rule holds where its gates and its
    // code do.
    uint32_t site;       // query the immediate caller must match
    uint32_t once;       // the condition has `once`: the rule fires at most once in a trial
    uint32_t new_stack;  // the condition has `new_stack`: firing remembers the stack
    uint32_t site_exact; // 1: `site` names single call sites (module+offset), never ranges
    uint64_t count_first, count_last, count_step; // occurrence numbers, 1-based
    uint32_t class_text; // string: the rule about a class (%file) that this one is part of; 0: none
    uint32_t reserved;
};

#define WIRE_OUT_RESULT WIRE_ARGUMENTS // as an argument: the function's result

enum wire_out_kind {
    WIRE_OUT_SET,
    WIRE_OUT_XOR,  // what is there, with the value
    WIRE_OUT_KEPT, // what was there before the call; if nothing was, zeros
    WIRE_OUT_KINDS,
};

struct wire_out {
    uint32_t argument; // 0-based register argument that holds the pointer, or WIRE_OUT_RESULT
    uint32_t width;    // 1, 2, 4 or 8 bytes
    uint64_t value;
    uint64_t offset;                 // added to the last pointer
    uint32_t kind;                   // enum wire_out_kind
    uint32_t steps;                  // of the offsets below
    uint64_t before[WIRE_OUT_STEPS]; // added to the pointers before it
};

#define WIRE_STACK_GAP   0xfffffffeu
#define WIRE_STACK_ITEMS 63 // frames and gaps of one stack

// A sequence of frames, innermost first. Adjacent items are adjacent frames unless a gap stands
// between them.
struct wire_stack {
    struct wire_span items; // offset is an index into plan.stack_items
    uint32_t anchored;      // 1: the first item is the immediate caller; 0: anywhere on the stack
    uint32_t reserved;
};

// after(function): calls of a pattern that one rule counts from.
struct wire_after {
    uint32_t pattern; // the function whose call starts the window
    uint32_t rule;    // the rule that asks
};

struct wire_plugin {
    uint32_t name;               // looked up as symbol ordeal_trigger_NAME
    uint32_t file;               // file name of the shared object
    struct wire_span parameters; // offset is an index into plan.parameters
};

struct wire_parameter {
    uint32_t name, value;
};

// Expression code: a stack machine over int64_t. A condition is true if the one value left is not
// 0.
struct wire_instruction {
    uint16_t op; // enum wire_op
    uint16_t a;
    uint32_t b;
    uint64_t c;
};

enum wire_argument_type { // field b of WIRE_OP_ARGUMENT
    WIRE_ARG_I64,
    WIRE_ARG_I32,
    WIRE_ARG_U32,
    WIRE_ARG_I16,
    WIRE_ARG_U16,
    WIRE_ARG_I8,
    WIRE_ARG_U8,
    WIRE_ARG_U64, // same bits as I64; kept apart for printing
};

enum wire_match { // field a of the string operations
    WIRE_MATCH_EQUAL,
    WIRE_MATCH_GLOB,
};

enum wire_fd_test {
    WIRE_FD_PIPE,
    WIRE_FD_SOCKET,
    WIRE_FD_FILE,
    WIRE_FD_DIRECTORY,
    WIRE_FD_TTY,
    WIRE_FD_NONBLOCKING,
    WIRE_FD_CONNECTION, // a socket of connections, not of datagrams
};

enum wire_op {
    WIRE_OP_CONSTANT,      // push c
    WIRE_OP_COUNT,         // push the occurrence number of this call of the function (per process)
    WIRE_OP_ONCE,          // push 1 if the rule has not fired yet in this trial
    WIRE_OP_RANDOM,        // push 1 with probability c / 2^64 (c = ~0: always)
    WIRE_OP_STACK,         // push 1 if plan.stacks[b] matches
    WIRE_OP_NEW_STACK,     // push 1 if this call stack is not in the region's set
    WIRE_OP_ARGUMENT,      // push argument a (0-based; 6 and up are stack words), read as b
    WIRE_OP_ARGUMENT_TEXT, // pop a pointer, push 1 if the C string there matches string b by a
    WIRE_OP_FD,            // pop a descriptor, push 1 if test a (enum wire_fd_test) holds
    WIRE_OP_FD_PATH,  // pop a descriptor, push 1 if the path it is open on matches string b by a
    WIRE_OP_PATH,     // pop a pointer to a path, push 1 if it, or it made absolute, matches
    WIRE_OP_VARIABLE, // push variable b; a variable that cannot be read makes the rule false
    WIRE_OP_HOLDING_MUTEX, // push how many mutexes the thread holds
    WIRE_OP_AFTER, // push 1 if this is among the first c calls (0 = any) since plan.afters[b]
    WIRE_OP_THREAD_NUMBER,  // push the thread's number in its process, 1 = main
    WIRE_OP_THREAD_NAME,    // push 1 if the thread's name matches string b by a
    WIRE_OP_PROCESS_NUMBER, // push the process's number in the trial, 1 = the command
    WIRE_OP_PROCESS_NAME,   // push 1 if the program's file name matches string b by a
    WIRE_OP_ANCESTRY,       // push the process's ancestry, see WIRE_ANCESTRY_CHILD(); 0: not known
    WIRE_OP_TIME,           // push nanoseconds since the trial began
    WIRE_OP_REMOTE,         // ask the coordinator: string b is the name; push its answer
    WIRE_OP_PLUGIN,         // push the answer of plan.plugins[b]
    WIRE_OP_NOT,            // logical
    WIRE_OP_NEGATE,
    WIRE_OP_COMPLEMENT,
    WIRE_OP_ADD,
    WIRE_OP_SUBTRACT,
    WIRE_OP_MULTIPLY,
    WIRE_OP_DIVIDE,    // by zero: the rule is false
    WIRE_OP_REMAINDER, // by zero: the rule is false
    WIRE_OP_AND,       // bitwise
    WIRE_OP_OR,
    WIRE_OP_XOR,
    WIRE_OP_SHIFT_LEFT,
    WIRE_OP_SHIFT_RIGHT, // arithmetic
    WIRE_OP_EQUAL,
    WIRE_OP_NOT_EQUAL,
    WIRE_OP_LESS,
    WIRE_OP_LESS_EQUAL,
    WIRE_OP_GREATER,
    WIRE_OP_GREATER_EQUAL,
    WIRE_OP_BOOLEAN,       // replace the top by 0 or 1
    WIRE_OP_JUMP_IF_FALSE, // b: code index (absolute in plan.code) after the current one; if the
                           // top is 0 jump and keep it, else pop it
    WIRE_OP_JUMP_IF_TRUE,  // likewise for not 0
    WIRE_OP_MATCH,  // push how often this rule's evaluation has come to this instruction in this
                    // process, this time included
    WIRE_OP_INSIDE, // push 1 if the thread is in a call that a rule observes
    WIRE_OP_STREAM, // pop a pointer to a FILE, push its descriptor, or -1
    WIRE_OP_COUNT_OF_OPS
};

// A hash of a place that calls of a function return to; never 0. `function` is wire_hash() of its
// name, `module` wire_fingerprint() of its path. The function is part of it: after a tail call,
// calls of several functions return to one place.
static inline uint64_t wire_place(uint32_t function, uint64_t module, uint64_t offset)
{
    uint64_t place = (module ^ offset ^ (uint64_t)function << 32) * 0x9e3779b97f4a7c15ull;
    return (place ^ place >> 32) | 1;
}

// FNV-1a, 32 bits: hash of function names in plan.exact_hash.
static inline uint32_t wire_hash(const char *text)
{
    uint32_t hash = 2166136261u;
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash;
}

#endif
