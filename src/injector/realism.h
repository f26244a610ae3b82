// SPDX-License-Identifier: GPL-3.0-or-later
// How functions of the C library really fail: which errors a program must expect in ordinary life,
// and which are only possible on paper. This is a table; a test checks it.
#ifndef ORDEAL_INJECTOR_REALISM_H
#define ORDEAL_INJECTOR_REALISM_H

#include <stdbool.h>
#include <stddef.h>

// What an error needs to be possible.
enum realism_need {
    REALISM_NOTHING,
    REALISM_FILE,       // the descriptor is a file
    REALISM_SOCKET,     // it is a socket
    REALISM_CONNECTION, // it is a socket of connections: nobody resets datagrams
    REALISM_PIPE,       // it is a pipe
    REALISM_HANDLER,    // the program has signal handlers; they may not restart calls
    REALISM_STREAM,     // the buffer of its stream is full, and cannot be written
    REALISM_BELOW,      // it writes the buffer of its stream, and that fails
};
#define REALISM_NEEDS (REALISM_BELOW + 1)

// The function of the C library that writes what a stream has buffered, whichever call makes it.
#define REALISM_STREAM_WRITE "_IO_file_write"

struct realism {
    const char *name;   // without the prefixes and suffixes of glibc's headers
    const char *result; // of a failure, as in rules; "errno": it returns the error itself
    // Words "[NEED:][if:][lasting:]ERRNO", the most typical first. "-": errno is not set. "short":
    // the call transfers only a part. A lasting error also fails when the call is tried again.
    // "if": the condition of the row must hold.
    const char *errors; // that really happen; "" if none does
    const char *rare;   // that are possible, but mean misuse or a broken system
};
size_t realism_count(void);
const struct realism *realism_at(size_t index);

// Other names of these functions that cannot be derived from theirs.
struct realism_alias {
    const char *name, *meant;
};
size_t realism_alias_count(void);
const struct realism_alias *realism_alias_at(size_t index);

// Finds the row by the name that a program imports: "__read_chk", "fopen64" and "putc_unlocked" are
// known, too. NULL if the function does not fail or is not known.
const struct realism *realism_find(const char *function);

// Whether it fails in ordinary life.
bool realism_happens(const char *function);

// Whether it fails in ordinary life, and only by an error: what it returns then is not what the end
// of a file, an unknown name or a wrong pattern gives, too.
bool realism_forces(const char *function);

// The condition on the arguments that the row's errors with "if" have, as in rules; or NULL.
const char *realism_condition(const struct realism *row);

struct realism_error {
    enum realism_need need;
    const char *name; // not terminated; size 0: errno is not set
    size_t size;
    bool is_short, lasting;
    bool conditional; // the row's condition must hold
};
// Writes the action of a rule: "-1/EIO", "short 1".
#define REALISM_ACTION 56
void realism_action(const struct realism *row, const struct realism_error *error,
                    char action[REALISM_ACTION]);
// A need as the test of a condition: "file" as in fd(1).file. NULL if it is not about a descriptor.
const char *realism_test(enum realism_need need);
// Writes the condition of a rule for this error. `descriptor` is the number of the argument that is
// one, or 0. False: there is none.
#define REALISM_CONDITION_SIZE 80
bool realism_put_condition(const struct realism *row, const struct realism_error *error,
                           unsigned descriptor, char condition[REALISM_CONDITION_SIZE]);
// Takes the next word off a list. False at its end.
bool realism_next(const char **list, struct realism_error *ret_error);

// Whether a library (a path) is part of the C library. Then the table lists all its failures.
bool realism_is_system(const char *library);

#endif
