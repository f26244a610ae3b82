// SPDX-License-Identifier: GPL-3.0-or-later
// The list of engines. A new one needs its folder, a line here, and its word in the schema's row
// `engine`.
#include "engine/engine.h"

#include "base/cleanup.h"
#include "engines/local/pool.h"
#include "engines/slurm/slurm.h"

#include <string.h>

const struct engine *const engines[] = {
    &engine_local,
    &engine_slurm,
    NULL,
};

struct error *engine_named(const char *name, const struct engine **ret_engine)
{
    _cleanup_(buffer_deinit) struct buffer known = {0};
    for (size_t i = 0; engines[i] != NULL; i++) {
        if (strcmp(engines[i]->name, name) == 0) {
            *ret_engine = engines[i];
            return NULL;
        }
        TRY(buffer_printf(&known, "%s%s", i > 0 ? ", " : "", engines[i]->name));
    }
    return error_new("there is no engine '%s'; there are: %s", name, known.data);
}
