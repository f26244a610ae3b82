// SPDX-License-Identifier: GPL-3.0-or-later
// What system calls can fail with, from a table that scripts/make-system-calls made out of a
// kernel's image: what is used unless the kernel itself is given (profile/kernel.h).
#ifndef ORDEAL_PROFILE_SYSTEM_CALLS_H
#define ORDEAL_PROFILE_SYSTEM_CALLS_H

#include "profile/value.h"

#define SYSTEM_CALL_NONE (-1)

// NULL if nothing is known of the call. In the shape of profile_options.system_call; `data` is not
// used.
const struct error_set *system_call_errors(const void *data, int64_t number);

// Names are those of <asm/unistd_64.h> without the prefix: "close" is 3. NULL, SYSTEM_CALL_NONE:
// there is none.
const char *system_call_name(int64_t number);
int64_t system_call_number(const char *name);

// Every call of the table, by number.
size_t system_call_count(void);
int64_t system_call_at(size_t index);

// Calls that have fewer errors when an argument (from 0) is a certain number. NULL if it is none.
struct system_call_case {
    int64_t number;
    uint8_t argument;
    int64_t value;
    uint8_t error; // the only one there is then
};
const struct system_call_case *system_call_case(int64_t number);

#endif
