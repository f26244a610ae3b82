// SPDX-License-Identifier: GPL-3.0-or-later
// Adds up the items of a trace.
#include "interface/summary.h"

#include "base/cleanup.h"
#include "base/hash.h"

#include <string.h>

struct counting {
    struct interface_summary *summary;
    struct map by_name; // hash of a name: entry
};

static struct error *find_entry(struct counting *counting, const char *name, uint32_t *ret_entry)
{
    *ret_entry = map_find(&counting->by_name, hash_text(name));
    if (*ret_entry != MAP_NONE)
        return NULL;
    struct function_summary *entry = ARRAY_ADD(&counting->summary->functions);
    if (entry == NULL)
        return error_no_memory();
    entry->name = name;
    *ret_entry = (uint32_t)(counting->summary->functions.count - 1);
    return map_put(&counting->by_name, hash_text(name), *ret_entry);
}

static struct error *count(struct counting *counting, const struct item *item)
{
    const struct world *world = items_world(counting->summary->items);
    const struct frame *frame = world_frame(world);
    uint32_t entry;
    if ((item->kind != ITEM_ENTER && item->kind != ITEM_STORE) || frame == NULL)
        return NULL;
    const char *name =
        frame->function == MAP_NONE ? "?" : world->functions.items[frame->function].name;
    TRY(find_entry(counting, name, &entry));
    struct function_summary *function = &counting->summary->functions.items[entry];
    function->calls += item->kind == ITEM_ENTER;
    function->stores += item->kind == ITEM_STORE;
    function->bytes += item->kind == ITEM_STORE ? item->size : 0;
    return NULL;
}

static int compare_names(const void *a, const void *b)
{
    const struct function_summary *x = a, *y = b;
    return strcmp(x->name, y->name);
}

struct error *interface_summarize(const struct trace_source *source, uint32_t program,
                                  struct interface_summary *ret_summary)
{
    struct interface_summary summary = {0};
    TRY(items_open(source, program, &summary.items));
    struct counting counting = {.summary = &summary};
    struct error *error = NULL;
    struct item item;
    bool more = true;
    while (error == NULL && more) {
        error = items_next(summary.items, &item, &more);
        if (error == NULL && more)
            error = count(&counting, &item);
    }
    map_deinit(&counting.by_name);
    if (error != NULL) {
        interface_summary_deinit(&summary);
        return error;
    }
    qsort(summary.functions.items, summary.functions.count, sizeof *summary.functions.items,
          compare_names);
    summary.stores = items_reach(summary.items)->stores;
    summary.calls = items_reach(summary.items)->calls;
    *ret_summary = summary;
    return NULL;
}

void interface_summary_deinit(struct interface_summary *summary)
{
    ARRAY_DEINIT(&summary->functions);
    items_close(summary->items);
    *summary = (struct interface_summary){0};
}
