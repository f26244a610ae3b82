// SPDX-License-Identifier: GPL-3.0-or-later
// Makes profiles of comparisons, writes and reads them.
#include "interface/corruption.h"

#include "base/cleanup.h"
#include "interface/path.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

const char *const corruption_change_words[CHANGE_COUNT] = {
    [CHANGE_WRONG_VALUE] = "wrong-value",       [CHANGE_OMITTED_STORE] = "omitted-store",
    [CHANGE_SPURIOUS_STORE] = "spurious-store", [CHANGE_WRONG_RESULT] = "wrong-result",
    [CHANGE_OMITTED_FREE] = "omitted-free",     [CHANGE_SPURIOUS_FREE] = "spurious-free",
};
const char *const interface_outcome_words[] = {
    [INTERFACE_SAME] = "same", [INTERFACE_DIFFERS] = "differs", [INTERFACE_DIVERGED] = "diverged"};
const char *const corruption_class_words[CLASS_COUNT] = {
    [CLASS_ZERO] = "zero",
    [CLASS_MINUS_ONE] = "minus-one",
    [CLASS_NULL] = "null",
    [CLASS_SMALL] = "small",
    [CLASS_POINTER_SAME] = "pointer-same-area",
    [CLASS_POINTER_OTHER] = "pointer-other-area",
    [CLASS_TEXT] = "text",
    [CLASS_OTHER] = "other",
};

void corruption_deinit(struct corruption *corruption)
{
    for (size_t i = 0; i < corruption->memory.count; i++)
        free(corruption->memory.items[i].area);
    ARRAY_DEINIT(&corruption->memory);
    ARRAY_DEINIT(&corruption->bytes);
    free(corruption->function);
    *corruption = (struct corruption){0};
}

// ---- making ----

static struct error *add_memory(const struct interface_comparison *comparison,
                                const struct paths *paths,
                                const struct interface_difference *difference,
                                struct corruption *corruption)
{
    bool is_bad = difference->change != CHANGE_OMITTED_STORE;
    const struct item *item = is_bad ? &difference->bad : &difference->good;
    const struct world *world = items_world(is_bad ? comparison->bad : comparison->good);
    _cleanup_(buffer_deinit) struct buffer name = {0};
    if (corruption->memory.count == CORRUPTION_MEMORY) {
        corruption->more += item->size;
        return NULL;
    }
    TRY(world_describe(world, item->target, &name));
    struct corruption_memory *memory = ARRAY_ADD(&corruption->memory);
    if (memory == NULL)
        return error_no_memory();
    *memory = (struct corruption_memory){
        .change = difference->change,
        .path = paths_of(paths, world, item->target),
        .size = item->size,
        .old = difference->good.value,
        .new = difference->bad.value,
        .old_class = interface_value_class(comparison, difference, false),
        .new_class = interface_value_class(comparison, difference, true),
        .area = TAKE(name.data)};
    return NULL;
}

static struct error *add_difference(const struct interface_comparison *comparison,
                                    const struct paths *paths,
                                    const struct interface_difference *difference,
                                    struct corruption *corruption)
{
    switch (difference->change) {
    case CHANGE_WRONG_VALUE:
    case CHANGE_OMITTED_STORE:
    case CHANGE_SPURIOUS_STORE:
        return add_memory(comparison, paths, difference, corruption);
    case CHANGE_WRONG_RESULT:
        corruption->result_bytes = difference->bad.size;
        corruption->old_result = difference->good.value;
        corruption->new_result = difference->bad.value;
        corruption->old_class = interface_value_class(comparison, difference, false);
        corruption->new_class = interface_value_class(comparison, difference, true);
        return NULL;
    default:
        return NULL;
    }
}

static struct error *fill(const struct interface_comparison *comparison, const struct paths *paths,
                          struct corruption *corruption)
{
    corruption->function = strdup(comparison->function);
    corruption->number = comparison->frame.ordinal;
    corruption->unfinished = comparison->unfinished;
    if (corruption->function == NULL)
        return error_no_memory();
    for (size_t i = 0; i < comparison->differences.count; i++)
        TRY(add_difference(comparison, paths, &comparison->differences.items[i], corruption));
    struct interface_range *ranges = ARRAY_ADD_MANY(&corruption->bytes, comparison->ranges.count);
    if (ranges == NULL)
        return error_no_memory();
    if (comparison->ranges.count > 0)
        memcpy(ranges, comparison->ranges.items, comparison->ranges.count * sizeof *ranges);
    return NULL;
}

struct error *corruption_make(const struct interface_comparison *comparison,
                              struct corruption *ret_corruption)
{
    struct paths *paths;
    struct corruption corruption = {0};
    TRY(paths_find_difference(comparison, &paths));
    struct error *error = fill(comparison, paths, &corruption);
    paths_free(paths);
    if (error == NULL)
        *ret_corruption = corruption;
    else
        corruption_deinit(&corruption);
    return error;
}

