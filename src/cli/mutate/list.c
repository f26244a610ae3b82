// SPDX-License-Identifier: GPL-3.0-or-later
// Names come from foreign files, so they are escaped.
#include "cli/mutate/list.h"

#include "base/cleanup.h"
#include "report/json-row.h"
#include "report/json.h"
#include "report/text.h"

#include <stdio.h>
#include <string.h>

static const char *remark_of(const struct mutate_candidate *candidate)
{
    static const char *const remarks[MUTATE_STATES] = {
        [MUTATE_APPLICABLE] = "",
        [MUTATE_NO_TEXT] = "  (in a macro)",
        [MUTATE_NO_ROOM] = "  (no room in the code)",
        [MUTATE_BROKEN] = "  (does not compile)",
        [MUTATE_EQUIVALENT] = "  (equivalent)",
        [MUTATE_DUPLICATE] = "  (duplicate)",
    };
    return remarks[candidate->state];
}

struct error *list_put_row(const struct mutate_candidate *candidate, size_t number,
                           struct buffer *text)
{
    _cleanup_(buffer_deinit) struct buffer place = {0}, detail = {0};
    TRY(text_put(&place, candidate->file, strlen(candidate->file), 0));
    if (candidate->line != 0)
        TRY(buffer_printf(&place, ":%u", candidate->line));
    if (candidate->column != 0)
        TRY(buffer_printf(&place, ":%u", candidate->column));
    if (candidate->address != 0)
        TRY(buffer_printf(&place, "%s0x%llx", place.size > 0 ? " " : "",
                          (unsigned long long)candidate->address));
    TRY(text_put(&detail, candidate->detail, strlen(candidate->detail), 0));
    return buffer_printf(text, "%7zu  %-22s  %-28s  %-16s  %s%s\n", number,
                         model_types[candidate->kind].name, place.data != NULL ? place.data : "",
                         candidate->function, detail.data != NULL ? detail.data : "",
                         remark_of(candidate));
}

static void add_constraints(struct json_builder *builder, json_t *row, uint32_t set)
{
    json_t *constraints = json_add_array(builder, row, "constraints");
    for (int i = 1; i <= MODEL_CONSTRAINTS; i++)
        if (set & 1u << i)
            json_add_format(builder, constraints, NULL, "C%02d", i);
}

static void put_constraints(struct json_row *row, uint32_t set)
{
    static const char *const names[MODEL_CONSTRAINTS + 1] = {
        "", "C01", "C02", "C03", "C04", "C05", "C06", "C07", "C08", "C09", "C10", "C11"};
    const char *held[MODEL_CONSTRAINTS];
    size_t count = 0;
    for (int i = 1; i <= MODEL_CONSTRAINTS; i++)
        if (set & 1u << i)
            held[count++] = names[i];
    json_row_strings(row, "constraints", held, count);
}

struct error *list_put_json(const struct mutate_candidate *candidate, const struct mutate_set *set,
                            size_t number, const char *mutant, struct buffer *text)
{
    struct json_row row = json_row_begin(text);
    json_row_integer(&row, "number", number);
    json_row_string(&row, "id", candidate->id);
    json_row_string(&row, "level", set->level->name);
    json_row_string(&row, "type", model_types[candidate->kind].name);
    json_row_string(&row, "field", model_types[candidate->kind].field);
    json_row_string(&row, "file", candidate->file);
    json_row_integer(&row, "line", candidate->line);
    json_row_integer(&row, "column", candidate->column);
    if (candidate->address != 0) {
        char address[24];
        snprintf(address, sizeof address, "0x%llx", (unsigned long long)candidate->address);
        json_row_string(&row, "address", address);
    }
    json_row_string(&row, "function", candidate->function);
    json_row_string(&row, "operands", candidate->detail);
    if (candidate->parameter != 0)
        json_row_integer(&row, "parameter", candidate->parameter);
    if (*candidate->replacement != '\0')
        json_row_string(&row, "replacement", candidate->replacement);
    put_constraints(&row, candidate->constraints);
    json_row_bool(&row, "macro", candidate->macro || candidate->state == MUTATE_NO_TEXT);
    if (candidate->argument)
        json_row_bool(&row, "argument", true);
    if (*candidate->inlined != '\0') {
        json_row_string(&row, "inlined", candidate->inlined);
        json_row_bool(&row, "inline_asked", candidate->inline_asked);
    }
    json_row_string(&row, "state", mutate_state_word(candidate->state));
    if (candidate->checked)
        json_row_bool(&row, "checked", true);
    if (candidate->state == MUTATE_DUPLICATE)
        json_row_string(&row, "same", set->items.items[candidate->same].id);
    if (mutant != NULL)
        json_row_string(&row, "mutant", mutant);
    return json_row_end(&row);
}

struct error *list_put_construct(const struct construct_line *construct, struct buffer *text)
{
    struct json_row row = json_row_begin(text);
    json_row_string(&row, "construct", construct_words[construct->kind]);
    json_row_string(&row, "file", construct->file);
    json_row_integer(&row, "line", construct->line);
    return json_row_end(&row);
}

// ---- the model ----

static struct error *put_type_json(const struct model_type *type, struct buffer *text)
{
    struct json_builder builder = {0};
    _cleanup_(json_release) json_t *row = json_object();
    _cleanup_(buffer_deinit) struct buffer line = {0};
    if (row == NULL)
        return error_no_memory();
    json_add_string(&builder, row, "field", type->field);
    json_add_string(&builder, row, "type", type->name);
    json_add_string(&builder, row, "odc", type->odc);
    json_add_string(&builder, row, "description", type->description);
    if (type->group != NULL)
        json_add_string(&builder, row, "group", type->group);
    add_constraints(&builder, row, type->constraints);
    if (type->note != NULL)
        json_add_string(&builder, row, "note", type->note);
    TRY(json_write_line(&builder, row, &line));
    return buffer_append(text, line.data, line.size);
}

static struct error *put_type(const struct model_type *type, struct buffer *text)
{
    TRY(buffer_printf(text, "%-4s  %-22s  %-10s  ", type->field, type->name, type->odc));
    for (int i = 1; i <= MODEL_CONSTRAINTS; i++)
        if (type->constraints & 1u << i)
            TRY(buffer_printf(text, "C%02d ", i));
    TRY(buffer_printf(text, "\n      %s\n", type->description));
    return type->note != NULL ? buffer_printf(text, "      note: %s\n", type->note) : NULL;
}

struct error *list_put_types(bool json, struct buffer *text)
{
    if (!json)
        TRY(buffer_printf(text, "%-4s  %-22s  %-10s  %s\n", "", "type", "class", "constraints"));
    for (int i = 0; i < MODEL_KINDS; i++)
        TRY(json ? put_type_json(&model_types[i], text) : put_type(&model_types[i], text));
    for (int i = 1; i <= MODEL_CONSTRAINTS && !json; i++)
        TRY(buffer_printf(text, "C%02d   %s\n", i, model_constraints[i]));
    return NULL;
}
