// SPDX-License-Identifier: GPL-3.0-or-later
// Checks that a campaign to be resumed has the definition that the user gave. Compares both as
// YAML, without the fields that may differ.
#include "campaign/campaign.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

#define SHOWN 100 // bytes of a line

static void forget_words(struct words *words)
{
    for (size_t i = 0; i < words->count; i++)
        free(words->items[i]);
    words->count = 0;
}

static void forget_free_parts(struct definition *definition)
{
    forget_words(&definition->environment);
    forget_words(&definition->missing_variables);
    definition->jobs = 0;
    definition->time_budget_ns = 0;
    definition->max_trials = 0;
    definition->stop_after = 0;
    definition->until_interval = 0;
    definition->scope = SCOPE_MINE_FIRST;
}

// With `settled`, the network is compared as `auto`: what preparation decided is no difference.
static struct error *normal_text(const char *yaml, size_t size, bool settled, struct buffer *text)
{
    _cleanup_(definition_deinit) struct definition definition = {0};
    TRY(definition_new(&definition));
    TRY(definition_parse(&definition, "a definition", yaml, size));
    forget_free_parts(&definition);
    if (settled)
        definition.network = NETWORK_AUTO;
    return definition_write(&definition, text);
}

static struct error *tell_difference(int64_t id, const char *then, const char *now)
{
    for (;;) {
        int a = (int)strcspn(then, "\n"), b = (int)strcspn(now, "\n");
        if (a != b || memcmp(then, now, (size_t)a) != 0)
            return error_new("campaign %lld was defined otherwise: it has '%.*s' where this has "
                             "'%.*s'; go on without a definition, or start a new campaign",
                             (long long)id, a < SHOWN ? a : SHOWN, then, b < SHOWN ? b : SHOWN,
                             now);
        if (then[a] == '\0' || now[b] == '\0')
            return NULL;
        then += a + 1;
        now += b + 1;
    }
}

struct error *campaign_compare(struct store *store, int64_t id, const struct definition *definition)
{
    _cleanup_(store_campaign_deinit) struct store_campaign row = {0};
    TRY(store_find_campaign(store, id, &row));
    _cleanup_(buffer_deinit) struct buffer then = {0}, given = {0}, now = {0};
    bool settled = definition->network == NETWORK_AUTO;
    TRY(normal_text(row.definition, strlen(row.definition), settled, &then));
    TRY(definition_learn_secrets(definition));
    TRY(definition_write_stored(definition, &given));
    TRY(normal_text(given.data, given.size, settled, &now));
    return tell_difference(row.id, then.data, now.data);
}
