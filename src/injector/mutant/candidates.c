// SPDX-License-Identifier: GPL-3.0-or-later
// The candidates of injectors that change files, and what is said of those that were left out.
#include "injector/mutant/mutants.h"

#include "base/cleanup.h"
#include "base/file.h"

#include <stdlib.h>
#include <string.h>

static bool is_left_out(struct mutants *self, size_t number)
{
    bool all = strcmp(parameters_value(self->setup.parameters, "blocks", "executed"), "all") == 0;
    enum mutant_execution executed = self->executed[number];
    self->unknown += executed == MUTANT_UNKNOWN;
    if (all || executed == MUTANT_EXECUTED || executed == MUTANT_UNKNOWN)
        return false;
    self->not_executed += executed == MUTANT_NOT_EXECUTED;
    self->not_loaded += executed == MUTANT_NOT_LOADED;
    return true;
}

// Leaves out what is not executed, and then what makes no difference: only the rest is compiled.
static struct error *choose(struct mutants *self)
{
    self->unknown = self->not_executed = self->not_loaded = 0;
    memset(self->counts, 0, sizeof self->counts);
    for (size_t i = 0; i < self->set.items.count; i++)
        if (self->wanted[i] && self->set.items.items[i].state == MUTATE_APPLICABLE &&
            is_left_out(self, i))
            self->wanted[i] = false;
    TRY(mutants_check(self));
    for (size_t i = 0; i < self->set.items.count; i++)
        if (self->wanted[i])
            self->counts[self->set.items.items[i].state]++;
    return NULL;
}

static struct error *make_candidate(const struct mutants *self, size_t number,
                                    struct candidate *candidate)
{
    const struct mutate_candidate *from = &self->set.items.items[number];
    _cleanup_(buffer_deinit) struct buffer spec = {0};
    TRY(mutant_put_spec(self, number, self->executed[number], &spec));
    const char *file = mutants_name(self, from->file), *base = file_base_name(file);
    candidate->weight = 1;
    candidate->line = from->line;
    candidate->spec = TAKE(spec.data);
    candidate->type = strdup(model_types[from->kind].name);
    candidate->function = strdup(from->function);
    candidate->module = strdup(from->changed);
    candidate->file = strdup(file);
    candidate->component = base > file + 1 ? strndup(file, (size_t)(base - file) - 1) : strdup(".");
    return candidate->type != NULL && candidate->function != NULL && candidate->module != NULL &&
                   candidate->file != NULL && candidate->component != NULL
               ? NULL
               : error_no_memory();
}

struct error *mutants_candidates(void *data, candidate_add *add, void *add_data)
{
    struct mutants *self = data;
    TRY(choose(self));
    for (size_t i = 0; i < self->set.items.count; i++) {
        struct candidate candidate = {0};
        if (!self->wanted[i] || self->set.items.items[i].state != MUTATE_APPLICABLE)
            continue;
        struct error *error = make_candidate(self, i, &candidate);
        if (error == NULL)
            error = add(add_data, &candidate);
        candidate_deinit(&candidate);
        if (error != NULL)
            return error;
    }
    return NULL;
}

// ---- remarks ----

static struct error *note(remark_add *add, void *data, size_t count, const char *sentence)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    if (count == 0)
        return NULL;
    TRY(buffer_printf(&text, "%zu faults %s", count, sentence));
    return add(data, &(struct store_remark){.kind = REMARK_NOTE, .text = text.data});
}

struct error *mutants_remarks(void *data, remark_add *add, void *add_data)
{
    static const char *const states[MUTATE_STATES] = {
        [MUTATE_NO_TEXT] = "cannot be written alone, because of a macro, and were left out",
        [MUTATE_NO_ROOM] = "have no room in the code and were left out",
        [MUTATE_BROKEN] = "do not compile and were left out",
        [MUTATE_EQUIVALENT] = "give the same object code as no fault and were left out",
        [MUTATE_DUPLICATE] = "give the same object code as another one and were left out",
    };
    const struct mutants *self = data;
    TRY(note(add, add_data, self->not_executed,
             "are in code that the first fault-free run does not execute, and were left out "
             "('blocks: all' takes them in)"));
    TRY(note(add, add_data, self->not_loaded,
             "are in files that the workload does not load, or not into a process that can be "
             "looked into, and were left out"));
    TRY(note(add, add_data, self->unknown,
             "are in code of which it is not known whether the workload executes it, for want of "
             "debug information; their trials count as activated"));
    for (int i = 0; i < MUTATE_STATES; i++)
        if (states[i] != NULL)
            TRY(note(add, add_data, self->counts[i], states[i]));
    return NULL;
}

// ---- stored texts ----

// An occurrence of 0 means that nothing could tell.
static struct error *describe_stored(const struct store_injection *row, struct buffer *text)
{
    TRY(buffer_printf(text, "%s, %s", row->fault != NULL ? row->fault : "?",
                      row->occurrence != 0 ? "executed" : "not known whether executed"));
    if (row->symbol != NULL)
        TRY(buffer_printf(text, ", in %s", row->symbol));
    if (row->file != NULL)
        TRY(buffer_printf(text, " at %s:%u", row->file, row->line));
    return row->module != NULL ? buffer_printf(text, " (%s)", row->module) : NULL;
}

const struct injector_stored mutants_stored = {.describe = describe_stored};
