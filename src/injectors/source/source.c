// SPDX-License-Identifier: GPL-3.0-or-later
// The injector `source`: faults in source files. In each trial the sandbox has a source with one
// fault in it, and the build command makes the program of it. Reference runs are built, too, so
// that both differ in the fault alone.
#include "injectors/source/internal.h"

#include "base/cleanup.h"
#ifdef ORDEAL_SOURCE_FAULTS
#include "mutate/source/level.h"
#endif

#include <stdlib.h>
#include <string.h>

static const struct injector_parameter parameters[] = {
    {"files", "FILE...", "sources that get faults", false, true},
    {"build", "COMMAND", "shell command that builds what has changed", true, false},
    {"options", "OPTION...", "how the compiler is called for the sources: -Iinclude", false, true},
    {"compile_commands", "FILE", "compile_commands.json, which says how sources are compiled",
     false, false},
    {"programs", "FILE...",
     "what is built, to see which lines are executed (all below the directory)", false, true},
    {"types", "GLOB...", "faults of these types only", false, true},
    {"functions", "GLOB...", "in these functions only", false, true},
    {"blocks", "executed|all",
     "only in code that the workload executes without faults, or in all (executed)", false, false},
    {0},
};

static void close_source(void *data)
{
    struct source_injector *self = data;
    if (self == NULL)
        return;
    mutants_close(&self->mutants);
    words_deinit(&self->operands);
    words_deinit(&self->build);
    words_deinit(&self->programs);
    free(self);
}

static struct error *add_all(const struct words *from, struct words *to)
{
    for (size_t i = 0; from != NULL && i < from->count; i++)
        TRY(words_add(to, from->items[i], strlen(from->items[i])));
    return NULL;
}

static struct error *fill(const struct injector_setup *setup, struct source_injector *self)
{
    const char *build = parameters_value(setup->parameters, "build", "");
    TRY(mutants_open(setup, &self->mutants));
    TRY(add_all(parameters_words(setup->parameters, "files"), &self->operands));
    TRY(add_all(parameters_words(setup->parameters, "options"), &self->operands));
    if (parameters_find(setup->parameters, "files") == NULL &&
        parameters_find(setup->parameters, "compile_commands") == NULL)
        return error_new("the injector 'source' needs 'files' or 'compile_commands': which sources "
                         "get faults?");
    return words_shell(&self->build, build, strlen(build));
}

static struct error *open_source(const struct injector_setup *setup, void **ret_self)
{
    struct source_injector *self = calloc(1, sizeof *self);
    if (self == NULL)
        return error_no_memory();
    return injector_opened(fill(setup, self), self, close_source, ret_self);
}

// Those that the build makes only in the sandbox are not known.
static struct error *find_programs(struct source_injector *self)
{
    if (self->programs.count != 0)
        return NULL;
    TRY(mutants_programs(&self->mutants, "programs", &self->programs));
    if (self->programs.count == 0)
        TRY(mutants_below(&self->mutants, &self->programs));
    if (self->programs.count == 1)
        self->mutants.program = self->programs.items[0];
    return NULL;
}

static struct error *find(struct source_injector *self)
{
#ifdef ORDEAL_SOURCE_FAULTS
    char *none[] = {NULL};
    const struct mutate_request request = {
        .operands = self->operands.count != 0 ? self->operands.items : none,
        .database = parameters_value(self->mutants.setup.parameters, "compile_commands", NULL)};
    return mutants_find(&self->mutants, &mutate_level_source, &request);
#else
    return error_new("Ordeal was built without libclang 19: install libclang-19-dev and build it "
                     "again");
#endif
}

static struct error *prepare(void *data, struct shot *shot)
{
    struct source_injector *self = data;
    TRY(find(self));
    TRY(find_programs(self));
    TRY(mutants_begin_shot(&self->mutants, shot));
    shot->build = self->build.items;
    if (self->mutants.profiles)
        TRY(source_watch_lines(self));
    if (shot->spec != NULL)
        TRY(mutants_change_file(&self->mutants, shot));
    return mutants_prepare(&self->mutants, shot);
}

const struct injector injector_source = {
    .name = "source",
    .summary = "builds and runs the program with a fault in its source",
    .parameters = parameters,
    .open = open_source,
    .close = close_source,
    .prepare = prepare,
    .moved = mutants_moved,
    .begin = mutants_begin,
    .observe = mutants_observe,
    .candidates = mutants_candidates,
    .remarks = mutants_remarks,
    .servers = true,
    .stored = &mutants_stored,
};
