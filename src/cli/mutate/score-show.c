// SPDX-License-Identifier: GPL-3.0-or-later
// What survived, with the change, and the score last.
#include "cli/mutate/score-show.h"

#include "base/cleanup.h"
#include "cli/mutate/diff.h"
#include "report/text.h"

#include <string.h>

// The line of a source, as far as it can be read: a program may have been built elsewhere.
static struct error *put_line(const struct mutate_candidate *candidate, struct buffer *text)
{
    _cleanup_(buffer_deinit) struct buffer source = {0};
    struct error *error = buffer_read_regular(candidate->file, SIZE_MAX, &source);
    const char *at = error == NULL ? source.data : NULL,
               *end = at != NULL ? at + source.size : NULL;
    error_free(error);
    for (unsigned line = 1; at != NULL && line < candidate->line; line++) {
        at = memchr(at, '\n', (size_t)(end - at));
        at = at != NULL ? at + 1 : NULL;
    }
    if (at == NULL || at >= end)
        return NULL;
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    TRY(buffer_append(text, "  ", 2));
    TRY(text_put(text, at, (size_t)((stop != NULL ? stop : end) - at), 0));
    return buffer_append(text, "\n", 1);
}

static struct error *put_survivor(const struct mutate_set *set, size_t number, struct buffer *text)
{
    const struct mutate_candidate *candidate = &set->items.items[number];
    _cleanup_(buffer_deinit) struct buffer before = {0}, after = {0};
    TRY(text_put(text, candidate->file, strlen(candidate->file), 0));
    TRY(buffer_printf(text, ":%u:%u: survived: %s in %s: %s\n", candidate->line, candidate->column,
                      model_types[candidate->kind].name, candidate->function,
                      model_types[candidate->kind].description));
    if (set->level->compiled) {
        TRY(put_line(candidate, text));
        return buffer_append(text, "\n", 1);
    }
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
    if (counts[SCORE_UNREACHED] > 0)
        TRY(buffer_printf(text, ", not reached %zu", counts[SCORE_UNREACHED]));
    if (counts[SCORE_IGNORED] > 0)
        TRY(buffer_printf(text, ", ignored %zu (equivalent, duplicate or not to be written)",
                          counts[SCORE_IGNORED]));
    if (counts[SCORE_ERROR] > 0)
        TRY(buffer_printf(text, ", not run %zu", counts[SCORE_ERROR]));
    size_t killed = counts[SCORE_KILLED] + counts[SCORE_TIMEOUT];
    size_t run = killed + counts[SCORE_SURVIVED];
    TRY(buffer_printf(text, "\nmutation score %.1f %% (%zu of %zu)\n", 100 * score_share(score),
                      killed, run + counts[SCORE_UNREACHED]));
    return counts[SCORE_UNREACHED] == 0
               ? NULL
               : buffer_printf(text, "of those that the tests reach %.1f %% (%zu of %zu)\n",
                               100 * score_share_reached(score), killed, run);
}
