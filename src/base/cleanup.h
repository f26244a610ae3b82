// SPDX-License-Identifier: GPL-3.0-or-later
// Scope-bound cleanup: declare a variable with one of these and it is released when it goes out of
// scope, unless it was handed on with TAKE().
#ifndef ORDEAL_BASE_CLEANUP_H
#define ORDEAL_BASE_CLEANUP_H

#include "base/error.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(function) __attribute__((cleanup(function)))

static inline void cleanup_free(void *pointer)
{
    free(*(void **)pointer);
}
static inline void cleanup_close(int *descriptor)
{
    if (*descriptor >= 0)
        close(*descriptor);
}
static inline void cleanup_fclose(FILE **file)
{
    if (*file != NULL)
        fclose(*file);
}
static inline void cleanup_closedir(DIR **directory)
{
    if (*directory != NULL)
        closedir(*directory);
}
static inline void cleanup_error(struct error **error)
{
    error_free(*error);
}

#define _cleanup_free_     _cleanup_(cleanup_free)
#define _cleanup_close_    _cleanup_(cleanup_close)
#define _cleanup_fclose_   _cleanup_(cleanup_fclose)
#define _cleanup_closedir_ _cleanup_(cleanup_closedir)
#define _cleanup_error_    _cleanup_(cleanup_error)

// Hands a pointer over: gives its value and sets it to NULL for the cleanup.
#define TAKE(pointer)                                                                              \
    ({                                                                                             \
        __typeof__(pointer) taken_ = (pointer);                                                    \
        (pointer) = NULL;                                                                          \
        taken_;                                                                                    \
    })

// Returns the error of a call to the caller, if there is one.
#define TRY(call)                                                                                  \
    do {                                                                                           \
        struct error *try_error_ = (call);                                                         \
        if (try_error_ != NULL)                                                                    \
            return try_error_;                                                                     \
    } while (0)

#endif
