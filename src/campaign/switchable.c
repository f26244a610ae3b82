// SPDX-License-Identifier: GPL-3.0-or-later
// Lists a campaign's faults that can be switched on and off in a long-lived server.
#include "campaign/switchable.h"

#include "base/cleanup.h"
#include "base/secrets.h"

#include <string.h>

struct switchable_search {
    const struct injector_switches *switches;
    struct words *found;
};

static struct error *add_switchable(void *data, const struct store_candidate *row)
{
    const struct switchable_search *search = data;
    if (!row->selected || !search->switches->fits(row->spec))
        return NULL;
    TRY(words_add(search->found, row->spec, strlen(row->spec)));
    return secrets_restore(&search->found->items[search->found->count - 1]);
}

struct error *switchable_find(const struct injector_switches *switches, struct store *store,
                              int64_t campaign, struct words *ret_switchable)
{
    struct switchable_search search = {.switches = switches, .found = ret_switchable};
    return store_each_candidate(store, campaign, 0, 0, add_switchable, &search);
}
