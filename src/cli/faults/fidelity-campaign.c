// SPDX-License-Identifier: GPL-3.0-or-later
// Compares the faults that a campaign activated with the fault model.
#include "cli/faults/fidelity-campaign.h"

#include "base/cleanup.h"
#include "store/store.h"

#include <string.h>

struct adding {
    const struct fidelity_result *types;
    const struct fidelity_match *match;
    double *activated; // by type
    struct fidelity_campaign *campaign;
};

static struct error *add_count(void *data, const struct store_count *count)
{
    struct adding *adding = data;
    uint64_t all = 0;
    for (int i = 0; i < VERDICTS; i++)
        all += count->verdicts[i];
    uint64_t activated =
        all - count->verdicts[VERDICT_NOT_ACTIVATED] - count->verdicts[VERDICT_INVALID];
    adding->campaign->trials += all;
    adding->campaign->activated += activated;
    for (size_t i = 0; i < adding->types->types.count; i++)
        if (count->group != NULL && strcmp(count->group, adding->types->types.items[i].name) == 0) {
            // A type that the model leaves out cannot be compared with it.
            if (adding->match->model.items[i] > 0)
                adding->activated[i] += (double)activated;
            return NULL;
        }
    return error_new("%s has faults of type %s, which the programs looked at do not have",
                     adding->campaign->path, count->group != NULL ? count->group : "?");
}

struct error *fidelity_campaign_read(const char *path, const struct fidelity_result *types,
                                     const struct fidelity_match *match,
                                     struct fidelity_campaign *ret_campaign)
{
    _cleanup_(store_closep) struct store *store = NULL;
    _cleanup_(store_campaign_deinit) struct store_campaign row = {0};
    struct fidelity_campaign campaign = {.path = path};
    _cleanup_free_ double *activated = calloc(types->types.count + 1, sizeof *activated);
    if (activated == NULL)
        return error_no_memory();
    TRY(store_open(path, STORE_READ, &store));
    TRY(store_find_campaign(store, 0, &row));
    struct adding adding = {types, match, activated, &campaign};
    TRY(store_each_count(store, row.id, "type", add_count, &adding));
    TRY(fidelity_distance(match->model.items, activated, types->types.count,
                          (double)campaign.activated, &campaign.distance));
    *ret_campaign = campaign;
    return NULL;
}
