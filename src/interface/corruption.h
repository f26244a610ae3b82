// SPDX-License-Identifier: GPL-3.0-or-later
// Corruption profiles: what a fault in a library does to its user in the first call that differs,
// in a form that does not depend on addresses. As text they are stored, shared, and injected:
//
//     call FUNCTION NUMBER                 the NUMBER-th call of the function; "unfinished" may
//     follow result BYTES OLD NEW CLASS CLASS     of a wrong return value; numbers are hexadecimal
//     memory CHANGE PATH BYTES OLD NEW CLASS CLASS AREA
//     more BYTES                           of memory that is not listed
//     bytes AREA START BYTES               corrupted memory; AREA is the same number in every run
//
// A PATH leads from a parameter to memory when the call ends: "arg1+20" is 20 bytes behind where
// the first one points to, "arg1+8>+0" where the pointer at arg1+8 points to, "result+0" where the
// return value does. "-": no pointer that is known leads there.
#ifndef ORDEAL_INTERFACE_CORRUPTION_H
#define ORDEAL_INTERFACE_CORRUPTION_H

#include "interface/compare.h"

enum {
    CORRUPTION_RESULT = INTERFACE_ARGUMENTS, // as a root
    CORRUPTION_NOWHERE,
    CORRUPTION_STEPS = 4,   // offsets of a path
    CORRUPTION_MEMORY = 64, // entries
};
struct corruption_path {
    unsigned root; // of an argument, from 0; or CORRUPTION_RESULT, CORRUPTION_NOWHERE
    unsigned steps;
    int64_t offsets[CORRUPTION_STEPS]; // all but the last lead to a pointer
};
struct corruption_memory {
    enum interface_change change;
    struct corruption_path path;
    uint32_t size;
    uint64_t old, new; // the first eight bytes; 0 where there is no store
    enum value_class old_class, new_class;
    char *area;
};
struct corruption {
    char *function;
    uint64_t number; // of the call, among those of the function, from 1
    bool unfinished;
    unsigned result_bytes; // 0: the result is right
    uint64_t old_result, new_result;
    enum value_class old_class, new_class;
    ARRAY(struct corruption_memory) memory;
    uint64_t more; // bytes
    ARRAY(struct interface_range) bytes;
};
void corruption_deinit(struct corruption *corruption);

// Of a comparison with INTERFACE_DIFFERS.
_must_check_ struct error *corruption_make(const struct interface_comparison *comparison,
                                           struct corruption *ret_corruption);
_must_check_ struct error *corruption_write(const struct corruption *corruption,
                                            struct buffer *text);
_must_check_ struct error *corruption_path_write(const struct corruption_path *path,
                                                 struct buffer *text);
// Reads one profile: the text ends there. `name` and `line` are for errors; text is foreign.
_must_check_ struct error *corruption_read(const char *name, unsigned line, const char *text,
                                           size_t size, struct corruption *ret_corruption);

extern const char *const corruption_change_words[CHANGE_COUNT];
extern const char *const corruption_class_words[CLASS_COUNT];
extern const char *const interface_outcome_words[]; // same, differs, diverged

#endif
