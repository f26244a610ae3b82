// SPDX-License-Identifier: GPL-3.0-or-later
// Reads weights of fault types from a file, and finds the weight of a type.
#include "definition/weights.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <string.h>

#define FILE_LIMIT (16u << 20)

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

// The weight is the last word. Everything before it is the type, which may contain blanks.
static struct error *read_line(const char *path, const struct buffer *text, const char *line,
                               size_t size, struct weights *weights)
{
    while (size != 0 && is_blank(line[size - 1]))
        size--;
    while (size != 0 && is_blank(line[0])) {
        line++;
        size--;
    }
    if (size == 0 || line[0] == '#')
        return NULL;
    size_t word = size;
    while (word != 0 && !is_blank(line[word - 1]))
        word--;
    size_t type = word;
    while (type != 0 && is_blank(line[type - 1]))
        type--;
    char number[64] = "", *end = number;
    if (size - word < sizeof number)
        memcpy(number, line + word, size - word);
    double value = strtod(number, &end);
    if (type == 0)
        return error_at(path, text->data, text->size, (size_t)(line - text->data), 1,
                        "expected a fault type and its weight: read=-1/EIO 2.5");
    if (number[0] == '\0' || *end != '\0' || !isfinite(value) || value < 0)
        return error_at(path, text->data, text->size, (size_t)(line + word - text->data), 1,
                        "expected a weight: a number that is not negative");
    if (memchr(line, '\0', size) != NULL)
        return error_at(path, text->data, text->size, (size_t)(line - text->data), 1,
                        "a NUL byte has no place here");
    char *copy = strndup(line, type);
    struct weight *added = copy != NULL ? ARRAY_ADD(&weights->lines) : NULL;
    if (added == NULL) {
        free(copy);
        return error_no_memory();
    }
    *added = (struct weight){copy, value};
    return NULL;
}

struct error *weights_read(const char *path, struct weights *ret_weights)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(buffer_read_file(path, FILE_LIMIT, &text));
    struct weights weights = {0};
    struct error *error = NULL;
    for (size_t at = 0; at < text.size && error == NULL;) {
        const char *newline = memchr(text.data + at, '\n', text.size - at);
        size_t size = newline != NULL ? (size_t)(newline - text.data) - at : text.size - at;
        error = read_line(path, &text, text.data + at, size, &weights);
        at += size + 1;
    }
    if (error != NULL)
        weights_deinit(&weights);
    else
        *ret_weights = weights;
    return error;
}

double weights_find(const struct weights *weights, const char *type)
{
    for (size_t i = 0; i < weights->lines.count; i++) {
        const struct weight *line = &weights->lines.items[i];
        if (type != NULL && (strcmp(line->type, type) == 0 || fnmatch(line->type, type, 0) == 0))
            return line->weight;
    }
    return 1;
}

void weights_deinit(struct weights *weights)
{
    for (size_t i = 0; i < weights->lines.count; i++)
        free(weights->lines.items[i].type);
    ARRAY_DEINIT(&weights->lines);
}
