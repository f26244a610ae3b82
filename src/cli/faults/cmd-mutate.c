// SPDX-License-Identifier: GPL-3.0-or-later
// ordeal mutate: lists the software faults that sources can have, and writes sources that have
// them.
#include "cli/registry.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "cli/faults/cc-arguments.h"
#include "report/json.h"
#include "report/text.h"
#ifdef ORDEAL_SOURCE_FAULTS
#include "mutate/source/arguments.h"
#include "mutate/source/source.h"
#endif

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct settings {
    struct option_list types;
    const char *output;
    bool json;
};

#define FIELD(name) offsetof(struct settings, name)
static const struct option options[] = {
    {"type", 0, OPTION_LIST, "GLOB", "only faults of these types; may be given again",
     FIELD(types)},
    {"out", 0, OPTION_FILE, "DIR", "write a source with the fault for each, into a new directory",
     FIELD(output)},
    {"json", 0, OPTION_FLAG, NULL, "print as JSON, one line for each", FIELD(json)},
};

#ifdef ORDEAL_SOURCE_FAULTS

static bool is_wanted(const struct settings *settings, const struct source_fault *fault)
{
    const struct option_list *types = &settings->types;
    for (size_t i = 0; i < types->entries.count; i++)
        if (fnmatch(types->entries.items[i].value, model_types[fault->kind].name, 0) == 0 ||
            fnmatch(types->entries.items[i].value, model_types[fault->kind].field, 0) == 0)
            return true;
    return types->entries.count == 0;
}

// Names come from a foreign file, so they are escaped.
static struct error *put_row(const struct source_fault *fault, size_t number, struct buffer *text)
{
    _cleanup_(buffer_deinit) struct buffer place = {0}, detail = {0};
    TRY(text_put(&place, fault->file, strlen(fault->file), 0));
    TRY(buffer_printf(&place, ":%u:%u", fault->at.line, fault->at.column));
    TRY(text_put(&detail, fault->detail, strlen(fault->detail), 0));
    return buffer_printf(text, "%7zu  %-22s  %-28s  %-16s  %s%s\n", number,
                         model_types[fault->kind].name, place.data, fault->function,
                         detail.data != NULL ? detail.data : "",
                         fault->edit_count == 0 ? "  (in a macro)" : "");
}

static struct error *put_json(const struct source_fault *fault, size_t number, const char *written,
                              struct buffer *text)
{
    struct json_builder builder = {0};
    _cleanup_(json_release) json_t *row = json_object();
    if (row == NULL)
        return error_no_memory();
    json_add_integer(&builder, row, "number", number);
    json_add_string(&builder, row, "type", model_types[fault->kind].name);
    json_add_string(&builder, row, "field", model_types[fault->kind].field);
    json_add_string(&builder, row, "file", fault->file);
    json_add_integer(&builder, row, "line", fault->at.line);
    json_add_integer(&builder, row, "column", fault->at.column);
    json_add_string(&builder, row, "function", fault->function);
    json_add_string(&builder, row, "operands", fault->detail);
    json_add_bool(&builder, row, "macro", fault->edit_count == 0);
    if (written != NULL)
        json_add_string(&builder, row, "mutant", written);
    _cleanup_(buffer_deinit) struct buffer line = {0};
    TRY(json_write_line(&builder, row, &line));
    return buffer_append(text, line.data, line.size);
}

// Writes the source with the fault; its name is the fault's number and the file's own name.
static struct error *write_mutant(const struct settings *settings, const struct source_fault *fault,
                                  size_t number, char **ret_path)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    _cleanup_free_ char *path = NULL;
    const char *name = strrchr(fault->path, '/');
    TRY(source_apply(fault, &text));
    if (asprintf(&path, "%s/%zu-%s", settings->output, number,
                 name != NULL ? name + 1 : fault->path) < 0)
        return path = NULL, error_no_memory();
    TRY(file_replace(path, &text));
    *ret_path = TAKE(path);
    return NULL;
}

static struct error *show(const struct settings *settings, const struct source_faults *faults,
                          size_t *number, struct buffer *text)
{
    for (size_t i = 0; i < faults->items.count; i++) {
        const struct source_fault *fault = &faults->items.items[i];
        _cleanup_free_ char *written = NULL;
        if (!is_wanted(settings, fault))
            continue;
        (*number)++;
        if (settings->output != NULL && fault->edit_count > 0)
            TRY(write_mutant(settings, fault, *number, &written));
        TRY(settings->json ? put_json(fault, *number, written, text)
                           : put_row(fault, *number, text));
    }
    return NULL;
}

static struct error *run(const void *data, char **operands, int *ret_status)
{
    const struct settings *settings = data;
    _cleanup_(cc_list_deinit) struct cc_list list = {0};
    _cleanup_(source_arguments_deinit) struct source_arguments arguments = {0};
    _cleanup_(buffer_deinit) struct buffer text = {0};
    size_t number = 0;
    TRY(source_need());
    TRY(cc_list_expand(operands, &list));
    TRY(source_arguments_parse("clang", list.items.items, &arguments));
    if (arguments.sources.count == 0)
        return error_new("which source? 'ordeal mutate FILE.c' lists the faults it can have");
    if (settings->output != NULL && mkdir(settings->output, 0777) < 0)
        return error_from_errno(errno, "cannot make the directory %s", settings->output);
    for (size_t i = 0; i < arguments.sources.count; i++) {
        _cleanup_free_ char **command = NULL;
        _cleanup_(source_faults_deinit) struct source_faults faults = {0};
        if (access(arguments.sources.items[i], R_OK) < 0)
            return error_from_errno(errno, "cannot read %s", arguments.sources.items[i]);
        TRY(source_arguments_for(&arguments, arguments.sources.items[i], &command));
        struct error *error = source_find(command, &faults);
        if (error != NULL)
            return error_prefix(error, "%s", arguments.sources.items[i]);
        TRY(show(settings, &faults, &number, &text));
    }
    return output_print(&text);
}

#else

static struct error *run(const void *data, char **operands, int *ret_status)
{
    return error_new("Ordeal was built without libclang 19: install libclang-19-dev and build it "
                     "again");
}

#endif

const struct command cmd_mutate = {
    .name = "mutate",
    .summary = "List the software faults that sources can have, and write sources that have them.",
    .operands = "COMPILER-ARGUMENT...",
    .details =
        "Takes the arguments of a compiler, which name the sources and how they are compiled.\n"
        "\n"
        "  ordeal mutate -Iinclude src/parse.c\n"
        "  ordeal mutate --out mutants --type 'missing-*' src/parse.c\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .settings_size = sizeof(struct settings),
    .least = 1,
    .most = UINT32_MAX,
    .passes_options = true,
    .command_follows = true,
    .run = run,
};
