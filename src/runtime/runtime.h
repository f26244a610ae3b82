// SPDX-License-Identifier: GPL-3.0-or-later
// The runtime inside the target: its state, and what it uses of the target's libraries. Rules of
// this room:
//  - it never prints, exits, allocates from the target's heap, or throws;
//  - of the target's libraries it calls only the weak imports below, and the functions that its
//    hooks stand for;
//  - it uses general registers only, so that vector arguments need no saving;
//  - it holds no lock while foreign code runs, and nothing that a fork could leave locked;
//  - on trouble it disarms itself, says so in the journal and lets the target go on.
#ifndef ORDEAL_RUNTIME_RUNTIME_H
#define ORDEAL_RUNTIME_RUNTIME_H

#include "runtime/system.h"
#include "wire/region.h"

#include <link.h>

struct module;
struct module_set;
struct process;

struct runtime {
    // What every call needs, in one line of memory.
    struct process *process;
    uint64_t stack_top; // of the main thread
    bool valgrind;      // runs the target
    bool armed;
    bool out_of_room;      // some function got no slot or no rules
    bool filtered;         // the target filters system calls: make none that can be done without
    bool memory_is_shared; // a process or thread may use this memory that we were not told of
    const struct wire_rule *rules;
    const struct wire_instruction *code;
    uint64_t *row_counts; // of row 0, see rows.h; NULL: this program does without rows
    struct wire_region *region;
    struct wire_programs *programs;
    struct wire_calls *calls; // NULL: calls are not recorded

    const struct wire_plan *plan;
    const char *strings;
    struct wire_rule_state *rule_states;
    struct wire_pattern_state *pattern_states;
    uint64_t region_size;
    size_t process_room; // bytes behind struct process that the kernel empties with it in a child
    uint64_t lineage;    // of the process
    uint64_t ancestry;   // likewise, see ancestry.h
    uint32_t forks, threads;
    char **arguments, **environment; // of the process at start
    const struct module_set *modules;
    const struct module *self;
    struct module *program;     // the first of the loader's list
    long (*clock)(int, void *); // the vDSO's clock_gettime
    uint64_t stopped_clock;     // not 0: the time cannot be read any more, this was the last
    struct wire_cache_row *shared_rows;  // NULL: unwind rows are not shared between processes
    char invoked[64];                    // file name it was started under
    char script[16];                     // the same, or that of the script that a shell runs
    bool helps;                          // it is a shell that was given a command by -c
    char program_path[WIRE_MODULE_PATH]; // read through program_path()
} __attribute__((aligned(64)));
extern struct runtime runtime;
extern const char runtime_zero_byte;
extern const char *runtime_single_threaded; // points to a byte that is not 0 while that is so

// The only calls into the target's libraries. Weak: absent ones are NULL.
extern int *__errno_location(void) __attribute__((weak, visibility("default")));
extern void *__curbrk __attribute__((weak, visibility("default"))); // the program's break
extern char __libc_single_threaded __attribute__((weak, visibility("default")));
extern struct r_debug _r_debug __attribute__((weak, visibility("default")));
extern int dl_iterate_phdr(int (*each)(struct dl_phdr_info *, size_t, void *), void *context)
    __attribute__((weak, visibility("default")));

static inline const char *plan_string(uint32_t offset)
{
    return runtime.strings + offset;
}
static inline const void *plan_array(struct wire_span span)
{
    return (const char *)runtime.plan + span.offset;
}
static inline void *region_at(uint64_t offset)
{
    return (char *)runtime.region + offset;
}

#endif
