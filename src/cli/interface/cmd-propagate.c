// SPDX-License-Identifier: GPL-3.0-or-later
// ordeal propagate: what a library gives its user, and how faults inside it reach that user.
#include "cli/registry.h"

#include "base/child.h"
#include "base/cleanup.h"
#include "interface/accessed.h"
#include "interface/record.h"
#include "report/interface/interface.h"
#include "trial/program.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MOST_PLACES 100

struct settings {
    struct option_list libraries, programs;
    const char *output;
    bool diff, show, accessed, all, json;
    struct option_number most;
};

#define FIELD(name) offsetof(struct settings, name)
static const struct option options[] = {
    {"library", 'l', OPTION_LIST, "NAME", "watch this library (libz), or file; may be repeated",
     FIELD(libraries)},
    {"program", 0, OPTION_LIST, "NAME",
     "this library is a user of the watched one, like the program's own file; may be repeated",
     FIELD(programs)},
    {"output", 'o', OPTION_FILE, "TRACE", "keep the trace, and print no table", FIELD(output)},
    {"diff", 'd', OPTION_FLAG, NULL,
     "do not run anything: say how two traces differ; exit status 1 if they do", FIELD(diff)},
    {"show", 0, OPTION_FLAG, NULL, "do not run anything: print the table of a trace", FIELD(show)},
    {"accessed", 0, OPTION_FLAG, NULL,
     "do not run anything: write profiles of the memory that is stored to most often, for the "
     "injector `interface`",
     FIELD(accessed)},
    {"most", 0, OPTION_NUMBER, "N", "with --accessed: so many places (100)", FIELD(most)},
    {"all", 'a', OPTION_FLAG, NULL, "list all differences", FIELD(all)},
    {"json", 0, OPTION_FLAG, NULL, "write JSON lines", FIELD(json)},
};

static struct error *find_programs(const char *path, struct program_list *ret_list)
{
    const struct trace_source source = {.path = path};
    TRY(programs_find(&source, ret_list));
    if (ret_list->programs.count > 0)
        return NULL;
    programs_deinit(ret_list);
    return error_new("%s: no process had loaded the library", path);
}

static struct error *compare_programs(const struct settings *settings, char **paths,
                                      const uint32_t programs[2], struct buffer *text,
                                      bool *ret_differ)
{
    const struct trace_source good = {.path = paths[0]}, bad = {.path = paths[1]};
    struct interface_comparison comparison;
    TRY(interface_compare(&good, programs[0], &bad, programs[1], &comparison));
    *ret_differ |= comparison.outcome != INTERFACE_SAME;
    struct error *error = settings->json
                              ? report_interface_comparison_json(&comparison, text)
                              : report_interface_comparison(&comparison, settings->all, text);
    interface_comparison_deinit(&comparison);
    return error;
}

static struct error *compare(const struct settings *settings, char **paths, int *ret_status)
{
    _cleanup_(programs_deinit) struct program_list good = {0}, bad = {0};
    _cleanup_(buffer_deinit) struct buffer text = {0};
    if (paths[1] == NULL || paths[2] != NULL)
        return error_new("--diff needs two traces");
    TRY(find_programs(paths[0], &good));
    TRY(find_programs(paths[1], &bad));
    size_t count = good.programs.count;
    bool differ = count != bad.programs.count;
    if (differ && !settings->json)
        TRY(buffer_printf(&text, "%zu processes used the library, and %zu do now.\n", count,
                          bad.programs.count));
    for (size_t i = 0; i < count && i < bad.programs.count; i++) {
        const uint32_t programs[2] = {good.programs.items[i], bad.programs.items[i]};
        if (count > 1 && !settings->json)
            TRY(buffer_printf(&text, "Process %zu:\n", i + 1));
        TRY(compare_programs(settings, paths, programs, &text, &differ));
    }
    *ret_status = differ;
    return output_print(&text);
}

static struct error *show(const struct settings *settings, const char *path)
{
    _cleanup_(programs_deinit) struct program_list list = {0};
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(find_programs(path, &list));
    for (size_t i = 0; i < list.programs.count; i++) {
        const struct trace_source source = {.path = path};
        _cleanup_(interface_summary_deinit) struct interface_summary summary = {0};
        TRY(interface_summarize(&source, list.programs.items[i], &summary));
        if (list.programs.count > 1 && !settings->json)
            TRY(buffer_printf(&text, "Process %zu:\n", i + 1));
        TRY(settings->json ? report_interface_summary_json(&summary, &text)
                           : report_interface_summary(&summary, &text));
    }
    return output_print(&text);
}

