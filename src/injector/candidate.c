// SPDX-License-Identifier: GPL-3.0-or-later
// Frees candidates and converts them to rows of the store.
#include "injector/candidate.h"

#include <stdlib.h>

void candidate_deinit(struct candidate *candidate)
{
    char *const texts[] = {candidate->spec,   candidate->type, candidate->function,
                           candidate->module, candidate->file, candidate->component,
                           candidate->series};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
    *candidate = (struct candidate){0};
}

struct store_candidate candidate_row(const struct candidate *candidate, int64_t campaign,
                                     uint64_t number, bool selected)
{
    return (struct store_candidate){
        .campaign = campaign,
        .number = number,
        .spec = candidate->spec,
        .type = candidate->type,
        .function = candidate->function,
        .module = candidate->module,
        .file = candidate->file,
        .line = candidate->line,
        .component = candidate->component,
        .series = candidate->series,
        .position = candidate->position,
        .weight = candidate->weight,
        .selected = selected,
        .content = candidate->content,
        .basis = candidate->basis,
    };
}
