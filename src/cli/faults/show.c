// SPDX-License-Identifier: GPL-3.0-or-later
// Lists the software faults of a program, as a table and as JSON.
#include "cli/faults/show.h"

#include "base/cleanup.h"
#include "report/json.h"
#include "report/text.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>

bool faults_fits(const struct option_list *globs, const char *text)
{
    for (size_t i = 0; i < globs->entries.count; i++)
        if (fnmatch(globs->entries.items[i].value, text, 0) == 0)
            return true;
    return globs->entries.count == 0;
}

bool faults_filter_has(const struct faults_filter *filter, const struct image *image, size_t number,
                       const bool *enabled)
{
    const struct image_candidate *candidate = &image->candidates.items[number];
    const struct image_function *function = &image->functions.items[candidate->function];
    bool live = candidate->copies != 0 ||
                (image->decide == MAP_VARIABLE && (candidate->flags & MAP_CHOSEN) != 0);
    return !function->again && (live || filter->all) &&
           (enabled[number] || !filter->only_enabled) &&
           (filter->executed == NULL || filter->executed[number]) &&
           faults_fits(filter->types, candidate->type) &&
           faults_fits(filter->files, candidate->file) &&
           faults_fits(filter->functions, function->name);
}

static const char *state(const struct image *image, size_t number, const bool *enabled)
{
    const struct image_candidate *candidate = &image->candidates.items[number];
    if (enabled[number])
        return "enabled";
    if ((candidate->flags & MAP_IDLE) != 0)
        return "no difference";
    if ((candidate->flags & MAP_CHOSEN) == 0)
        return image->plain ? "no room in the code" : "not chosen";
    return candidate->copies == 0 && image->decide != MAP_VARIABLE ? "removed" : "";
}

// Names come from a foreign file, so they are escaped.
static struct error *put_place(const struct image_candidate *candidate, struct buffer *text)
{
    bool known = *candidate->file != '\0';
    if (known) {
        TRY(text_put(text, candidate->file, strlen(candidate->file), 0));
        TRY(buffer_printf(text, ":%" PRIu32, candidate->line));
    }
    if (candidate->address != 0)
        return buffer_printf(text, "%s0x%" PRIx64, known ? " " : "", candidate->address);
    return known ? buffer_printf(text, ":%" PRIu32, candidate->column) : buffer_printf(text, "?");
}

struct error *faults_put_one(const struct image *image, size_t number, struct buffer *text)
{
    const struct image_candidate *candidate = &image->candidates.items[number];
    const char *function = image->functions.items[candidate->function].name;
    TRY(buffer_printf(text, "%zu ", number + 1));
    TRY(text_put(text, candidate->type, strlen(candidate->type), 0));
    TRY(buffer_printf(text, " at "));
    TRY(put_place(candidate, text));
    TRY(buffer_printf(text, " in "));
    return text_put(text, function, strlen(function), 0);
}

static struct error *put_row(const struct image *image, size_t number, const bool *enabled,
                             struct buffer *text)
{
    const struct image_candidate *candidate = &image->candidates.items[number];
    const char *function = image->functions.items[candidate->function].name;
    _cleanup_(buffer_deinit) struct buffer type = {0}, place = {0}, name = {0}, works_on = {0};
    TRY(text_put(&type, candidate->type, strlen(candidate->type), 0));
    TRY(put_place(candidate, &place));
    TRY(text_put(&name, function, strlen(function), 0));
    if (*candidate->detail != '\0') {
        TRY(buffer_printf(&works_on, "  "));
        TRY(text_put(&works_on, candidate->detail, strlen(candidate->detail), 0));
    }
    const char *is = state(image, number, enabled);
    return buffer_printf(text, "%7zu  %-22s  %-28s  %-16s%s%s%s%s\n", number + 1, type.data,
                         place.data, name.data, works_on.size != 0 ? works_on.data : "",
                         (candidate->flags & MAP_MACRO) != 0 ? "  (macro)" : "",
                         *is != '\0' ? "  " : "", is);
}

