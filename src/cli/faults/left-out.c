// SPDX-License-Identifier: GPL-3.0-or-later
// Lists the faults that a program could have and has not: those of the source whose code cannot be
// told, and those that the build had no room for.
#include "cli/faults/show.h"

#include "base/cleanup.h"
#include "mutate/source-table.h"
#include "report/json.h"
#include "report/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// Besides those of the source.
enum { NO_ROOM = SOURCE_REASONS, NO_FUNCTION, REASONS };

static const char *const words[REASONS] = {
    [SOURCE_MACRO] = "inside a macro",          [SOURCE_NO_CODE] = "no code",
    [SOURCE_AMBIGUOUS] = "code cannot be told", [SOURCE_NO_RETURN] = "nothing runs after it",
    [SOURCE_TEMPORARY] = "temporary objects",   [SOURCE_VALUE] = "condition is a value",
    [SOURCE_ROOM] = "variable cannot be told",  [NO_ROOM] = "over the limit",
    [NO_FUNCTION] = "function cannot have any",
};
static const char *const keys[REASONS] = {
    [SOURCE_MACRO] = "macro",         [SOURCE_NO_CODE] = "no-code",
    [SOURCE_AMBIGUOUS] = "ambiguous", [SOURCE_NO_RETURN] = "no-return",
    [SOURCE_TEMPORARY] = "temporary", [SOURCE_VALUE] = "value",
    [SOURCE_ROOM] = "variable",       [NO_ROOM] = "limit",
    [NO_FUNCTION] = "function",
};

// Names come from a foreign file, so they are escaped.
static struct error *put_row(const struct image_left_out *row,
                             const struct image_function *function, struct buffer *text)
{
    _cleanup_(buffer_deinit) struct buffer type = {0}, place = {0}, name = {0}, detail = {0};
    _cleanup_(buffer_deinit) struct buffer reason = {0};
    const char *why = row->reason == NO_FUNCTION && *function->reason != '\0' ? function->reason
                                                                              : words[row->reason];
    TRY(text_put(&reason, why, strlen(why), 0));
    TRY(text_put(&type, row->type, strlen(row->type), 0));
    TRY(text_put(&place, row->file, strlen(row->file), 0));
    TRY(buffer_printf(&place, ":%" PRIu32 ":%" PRIu32, row->line, row->column));
    TRY(text_put(&name, function->name, strlen(function->name), 0));
    TRY(text_put(&detail, row->detail, strlen(row->detail), 0));
    return buffer_printf(text, "%-22s  %-28s  %-16s  %-23s  %s\n", type.data, place.data,
                         name.data != NULL ? name.data : "", reason.data,
                         detail.data != NULL ? detail.data : "");
}

static struct error *put_json(const struct image_left_out *row, const char *function,
                              struct buffer *text)
{
    struct json_builder builder = {0};
    _cleanup_(json_release) json_t *object = json_object();
    _cleanup_(buffer_deinit) struct buffer line = {0};
    if (object == NULL)
        return error_no_memory();
    json_add_string(&builder, object, "type", row->type);
    json_add_string(&builder, object, "function", function);
    json_add_string(&builder, object, "file", row->file);
    json_add_integer(&builder, object, "line", row->line);
    json_add_integer(&builder, object, "column", row->column);
    json_add_string(&builder, object, "operands", row->detail);
    json_add_string(&builder, object, "reason", keys[row->reason]);
    TRY(json_write_line(&builder, object, &line));
    return buffer_append(text, line.data, line.size);
}

struct type_count {
    const char *type;
    size_t count;
};

struct listing {
    const struct image *image;
    const struct faults_filter *filter;
    bool json;
    struct buffer *text;
    size_t counts[REASONS], all;
    ARRAY(struct type_count) types;
};

static void listing_deinit(struct listing *listing)
{
    ARRAY_DEINIT(&listing->types);
}

static struct error *count_type(struct listing *listing, const char *type)
{
    size_t i = 0;
    while (i < listing->types.count && strcmp(listing->types.items[i].type, type) != 0)
        i++;
    if (i == listing->types.count) {
        struct type_count *slot = ARRAY_ADD(&listing->types);
        if (slot == NULL)
            return error_no_memory();
        *slot = (struct type_count){.type = type};
    }
    listing->types.items[i].count++;
    return NULL;
}

static int by_count(const void *a, const void *b)
{
    const struct type_count *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return strcmp(x->type, y->type);
}

static struct error *put(struct listing *listing, const struct image_left_out *row)
{
    const struct image_function *function = &listing->image->functions.items[row->function];
    if (function->again || !faults_fits(listing->filter->types, row->type) ||
        !faults_fits(listing->filter->files, row->file) ||
        !faults_fits(listing->filter->functions, function->name))
        return NULL;
    listing->counts[row->reason]++;
    listing->all++;
    TRY(count_type(listing, row->type));
    return listing->json ? put_json(row, function->name, listing->text)
                         : put_row(row, function, listing->text);
}

static struct error *put_summary(const struct listing *listing)
{
    struct buffer *text = listing->text;
    if (listing->types.count != 0)
        qsort(listing->types.items, listing->types.count, sizeof *listing->types.items, by_count);
    for (size_t i = 0; i < listing->types.count; i++) {
        TRY(buffer_printf(text, "%s%7zu  ", i == 0 ? "\n" : "", listing->types.items[i].count));
        TRY(text_put(text, listing->types.items[i].type, strlen(listing->types.items[i].type), 0));
        TRY(buffer_append(text, "\n", 1));
    }
    TRY(buffer_printf(text, "%s%zu left out", listing->all != 0 ? "\n" : "", listing->all));
    const char *before = ": ";
    for (size_t i = 0; i < REASONS; i++) {
        if (listing->counts[i] == 0 || words[i] == NULL)
            continue;
        TRY(buffer_printf(text, "%s%zu %s", before, listing->counts[i], words[i]));
        before = ", ";
    }
    return buffer_printf(text, "\n");
}

struct error *faults_put_left_out(const struct image *image, const struct faults_filter *filter,
                                  bool json, struct buffer *text)
{
    _cleanup_(listing_deinit) struct listing listing = {
        .image = image, .filter = filter, .json = json, .text = text};
    for (size_t i = 0; i < image->left_out.count; i++) {
        struct image_left_out row = image->left_out.items[i];
        if (row.reason == SOURCE_FOUND || row.reason >= SOURCE_REASONS)
            row.reason = SOURCE_AMBIGUOUS; // a newer compiler's
        TRY(put(&listing, &row));
    }
    for (size_t i = 0; i < image->candidates.count; i++) {
        const struct image_candidate *candidate = &image->candidates.items[i];
        if ((candidate->flags & (MAP_CHOSEN | MAP_IDLE)) != 0)
            continue;
        const struct image_function *function = &image->functions.items[candidate->function];
        const struct image_left_out row = {
            .function = candidate->function,
            .type = candidate->type,
            .file = candidate->file,
            .detail = candidate->detail,
            .line = candidate->line,
            .column = candidate->column,
            .reason = (function->flags & MAP_SKIPPED) != 0 ? NO_FUNCTION : NO_ROOM,
        };
        TRY(put(&listing, &row));
    }
    return json ? NULL : put_summary(&listing);
}
