// SPDX-License-Identifier: GPL-3.0-or-later
// Comparisons and summaries for people, in the notation of figure 4.9.
#include "report/interface/interface.h"

#include "base/cleanup.h"
#include "interface/path-name.h"
#include "report/text.h"

#include <inttypes.h>
#include <string.h>

#define FEW 20 // differences that are listed unless all are wanted

static const char *const change_words[CHANGE_COUNT] = {
    [CHANGE_WRONG_VALUE] = "wrong value",       [CHANGE_OMITTED_STORE] = "omitted store",
    [CHANGE_SPURIOUS_STORE] = "spurious store", [CHANGE_WRONG_RESULT] = "wrong result",
    [CHANGE_OMITTED_FREE] = "omitted free",     [CHANGE_SPURIOUS_FREE] = "spurious free",
};

static struct error *put_value(const struct world *world, const struct item *item,
                               struct buffer *text)
{
    if (item->pointee.kind != MEANING_NONE) {
        _cleanup_(buffer_deinit) struct buffer name = {0};
        TRY(world_describe(world, item->pointee, &name));
        TRY(buffer_append(text, "&", 1));
        return text_put(text, name.data, name.size, 0);
    }
    unsigned digits = item->size >= 8 ? 16 : 2 * item->size;
    return buffer_printf(text, "%0*" PRIx64 "%s", (int)digits, item->value,
                         item->size > 8 ? "..." : "");
}

static struct error *put_where(const struct world *world, const struct item *item,
                               struct buffer *text)
{
    if (item->kind == ITEM_STORE) {
        const struct place *place = world_place(world, item->code);
        TRY(text_put(text, place->file, strlen(place->file), 0));
        if (place->line != 0)
            TRY(buffer_printf(text, ":%u", place->line));
        TRY(buffer_printf(text, ", "));
    }
    _cleanup_(buffer_deinit) struct buffer name = {0};
    TRY(world_describe(world, item->target, &name));
    return text_put(text, name.data, name.size, 0);
}

static struct error *put_name(struct path_names *names,
                              const struct interface_difference *difference, struct buffer *text)
{
    _cleanup_(buffer_deinit) struct buffer name = {0};
    TRY(path_names_put(names, difference, &name));
    if (name.size == 0)
        return NULL;
    TRY(buffer_printf(text, " ("));
    TRY(text_put(text, name.data, name.size, 0));
    return buffer_printf(text, ")");
}

static struct error *put_difference(const struct interface_comparison *comparison,
                                    struct path_names *names,
                                    const struct interface_difference *difference,
                                    struct buffer *text)
{
    const struct world *good = items_world(comparison->good), *bad = items_world(comparison->bad);
    bool only_good =
        difference->change == CHANGE_OMITTED_STORE || difference->change == CHANGE_OMITTED_FREE;
    const struct item *item = only_good ? &difference->good : &difference->bad;
    TRY(buffer_printf(text, "%s: ", change_words[difference->change]));
    if (difference->change != CHANGE_WRONG_RESULT)
        TRY(put_where(only_good ? good : bad, item, text));
    if (item->kind == ITEM_STORE)
        TRY(buffer_printf(text, ", %" PRIu32 ", ", item->size));
    if (difference->change == CHANGE_WRONG_VALUE || difference->change == CHANGE_WRONG_RESULT) {
        TRY(put_value(good, &difference->good, text));
        TRY(buffer_printf(text, " -> "));
    }
    if (item->kind == ITEM_STORE || item->kind == ITEM_RETURN)
        TRY(put_value(only_good ? good : bad, item, text));
    TRY(put_name(names, difference, text));
    return buffer_append(text, "\n", 1);
}

static struct error *put_sums(const struct interface_comparison *comparison, struct buffer *text)
{
    const uint64_t *bytes = comparison->bytes;
    TRY(buffer_printf(text, "Call %" PRIu64 " of the library, ", comparison->call));
    TRY(text_put(text, comparison->function, strlen(comparison->function), 0));
    TRY(buffer_printf(text,
                      ": %" PRIu64 " bytes corrupted (stores of wrong values %" PRIu64
                      ", omitted %" PRIu64 ", spurious %" PRIu64 "), result %s",
                      comparison->corrupted_bytes, bytes[CHANGE_WRONG_VALUE],
                      bytes[CHANGE_OMITTED_STORE], bytes[CHANGE_SPURIOUS_STORE],
                      comparison->unfinished            ? "missing: the call did not end"
                      : comparison->left                ? "missing: the call was left early"
                      : bytes[CHANGE_WRONG_RESULT] != 0 ? "wrong"
                                                        : "right"));
    if (comparison->cut)
        TRY(buffer_printf(text, "; the call makes more stores than are compared"));
    if (!comparison->exact)
        TRY(buffer_printf(text, "; the runs differ too much for the best alignment, so some stores "
                                "may be listed that do not differ"));
    return buffer_printf(text, "\n");
}

struct error *report_interface_comparison(const struct interface_comparison *comparison, bool all,
                                          struct buffer *text)
{
    if (comparison->outcome == INTERFACE_SAME)
        return buffer_printf(text, "The library gave its user the same.\n");
    if (comparison->outcome == INTERFACE_DIVERGED)
        return buffer_printf(text,
                             "The program used the library otherwise after call %" PRIu64
                             ", and the library had given it the same before.\n",
                             comparison->call);
    size_t count = comparison->differences.count;
    _cleanup_(path_names_closep) struct path_names *names = NULL;
    TRY(path_names_open(comparison, &names));
    for (size_t i = 0; i < count && (all || i < FEW); i++)
        TRY(put_difference(comparison, names, &comparison->differences.items[i], text));
    if (!all && count > FEW)
        TRY(buffer_printf(text, "... and %zu more; --all lists them\n", count - FEW));
    return put_sums(comparison, text);
}

struct error *report_interface_summary(const struct interface_summary *summary, struct buffer *text)
{
    TRY(buffer_printf(text, "%10s %10s %12s  %s\n", "calls", "stores", "bytes", "function"));
    for (size_t i = 0; i < summary->functions.count; i++) {
        const struct function_summary *function = &summary->functions.items[i];
        TRY(buffer_printf(text, "%10" PRIu64 " %10" PRIu64 " %12" PRIu64 "  ", function->calls,
                          function->stores, function->bytes));
        TRY(text_put(text, function->name, strlen(function->name), 0));
        TRY(buffer_append(text, "\n", 1));
    }
    return buffer_printf(text,
                         "%" PRIu64 " calls; the library made %" PRIu64
                         " stores outside of its own frames, and its user can see those of the "
                         "table\n",
                         summary->calls, summary->stores);
}