static struct error *put_number(struct buffer *text, size_t number, const char *what)
{
    return buffer_printf(text, "%zu %s%s", number, what, number == 1 ? "" : "s");
}

// `executed`: how many of those that can be enabled are executed; SIZE_MAX: not asked for.
static struct error *put_summary(const struct image *image, const bool *enabled, size_t shown,
                                 size_t executed, struct buffer *text)
{
    size_t all = 0, live = 0, on = 0, unchosen = 0, unfit = 0, idle = 0;
    size_t functions = 0, places = 0, skipped = 0;
    for (size_t i = 0; i < image->candidates.count; i++) {
        const struct image_candidate *candidate = &image->candidates.items[i];
        if (image->functions.items[candidate->function].again)
            continue;
        bool chosen = (candidate->flags & MAP_CHOSEN) != 0;
        all++;
        idle += !chosen && (candidate->flags & MAP_IDLE) != 0;
        bool left_out = !chosen && (candidate->flags & MAP_IDLE) == 0;
        unchosen += left_out;
        unfit += left_out && (image->functions.items[candidate->function].flags & MAP_SKIPPED) == 0;
        live += candidate->copies != 0 || (image->decide == MAP_VARIABLE && chosen);
        on += enabled[i];
    }
    for (size_t i = 0; i < image->functions.count; i++) {
        const struct image_function *function = &image->functions.items[i];
        functions += !function->again;
        places += !function->again && (function->flags & MAP_IN_PLACE) != 0;
        skipped += !function->again && (function->flags & MAP_SKIPPED) != 0;
    }
    TRY(buffer_printf(text, "%s", shown != 0 ? "\n" : ""));
    if (executed != SIZE_MAX) {
        TRY(put_number(text, executed, "fault"));
        TRY(buffer_printf(text, " of %zu in executed code; ", live));
    }
    TRY(put_number(text, all, "candidate"));
    TRY(buffer_printf(text, " in "));
    TRY(put_number(text, functions, "function"));
    TRY(buffer_printf(text, " of "));
    TRY(put_number(text, image->modules, "module"));
    TRY(buffer_printf(text,
                      ": %zu can be enabled, %zu enabled now, %zu removed by the optimiser or "
                      "linker, %zu not chosen",
                      live, on, all - live - unchosen - idle, unchosen));
    if (unchosen != 0)
        TRY(buffer_printf(text, " (--left-out lists them%s)",
                          unfit != 0 ? ", 'ordeal cc --clone-budget' makes room" : ""));
    if (idle != 0)
        TRY(buffer_printf(text, ", %zu that would make no difference", idle));
    if (places != 0) {
        TRY(buffer_printf(text, "; "));
        TRY(put_number(text, places, "function"));
        TRY(buffer_printf(text, " with markers in place"));
    }
    if (skipped != 0) {
        TRY(buffer_printf(text, "; "));
        TRY(put_number(text, skipped, "function"));
        TRY(buffer_printf(text, " left out"));
    }
    return buffer_append(text, "\n", 1);
}

// Of a plain file, likewise.
static struct error *put_plain_summary(const struct image *image,
                                       const struct faults_filter *filter, const bool *enabled,
                                       size_t shown, size_t executed, struct buffer *text)
{
    const struct plain_counts *counts = filter->counts;
    size_t live = 0, on = 0;
    for (size_t i = 0; i < image->candidates.count; i++) {
        live += image->candidates.items[i].copies != 0;
        on += enabled[i];
    }
    TRY(buffer_printf(text, "%s", shown != 0 ? "\n" : ""));
    if (executed != SIZE_MAX) {
        TRY(put_number(text, executed, "fault"));
        TRY(buffer_printf(text, " of %zu in executed code; ", live));
    }
    TRY(put_number(text, image->candidates.count, "candidate"));
    TRY(buffer_printf(text, " in machine code: %zu can be enabled, %zu enabled now", live, on));
    if (live != image->candidates.count)
        TRY(buffer_printf(text, ", %zu without room in the code", image->candidates.count - live));
    return buffer_printf(text,
                         "; %zu of %zu functions were reconstructed, %zu others are optimised; no "
                         "faults of 'ordeal cc' inside\n",
                         counts->understood, counts->all, counts->optimised);
}

