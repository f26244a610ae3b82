// SPDX-License-Identifier: GPL-3.0-or-later
// Writes faults down: as the text of a file that has one, and as the table for the compiler pass.
#include "mutate/source/source.h"

#include "base/cleanup.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST_SOURCE ((size_t)256 << 20)

static bool is_directive(const char *line, const char *end)
{
    while (line < end && (*line == ' ' || *line == '\t'))
        line++;
    return line < end && *line == '#';
}

// Puts what must stay of a text that is replaced: its lines, so that later code keeps its numbers,
// its directives, because what they open or close may be outside, and the last line's
// indentation. `lines` are there already.
static struct error *put_rest(struct buffer *text, const char *at, const char *end, size_t lines)
{
    const char *indent = end; // of the last line
    for (const char *next; (next = memchr(at, '\n', (size_t)(end - at))) != NULL; at = next + 1) {
        const char *line = next + 1;
        const char *line_end = memchr(line, '\n', (size_t)(end - line));
        const char *begin = next > at && next[-1] == '\r' ? next - 1 : next;
        begin -= begin > at && begin[-1] == '\\';
        if (lines > 0)
            lines--;
        else
            TRY(buffer_append(text, begin, (size_t)(next + 1 - begin)));
        if (line_end != NULL && is_directive(line, line_end))
            TRY(buffer_append(text, line, (size_t)(line_end - line)));
        indent = line;
    }
    size_t blanks = 0;
    while (indent + blanks < end && (indent[blanks] == ' ' || indent[blanks] == '\t'))
        blanks++;
    return indent < end ? buffer_append(text, indent, blanks) : NULL;
}

static size_t count_lines(const char *text)
{
    size_t count = 0;
    for (; (text = strchr(text, '\n')) != NULL; text++)
        count++;
    return count;
}

struct error *source_apply(const struct source_fault *fault, struct buffer *ret_text)
{
    _cleanup_(buffer_deinit) struct buffer original = {0}, text = {0};
    TRY(buffer_read_regular(fault->path, LARGEST_SOURCE, &original));
    size_t at = 0;
    for (unsigned i = 0; i < fault->edit_count; i++) {
        const struct source_edit *edit = &fault->edits[i];
        if (edit->begin < at || edit->end < edit->begin || edit->end > original.size)
            return error_new("%s has changed since it was looked at", fault->path);
        TRY(buffer_append(&text, original.data + at, edit->begin - at));
        TRY(buffer_append(&text, edit->text, strlen(edit->text)));
        TRY(put_rest(&text, original.data + edit->begin, original.data + edit->end,
                     count_lines(edit->text)));
        at = edit->end;
    }
    TRY(buffer_append(&text, original.data + at, original.size - at));
    *ret_text = text;
    text = (struct buffer){0};
    return NULL;
}

static struct error *put_string(struct source_writer *writer, const char *text, uint32_t *ret_at)
{
    if (writer->strings.size == 0)
        TRY(buffer_append(&writer->strings, "", 1));
    *ret_at = 0;
    if (*text == '\0')
        return NULL;
    *ret_at = (uint32_t)writer->strings.size;
    return buffer_append(&writer->strings, text, strlen(text) + 1);
}

// Debug information may name a file in another way: names are compared as the file system knows
// them.
static struct error *put_path(struct source_writer *writer, const char *path, uint32_t *ret_at)
{
    _cleanup_free_ char *real = realpath(path, NULL);
    return put_string(writer, real != NULL ? real : path, ret_at);
}

struct error *source_writer_add(struct source_writer *writer, const char *source,
                                const struct source_faults *faults)
{
    uint32_t name, file = 0, function = 0;
    const char *last = NULL, *named = NULL;
    TRY(put_string(writer, source, &name));
    for (size_t i = 0; i < faults->items.count; i++) {
        const struct source_fault *fault = &faults->items.items[i];
        if (last == NULL || strcmp(last, fault->file) != 0)
            TRY(put_path(writer, last = fault->file, &file));
        struct source_row row = {
            .kind = fault->kind,
            .how = fault->how,
            .reason = fault->reason,
            .flags = fault->flags,
            .source = name,
            .file = file,
            .function = fault->function_line,
            .at = fault->at,
            .begin = fault->begin,
            .end = fault->end,
        };
        if (named == NULL || strcmp(named, fault->function) != 0)
            TRY(put_string(writer, named = fault->function, &function));
        row.function_name = function;
        TRY(put_string(writer, fault->name, &row.name));
        TRY(put_string(writer, fault->other, &row.other));
        TRY(put_string(writer, fault->detail, &row.detail));
        TRY(buffer_append(&writer->rows, &row, sizeof row));
    }
    return NULL;
}

struct error *source_writer_finish(const struct source_writer *writer, struct buffer *ret_table)
{
    _cleanup_(buffer_deinit) struct buffer table = {0};
    const struct source_header header = {
        .magic = SOURCE_MAGIC,
        .version = SOURCE_VERSION,
        .rows = (uint32_t)(writer->rows.size / sizeof(struct source_row)),
        .strings = (uint32_t)writer->strings.size,
    };
    TRY(buffer_append(&table, &header, sizeof header));
    TRY(buffer_append(&table, writer->rows.data, writer->rows.size));
    TRY(buffer_append(&table, writer->strings.data, writer->strings.size));
    *ret_table = table;
    table = (struct buffer){0};
    return NULL;
}

void source_writer_deinit(struct source_writer *writer)
{
    buffer_deinit(&writer->rows);
    buffer_deinit(&writer->strings);
}
