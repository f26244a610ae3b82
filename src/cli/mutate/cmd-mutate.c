// SPDX-License-Identifier: GPL-3.0-or-later
// ordeal mutate: lists the software faults that programs can have, and writes files that have them.
#include "cli/registry.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "cli/faults/cc-arguments.h"
#include "cli/mutate/levels.h"
#include "cli/mutate/list.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>
#include <sys/stat.h>

struct settings {
    const char *level, *database, *output;
    struct option_list types, functions;
    bool json;
};

#define FIELD(name) offsetof(struct settings, name)
static const struct option options[] = {
    {"level", 0, OPTION_TEXT, "LEVEL", "source (the default) or binary", FIELD(level)},
    {"compile-commands", 'p', OPTION_FILE, "FILE",
     "how sources are compiled: compile_commands.json", FIELD(database)},
    {"type", 0, OPTION_LIST, "GLOB", "only faults of these types; may be given again",
     FIELD(types)},
    {"functions", 0, OPTION_LIST, "GLOB", "only faults in these functions; may be given again",
     FIELD(functions)},
    {"out", 0, OPTION_FILE, "DIR", "write a file with the fault for each, into a new directory",
     FIELD(output)},
    {"json", 0, OPTION_FLAG, NULL, "print as JSON, one line for each", FIELD(json)},
};

static bool fits(const struct option_list *globs, const char *text, const char *other)
{
    for (size_t i = 0; i < globs->entries.count; i++)
        if (fnmatch(globs->entries.items[i].value, text, 0) == 0 ||
            (other != NULL && fnmatch(globs->entries.items[i].value, other, 0) == 0))
            return true;
    return globs->entries.count == 0;
}

static bool is_wanted(const struct settings *settings, const struct mutate_candidate *candidate)
{
    const struct model_type *type = &model_types[candidate->kind];
    return fits(&settings->types, type->name, type->field) &&
           fits(&settings->functions, candidate->function, NULL);
}

// Writes the file with the fault; its name is the fault's number and the file's own name.
static struct error *write_mutant(const struct settings *settings, const struct mutate_set *set,
                                  size_t index, size_t number, char **ret_path)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    _cleanup_free_ char *path = NULL;
    TRY(set->level->apply(set, index, &text));
    if (asprintf(&path, "%s/%zu-%s", settings->output, number,
                 file_base_name(set->items.items[index].changed)) < 0)
        return path = NULL, error_no_memory();
    TRY(file_replace(path, &text));
    *ret_path = TAKE(path);
    return NULL;
}

static struct error *show(const struct settings *settings, const struct mutate_set *set,
                          struct buffer *text)
{
    size_t number = 0;
    for (size_t i = 0; i < set->items.count; i++) {
        const struct mutate_candidate *candidate = &set->items.items[i];
        _cleanup_free_ char *written = NULL;
        if (!is_wanted(settings, candidate))
            continue;
        number++;
        if (settings->output != NULL && candidate->state == MUTATE_APPLICABLE)
            TRY(write_mutant(settings, set, i, number, &written));
        TRY(settings->json ? list_put_json(candidate, set->level, number, written, text)
                           : list_put_row(candidate, number, text));
    }
    return NULL;
}

static struct error *run(const void *data, char **operands, int *ret_status)
{
    const struct settings *settings = data;
    const struct mutate_level *level = NULL;
    _cleanup_(cc_list_deinit) struct cc_list list = {0};
    _cleanup_(mutate_set_deinit) struct mutate_set set = {0};
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(level_find(settings->level, &level));
    TRY(cc_list_expand(operands, &list));
    const struct mutate_request request = {list.items.items, settings->database};
    TRY(mutate_find(level, &request, &set));
    if (settings->output != NULL && mkdir(settings->output, 0777) < 0)
        return error_from_errno(errno, "cannot make the directory %s", settings->output);
    TRY(show(settings, &set, &text));
    return output_print(&text);
}

const struct command cmd_mutate = {
    .name = "mutate",
    .summary = "List the software faults that programs can have, and write files that have them.",
    .operands = "FILE|COMPILER-ARGUMENT...",
    .details =
        "Takes the arguments of a compiler, which name the sources and how they are compiled.\n"
        "\n"
        "  ordeal mutate -Iinclude src/parse.c\n"
        "  ordeal mutate --out mutants --type 'missing-*' src/parse.c\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .settings_size = sizeof(struct settings),
    .most = UINT32_MAX,
    .passes_options = true,
    .command_follows = true,
    .run = run,
};
