// SPDX-License-Identifier: GPL-3.0-or-later
// Which campaign of a store can go on.
#include "campaign/campaign.h"

#include "base/cleanup.h"

#include <string.h>

struct search {
    int64_t id, limited; // limited: ended by a limit, which another one can take the place of
    const char *limit;
};

static const char *known_limit(const char *stopped_by)
{
    static const char *const limits[] = {"time budget", "max trials", "interval"};
    for (size_t i = 0; stopped_by != NULL && i < sizeof limits / sizeof *limits; i++)
        if (strcmp(stopped_by, limits[i]) == 0)
            return limits[i];
    return NULL;
}

static struct error *note_unfinished(void *data, const struct store_campaign *row)
{
    struct search *search = data;
    const char *limit = known_limit(row->stopped_by);
    if (row->state != STORE_FINISHED && row->id > search->id)
        search->id = row->id;
    if (row->state == STORE_FINISHED && limit != NULL && row->id > search->limited) {
        search->limited = row->id;
        search->limit = limit;
    }
    return NULL;
}

struct error *campaign_find_unfinished(struct store *store, int64_t id, bool new_limits,
                                       int64_t *ret_id)
{
    struct search search = {.id = id};
    if (id == 0)
        TRY(store_each_campaign(store, note_unfinished, &search));
    if (new_limits && search.limited > search.id)
        search.id = search.limited;
    if (search.id == 0 && search.limited != 0)
        return error_new("there is no unfinished campaign to go on with; campaign %lld ended by "
                         "its %s: say how long it may go on with --time-budget, --max-trials or "
                         "--until-interval",
                         (long long)search.limited, search.limit);
    if (search.id == 0)
        return error_new("there is no unfinished campaign to go on with");
    *ret_id = search.id;
    return NULL;
}
