// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the trial that a user means by "17", "trial:17", "F3" or "finding:3".
#include "cli/trial-name.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct finding_search {
    struct store *store;
    int64_t finding, trial;
};

static struct error *look_at_finding(void *data, const struct store_finding *row)
{
    struct finding_search *search = data;
    if (row->id == search->finding)
        search->trial = row->trial;
    return NULL;
}

static struct error *look_into_campaign(void *data, const struct store_campaign *row)
{
    struct finding_search *search = data;
    return search->trial != 0 ? NULL
                              : store_each_finding(search->store, row->id, look_at_finding, search);
}

static struct error *parse_id(const char *text, const char *whole, int64_t *ret_id)
{
    char *end;
    errno = 0;
    long long id = strtoll(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || id == 0)
        return error_new("'%s' is no trial and no finding; a trial is a number such as 17, a "
                         "finding F3 or finding:3",
                         whole);
    *ret_id = id;
    return NULL;
}

bool trial_is_name(const char *text)
{
    text += strncmp(text, "trial:", 6) == 0     ? 6
            : strncmp(text, "finding:", 8) == 0 ? 8
                                                : *text == 'F' || *text == 'f';
    return *text >= '0' && *text <= '9' && text[strspn(text, "0123456789")] == '\0';
}

struct error *trial_find(struct store *store, const char *text, int64_t *ret_trial)
{
    static const char *const prefixes[] = {"finding:", "F", "f"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t size = strlen(prefixes[i]);
        if (strncmp(text, prefixes[i], size) != 0)
            continue;
        struct finding_search search = {.store = store};
        TRY(parse_id(text + size, text, &search.finding));
        TRY(store_each_campaign(store, look_into_campaign, &search));
        if (search.trial == 0)
            return error_new("there is no finding %lld in the store", (long long)search.finding);
        *ret_trial = search.trial;
        return NULL;
    }
    return parse_id(strncmp(text, "trial:", 6) == 0 ? text + 6 : text, text, ret_trial);
}
