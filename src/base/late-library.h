// SPDX-License-Identifier: GPL-3.0-or-later
// Functions of a library that is loaded when it is first needed.
#ifndef ORDEAL_BASE_LATE_LIBRARY_H
#define ORDEAL_BASE_LATE_LIBRARY_H

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

// Stores it in a pointer to a function of any type. False: the library has none of that name.
static inline bool late_library_find(void *handle, const char *name, void *ret_function)
{
    void *function = dlsym(handle, name);
    memcpy(ret_function, &function, sizeof function);
    return function != NULL;
}

#endif
