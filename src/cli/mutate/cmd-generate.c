// SPDX-License-Identifier: GPL-3.0-or-later
// ordeal generate: writes synthetic programs, and tests tools that inject faults with them.
#include "cli/registry.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "cli/mutate/generate-show.h"
#include "cli/mutate/levels.h"
#include "report/json.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <sys/stat.h>

struct settings {
    const char *output, *level, *adapter, *compiler, *flags;
    struct option_list types;
    struct option_number seed, least, every;
    bool json, execute, failures;
};

#define FIELD(name) offsetof(struct settings, name)
static const struct option options[] = {
    {"type", 0, OPTION_LIST, "GLOB", "only programs for faults of these types; may be given again",
     FIELD(types)},
    {"seed", 0, OPTION_NUMBER, "N", "for what is chosen at random; 1 if it is not given",
     FIELD(seed)},
    {"out", 0, OPTION_FILE, "DIR", "write the programs into a new directory", FIELD(output)},
    {"level", 0, OPTION_TEXT, "LEVEL", "test a level of 'ordeal mutate' with the programs",
     FIELD(level)},
    {"adapter", 0, OPTION_TEXT, "COMMAND", "test another tool, by a shell command that runs it",
     FIELD(adapter)},
    {"every", 0, OPTION_NUMBER, "N", "test it with every Nth program only", FIELD(every)},
    {"execute", 0, OPTION_FLAG, NULL, "run mutants, and compare their checksums", FIELD(execute)},
    {"compiler", 0, OPTION_TEXT, "CC", "compiler for programs; cc if it is not given",
     FIELD(compiler)},
    {"flags", 0, OPTION_TEXT, "FLAGS", "its flags; '-g -O0' if they are not given", FIELD(flags)},
    {"failures", 0, OPTION_FLAG, NULL, "list the programs that the tool fails", FIELD(failures)},
    {"at-least", 0, OPTION_NUMBER, "PERCENT",
     "exit status 1 if less is correct for a type of fault", FIELD(least)},
    {"json", 0, OPTION_FLAG, NULL, "print as JSON, one line for each program", FIELD(json)},
};

static bool is_wanted(const struct settings *settings, enum model_kind kind)
{
    const struct option_list *types = &settings->types;
    for (size_t i = 0; i < types->entries.count; i++)
        if (fnmatch(types->entries.items[i].value, model_types[kind].name, 0) == 0 ||
            fnmatch(types->entries.items[i].value, model_types[kind].field, 0) == 0)
            return true;
    return types->entries.count == 0;
}

// ---- programs ----

static struct error *put_program(const struct settings *settings,
                                 const struct generate_parameters *parameters, size_t number,
                                 struct buffer *text)
{
    _cleanup_(generate_program_deinit) struct generate_program program = {0};
    _cleanup_free_ char *path = NULL;
    struct json_builder builder = {0};
    _cleanup_(json_release) json_t *row = json_object();
    _cleanup_(buffer_deinit) struct buffer line = {0};
    uint64_t seed = settings->seed.given ? settings->seed.value : 1;
    TRY(generate_program(parameters, seed, &program));
    if (settings->output != NULL) {
        if (asprintf(&path, "%s/%s-%04zu.c", settings->output, model_types[parameters->kind].field,
                     number) < 0)
            return path = NULL, error_no_memory();
        TRY(file_replace(path, &program.text));
    }
    if (row == NULL)
        return error_no_memory();
    if (path != NULL)
        json_add_string(&builder, row, "program", path);
    generate_add_parameters(&builder, row, parameters);
    json_add_integer(&builder, row, "first_line", program.first);
    json_add_integer(&builder, row, "last_line", program.last);
    json_add_integer(&builder, row, "expected", program.expected);
    TRY(json_write_line(&builder, row, &line));
    return settings->json ? buffer_append(text, line.data, line.size) : NULL;
}

static struct error *put_programs(const struct settings *settings, struct buffer *text)
{
    struct generate_parameters parameters = {0};
    size_t counts[MODEL_KINDS][MODEL_CONSTRAINTS + 1] = {0}, number = 0;
    bool begun = false;
    if (settings->output != NULL && mkdir(settings->output, 0777) < 0)
        return error_from_errno(errno, "cannot make the directory %s", settings->output);
    while (generate_next(&parameters, &begun)) {
        if (!is_wanted(settings, parameters.kind))
            continue;
        counts[parameters.kind][parameters.violated]++;
        TRY(put_program(settings, &parameters, ++number, text));
    }
    return settings->json ? NULL : generate_put_counts(counts, text);
}

// ---- a tool under test ----

static struct error *examine(const struct settings *settings, struct buffer *text, int *ret_status)
{
    struct examine_options tool = {
        .adapter = settings->adapter,
        .compiler = settings->compiler != NULL ? settings->compiler : "cc",
        .flags = settings->flags != NULL ? settings->flags : "-g -O0",
        .execute = settings->execute,
        .seed = settings->seed.given ? settings->seed.value : 1,
        .every = settings->every.value,
    };
    _cleanup_(examine_results_deinit) struct examine_results results = {0};
    bool wanted[MODEL_KINDS];
    for (int i = 0; i < MODEL_KINDS; i++)
        wanted[i] = is_wanted(settings, (enum model_kind)i);
    if (settings->adapter == NULL)
        TRY(level_find(settings->level, &tool.level));
    TRY(level_find("source", &tool.oracle));
    TRY(examine_all(&tool, wanted, &results));
    bool enough = true;
    TRY(settings->json ? generate_put_json(&results, text)
                       : generate_put_tables(&results, settings->failures, text));
    if (settings->least.given)
        enough = generate_is_enough(&results, (double)settings->least.value);
    *ret_status = enough ? 0 : 1;
    return NULL;
}

static struct error *run(const void *data, char **operands, int *ret_status)
{
    const struct settings *settings = data;
    _cleanup_(buffer_deinit) struct buffer text = {0};
    if (settings->level != NULL && settings->adapter != NULL)
        return error_new("either --level or --adapter: one tool at a time is under test");
    TRY(settings->level != NULL || settings->adapter != NULL ? examine(settings, &text, ret_status)
                                                             : put_programs(settings, &text));
    return output_print(&text);
}

const struct command cmd_generate = {
    .name = "generate",
    .summary = "Write synthetic programs that test tools which inject software faults.",
    .operands = "",
    .details =
        "Each program has a target: a marked place that has a known number of faults of one\n"
        "type, or none, because one constraint does not hold there.\n"
        "\n"
        "  ordeal generate --out programs\n"
        "  ordeal generate --level source --execute\n"
        "  ordeal generate --adapter './run-my-tool \"$1\" \"$2\" \"$3\"'\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .settings_size = sizeof(struct settings),
    .run = run,
};