// ---- writing ----

struct error *corruption_path_write(const struct corruption_path *path, struct buffer *text)
{
    if (path->root == CORRUPTION_NOWHERE)
        return buffer_printf(text, "-");
    if (path->root == CORRUPTION_RESULT)
        TRY(buffer_printf(text, "result"));
    else
        TRY(buffer_printf(text, "arg%u", path->root + 1));
    for (unsigned i = 0; i < path->steps; i++)
        TRY(buffer_printf(text, "%s%+" PRId64, i == 0 ? "" : ">", path->offsets[i]));
    return NULL;
}

// In one word.
static struct error *write_name(const char *name, struct buffer *text)
{
    if (*name == '\0')
        return buffer_printf(text, "?");
    for (const char *at = name; *at != '\0'; at++)
        TRY(buffer_printf(text, "%c", isgraph((unsigned char)*at) ? *at : '?'));
    return NULL;
}

static struct error *write_memory(const struct corruption_memory *memory, struct buffer *text)
{
    TRY(buffer_printf(text, "memory %s ", corruption_change_words[memory->change]));
    TRY(corruption_path_write(&memory->path, text));
    TRY(buffer_printf(text, " %" PRIu32 " %" PRIx64 " %" PRIx64 " %s %s ", memory->size,
                      memory->old, memory->new, corruption_class_words[memory->old_class],
                      corruption_class_words[memory->new_class]));
    TRY(write_name(memory->area, text));
    return buffer_printf(text, "\n");
}

struct error *corruption_write(const struct corruption *corruption, struct buffer *text)
{
    TRY(buffer_printf(text, "call "));
    TRY(write_name(corruption->function, text));
    TRY(buffer_printf(text, " %" PRIu64 "%s\n", corruption->number,
                      corruption->unfinished ? " unfinished" : ""));
    if (corruption->result_bytes != 0)
        TRY(buffer_printf(text, "result %u %" PRIx64 " %" PRIx64 " %s %s\n",
                          corruption->result_bytes, corruption->old_result, corruption->new_result,
                          corruption_class_words[corruption->old_class],
                          corruption_class_words[corruption->new_class]));
    for (size_t i = 0; i < corruption->memory.count; i++)
        TRY(write_memory(&corruption->memory.items[i], text));
    if (corruption->more != 0)
        TRY(buffer_printf(text, "more %" PRIu64 "\n", corruption->more));
    for (size_t i = 0; i < corruption->bytes.count; i++) {
        const struct interface_range *range = &corruption->bytes.items[i];
        TRY(buffer_printf(text, "bytes %016" PRIx64 " %" PRId64 " %" PRIu64 "\n", range->area,
                          range->start, range->size));
    }
    return NULL;
}

// ---- reading ----

// Of a line, which has a name and at most eight short words.
enum { WORDS = 9, LONGEST = INTERFACE_TEXT_LIMIT + 512 };

struct line {
    char text[LONGEST];
    char *words[WORDS];
    unsigned count;
};

static bool split(const char *start, size_t size, struct line *line)
{
    if (size >= sizeof line->text || memchr(start, '\0', size) != NULL)
        return false;
    memcpy(line->text, start, size);
    line->text[size] = '\0';
    line->count = 0;
    char *rest = line->text;
    for (char *word; (word = strtok_r(rest, " ", &rest)) != NULL;) {
        if (line->count == WORDS)
            return false;
        line->words[line->count++] = word;
    }
    return true;
}

static bool read_number(const char *word, int base, uint64_t *ret_number)
{
    char *end;
    if (!isxdigit((unsigned char)*word))
        return false;
    errno = 0;
    *ret_number = strtoull(word, &end, base);
    return *end == '\0' && errno == 0;
}

static bool read_class(const char *word, enum value_class *ret_class)
{
    for (unsigned i = 0; i < CLASS_COUNT; i++)
        if (strcmp(word, corruption_class_words[i]) == 0) {
            *ret_class = (enum value_class)i;
            return true;
        }
    return false;
}

static bool read_offset(const char **text, int64_t *ret_offset)
{
    char *end;
    if (**text != '+' && **text != '-')
        return false;
    errno = 0;
    *ret_offset = strtoll(*text, &end, 10);
    bool good = errno == 0 && end != *text + 1 && isdigit((unsigned char)(*text)[1]) &&
                *ret_offset > INT32_MIN && *ret_offset < INT32_MAX;
    *text = end;
    return good;
}

static bool read_path(const char *text, struct corruption_path *ret_path)
{
    struct corruption_path path = {.root = CORRUPTION_NOWHERE};
    if (strcmp(text, "-") == 0) {
        *ret_path = path;
        return true;
    }
    if (strncmp(text, "result", 6) == 0) {
        path.root = CORRUPTION_RESULT;
        text += 6;
    } else if (strncmp(text, "arg", 3) == 0 && text[3] >= '1' &&
               text[3] < '1' + INTERFACE_ARGUMENTS) {
        path.root = (unsigned)(text[3] - '1');
        text += 4;
    } else {
        return false;
    }
    do {
        if (path.steps == CORRUPTION_STEPS || !read_offset(&text, &path.offsets[path.steps++]))
            return false;
    } while (*text == '>' && *++text != '\0');
    *ret_path = path;
    return *text == '\0' && text[-1] != '>';
}

