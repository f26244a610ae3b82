// SPDX-License-Identifier: GPL-3.0-or-later
// Reads commands. Those of a database are another compiler's; what only gcc knows is left out for
// libclang by arguments.c.
#include "mutate/source/units.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "mutate/source/arguments.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LARGEST_DATABASE ((size_t)1 << 30)

static struct error *add_unit(struct source_units *units, const char *directory,
                              const struct words *launched, size_t launchers,
                              const struct source_arguments *arguments, const char *source)
{
    struct source_unit *unit = ARRAY_ADD(&units->items);
    if (unit == NULL)
        return error_no_memory();
    unit->source = strdup(source);
    unit->directory = directory != NULL ? strdup(directory) : NULL;
    if (unit->source == NULL || (directory != NULL && unit->directory == NULL))
        return error_no_memory();
    unit->compiler = launchers;
    for (size_t i = 0; i < launchers; i++)
        TRY(words_add(&unit->command, launched->items[i], strlen(launched->items[i])));
    for (size_t i = 0; i < arguments->options.count; i++)
        TRY(words_add(&unit->command, arguments->options.items[i],
                      strlen(arguments->options.items[i])));
    return NULL;
}

// ---- a command line ----

static bool is_cxx(const char *source)
{
    const char *end = strrchr(source, '.');
    return end != NULL && strcmp(end, ".c") != 0 && strcmp(end, ".i") != 0;
}

static const char *usual_compiler(const char *source)
{
    const char *chosen = getenv(is_cxx(source) ? "CXX" : "CC");
    return chosen != NULL && *chosen != '\0' ? chosen : is_cxx(source) ? "c++" : "cc";
}

static struct error *read_operands(char *const *operands, struct source_units *units)
{
    _cleanup_(source_arguments_deinit) struct source_arguments arguments = {0};
    TRY(source_arguments_parse("cc", operands, &arguments));
    if (arguments.sources.count == 0)
        return error_new("which source? 'ordeal mutate FILE.c' lists the faults it can have");
    for (size_t i = 0; i < arguments.sources.count; i++) {
        const char *source = arguments.sources.items[i];
        if (access(source, R_OK) < 0)
            return error_from_errno(errno, "cannot read %s", source);
        arguments.options.items[0] = (char *)usual_compiler(source);
        TRY(add_unit(units, NULL, NULL, 0, &arguments, source));
    }
    return NULL;
}

// ---- a database ----

// Splits a command as a shell does, as far as databases need it: quotes and backslashes.
static struct error *split(const char *text, struct words *words)
{
    _cleanup_(buffer_deinit) struct buffer word = {0};
    bool begun = false;
    for (char quote = 0; *text != '\0'; text++) {
        bool blank = quote == 0 && (*text == ' ' || *text == '\t' || *text == '\n');
        if (blank) {
            if (begun)
                TRY(words_add(words, word.data, word.size));
            word.size = 0;
            begun = false;
            continue;
        }
        if (!begun)
            TRY(buffer_append(&word, "", 0));
        begun = true;
        if (quote != 0 ? *text == quote : *text == '"' || *text == '\'') {
            quote = quote != 0 ? 0 : *text;
            continue;
        }
        if (*text == '\\' && quote != '\'' && text[1] != '\0')
            text++;
        TRY(buffer_append(&word, text, 1));
    }
    return begun ? words_add(words, word.data, word.size) : NULL;
}

static struct error *read_words(const json_t *entry, struct words *words)
{
    const json_t *list = json_object_get(entry, "arguments");
    const char *command = json_string_value(json_object_get(entry, "command"));
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *word = json_string_value(json_array_get(list, i));
        if (word != NULL)
            TRY(words_add(words, word, strlen(word)));
    }
    return words->count == 0 && command != NULL ? split(command, words) : NULL;
}

static struct error *real_path(const char *directory, const char *file, char **ret_path)
{
    _cleanup_free_ char *whole = NULL;
    if (*file == '/' || directory == NULL)
        whole = strdup(file);
    else if (asprintf(&whole, "%s/%s", directory, file) < 0)
        whole = NULL;
    if (whole == NULL)
        return error_no_memory();
    char *real = realpath(whole, NULL);
    *ret_path = real != NULL ? real : TAKE(whole);
    return NULL;
}

