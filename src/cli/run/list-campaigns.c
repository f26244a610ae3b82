// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the campaigns of a store with their numbers of trials and findings.
#include "cli/run/list-campaigns.h"

#include "base/cleanup.h"
#include "report/campaign/campaign.h"
#include "report/json.h"
#include "report/text.h"
#include "store/store.h"

#include <time.h>

struct campaign_list {
    struct store *store;
    struct buffer *text; // or NULL: JSON
    struct json_builder builder;
    json_t *root;
};

struct campaign_numbers {
    uint64_t trials, findings;
};

static struct error *add_count(void *data, const struct store_count *row)
{
    struct campaign_numbers *numbers = data;
    for (int i = 0; i < VERDICTS; i++)
        numbers->trials += row->verdicts[i];
    return NULL;
}

static struct error *count(struct store *store, int64_t campaign,
                           struct campaign_numbers *ret_numbers)
{
    struct campaign_numbers numbers = {0};
    struct report_shown shown;
    TRY(store_each_count(store, campaign, NULL, add_count, &numbers));
    TRY(report_count_shown(store, campaign, REPORT_PROOF_USUAL, REPORT_SCOPE_ALL, &shown));
    for (int i = 0; i < VERDICTS; i++)
        numbers.findings += shown.shown[i];
    *ret_numbers = numbers;
    return NULL;
}

static void put_day(int64_t seconds, char date[24])
{
    time_t time = (time_t)seconds;
    struct tm parts;
    date[0] = '\0';
    if (gmtime_r(&time, &parts) == NULL || parts.tm_year >= 8100 ||
        strftime(date, 24, "%Y-%m-%d %H:%M", &parts) == 0)
        date[0] = '\0';
}

static struct error *put_campaign(void *data, const struct store_campaign *row)
{
    struct campaign_list *list = data;
    struct campaign_numbers numbers;
    char date[24];
    TRY(count(list->store, row->id, &numbers));
    put_day(row->created_s, date);
    if (list->text == NULL) {
        json_t *entry = json_add_object(&list->builder, list->root, NULL);
        json_add_signed(&list->builder, entry, "campaign", row->id);
        json_add_string(&list->builder, entry, "name", row->name);
        json_add_string(&list->builder, entry, "started", date);
        json_add_string(&list->builder, entry, "state", enum_name(&state_names, row->state));
        json_add_string(&list->builder, entry, "injector", row->injector);
        json_add_integer(&list->builder, entry, "trials", numbers.trials);
        json_add_integer(&list->builder, entry, "findings", numbers.findings);
        json_add_string(&list->builder, entry, "command", row->command);
        return NULL;
    }
    TRY(buffer_printf(list->text, "%4lld  %-16s  %-11s  ", (long long)row->id, date,
                      enum_name(&state_names, row->state)));
    size_t before = list->text->size;
    TRY(text_put(list->text, row->injector, SIZE_MAX, 0));
    size_t used = list->text->size - before;
    TRY(buffer_printf(list->text, "%*s  %7llu  %8llu  ", used < 8 ? (int)(8 - used) : 0, "",
                      (unsigned long long)numbers.trials, (unsigned long long)numbers.findings));
    TRY(text_put(list->text, row->command != NULL ? row->command : "", SIZE_MAX, 0));
    return buffer_append(list->text, "\n", 1);
}

struct error *list_campaigns(const char *path, bool json, struct buffer *text)
{
    _cleanup_(store_closep) struct store *store = NULL;
    _cleanup_(json_release) json_t *root = json_array();
    TRY(store_open(path != NULL ? path : STORE_DEFAULT, STORE_READ, &store));
    TRY(store_begin(store));
    struct campaign_list list = {
        .store = store, .text = json ? NULL : text, .root = root, .builder.failed = root == NULL};
    if (!json)
        TRY(buffer_printf(text, "%4s  %-16s  %-11s  %-8s  %7s  %8s  command\n", "", "started (UTC)",
                          "state", "injector", "trials", "findings"));
    TRY(store_each_campaign(store, put_campaign, &list));
    return json ? json_write(&list.builder, root, text) : NULL;
}