static bool read_call(const struct line *line, struct corruption *corruption, struct error **error)
{
    if (corruption->function != NULL || line->count < 3 || line->count > 4 ||
        !read_number(line->words[2], 10, &corruption->number) || corruption->number == 0 ||
        (line->count == 4 && strcmp(line->words[3], "unfinished") != 0))
        return false;
    corruption->unfinished = line->count == 4;
    corruption->function = strdup(line->words[1]);
    *error = corruption->function == NULL ? error_no_memory() : NULL;
    return true;
}

static bool read_result(const struct line *line, struct corruption *corruption)
{
    uint64_t bytes;
    if (line->count != 6 || !read_number(line->words[1], 10, &bytes) || bytes == 0 || bytes > 8 ||
        !read_number(line->words[2], 16, &corruption->old_result) ||
        !read_number(line->words[3], 16, &corruption->new_result) ||
        !read_class(line->words[4], &corruption->old_class) ||
        !read_class(line->words[5], &corruption->new_class))
        return false;
    corruption->result_bytes = (unsigned)bytes;
    return true;
}

static bool read_memory(const struct line *line, struct corruption *corruption,
                        struct error **error)
{
    struct corruption_memory memory = {.change = CHANGE_COUNT};
    uint64_t size;
    for (unsigned i = 0; line->count == 9 && i <= CHANGE_SPURIOUS_STORE; i++)
        if (strcmp(line->words[1], corruption_change_words[i]) == 0)
            memory.change = (enum interface_change)i;
    if (memory.change == CHANGE_COUNT || corruption->memory.count == CORRUPTION_MEMORY ||
        !read_path(line->words[2], &memory.path) || !read_number(line->words[3], 10, &size) ||
        size == 0 || size > INTERFACE_STORE_LIMIT ||
        !read_number(line->words[4], 16, &memory.old) ||
        !read_number(line->words[5], 16, &memory.new) ||
        !read_class(line->words[6], &memory.old_class) ||
        !read_class(line->words[7], &memory.new_class))
        return false;
    memory.size = (uint32_t)size;
    memory.area = strdup(line->words[8]);
    struct corruption_memory *added = memory.area == NULL ? NULL : ARRAY_ADD(&corruption->memory);
    if (added != NULL)
        *added = memory;
    else
        *error = error_no_memory();
    return true;
}

static bool read_bytes(const struct line *line, struct corruption *corruption, struct error **error)
{
    struct interface_range range;
    char *end;
    if (line->count != 4 || !read_number(line->words[1], 16, &range.area) ||
        !read_number(line->words[3], 10, &range.size))
        return false;
    errno = 0;
    range.start = strtoll(line->words[2], &end, 10);
    if (*end != '\0' || end == line->words[2] || errno != 0 || range.size > INT64_MAX)
        return false;
    struct interface_range *added = ARRAY_ADD(&corruption->bytes);
    if (added != NULL)
        *added = range;
    else
        *error = error_no_memory();
    return true;
}

static bool read_line(const struct line *line, struct corruption *corruption, struct error **error)
{
    if (line->count == 0)
        return true;
    const char *word = line->words[0];
    if (strcmp(word, "call") == 0)
        return read_call(line, corruption, error);
    if (corruption->function == NULL)
        return false;
    if (strcmp(word, "result") == 0)
        return read_result(line, corruption);
    if (strcmp(word, "memory") == 0)
        return read_memory(line, corruption, error);
    if (strcmp(word, "bytes") == 0)
        return read_bytes(line, corruption, error);
    return strcmp(word, "more") == 0 && line->count == 2 &&
           read_number(line->words[1], 10, &corruption->more);
}

struct error *corruption_read(const char *name, unsigned number, const char *text, size_t size,
                              struct corruption *ret_corruption)
{
    _cleanup_(corruption_deinit) struct corruption corruption = {0};
    for (size_t at = 0; at < size; number++) {
        struct line line;
        struct error *error = NULL;
        const char *end = memchr(text + at, '\n', size - at);
        size_t length = end != NULL ? (size_t)(end - text) - at : size - at;
        if (!split(text + at, length, &line) || !read_line(&line, &corruption, &error))
            return error_new("%s:%u: '%.*s' is no line of an interface profile", name, number,
                             (int)(length < 80 ? length : 80), text + at);
        TRY(error);
        at += length + (end != NULL);
    }
    if (corruption.function == NULL)
        return error_new("%s:%u: there is no line 'call FUNCTION NUMBER'", name, number);
    *ret_corruption = corruption;
    corruption = (struct corruption){0};
    return NULL;
}
