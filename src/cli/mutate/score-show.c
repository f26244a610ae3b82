// SPDX-License-Identifier: GPL-3.0-or-later
// What survived, with the change, and the score last.
#include "cli/mutate/score-show.h"

#include "base/cleanup.h"
#include "cli/mutate/diff.h"
#include "report/text.h"

#include <string.h>

static struct error *put_survivor(const struct mutate_set *set, size_t number, struct buffer *text)
{
    const struct mutate_candidate *candidate = &set->items.items[number];
    _cleanup_(buffer_deinit) struct buffer before = {0}, after = {0};
    TRY(text_put(text, candidate->file, strlen(candidate->file), 0));
    TRY(buffer_printf(text, ":%u:%u: survived: %s in %s: %s\n", candidate->line, candidate->column,
                      model_types[candidate->kind].name, candidate->function,
                      model_types[candidate->kind].description));
    TRY(set->level->apply(set, number, &after));
    TRY(buffer_read_regular(candidate->changed, SIZE_MAX, &before));
    TRY(diff_put(candidate->changed, &before, &after, text));
    return buffer_append(text, "\n", 1);
}

struct error *score_put_text(const struct mutate_set *set, const struct score *score,
                             struct buffer *text)
{
    const size_t *counts = score->counts;
    for (size_t i = 0; i < set->items.count; i++)
        if (score->outcomes[i] == SCORE_SURVIVED)
            TRY(put_survivor(set, i, text));
    TRY(buffer_printf(text, "killed %zu, timeout %zu, survived %zu", counts[SCORE_KILLED],
                      counts[SCORE_TIMEOUT], counts[SCORE_SURVIVED]));
    if (counts[SCORE_IGNORED] > 0)
        TRY(buffer_printf(text, ", ignored %zu (equivalent, duplicate or not to be written)",
                          counts[SCORE_IGNORED]));
    if (counts[SCORE_ERROR] > 0)
        TRY(buffer_printf(text, ", not run %zu", counts[SCORE_ERROR]));
    return buffer_printf(text, "\nmutation score %.1f %% (%zu of %zu)\n", 100 * score_share(score),
                         counts[SCORE_KILLED] + counts[SCORE_TIMEOUT],
                         counts[SCORE_KILLED] + counts[SCORE_TIMEOUT] + counts[SCORE_SURVIVED]);
}
