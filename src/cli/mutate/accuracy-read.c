// SPDX-License-Identifier: GPL-3.0-or-later
// One JSON object per line. The files may come from anywhere.
#include "cli/mutate/accuracy-read.h"

#include "base/cleanup.h"
#include "mutate/level.h"
#include "report/json.h"

#include <limits.h>
#include <string.h>

#define LARGEST_LIST ((size_t)1 << 30)

void accuracy_list_deinit(struct accuracy_list *list)
{
    ARRAY_DEINIT(&list->items);
    ARRAY_DEINIT(&list->notes);
    ARRAY_DEINIT(&list->constructs);
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

static struct error *add_construct(struct accuracy_list *list, const json_t *row, const char *word)
{
    int kind = 0;
    while (kind < CONSTRUCTS && strcmp(construct_words[kind], word) != 0)
        kind++;
    if (kind == CONSTRUCTS)
        return NULL; // of a later version
    struct construct_line *construct = ARRAY_ADD(&list->constructs);
    json_int_t line = json_integer_value(json_object_get(row, "line"));
    const char *file = text_of(list, row, "file");
    if (construct == NULL || file == NULL)
        return error_no_memory();
    *construct = (struct construct_line){(enum construct)kind, file,
                                         line > 0 && line <= UINT_MAX ? (unsigned)line : 0};
    return NULL;
}

static struct error *add_row(struct accuracy_list *list, const json_t *row, const char *path,
                             size_t number)
{
    enum model_kind kind;
    json_int_t line = json_integer_value(json_object_get(row, "line"));
    const char *construct = json_string_value(json_object_get(row, "construct"));
    if (construct != NULL)
        return add_construct(list, row, construct);
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
    const char *state = json_string_value(json_object_get(row, "state"));
    const char *inlined = text_of(list, row, "inlined");
    struct accuracy_note *note = ARRAY_ADD(&list->notes);
    if (note == NULL)
        return error_no_memory();
    *note = (struct accuracy_note){text_of(list, row, "id"), text_of(list, row, "operands")};
    struct match_fault *fault = ARRAY_ADD(&list->items);
    if (note->id == NULL || note->operands == NULL || fault == NULL || replacement == NULL ||
        inlined == NULL)
        return error_no_memory();
    *fault = (struct match_fault){
        .kind = kind,
        .file = file,
        .function = function,
        .line = (unsigned)line,
        .parameter = parameter > 0 && parameter <= UINT_MAX ? (unsigned)parameter : 0,
        .replacement = replacement,
        .macro = json_is_true(json_object_get(row, "macro")),
        .inlined = inlined,
        .inline_asked = json_is_true(json_object_get(row, "inline_asked")),
        .checked = json_is_true(json_object_get(row, "checked")),
        .differs = strcmp(state != NULL ? state : "", mutate_state_word(MUTATE_BROKEN)) != 0 &&
                   strcmp(state != NULL ? state : "", mutate_state_word(MUTATE_EQUIVALENT)) != 0,
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
