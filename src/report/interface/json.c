// SPDX-License-Identifier: GPL-3.0-or-later
// Comparisons and summaries as JSON lines.
#include "report/interface/interface.h"

#include "base/cleanup.h"
#include "report/json.h"

#include <inttypes.h>

static const char *const change_words[CHANGE_COUNT] = {
    [CHANGE_WRONG_VALUE] = "wrong-value",       [CHANGE_OMITTED_STORE] = "omitted-store",
    [CHANGE_SPURIOUS_STORE] = "spurious-store", [CHANGE_WRONG_RESULT] = "wrong-result",
    [CHANGE_OMITTED_FREE] = "omitted-free",     [CHANGE_SPURIOUS_FREE] = "spurious-free",
};
static const char *const outcome_words[] = {
    [INTERFACE_SAME] = "same", [INTERFACE_DIFFERS] = "differs", [INTERFACE_DIVERGED] = "diverged"};
static const char *const class_words[VALUE_CLASS_COUNT] = {
    [VALUE_ZERO] = "zero",
    [VALUE_MINUS_ONE] = "minus-one",
    [VALUE_NULL] = "null",
    [VALUE_SMALL] = "small",
    [VALUE_POINTER_SAME] = "pointer-same-area",
    [VALUE_POINTER_OTHER] = "pointer-other-area",
    [VALUE_TEXT] = "text",
    [VALUE_OTHER] = "other",
};

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
                    class_words[interface_value_class(comparison, difference, is_bad)]);
    return NULL;
}

static struct error *add_difference(const struct interface_comparison *comparison,
                                    const struct interface_difference *difference,
                                    struct buffer *text)
{
    struct json_builder builder = {0};
    _cleanup_(json_release) json_t *object = json_object();
    enum interface_change change = difference->change;
    json_add_string(&builder, object, "change", change_words[change]);
    if (change != CHANGE_SPURIOUS_STORE && change != CHANGE_SPURIOUS_FREE)
        TRY(add_item(&builder, object, "good", comparison, difference, false));
    if (change != CHANGE_OMITTED_STORE && change != CHANGE_OMITTED_FREE)
        TRY(add_item(&builder, object, "bad", comparison, difference, true));
    return finish(&builder, object, text);
}

struct error *report_interface_comparison_json(const struct interface_comparison *comparison,
                                               struct buffer *text)
{
    for (size_t i = 0; i < comparison->differences.count; i++)
        TRY(add_difference(comparison, &comparison->differences.items[i], text));
    struct json_builder builder = {0};
    _cleanup_(json_release) json_t *object = json_object();
    json_add_string(&builder, object, "outcome", outcome_words[comparison->outcome]);
    if (comparison->outcome == INTERFACE_DIFFERS) {
        json_add_integer(&builder, object, "call", comparison->call);
        json_add_string(&builder, object, "function", comparison->function);
        json_add_integer(&builder, object, "corrupted-bytes", comparison->corrupted_bytes);
        json_t *bytes = json_add_object(&builder, object, "bytes");
        for (size_t i = 0; i < CHANGE_COUNT; i++)
            json_add_integer(&builder, bytes, change_words[i], comparison->bytes[i]);
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
