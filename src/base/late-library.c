// SPDX-License-Identifier: GPL-3.0-or-later
// Loads a library with dlopen() and binds its functions.
#include "base/late-library.h"

#include <dlfcn.h>
#include <string.h>

static bool bind_all(void *handle, const struct late_library *library)
{
    for (size_t i = 0; i < library->count; i++) {
        void *function = dlsym(handle, library->functions[i].name);
        if (function == NULL)
            return false;
        memcpy(library->functions[i].address, &function, sizeof function);
    }
    return true;
}

struct error *late_library_need(struct late_library *library, const char *name)
{
    struct error *error = NULL;
    pthread_mutex_lock(&library->mutex);
    void *handle = library->ready ? NULL : dlopen(name, RTLD_NOW);
    if (handle != NULL && bind_all(handle, library)) {
        library->ready = true;
    } else if (!library->ready) {
        const char *why = dlerror();
        error = error_new("%s", why != NULL ? why : name);
        if (handle != NULL)
            dlclose(handle);
    }
    pthread_mutex_unlock(&library->mutex);
    return error;
}
