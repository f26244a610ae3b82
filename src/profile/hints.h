// SPDX-License-Identifier: GPL-3.0-or-later
// Hints about the type of a function's result: from how callers use it and how the function makes
// it.
#ifndef ORDEAL_PROFILE_HINTS_H
#define ORDEAL_PROFILE_HINTS_H

#include "flow/image.h"
#include "profile/summary.h"

enum hint {
    HINT_DEREFERENCED = 1 << 0,  // a caller uses the result as an address
    HINT_WIDE = 1 << 1,          // a caller looks at all 64 bits
    HINT_NARROW = 1 << 2,        // a caller looks at 32 bits or less
    HINT_USED = 1 << 3,          // a caller uses the result
    HINT_CALLED = 1 << 4,        // there is a caller
    HINT_MADE_WIDE = 1 << 5,     // 64 bits are put into the result
    HINT_MADE_NARROW = 1 << 6,   // 32 bits or less are put into it, not counting constants
    HINT_MADE_ADDRESS = 1 << 7,  // the address of something is put into it
    HINT_MADE_POINTER = 1 << 8,  // the result of a function that returns a pointer is put into it
    HINT_STOPS = 1 << 9,         // the function never returns
    HINT_MADE = 1 << 10,         // a result is surely made for the caller: no other code reads it
    HINT_LEFTOVER = 1 << 11,     // the return register is set, but perhaps for another purpose
    HINT_PASSED = 1 << 12,       // the result of a call may be what is returned
    HINT_ACTS = 1 << 13,         // the function calls, or stores outside of its frame
    HINT_IGNORED = 1 << 14,      // of a callee: all other callers in the module ignore the result
    HINT_THROUGH = 1 << 15,      // of a callee: it returns what a function behind a pointer returns
    HINT_CALLED_TWICE = 1 << 16, // there are two callers
    HINT_CALLED_OFTEN = 1 << 17, // there are more than two callers
    HINT_REPORTS = 1 << 18,      // its name says that it reports errors, and its result is not used
    HINT_ALLOCATES = 1 << 19,    // of a callee: it returns new memory, or NULL and ENOMEM
    HINT_MADE_COUNT = 1 << 21,   // a difference is put into it
    HINT_FLOAT = 1 << 20,        // a floating-point number is put into its result
    HINT_NEVER_USED = 1 << 22,   // of a callee: its name says that nobody looks at its result
    HINT_WORKS = 1 << 23,  // the function, or what it calls, stores outside of its frame, asks the
                           // system, or is not known. Others only look and compute.
    HINT_KEYED = 31 << 24, // it looks at an argument behind the first; HINT_KEY() of which
    HINT_SECOND_USED = 1 << 29, // a caller uses the register that holds the second half of a result
    HINT_SECOND_MADE = 1 << 30, // the function changes that register
};
#define HINT_KEY(argument) (1u << (23 + (argument))) // 1 to 5
#define HINT_CHANGES       (1u << 31) // it stores elsewhere than in its frame and out-parameters

// Adds hints from all calls in an image, to the functions (by owner) and imports that are called.
void hints_from_calls(const struct flow_image *image, uint32_t *functions, uint32_t *imports);

// Hints from the function itself: what it puts into its result, and whether it has one.
// `callee_hints` returns the hints of a callee.
unsigned hints_from_body(const struct flow_image *image, uint32_t function,
                         unsigned (*callee_hints)(void *data, uint32_t callee), void *data);

// HINT_KEY() of the arguments that a function looks at, and HINT_CHANGES.
unsigned hints_from_arguments(const struct flow_image *image, uint32_t function,
                              unsigned (*callee_hints)(void *data, uint32_t callee), void *data);

// Whether the call at the end of a block has the shape of an allocation, though it is not known
// what is called: a size is passed, the result is compared with NULL, and if it is not, the memory
// is filled in.
bool hints_call_allocates(const struct flow_image *image, const struct flow_block *block,
                          unsigned callee_hints);

// Whether new memory that a function gets is stored somewhere or passed to a callee. Then it need
// not be what the function returns.
bool hints_keep_memory(const struct flow_image *image, uint32_t function,
                       unsigned (*callee_hints)(void *data, uint32_t callee), void *data);

// The hints when the type of the result is known.
unsigned hints_with_declaration(unsigned hints, enum declared_result declared);

static inline bool hints_say_pointer(unsigned hints)
{
    return (hints & (HINT_DEREFERENCED | HINT_MADE_ADDRESS | HINT_MADE_POINTER)) != 0 &&
           (hints & HINT_NARROW) == 0;
}
// Some hint says 64 bits, and none says less.
static inline bool hints_say_wide(unsigned hints)
{
    return (hints & (HINT_WIDE | HINT_MADE_WIDE | HINT_DEREFERENCED)) != 0 &&
           (hints & (HINT_NARROW | HINT_MADE_NARROW)) == 0;
}
static inline bool hints_say_narrow(unsigned hints)
{
    return (hints & (HINT_NARROW | HINT_MADE_NARROW)) != 0 &&
           (hints & (HINT_WIDE | HINT_MADE_WIDE | HINT_DEREFERENCED)) == 0;
}

// The result is a structure of two words. A callee that leaves the register alone returns none: the
// compiler may keep a value there across the call.
static inline bool hints_say_pair(unsigned hints)
{
    const unsigned both = HINT_SECOND_USED | HINT_SECOND_MADE;
    return (hints & both) == both;
}

// Neither the function nor its callers know of a result, so the return register holds a leftover.
// The result of a callee is a leftover, too, if no caller ever uses it.
static inline bool hints_say_void(unsigned hints)
{
    if ((hints & (HINT_FLOAT | HINT_USED | HINT_STOPS)) == HINT_FLOAT)
        return true;
    if ((hints & (HINT_MADE | HINT_USED | HINT_STOPS)) != 0)
        return false;
    return (hints & HINT_CALLED) != 0 || (hints & (HINT_LEFTOVER | HINT_PASSED)) == 0;
}

#endif
