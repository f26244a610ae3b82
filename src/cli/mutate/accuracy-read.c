// SPDX-License-Identifier: GPL-3.0-or-later
// One JSON object per line. The files may come from anywhere.
#include "cli/mutate/accuracy-read.h"

#include "base/cleanup.h"
#include "report/json.h"

#include <limits.h>
#include <string.h>

#define LARGEST_LIST ((size_t)1 << 30)

void accuracy_list_deinit(struct accuracy_list *list)
{
    ARRAY_DEINIT(&list->items);
    ARRAY_DEINIT(&list->uses);
    arena_deinit(&list->arena);
}

static const char *text_of(struct accuracy_list *list, const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    return arena_copy(&list->arena, text != NULL ? text : "", text != NULL ? strlen(text) : 0);
}

static bool find_kind(const json_t *row, enum model_kind *ret_kind)
{
    const char *field = json_string_value(json_object_get(row, "field"));
    for (int kind = 0; kind < MODEL_KINDS && field != NULL; kind++)
        if (strcmp(model_types[kind].field, field) == 0) {
            *ret_kind = (enum model_kind)kind;
            return true;
        }
    return false;
}

static struct error *add_use(struct accuracy_list *list, const json_t *row)
{
    struct match_use *use = ARRAY_ADD(&list->uses);
    json_int_t line = json_integer_value(json_object_get(row, "line"));
    const char *file = text_of(list, row, "file");
    if (use == NULL || file == NULL)
        return error_no_memory();
    *use = (struct match_use){file, line > 0 && line <= UINT_MAX ? (unsigned)line : 0};
    return NULL;
}

static struct error *add_row(struct accuracy_list *list, const json_t *row, const char *path,
                             size_t number)
{
    enum model_kind kind;
    json_int_t line = json_integer_value(json_object_get(row, "line"));
    if (json_is_true(json_object_get(row, "macro_use")))
        return add_use(list, row);
    if (!find_kind(row, &kind))
        return error_new("%s:%zu: there is no type of fault; 'ordeal mutate --json' writes such "
                         "lists",
                         path, number);
    if (*list->level == '\0')
        list->level = text_of(list, row, "level");
    const char *file = text_of(list, row, "file"), *function = text_of(list, row, "function");
    if (list->level == NULL || file == NULL || function == NULL)
        return error_no_memory();
    if (line <= 0 || line > UINT_MAX || *file == '\0') {
        list->placeless++;
        return NULL;
    }
    // Levels write variables and values in different ways, operators in the same.
    const char *replacement = kind == MODEL_WAEP ? text_of(list, row, "replacement") : "";
    json_int_t parameter = json_integer_value(json_object_get(row, "parameter"));
    struct match_fault *fault = ARRAY_ADD(&list->items);
    if (fault == NULL || replacement == NULL)
        return error_no_memory();
    *fault = (struct match_fault){
        .kind = kind,
        .file = file,
        .function = function,
        .line = (unsigned)line,
        .parameter = parameter > 0 && parameter <= UINT_MAX ? (unsigned)parameter : 0,
        .replacement = replacement,
        .macro = json_is_true(json_object_get(row, "macro")),
    };
    return NULL;
}

static struct error *read_lines(struct accuracy_list *list, const char *path,
                                const struct buffer *text)
{
    size_t number = 0;
    for (size_t at = 0; at < text->size;) {
        const char *line = text->data + at;
        const char *end = memchr(line, '\n', text->size - at);
        size_t size = end != NULL ? (size_t)(end - line) : text->size - at;
        json_error_t trouble;
        at += size + 1;
        number++;
        if (size == 0)
            continue;
        _cleanup_(json_release) json_t *row = json_loadb(line, size, 0, &trouble);
        if (row == NULL)
            return error_new("%s:%zu: %s", path, number, trouble.text);
        TRY(add_row(list, row, path, number));
    }
    return NULL;
}

struct error *accuracy_read(const char *path, struct accuracy_list *ret_list)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    _cleanup_(accuracy_list_deinit) struct accuracy_list list = {.level = ""};
    TRY(buffer_read_file(path, LARGEST_LIST, &text));
    TRY(read_lines(&list, path, &text));
    *ret_list = list;
    list = (struct accuracy_list){0};
    return NULL;
}
