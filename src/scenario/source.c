// SPDX-License-Identifier: GPL-3.0-or-later
// Makes errors that point at a place in the user's text. It only runs when there is an error to
// report, so it is simple and not fast.
#include "scenario/source.h"

#include "base/cleanup.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct source source_whole(const char *name, const char *text, size_t size)
{
    return (struct source){
        .name = name, .file = text, .file_size = size, .text = text, .size = size};
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// Where a character of a scalar stands in the file. A scalar's characters appear there in order,
// with quotes, indentation, line breaks and backslashes between them, so this walks both texts side
// by side.
static size_t scalar_position(const struct source *source, size_t offset)
{
    size_t at = source->base, end = source->file_size;
    if (at < end && (source->file[at] == '|' || source->file[at] == '>'))
        while (at < end && source->file[at] != '\n')
            at++;
    else if (at < end && (source->file[at] == '"' || source->file[at] == '\''))
        at++;
    for (size_t i = 0; i <= offset && i <= source->size; i++) {
        char wanted = i < source->size ? source->text[i] : '\0';
        size_t from = at;
        while (at < end && source->file[at] != wanted &&
               !(is_blank(wanted) && is_blank(source->file[at])))
            at++;
        if (at == end) { // an escape: stay where the last character was
            at = from;
            continue;
        }
        if (i == offset)
            return at;
        at++;
    }
    return at;
}

struct error *source_error(const struct source *source, size_t offset, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    _cleanup_error_ struct error *what = error_new_va(format, args);
    va_end(args);
    if (what == error_no_memory())
        return TAKE(what);
    const char *message = error_message(what);
    size_t position = source->base;
    if (source->mapping == SOURCE_FIXED)
        return error_at(source->name, source->file, source->file_size, position, 1,
                        "%s (in '%.*s')", message, source->size < 200 ? (int)source->size : 200,
                        source->text);
    if (source->mapping == SOURCE_SCALAR)
        position = scalar_position(source, offset);
    else
        position += offset;
    return error_at(source->name, source->file, source->file_size, position, 1, "%s", message);
}
