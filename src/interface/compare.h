// SPDX-License-Identifier: GPL-3.0-or-later
// How the library's behaviour in a run with a fault differs from one without.
#ifndef ORDEAL_INTERFACE_COMPARE_H
#define ORDEAL_INTERFACE_COMPARE_H

#include "interface/items.h"

enum interface_change {
    CHANGE_WRONG_VALUE, // the same instruction wrote another value to the same area
    CHANGE_OMITTED_STORE,
    CHANGE_SPURIOUS_STORE,
    CHANGE_WRONG_RESULT,
    CHANGE_OMITTED_FREE, // of memory of the program
    CHANGE_SPURIOUS_FREE,
    CHANGE_COUNT,
};
struct interface_difference {
    enum interface_change change;
    struct item good, bad; // of the run without and with the fault; zeroed if there is none
};

// Memory, the same in every run.
struct interface_range {
    uint64_t area; // identity
    int64_t start;
    uint64_t size;
};

enum interface_outcome {
    INTERFACE_SAME,
    INTERFACE_DIFFERS,  // in the call `call`
    INTERFACE_DIVERGED, // the program called the library otherwise, without a difference before
};
struct interface_comparison {
    enum interface_outcome outcome;
    uint64_t call; // its number, from 1
    char *function;
    ARRAY(struct interface_difference) differences; // in the order of the call
    uint64_t bytes[CHANGE_COUNT];                   // of the stores
    uint64_t corrupted_bytes;                       // of memory: each counted once
    ARRAY(struct interface_range) ranges;           // these bytes
    struct frame frame;                             // of the call, in the run without fault
    uint64_t stack[2];                              // as world_stack() in that call
    bool has_result;                                // the function returned this, likewise
    uint64_t result;
    bool exact;      // the differences are as few as they can be
    bool cut;        // the call made more stores than are compared
    bool unfinished; // with the fault, the call did not end
    bool left;       // or it was left by longjmp() or an exception
    // What the differences are about; open until the comparison is released.
    struct items *good, *bad;
};
// The two programs must have been run with the same input. `function` is of the run without fault.
_must_check_ struct error *interface_compare(const struct trace_source *good, uint32_t good_program,
                                             const struct trace_source *bad, uint32_t bad_program,
                                             struct interface_comparison *ret_comparison);
void interface_comparison_deinit(struct interface_comparison *comparison);

// Values as table 4.3 has them, and pointers by where they point to.
enum value_class {
    CLASS_ZERO,
    CLASS_MINUS_ONE,
    CLASS_NULL,
    CLASS_SMALL,         // below 4096 either way
    CLASS_POINTER_SAME,  // into the area that the right value points to
    CLASS_POINTER_OTHER, // into another one
    CLASS_TEXT,          // printable characters
    CLASS_OTHER,
    CLASS_COUNT,
};
// Of the result or the stored value of the run with or without the fault.
enum value_class interface_value_class(const struct interface_comparison *comparison,
                                       const struct interface_difference *difference, bool bad);

#endif
