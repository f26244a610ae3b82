// SPDX-License-Identifier: GPL-3.0-or-later
// Writes and reads specs of faults that are made by changing a file.
#include "injector/mutant/mutants.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

// What a reference run said of the place, as a spec has it: a trial is repeated from its spec
// alone.
static const char *const suffixes[] = {
    [MUTANT_UNKNOWN] = " (not known whether executed)",
    [MUTANT_NOT_EXECUTED] = " (not executed)",
    [MUTANT_EXECUTED] = "",
    [MUTANT_NOT_LOADED] = " (not loaded)",
};
#define SUFFIXES (sizeof suffixes / sizeof *suffixes)

const char *mutants_name(const struct mutants *self, const char *path)
{
    size_t size = strlen(self->setup.directory);
    bool below = strncmp(path, self->setup.directory, size) == 0 && path[size] == '/';
    return below ? path + size + 1 : path;
}

struct error *mutant_put_spec(const struct mutants *self, size_t number,
                              enum mutant_execution executed, struct buffer *text)
{
    const struct mutate_candidate *candidate = &self->set.items.items[number];
    const char *place = strchr(candidate->id, '@');
    TRY(buffer_printf(text, "%s%s", model_types[candidate->kind].name,
                      place != NULL ? place : "@?"));
    const char *inside =
        candidate->address != 0 ? mutants_name(self, candidate->changed) : candidate->function;
    if (*inside != '\0')
        TRY(buffer_printf(text, " in %s", inside));
    return buffer_printf(text, "%s", suffixes[executed]);
}

static enum mutant_execution execution_of(const char *spec, size_t *ret_size)
{
    size_t size = strlen(spec);
    *ret_size = size;
    for (size_t i = 0; i < SUFFIXES; i++) {
        size_t length = strlen(suffixes[i]);
        if (length == 0 || length > size || strcmp(spec + size - length, suffixes[i]) != 0)
            continue;
        *ret_size = size - length;
        return (enum mutant_execution)i;
    }
    return MUTANT_EXECUTED;
}

struct error *mutant_find_spec(const struct mutants *self, const char *spec, size_t *ret_candidate,
                               enum mutant_execution *ret_executed)
{
    size_t size;
    enum mutant_execution executed = execution_of(spec, &size);
    for (size_t i = 0; i < self->set.items.count; i++) {
        _cleanup_(buffer_deinit) struct buffer text = {0};
        TRY(mutant_put_spec(self, i, MUTANT_EXECUTED, &text));
        if (text.size != size || memcmp(text.data, spec, size) != 0)
            continue;
        *ret_candidate = i;
        *ret_executed = executed;
        return NULL;
    }
    return error_new("there is no fault '%s'; have the files changed since?", spec);
}
