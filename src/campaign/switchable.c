// SPDX-License-Identifier: GPL-3.0-or-later
// Lists the faults of a campaign that a server can live through one after the other.
#include "campaign/switchable.h"

#include <string.h>

struct gathering {
    const struct injector_switches *switches;
    struct words *found;
};

static struct error *add_switchable(void *data, const struct store_candidate *row)
{
    const struct gathering *gathering = data;
    if (!row->selected || !gathering->switches->fits(row->spec))
        return NULL;
    return words_add(gathering->found, row->spec, strlen(row->spec));
}

struct error *switchable_find(const struct injector_switches *switches, struct store *store,
                              int64_t campaign, struct words *ret_switchable)
{
    struct gathering gathering = {.switches = switches, .found = ret_switchable};
    return store_each_candidate(store, campaign, 0, 0, add_switchable, &gathering);
}
