// SPDX-License-Identifier: GPL-3.0-or-later
// See switchable.h.
#include "campaign/switchable.h"

#include <stdlib.h>
#include <string.h>

static struct error *add_switchable(void *data, const struct store_candidate *row)
{
    static const char once[] = " and once";
    definition_words *switchable = data;
    size_t size = strlen(row->spec);
    if (!row->selected || size < strlen(once) ||
        strcmp(row->spec + size - strlen(once), once) != 0 || strstr(row->spec, " then ") != NULL)
        return NULL;
    char **place = ARRAY_ADD(switchable);
    if (place == NULL || (*place = strdup(row->spec)) == NULL) {
        switchable->count -= place != NULL;
        return error_no_memory();
    }
    return NULL;
}

struct error *switchable_find(struct store *store, int64_t campaign,
                              definition_words *ret_switchable)
{
    return store_each_candidate(store, campaign, 0, 0, add_switchable, ret_switchable);
}
