// SPDX-License-Identifier: GPL-3.0-or-later
// Comparisons and summaries as JSON lines.
#include "report/interface/interface.h"

#include "base/cleanup.h"
#include "interface/corruption.h"
#include "interface/path-name.h"
#include "report/json.h"

#include <inttypes.h>

static struct error *finish(const struct json_builder *builder, const json_t *object,
                            struct buffer *text)
{
    _cleanup_(buffer_deinit) struct buffer line = {0};
    TRY(json_write_line(builder, object, &line));
    return buffer_append(text, line.data, line.size);
}

static struct error *add_meaning(struct json_builder *builder, json_t *object, const char *key,
                                 const struct world *world, struct meaning meaning)
{
    _cleanup_(buffer_deinit) struct buffer name = {0};
    if (meaning.kind == MEANING_NONE)
        return NULL;
    TRY(world_describe(world, meaning, &name));
    json_add_text(builder, object, key, name.data, name.size);
    return NULL;
}

static struct error *add_item(struct json_builder *builder, json_t *parent, const char *key,
                              const struct interface_comparison *comparison,
                              const struct interface_difference *difference, bool is_bad)
{
    const struct item *item = is_bad ? &difference->bad : &difference->good;
    const struct world *world = items_world(is_bad ? comparison->bad : comparison->good);
    json_t *object = json_add_object(builder, parent, key);
    if (item->kind == ITEM_STORE) {
        const struct place *place = world_place(world, item->code);
        json_add_string(builder, object, "file", place->file);
        if (place->line != 0)
            json_add_integer(builder, object, "line", place->line);
        json_add_string(builder, object, "function", place->function);
    }
    TRY(add_meaning(builder, object, "address", world, item->target));
    if (item->kind == ITEM_FREE)
        return NULL;
    json_add_integer(builder, object, "size", item->size);
    json_add_format(builder, object, "value", "%" PRIx64, item->value);
    TRY(add_meaning(builder, object, "points-to", world, item->pointee));
    json_add_string(builder, object, "class",
                    corruption_class_words[interface_value_class(comparison, difference, is_bad)]);
    return NULL;
}

static struct error *add_difference(const struct interface_comparison *comparison,
                                    struct path_names *names,
                                    const struct interface_difference *difference,
                                    struct buffer *text)
{
    struct json_builder builder = {0};
    _cleanup_(json_release) json_t *object = json_object();
    _cleanup_(buffer_deinit) struct buffer name = {0};
    enum interface_change change = difference->change;
    json_add_string(&builder, object, "change", corruption_change_words[change]);
    if (change != CHANGE_SPURIOUS_STORE && change != CHANGE_SPURIOUS_FREE)
        TRY(add_item(&builder, object, "good", comparison, difference, false));
    if (change != CHANGE_OMITTED_STORE && change != CHANGE_OMITTED_FREE)
        TRY(add_item(&builder, object, "bad", comparison, difference, true));
    TRY(path_names_put(names, difference, &name));
    if (name.size != 0)
        json_add_text(&builder, object, "name", name.data, name.size);
    return finish(&builder, object, text);
}

struct error *report_interface_comparison_json(const struct interface_comparison *comparison,
                                               struct buffer *text)
{
    _cleanup_(path_names_closep) struct path_names *names = NULL;
    if (comparison->outcome == INTERFACE_DIFFERS)
        TRY(path_names_open(comparison, &names));
    for (size_t i = 0; i < comparison->differences.count; i++)
        TRY(add_difference(comparison, names, &comparison->differences.items[i], text));
    struct json_builder builder = {0};
    _cleanup_(json_release) json_t *object = json_object();
    json_add_string(&builder, object, "outcome", interface_outcome_words[comparison->outcome]);
    if (comparison->outcome == INTERFACE_DIFFERS) {
        json_add_integer(&builder, object, "call", comparison->call);
        json_add_string(&builder, object, "function", comparison->function);
        json_add_integer(&builder, object, "corrupted-bytes", comparison->corrupted_bytes);
        json_t *bytes = json_add_object(&builder, object, "bytes");
        for (size_t i = 0; i < CHANGE_COUNT; i++)
            json_add_integer(&builder, bytes, corruption_change_words[i], comparison->bytes[i]);
        json_add_bool(&builder, object, "unfinished", comparison->unfinished);
        json_add_bool(&builder, object, "left", comparison->left);
        json_add_bool(&builder, object, "exact", comparison->exact && !comparison->cut);
    }
    return finish(&builder, object, text);
}

struct error *report_interface_summary_json(const struct interface_summary *summary,
                                            struct buffer *text)
{
    for (size_t i = 0; i < summary->functions.count; i++) {
        const struct function_summary *function = &summary->functions.items[i];
        struct json_builder builder = {0};
        _cleanup_(json_release) json_t *object = json_object();
        json_add_string(&builder, object, "function", function->name);
        json_add_integer(&builder, object, "calls", function->calls);
        json_add_integer(&builder, object, "stores", function->stores);
        json_add_integer(&builder, object, "bytes", function->bytes);
        TRY(finish(&builder, object, text));
    }
    return NULL;
}
