// SPDX-License-Identifier: GPL-3.0-or-later
// ordeal engine: what an engine has started on another machine. Not for people.
#include "cli/registry.h"

#include "base/cleanup.h"
#include "engine/engine.h"

struct settings {
    char unused;
};

static struct error *run(const void *data, char **operands, int *ret_status)
{
    const struct engine *engine;
    (void)data;
    *ret_status = 0;
    TRY(engine_named(operands[0], &engine));
    if (engine->work == NULL)
        return error_new("the engine '%s' starts nothing elsewhere", engine->name);
    return engine->work(operands + 1);
}

const struct command cmd_engine = {
    .name = "engine",
    .summary = "Run trials on a node of a cluster; started by a campaign.",
    .operands = "NAME [WORD]...",
    .settings_size = sizeof(struct settings),
    .least = 1,
    .most = UINT32_MAX,
    .run = run,
};