static size_t count_executed(const struct image *image, const bool *executed)
{
    size_t count = 0;
    for (size_t i = 0; executed != NULL && i < image->candidates.count; i++)
        count += executed[i] && image->candidates.items[i].copies != 0 &&
                 !image->functions.items[image->candidates.items[i].function].again;
    return executed != NULL ? count : SIZE_MAX;
}

struct error *faults_put_table(const struct image *image, const struct faults_filter *filter,
                               const bool *enabled, struct buffer *text)
{
    size_t shown = 0;
    for (size_t i = 0; i < image->candidates.count; i++)
        if (faults_filter_has(filter, image, i, enabled)) {
            TRY(put_row(image, i, enabled, text));
            shown++;
        }
    if (image->plain)
        return put_plain_summary(image, filter, enabled, shown,
                                 count_executed(image, filter->executed), text);
    if (image->functions.count == 0)
        return buffer_printf(text, "no faults inside; was it built with 'ordeal cc'?\n");
    return put_summary(image, enabled, shown, count_executed(image, filter->executed), text);
}

static struct error *put_json(const struct image *image, size_t number, const bool *enabled,
                              struct buffer *text)
{
    const struct image_candidate *candidate = &image->candidates.items[number];
    const struct image_function *function = &image->functions.items[candidate->function];
    struct json_builder builder = {0};
    _cleanup_(json_release) json_t *row = json_object();
    if (row == NULL)
        return error_no_memory();
    json_add_integer(&builder, row, "number", number + 1);
    json_add_string(&builder, row, "binary", image->path);
    json_add_string(&builder, row, "type", candidate->type);
    json_add_string(&builder, row, "module", function->source);
    json_add_string(&builder, row, "function", function->name);
    json_add_string(&builder, row, "file", candidate->file);
    json_add_integer(&builder, row, "line", candidate->line);
    json_add_integer(&builder, row, "column", candidate->column);
    json_add_integer(&builder, row, "block", candidate->block);
    json_add_string(&builder, row, "operands", candidate->detail);
    json_add_bool(&builder, row, "macro", (candidate->flags & MAP_MACRO) != 0);
    json_add_bool(&builder, row, "inline", (function->flags & MAP_INLINE) != 0);
    json_add_integer(&builder, row, "loop_depth", candidate->flags >> MAP_LOOP);
    json_add_integer(&builder, row, "copies", candidate->copies);
    json_add_bool(&builder, row, "chosen", (candidate->flags & MAP_CHOSEN) != 0);
    json_add_bool(&builder, row, "idle", (candidate->flags & MAP_IDLE) != 0);
    json_add_bool(&builder, row, "enabled", enabled[number]);
    if (image->plain) {
        json_add_format(&builder, row, "address", "0x%" PRIx64, candidate->address);
        json_add_string(&builder, row, "id", candidate->id);
    } else {
        json_add_format(&builder, row, "id", "%016" PRIx64 ":%" PRIu32, function->id,
                        candidate->number);
    }
    _cleanup_(buffer_deinit) struct buffer line = {0};
    TRY(json_write_line(&builder, row, &line));
    return buffer_append(text, line.data, line.size);
}

struct error *faults_put_json(const struct image *image, const struct faults_filter *filter,
                              const bool *enabled, struct buffer *text)
{
    for (size_t i = 0; i < image->candidates.count; i++)
        if (faults_filter_has(filter, image, i, enabled))
            TRY(put_json(image, i, enabled, text));
    return NULL;
}
