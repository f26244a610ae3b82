// SPDX-License-Identifier: GPL-3.0-or-later
// How functions of the C library really fail: which errors a program must expect in ordinary life,
// and which are only possible on paper. Facts as a table; a test checks it.
#ifndef ORDEAL_INJECTORS_LIBRARY_REALISM_H
#define ORDEAL_INJECTORS_LIBRARY_REALISM_H

#include <stdbool.h>
#include <stddef.h>

// What has to be so for an error to be possible.
enum realism_need {
    REALISM_NOTHING,
    REALISM_FILE,    // the descriptor is a file
    REALISM_SOCKET,  // it is a socket
    REALISM_PIPE,    // it is a pipe
    REALISM_HANDLER, // the program has handlers of signals that may not restart calls
};
#define REALISM_NEEDS (REALISM_HANDLER + 1)

struct realism {
    const char *name;   // without what glibc's header files put around it
    const char *result; // of a failure, as in rules; "errno": the error itself
    // Words "[NEED:][lasting:]ERRNO", most telling first; "-": none is set; "short": the call does
    // a part of what it is asked for. What lasts fails again when it is tried again.
    const char *errors; // that happen; "" if none does
    const char *rare;   // that can be, but mean misuse or do not happen on healthy systems
};
size_t realism_count(void);
const struct realism *realism_at(size_t index);

// Names of such functions that have nothing in common with theirs.
struct realism_alias {
    const char *name, *meant;
};
size_t realism_alias_count(void);
const struct realism_alias *realism_alias_at(size_t index);

// By the name a program imports: "__read_chk", "fopen64" and "putc_unlocked" are known, too. NULL
// if there is no row: it does not fail, or nothing is known of it.
const struct realism *realism_find(const char *function);

struct realism_error {
    enum realism_need need;
    const char *name; // not terminated; of no size: errno is not set
    size_t size;
    bool is_short, lasting;
};
// The name of a need in conditions: "file" of fd(1).file; NULL if it is not about a descriptor.
const char *realism_test(enum realism_need need);
// Takes the next word off a list; false at its end.
bool realism_next(const char **list, struct realism_error *ret_error);

// Whether a library (a path) is part of the C library, so that the table has all that it can fail
// with.
bool realism_is_system(const char *library);

#endif
