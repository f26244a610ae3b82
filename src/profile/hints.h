// SPDX-License-Identifier: GPL-3.0-or-later
// What the type of a function's result seems to be, from how its callers use it and how it is made.
#ifndef ORDEAL_PROFILE_HINTS_H
#define ORDEAL_PROFILE_HINTS_H

#include "flow/image.h"

enum hint {
    HINT_DEREFERENCED = 1 << 0,  // a caller uses the result as an address
    HINT_WIDE = 1 << 1,          // a caller looks at all 64 bits
    HINT_NARROW = 1 << 2,        // a caller looks at 32 bits or less
    HINT_USED = 1 << 3,          // a caller uses the result
    HINT_CALLED = 1 << 4,        // there is a caller
    HINT_MADE_WIDE = 1 << 5,     // 64 bits are put into the result
    HINT_MADE_NARROW = 1 << 6,   // 32 bits or less are, not counting constants
    HINT_MADE_ADDRESS = 1 << 7,  // the address of something is
    HINT_MADE_POINTER = 1 << 8,  // the result of a function that returns a pointer is
    HINT_STOPS = 1 << 9,         // it never comes back
    HINT_MADE = 1 << 10,         // a result is surely made for the caller: nobody else reads it
    HINT_LEFTOVER = 1 << 11,     // a result is there that may have been made for something else
    HINT_PASSED = 1 << 12,       // that of a call, which may be what is returned
    HINT_ACTS = 1 << 13,         // it calls, or stores outside of its frame
    HINT_IGNORED = 1 << 14,      // of a callee: everybody else in the module ignores the result
    HINT_EXPORTED = 1 << 15,     // nobody sets this but who lets go of what is not
    HINT_CALLED_TWICE = 1 << 16, // there are two callers
    HINT_CALLED_OFTEN = 1 << 17, // there are more
    HINT_REPORTS = 1 << 18,   // its name says that it tells of errors, and nobody wants its result
    HINT_ALLOCATES = 1 << 19, // of a callee: new memory, or NULL and ENOMEM
};

// Adds what the calls in an image say about functions (by owner) and about imports.
void hints_from_calls(const struct flow_image *image, uint32_t *functions, uint32_t *imports);

// What a function itself puts into its result, and whether it has one. `callee_hints` gives those
// of a callee.
unsigned hints_from_body(const struct flow_image *image, uint32_t function,
                         unsigned (*callee_hints)(void *data, uint32_t callee), void *data);

// Whether memory that a function gets may be found by others afterwards, or is handed to a callee:
// then it need not be what the function returns.
bool hints_keep_memory(const struct flow_image *image, uint32_t function,
                       unsigned (*callee_hints)(void *data, uint32_t callee), void *data);

static inline bool hints_say_pointer(unsigned hints)
{
    return (hints & (HINT_DEREFERENCED | HINT_MADE_ADDRESS | HINT_MADE_POINTER)) != 0 &&
           (hints & HINT_NARROW) == 0;
}
// Nobody says that it is less than 64 bits, and somebody says that it is.
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

// Neither the function nor its callers know of a result: whatever is in its place is a leftover.
// What a call left there is one, too, if nobody ever looks at it.
static inline bool hints_say_void(unsigned hints)
{
    if ((hints & (HINT_MADE | HINT_USED | HINT_STOPS)) != 0)
        return false;
    return (hints & HINT_CALLED) != 0 || (hints & (HINT_LEFTOVER | HINT_PASSED)) == 0;
}

#endif
