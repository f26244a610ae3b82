// SPDX-License-Identifier: GPL-3.0-or-later
// Which faults in sources are executed: their lines are looked up in the line tables of the
// program without faults. A fault counts as executed if code of one of its lines is.
#include "injectors/source/internal.h"

#include "base/cleanup.h"
#include "dwarf/lines.h"
#include "mutate/image.h"

#include <stdlib.h>

#define CODE_SIZE  4   // bytes that a breakpoint is checked with
#define MOST_LINES 200 // of one fault

struct lookup {
    struct source_injector *self;
    const struct image *image;
    const char *program;
};
typedef ARRAY(struct dwarf_line_query) query_list;

static struct error *found(void *data, unsigned number, uint64_t low, uint64_t high)
{
    const struct lookup *lookup = data;
    const unsigned char *code = image_code(lookup->image, low, CODE_SIZE);
    if (code == NULL || low == high)
        return NULL;
    return mutants_watch(&lookup->self->mutants, lookup->program, low, code, number);
}

// The lines of a fault, but those of its body: what is missing may be an `if` that is never
// entered. A fault of one statement has all its lines.
static struct error *add_queries(const struct mutate_candidate *candidate, size_t number,
                                 query_list *queries)
{
    unsigned last = candidate->end_line > candidate->line ? candidate->end_line : candidate->line;
    bool block = candidate->kind == MODEL_MIFS || candidate->kind == MODEL_MIA ||
                 candidate->kind == MODEL_MIEB || candidate->kind == MODEL_MLPA;
    if (block || last - candidate->line > MOST_LINES)
        last = candidate->line;
    for (unsigned line = candidate->line; line <= last; line++) {
        struct dwarf_line_query *query = ARRAY_ADD(queries);
        if (query == NULL)
            return error_no_memory();
        *query = (struct dwarf_line_query){candidate->file, line, (unsigned)number};
    }
    return NULL;
}

static struct error *watch_program(struct source_injector *self, const char *program,
                                   const query_list *queries)
{
    _cleanup_(image_close) struct image image = {0};
    struct dwarf_module *module = NULL;
    TRY(image_open(program, &image));
    TRY(dwarf_module_open(program, &module));
    struct lookup lookup = {self, &image, program};
    struct error *error = NULL;
    if (dwarf_module_has_dwarf(module))
        error = dwarf_lines_find(module, queries->items, queries->count, found, &lookup);
    dwarf_module_close(module);
    return error;
}

struct error *source_watch_lines(struct source_injector *self)
{
    const struct mutants *mutants = &self->mutants;
    query_list queries = {0};
    struct error *error = NULL;
    for (size_t i = 0; i < mutants->set.items.count && error == NULL; i++)
        if (mutants->wanted[i] && mutants->set.items.items[i].state == MUTATE_APPLICABLE)
            error = add_queries(&mutants->set.items.items[i], i, &queries);
    bool named = parameters_find(mutants->setup.parameters, "programs") != NULL;
    for (size_t i = 0; i < self->programs.count && error == NULL; i++) {
        error = watch_program(self, self->programs.items[i], &queries);
        if (error != NULL && !named) // a file that happens to be there
            error_free(TAKE(error));
    }
    ARRAY_DEINIT(&queries);
    return error;
}
