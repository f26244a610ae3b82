// SPDX-License-Identifier: GPL-3.0-or-later
// The state of a traced program at one event of its trace: which areas of memory there are, whose
// they are, what they are called in every run, and which calls of the library are open.
#ifndef ORDEAL_INTERFACE_WORLD_H
#define ORDEAL_INTERFACE_WORLD_H

#include "base/arena.h"
#include "base/map.h"
#include "interface/event.h"
#include "interface/intervals.h"

#define WORLD_THREADS   512 // more than Valgrind has
#define WORLD_LIBRARIES 8   // whose paths are known

enum area_kind {
    AREA_HEAP,
    AREA_MAPPED,
    AREA_MODULE, // the data of a module, as far as no variable is known there
    AREA_OBJECT, // a variable of the library
};
enum area_owner {
    OWNER_LIBRARY, // the library or a helper that it called
    OWNER_PROGRAM,
    OWNER_OTHER, // the dynamic linker, helpers' own data
};

struct area {
    uint64_t start;
    uint64_t identity;    // the same in every run of the program
    uint64_t call;        // the outermost open call of the library that allocated it, or 0
    uint64_t suspends;    // how often the library had called the program before
    uint32_t place;       // where it was allocated, in `places`; 0: not known
    uint32_t ordinal;     // the how manieth of this call stack
    uint32_t replaced_by; // by realloc(): an area, or 0
    uint8_t kind, owner;
    bool temporary;   // freed by the call that allocated it
    const char *name; // of modules and variables, or NULL
};

struct place {
    const char *function, *file; // "" if not known
    unsigned line;               // 0: not known, then `file` is a module and an offset
    uint64_t identity;
};

struct function {
    const char *name;
    enum interface_result result;
    unsigned bytes;      // of the result
    unsigned parameters; // registers with parameters, at most INTERFACE_ARGUMENTS
    uint64_t calls;      // so far
};

// An open call of the library, or of the program by the library.
struct frame {
    bool callback;
    bool by_loader; // called by the dynamic linker, which is nobody's user
    uint64_t call;  // number of the library's call, from 1
    uint64_t sp, return_address;
    uint64_t arguments[INTERFACE_ARGUMENTS];
    uint64_t ordinal; // which call of its function this is, from 1
    uint32_t function;
};
struct world_thread {
    ARRAY(struct frame) frames;
    uint64_t stack_end; // of its stack; known while a call is open
};

struct call_stack {
    uint64_t identity;
    uint32_t place;
    bool by_loader; // the innermost frame is no code of program, library or helper
};

// Starts zeroed.
struct world {
    struct arena texts;
    ARRAY(struct area) areas; // by number, from 1
    struct intervals live;    // also freed blocks, as long as their memory is not used again
    ARRAY(struct place) places;
    struct map place_of; // code: index
    ARRAY(struct function) functions;
    struct map function_of; // code: index
    ARRAY(struct call_stack) stacks;
    struct map stack_of;  // number: index
    struct map allocated; // identity of a call stack: its index in `counts`
    ARRAY(uint32_t) counts;
    struct world_thread threads[WORLD_THREADS];
    uint32_t thread;                        // whose events these are
    uint64_t calls, suspends;               // so far
    uint32_t module;                        // area of the last INTERFACE_MODULE
    const char *libraries[WORLD_LIBRARIES]; // paths of the targets' files, in the order of loading
    unsigned library_count;
    bool ended;
    uint64_t exit_status;
    struct frame left;      // the last one that ended
    uint64_t left_stack[2]; // as world_stack() then
};
void world_deinit(struct world *world);

// Brings the state behind an event. Calls are popped by world_leave() only, so that the caller can
// look at the one that ends.
_must_check_ struct error *world_update(struct world *world, const struct event *event);
void world_leave(struct world *world); // after INTERFACE_RETURN, _ABANDON, _RESUME

// The innermost open call of the thread, or NULL: it is in the program.
const struct frame *world_frame(const struct world *world);
// The outermost one, or NULL.
const struct frame *world_outermost(const struct world *world);

// Where the stack of the thread is compared: from [0], the outermost call's frame, to [1]. Zeroed
// if no call is open.
void world_stack(const struct world *world, uint64_t ret_stack[2]);

// What an address means.
struct meaning {
    enum meaning_kind {
        MEANING_NONE,  // an address of nothing
        MEANING_STACK, // of the thread
        MEANING_AREA,
    } kind;
    uint32_t area;
    int64_t offset; // in the area; for the stack, from the frame of the outermost call
};
struct meaning world_meaning(struct world *world, uint64_t address);
// Likewise for a stack that world_stack() has told.
struct meaning world_meaning_at(const struct world *world, const uint64_t stack[2],
                                uint64_t address);
// The same in every run.
uint64_t world_meaning_hash(const struct world *world, struct meaning meaning);
// Appends "HEAP-buf.c:158+20".
_must_check_ struct error *world_describe(const struct world *world, struct meaning meaning,
                                          struct buffer *text);
const struct place *world_place(const struct world *world, uint64_t code);       // never NULL
const struct function *world_function(const struct world *world, uint64_t code); // or NULL

#endif
