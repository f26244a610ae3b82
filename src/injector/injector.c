// SPDX-License-Identifier: GPL-3.0-or-later
// Finds injectors by name, and suggests one when a name is misspelt.
#include "injector/injector.h"

#include "base/cleanup.h"
#include "base/suggestion.h"

#include <string.h>

const struct injector *injector_find(const char *name)
{
    for (size_t i = 0; injectors[i] != NULL; i++)
        if (strcmp(injectors[i]->name, name) == 0)
            return injectors[i];
    return NULL;
}

const struct injector_stored *injector_stored(const char *name)
{
    const struct injector *injector = name != NULL ? injector_find(name) : NULL;
    return injector != NULL ? injector->stored : NULL;
}

struct error *injector_opened(struct error *error, void *self, void (*close)(void *),
                              void **ret_self)
{
    if (error != NULL) {
        close(self);
        return error;
    }
    *ret_self = self;
    return NULL;
}

static struct error *unknown_injector(const char *name, size_t size)
{
    struct suggestion meant = suggestion_start(name, size);
    _cleanup_(buffer_deinit) struct buffer list = {0};
    for (size_t i = 0; injectors[i] != NULL; i++) {
        suggestion_offer(&meant, injectors[i]->name);
        TRY(buffer_printf(&list, "%s%s", i == 0 ? "" : ", ", injectors[i]->name));
    }
    char storage[SUGGESTION_SIZE];
    return error_new("there is no injector '%.*s'%s; there are: %s", size < 60 ? (int)size : 60,
                     name, suggestion_text(&meant, storage), list.data);
}

struct error *injector_named(const char *name, size_t size, const struct injector **ret_injector)
{
    for (size_t i = 0; injectors[i] != NULL; i++)
        if (strlen(injectors[i]->name) == size && memcmp(injectors[i]->name, name, size) == 0) {
            *ret_injector = injectors[i];
            return NULL;
        }
    return unknown_injector(name, size);
}
