// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the campaign of a store that can be resumed.
#include "campaign/campaign.h"

#include "base/cleanup.h"

struct unfinished_search {
    int64_t id, limited; // limited: a campaign that ended by a limit; new limits can extend it
    enum store_stop limit;
};

static bool is_limit(enum store_stop stop)
{
    return stop == STORE_STOP_TIME || stop == STORE_STOP_TRIALS || stop == STORE_STOP_INTERVAL ||
           stop == STORE_STOP_FINDINGS;
}

static struct error *note_unfinished(void *data, const struct store_campaign *row)
{
    struct unfinished_search *search = data;
    if (row->state != STORE_FINISHED && row->id > search->id)
        search->id = row->id;
    if (row->state == STORE_FINISHED && is_limit(row->stopped_by) && row->id > search->limited) {
        search->limited = row->id;
        search->limit = row->stopped_by;
    }
    return NULL;
}

struct error *campaign_find_unfinished(struct store *store, int64_t id, bool new_limits,
                                       int64_t *ret_id)
{
    struct unfinished_search search = {.id = id};
    if (id == 0)
        TRY(store_each_campaign(store, note_unfinished, &search));
    if (new_limits && search.limited > search.id)
        search.id = search.limited;
    if (search.id == 0 && search.limited != 0)
        return error_new("there is no unfinished campaign to go on with; campaign %lld ended by "
                         "its %s: say how long it may go on with --time-budget, --max-trials, "
                         "--stop-after or --until-interval",
                         (long long)search.limited, enum_name(&stop_names, search.limit));
    if (search.id == 0)
        return error_new("there is no unfinished campaign to go on with");
    *ret_id = search.id;
    return NULL;
}
