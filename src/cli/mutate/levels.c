// SPDX-License-Identifier: GPL-3.0-or-later
// The table of levels: a new one is a line here.
#include "cli/mutate/levels.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "mutate/binary/level.h"
#include "mutate/image-level.h"
#ifdef ORDEAL_SOURCE_FAULTS
#include "mutate/source/level.h"
#endif

#include <string.h>

static const struct mutate_level *const levels[] = {
#ifdef ORDEAL_SOURCE_FAULTS
    &mutate_level_source,
#endif
    &mutate_level_ir,
    &mutate_level_binary,
    NULL,
};

struct error *level_find(const char *name, const struct mutate_level **ret_level)
{
    _cleanup_(buffer_deinit) struct buffer known = {0};
    if (name == NULL)
        name = "source";
    for (size_t i = 0; levels[i] != NULL; i++) {
        if (strcmp(levels[i]->name, name) == 0) {
            *ret_level = levels[i];
            return NULL;
        }
        TRY(buffer_printf(&known, "%s%s", i > 0 ? ", " : "", levels[i]->name));
    }
    if (strcmp(name, "source") == 0)
        return error_new("Ordeal was built without libclang 19: install libclang-19-dev and build "
                         "it again");
    return error_new("there is no level '%s'; levels are: %s", name, known.data);
}
