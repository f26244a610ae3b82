// SPDX-License-Identifier: GPL-3.0-or-later
// See zydis.h and need.h.
#include "isa/zydis.h"

#include "isa/need.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define REASON 512

static struct zydis functions;
static _Atomic(const struct zydis *) ready; // NULL until all of `functions` is there

static bool find(void *handle, const char *name, void *ret_function)
{
    void *function = dlsym(handle, name);
    memcpy(ret_function, &function, sizeof function);
    return function != NULL;
}

static bool bind_all(void *handle)
{
    return find(handle, "ZydisDecoderInit", &functions.init) &&
           find(handle, "ZydisDecoderDecodeFull", &functions.decode) &&
           find(handle, "ZydisDecoderDecodeInstruction", &functions.decode_head) &&
           find(handle, "ZydisRegisterGetLargestEnclosing", &functions.enclosing);
}

// Tried again by the next who asks: memory may have been short.
static void load(char ret_why[REASON])
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    char name[64]; // of the version whose headers were read: others lay out their structures anew
    snprintf(name, sizeof name, "libZydis.so.%u.%u", ZYDIS_VERSION_MAJOR(ZYDIS_VERSION),
             ZYDIS_VERSION_MINOR(ZYDIS_VERSION));
    pthread_mutex_lock(&mutex);
    void *handle = ready == NULL ? dlopen(name, RTLD_NOW) : NULL;
    if (handle != NULL && bind_all(handle)) {
        ready = &functions;
    } else if (ready == NULL) {
        const char *why = dlerror();
        snprintf(ret_why, REASON, "%s", why != NULL ? why : name);
        if (handle != NULL)
            dlclose(handle);
    }
    pthread_mutex_unlock(&mutex);
}

const struct zydis *zydis(void)
{
    const struct zydis *library = atomic_load_explicit(&ready, memory_order_acquire);
    if (library == NULL) {
        char why[REASON];
        load(why);
        library = ready;
    }
    return library;
}

struct error *isa_need(void)
{
    char why[REASON] = "";
    if (ready == NULL)
        load(why);
    if (ready != NULL)
        return NULL;
    return error_new("cannot decode instructions, Debian's package libzydis%u.%u does that: %s",
                     ZYDIS_VERSION_MAJOR(ZYDIS_VERSION), ZYDIS_VERSION_MINOR(ZYDIS_VERSION), why);
}
