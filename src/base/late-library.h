// SPDX-License-Identifier: GPL-3.0-or-later
// A library that is loaded when it is first needed. Several threads may use it. It stays loaded.
#ifndef ORDEAL_BASE_LATE_LIBRARY_H
#define ORDEAL_BASE_LATE_LIBRARY_H

#include "base/error.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct late_function {
    const char *name;
    void *address; // of a pointer to a function of its type
};

// static struct late_library library = LATE_LIBRARY(functions); of an array of functions.
struct late_library {
    const struct late_function *functions;
    size_t count;
    pthread_mutex_t mutex;
    atomic_bool ready;
};
#define LATE_LIBRARY(array)                                                                        \
    {                                                                                              \
        .functions = (array), .count = sizeof(array) / sizeof *(array),                            \
        .mutex = PTHREAD_MUTEX_INITIALIZER                                                         \
    }

// Whether all functions are there.
static inline bool late_library_is_ready(const struct late_library *library)
{
    return atomic_load_explicit(&library->ready, memory_order_acquire);
}
// Loads the library with this file name and binds all its functions, unless that is done already.
// The error is only the reason; the caller says what it wanted. Another call tries again.
_must_check_ struct error *late_library_need(struct late_library *library, const char *name);

#endif