// Programs that start the compiler, which is the word behind them.
static size_t count_launchers(const struct words *words)
{
    static const char *const names[] = {"ccache", "sccache", "distcc", "icecc", "gomacc"};
    size_t count = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names && count + 1 < words->count; i++)
        if (strcmp(file_base_name(words->items[count]), names[i]) == 0 &&
            words->items[count + 1][0] != '-') {
            count++;
            i = (size_t)-1;
        }
    return count;
}

struct wanted {
    struct source_arguments extra;
    bool *found; // by source
};

static struct error *is_wanted(struct wanted *wanted, const char *directory, const char *file,
                               bool *ret_wanted)
{
    _cleanup_free_ char *path = NULL;
    TRY(real_path(directory, file, &path));
    *ret_wanted = wanted->extra.sources.count == 0;
    for (size_t i = 0; i < wanted->extra.sources.count; i++) {
        _cleanup_free_ char *other = NULL;
        TRY(real_path(NULL, wanted->extra.sources.items[i], &other));
        if (strcmp(path, other) == 0)
            *ret_wanted = wanted->found[i] = true;
    }
    return NULL;
}

static struct error *read_entry(const json_t *entry, struct wanted *wanted,
                                struct source_units *units)
{
    const char *directory = json_string_value(json_object_get(entry, "directory"));
    const char *file = json_string_value(json_object_get(entry, "file"));
    _cleanup_(words_deinit) struct words words = {0};
    _cleanup_(source_arguments_deinit) struct source_arguments arguments = {0};
    bool want = false;
    if (directory == NULL || file == NULL)
        return error_new("an entry has no \"directory\" or no \"file\"");
    TRY(is_wanted(wanted, directory, file, &want));
    TRY(read_words(entry, &words));
    if (!want || words.count == 0)
        return NULL;
    size_t launchers = count_launchers(&words);
    TRY(source_arguments_parse(words.items[launchers], words.items + launchers + 1, &arguments));
    for (size_t i = 1; i < wanted->extra.options.count; i++) {
        char **slot = ARRAY_ADD(&arguments.options);
        if (slot == NULL)
            return error_no_memory();
        *slot = wanted->extra.options.items[i];
    }
    return arguments.compiles && arguments.sources.count > 0
               ? add_unit(units, directory, &words, launchers, &arguments,
                          arguments.sources.items[0])
               : NULL;
}

static struct error *read_database(const struct mutate_request *request, struct source_units *units)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    _cleanup_free_ bool *found = NULL;
    struct wanted wanted = {0};
    json_error_t trouble;
    TRY(buffer_read_file(request->database, LARGEST_DATABASE, &text));
    json_t *root = json_loadb(text.data != NULL ? text.data : "", text.size, 0, &trouble);
    if (root == NULL)
        return error_new("%s:%d: %s", request->database, trouble.line, trouble.text);
    struct error *error = source_arguments_parse("cc", request->operands, &wanted.extra);
    if (error == NULL)
        wanted.found = found = calloc(wanted.extra.sources.count + 1, sizeof *found);
    if (error == NULL && found == NULL)
        error = error_no_memory();
    for (size_t i = 0; i < json_array_size(root) && error == NULL; i++)
        error = read_entry(json_array_get(root, i), &wanted, units);
    if (error == NULL && units->items.count == 0 && wanted.extra.sources.count == 0)
        error = error_new("it has no command that compiles a source");
    for (size_t i = 0; i < wanted.extra.sources.count && error == NULL; i++)
        if (!found[i])
            error = error_new("it does not say how %s is compiled", wanted.extra.sources.items[i]);
    source_arguments_deinit(&wanted.extra);
    json_decref(root);
    return error != NULL ? error_prefix(error, "%s", request->database) : NULL;
}

struct error *source_units_read(const struct mutate_request *request,
                                struct source_units *ret_units)
{
    _cleanup_(source_units_deinit) struct source_units units = {0};
    TRY(request->database != NULL ? read_database(request, &units)
                                  : read_operands(request->operands, &units));
    *ret_units = units;
    units = (struct source_units){0};
    return NULL;
}

void source_units_deinit(struct source_units *units)
{
    for (size_t i = 0; i < units->items.count; i++) {
        free(units->items.items[i].directory);
        free(units->items.items[i].source);
        words_deinit(&units->items.items[i].command);
    }
    ARRAY_DEINIT(&units->items);
}
