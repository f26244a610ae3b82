// SPDX-License-Identifier: GPL-3.0-or-later
// The injector `binary`: faults in machine code, without sources. In each trial the sandbox has a
// program or library with other bytes at one place. A breakpoint on the first instruction that the
// fault affects tells whether it was executed; in the first reference run there is one for every
// fault.
#include "base/cleanup.h"
#include "injector/mutant/mutants.h"
#include "mutate/binary/level.h"
#include "mutate/image.h"

#include <stdlib.h>
#include <string.h>

#define CODE_SIZE 4 // bytes that a breakpoint is checked with

static const struct injector_parameter parameters[] = {
    {"modules", "FILE...", "programs and libraries that get faults (the command's program)", false,
     true},
    {"types", "GLOB...", "faults of these types only", false, true},
    {"functions", "GLOB...", "in these functions only", false, true},
    {"blocks", "executed|all",
     "only in code that the workload executes without faults, or in all (executed)", false, false},
    {0},
};

struct binary {
    struct mutants mutants; // first, so that its functions serve
    struct words modules;
};

static void close_binary(void *data)
{
    struct binary *self = data;
    if (self == NULL)
        return;
    mutants_close(&self->mutants);
    words_deinit(&self->modules);
    free(self);
}

static struct error *open_binary(const struct injector_setup *setup, void **ret_self)
{
    struct binary *self = calloc(1, sizeof *self);
    if (self == NULL)
        return error_no_memory();
    return injector_opened(mutants_open(setup, &self->mutants), self, close_binary, ret_self);
}

static struct error *find(struct binary *self)
{
    if (self->mutants.found)
        return NULL;
    words_clear(&self->modules);
    TRY(mutants_programs(&self->mutants, "modules", &self->modules));
    if (self->modules.count == 0)
        TRY(mutants_command(&self->mutants, &self->modules));
    const struct mutate_request request = {.operands = self->modules.items};
    return mutants_find(&self->mutants, &mutate_level_binary, &request);
}

// Without four bytes of code there is no breakpoint, and nothing is known.
static struct error *watch(struct binary *self, const struct image *image, size_t number)
{
    const struct mutate_candidate *candidate = &self->mutants.set.items.items[number];
    const unsigned char *code = image_code(image, candidate->address, CODE_SIZE);
    if (code == NULL)
        return NULL;
    return mutants_watch(&self->mutants, candidate->changed, candidate->address, code, number);
}

static struct error *watch_all(struct binary *self)
{
    const struct mutants *mutants = &self->mutants;
    for (size_t m = 0; m < self->modules.count; m++) {
        _cleanup_(image_close) struct image image = {0};
        TRY(image_open(self->modules.items[m], &image));
        for (size_t i = 0; i < mutants->set.items.count; i++) {
            const struct mutate_candidate *candidate = &mutants->set.items.items[i];
            if (mutants->wanted[i] && candidate->state == MUTATE_APPLICABLE &&
                strcmp(candidate->changed, self->modules.items[m]) == 0)
                TRY(watch(self, &image, i));
        }
    }
    return NULL;
}

static struct error *watch_mutant(struct binary *self)
{
    struct mutants *mutants = &self->mutants;
    _cleanup_(image_close) struct image image = {0};
    _cleanup_(buffer_deinit) struct buffer copy = {0};
    TRY(buffer_append(&copy, mutants->content.data, mutants->content.size));
    TRY(image_parse(mutants->changed, &copy, &image));
    return watch(self, &image, mutants->candidate);
}

static struct error *prepare(void *data, struct shot *shot)
{
    struct binary *self = data;
    TRY(find(self));
    TRY(mutants_begin_shot(&self->mutants, shot));
    if (self->mutants.profiles)
        TRY(watch_all(self));
    if (shot->spec != NULL) {
        TRY(mutants_change_file(&self->mutants, shot));
        TRY(watch_mutant(self));
    }
    return mutants_prepare(&self->mutants, shot);
}

const struct injector injector_binary = {
    .name = "binary",
    .summary = "runs programs and libraries with a fault in their machine code",
    .parameters = parameters,
    .open = open_binary,
    .close = close_binary,
    .prepare = prepare,
    .moved = mutants_moved,
    .begin = mutants_begin,
    .observe = mutants_observe,
    .candidates = mutants_candidates,
    .remarks = mutants_remarks,
    .servers = true,
    .stored = &mutants_stored,
};
