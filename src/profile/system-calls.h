// SPDX-License-Identifier: GPL-3.0-or-later
// What system calls can fail with, from a table that scripts/make-system-calls made of a kernel
// image. It is used unless the user gives a kernel (profile/kernel.h).
#ifndef ORDEAL_PROFILE_SYSTEM_CALLS_H
#define ORDEAL_PROFILE_SYSTEM_CALLS_H

#include "profile/value.h"

#define SYSTEM_CALL_NONE (-1)

// NULL if the call is unknown. Has the type of profile_options.system_call; `data` is not used.
const struct error_set *system_call_errors(const void *data, int64_t number);

// Names are those of <asm/unistd_64.h> without the prefix: "close" is 3. NULL and SYSTEM_CALL_NONE
// for unknown ones.
const char *system_call_name(int64_t number);
int64_t system_call_number(const char *name);

// Every call of the table, by number.
size_t system_call_count(void);
int64_t system_call_at(size_t index);

// Calls that have only one error if an argument has a certain value. NULL if the call is none.
struct system_call_case {
    int64_t number;
    uint8_t argument; // from 0
    int64_t value;
    uint8_t error; // the only one then
};
const struct system_call_case *system_call_case(int64_t number);

#endif