static struct error *show_accessed(const struct settings *settings, const char *path)
{
    _cleanup_(programs_deinit) struct program_list list = {0};
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(find_programs(path, &list));
    TRY(buffer_printf(&text, "# The memory that is stored to most often; ordeal-store(5) explains "
                             "the lines.\n"));
    for (size_t i = 0; i < list.programs.count; i++) {
        const struct trace_source source = {.path = path};
        struct accessed_count count;
        size_t most = settings->most.given ? (size_t)settings->most.value : MOST_PLACES;
        TRY(accessed_write(&source, list.programs.items[i], most, &text, &count));
        fprintf(stderr,
                "%" PRIu64 " places with at least %" PRIu64 " stores; a parameter or the result "
                "leads to %" PRIu64 " of them\n",
                count.places, count.least, count.reached);
    }
    return output_print(&text);
}

static struct error *names_of(const struct option_list *list, const char ***ret_names)
{
    *ret_names = calloc(list->entries.count + 1, sizeof **ret_names);
    if (*ret_names == NULL)
        return error_no_memory();
    for (size_t i = 0; i < list->entries.count; i++)
        (*ret_names)[i] = list->entries.items[i].value;
    return NULL;
}

static struct error *record(const struct settings *settings, char **command, int *ret_status)
{
    _cleanup_free_ char *tool = NULL;
    _cleanup_free_ const char **libraries = NULL, **programs = NULL;
    _cleanup_close_ int file = -1;
    char temporary[] = "/tmp/ordeal-trace-XXXXXX", path[64];
    const char *name = settings->output;
    struct interface_recorded recorded;
    if (settings->libraries.entries.count == 0)
        return error_new("which library? Name it with --library");
    TRY(program_interface_tool(&tool));
    TRY(names_of(&settings->libraries, &libraries));
    TRY(names_of(&settings->programs, &programs));
    if (name != NULL) {
        file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    } else {
        file = mkostemp(temporary, O_CLOEXEC);
        if (file >= 0)
            unlink(temporary);
        name = "the trace";
    }
    if (file < 0)
        return error_from_errno(errno, "cannot open %s", name);
    const struct interface_recording recording = {.tool = tool,
                                                  .command = command,
                                                  .environment = environ,
                                                  .libraries = libraries,
                                                  .library_count =
                                                      settings->libraries.entries.count,
                                                  .programs = programs,
                                                  .program_count = settings->programs.entries.count,
                                                  .output = file,
                                                  .name = name};
    TRY(interface_record(&recording, &recorded));
    *ret_status = child_exit_status(recorded.status);
    if (settings->output != NULL)
        return NULL;
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    return show(settings, path);
}

static struct error *run(const void *data, char **operands, int *ret_status)
{
    const struct settings *settings = data;
    if (settings->diff)
        return compare(settings, operands, ret_status);
    if (!settings->show && !settings->accessed)
        return record(settings, operands, ret_status);
    if (operands[1] != NULL)
        return error_new("--show and --accessed take one trace");
    return settings->show ? show(settings, operands[0]) : show_accessed(settings, operands[0]);
}

const struct command cmd_propagate = {
    .name = "propagate",
    .summary = "Record what a library gives its user, or compare two such traces.",
    .operands = "[--] COMMAND... | --show|--accessed TRACE | --diff A B",
    .details = "The command runs under a tool of Valgrind. The exit status is the command's own: "
               "128 plus\n"
               "the signal's number if one killed it, 2 if it could not be run.\n"
               "\n"
               "  ordeal propagate --library libbz2 -o good -- bzip2 -kf file\n"
               "  ordeal faults enable libbz2.so.1.0 7\n"
               "  ordeal propagate --library libbz2 -o bad -- bzip2 -kf file\n"
               "  ordeal propagate --diff good bad\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .settings_size = sizeof(struct settings),
    .least = 1,
    .most = UINT32_MAX,
    .command_follows = true,
    .without_mathematics = true,
    .run = run,
};
