// SPDX-License-Identifier: GPL-3.0-or-later
// See zydis.h and need.h.
#include "isa/zydis.h"

#include "base/late-library.h"
#include "isa/need.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

#define REASON 512

static struct zydis functions;
static _Atomic(const struct zydis *) ready; // NULL until all of `functions` is there

static bool bind_all(void *handle)
{
    return late_library_find(handle, "ZydisDecoderInit", &functions.init) &&
           late_library_find(handle, "ZydisDecoderDecodeFull", &functions.decode) &&
           late_library_find(handle, "ZydisDecoderDecodeInstruction", &functions.decode_head) &&
           late_library_find(handle, "ZydisRegisterGetLargestEnclosing", &functions.enclosing);
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
