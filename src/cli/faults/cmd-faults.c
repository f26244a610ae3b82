// SPDX-License-Identifier: GPL-3.0-or-later
// ordeal faults: lists, enables, disables and verifies the software faults in a program, or runs it
// with some.
#include "cli/registry.h"

#include "base/child.h"
#include "base/cleanup.h"
#include "cli/faults/counted.h"
#include "cli/faults/show.h"
#include "elf/object.h"
#include "mutate/binary/plain.h"
#include "mutate/run/run.h"
#include "report/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct settings {
    struct option_list types, files, functions;
    const char *output, *binary, *counts;
    struct option_number process;
    bool json, all, enabled, executed, left_out;
};

#define FIELD(name) offsetof(struct settings, name)
static const struct option options[] = {
    {"type", 't', OPTION_LIST, "GLOB", "list only faults of these types; may be given again",
     FIELD(types)},
    {"file", 'F', OPTION_LIST, "GLOB", "list only faults in these source files", FIELD(files)},
    {"function", 'f', OPTION_LIST, "GLOB", "list only faults in these functions", FIELD(functions)},
    {"enabled", 'e', OPTION_FLAG, NULL, "list only those that are enabled", FIELD(enabled)},
    {"executed", 'x', OPTION_FLAG, NULL,
     "list only those in code that the command after '--' executes; runs it", FIELD(executed)},
    {"counts", 'c', OPTION_FILE, "DIR",
     "list only those in code that was executed when 'ordeal fidelity --keep DIR' counted",
     FIELD(counts)},
    {"all", 'a', OPTION_FLAG, NULL, "list also those that have no code", FIELD(all)},
    {"left-out", 0, OPTION_FLAG, NULL,
     "list faults that the sources have and the program has not, and why", FIELD(left_out)},
    {"json", 0, OPTION_FLAG, NULL, "print as JSON, one line for each", FIELD(json)},
    {"output", 'o', OPTION_FILE, "FILE", "leave the program as it is and write a changed copy",
     FIELD(output)},
    {"in", 'i', OPTION_FILE, "FILE",
     "run: the faults are in this library or program that the command loads, not in its own "
     "program",
     FIELD(binary)},
    {"pid", 'p', OPTION_NUMBER, "PID", "change a running process, not the file", FIELD(process)},
};

// ---- list ----

static struct error *put_list(const struct settings *settings, struct image *image,
                              const struct plain_counts *counts, const bool *executed,
                              struct buffer *text)
{
    _cleanup_free_ bool *enabled = NULL;
    const struct faults_filter filter = {.types = &settings->types,
                                         .files = &settings->files,
                                         .functions = &settings->functions,
                                         .all = settings->all,
                                         .counts = counts,
                                         .only_enabled = settings->enabled,
                                         .executed = executed};
    if (settings->left_out && image->plain)
        return error_new("%s was not built with 'ordeal cc'; --left-out lists what that left out",
                         image->path);
    if (settings->left_out)
        return faults_put_left_out(image, &filter, settings->json, text);
    TRY(image_enabled(image, &enabled));
    return settings->json ? faults_put_json(image, &filter, enabled, text)
                          : faults_put_table(image, &filter, enabled, text);
}

// Splits the operands at "--". Returns what follows it, or NULL.
static char **take_command(char **operands)
{
    for (; *operands != NULL; operands++)
        if (strcmp(*operands, "--") == 0) {
            *operands = NULL;
            return operands[1] != NULL ? operands + 1 : NULL;
        }
    return NULL;
}

static struct error *list_counted(const struct settings *settings, char **operands)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    _cleanup_(faults_counted_deinit) struct faults_counted counted = {0};
    if (settings->executed || operands[1] != NULL)
        return error_new("--counts takes one program and runs nothing: 'ordeal faults list -c DIR "
                         "PROGRAM'");
    TRY(faults_counted_read(operands[0], settings->counts, &counted));
    TRY(put_list(settings, counted.subject.images.items, NULL, counted.executed, &text));
    return output_print(&text);
}

static struct error *open_program(const char *path, struct ir_program *ret_program,
                                  struct plain_counts *ret_counts)
{
    struct image image = {0};
    TRY(plain_open(path, &image, ret_counts));
    return ir_program_of(&image, ret_program);
}

static struct error *list_executed(const struct settings *settings, char **operands)
{
    struct plain_counts counts = {0};
    _cleanup_(buffer_deinit) struct buffer text = {0};
    _cleanup_(ir_program_deinit) struct ir_program program = {0};
    char **command = take_command(operands);
    int status = 0;
    if (command == NULL || operands[0] == NULL || operands[1] != NULL)
        return error_new("--executed takes one program and what to run: 'ordeal faults list -x "
                         "PROGRAM -- COMMAND...'");
    TRY(open_program(operands[0], &program, &counts));
    const struct ir_run run = {.command = command, .silent = true};
    TRY(ir_run_profile(&run, &program, &status));
    TRY(put_list(settings, &program.image, &counts, program.executed, &text));
    return output_print(&text);
}

static struct error *list(const struct settings *settings, char **operands)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    if (operands[0] == NULL)
        return error_new("which program? 'ordeal faults PROGRAM' lists the faults inside");
    if (settings->counts != NULL)
        return list_counted(settings, operands);
    if (settings->executed)
        return list_executed(settings, operands);
    for (size_t i = 0; operands[i] != NULL; i++) {
        _cleanup_(image_close) struct image image = {0};
        struct plain_counts counts = {0};
        TRY(plain_open(operands[i], &image, &counts));
        if (operands[1] != NULL && !settings->json)
            TRY(buffer_printf(&text, "%s%s:\n", i != 0 ? "\n" : "", operands[i]));
        TRY(put_list(settings, &image, &counts, NULL, &text));
    }
    return output_print(&text);
}

// ---- enable, disable ----

static struct error *need_faults(const struct image *image)
{
    if (image->plain && image->functions.count == 0)
        return error_new("%s has no faults inside, and its machine code can have none that Ordeal "
                         "finds; build it with 'ordeal cc'",
                         image->path);
    if (image->functions.count == 0)
        return error_new("%s has no faults inside; build it with 'ordeal cc'", image->path);
    return NULL;
}

// No fault is named, or the word for all.
static bool names_all(char **faults)
{
    return faults[0] == NULL || (strcmp(faults[0], "all") == 0 && faults[1] == NULL);
}

static struct error *choose(const struct image *image, char **faults, bool value, bool *enabled)
{
    for (size_t i = 0; faults[i] != NULL; i++) {
        size_t number;
        TRY(image_find(image, faults[i], &number));
        if (value)
            enabled[number] = true;
        else
            image_forget(image, number, enabled);
    }
    return NULL;
}

static struct error *say_enabled(const struct image *image, const bool *enabled, size_t patches,
                                 struct buffer *text)
{
    size_t count = 0, all = image->candidates.count;
    const bool *next; // for a few of many
    for (size_t i = 0; (next = memchr(enabled + i, true, all - i)) != NULL; i++) {
        i = (size_t)(next - enabled);
        if (image->functions.items[image->candidates.items[i].function].again)
            continue;
        TRY(buffer_printf(text, "enabled: "));
        TRY(faults_put_one(image, i, text));
        size_t same = image_same_code(image, i);
        if (same != i)
            TRY(buffer_printf(text, ", the same code as %zu", same + 1));
        TRY(buffer_append(text, "\n", 1));
        count++;
    }
    if (count == 0)
        TRY(buffer_printf(text, "no fault is enabled\n"));
    return buffer_printf(text, "%zu place%s of the code changed\n", patches,
                         patches == 1 ? "" : "s");
}

static struct error *put_name(struct buffer *text, const char *name)
{
    return text_put(text, name, strlen(name), 0);
}

// `loops` is the function of the fault: whatever is running, its markers act if they are in place.
static struct error *say_runs(const char *name, const char *also, const char *loops,
                              struct buffer *text)
{
    TRY(put_name(text, name));
    TRY(buffer_printf(text, " is running and goes on as it was%s: the fault acts when ", also));
    TRY(put_name(text, name));
    TRY(buffer_printf(text, " is called again. If it never is, start the program with the fault "
                            "('ordeal faults run'), or build with 'ordeal cc --loops "));
    TRY(put_name(text, loops));
    return buffer_printf(text, "'\n");
}

// The name of one of these functions that is reached through its callers only, as static functions
// are; or NULL.
static const char *without_entry(const struct image *image, const bool *functions)
{
    for (size_t i = 0; i < image->functions.count; i++) {
        bool found = !functions[i] || (image->functions.items[i].flags & MAP_IN_PLACE) != 0;
        for (size_t j = 0; j < image->entries.count && !found; j++)
            found = image->entries.items[j].function == i;
        if (!found)
            return image->functions.items[i].name;
    }
    return NULL;
}

// Says where a fault does not act yet: in functions that were running when it was enabled.
static struct error *say_running(const struct image *image, const bool *enabled,
                                 const bool *running, struct buffer *text)
{
    _cleanup_free_ bool *reached = NULL, *own = NULL;
    _cleanup_(buffer_deinit) struct buffer others = {0};
    size_t count = 0;
    own = calloc(image->functions.count + 1, sizeof *own);
    if (own == NULL)
        return error_no_memory();
    TRY(image_find_callers(image, enabled, &reached));
    for (size_t i = 0; i < image->candidates.count; i++)
        own[image->candidates.items[i].function] |= enabled[i];
    const char *only = without_entry(image, own);
    for (size_t i = 0; i < image->functions.count; i++) {
        const char *name = image->functions.items[i].name;
        if (!reached[i] || !running[i])
            continue;
        if (!own[i] && only != NULL) {
            TRY(say_runs(name, " with all that it calls", only, text));
            continue;
        }
        if (!own[i]) {
            TRY(buffer_printf(&others, "%s", count++ == 0 ? "" : ", "));
            TRY(put_name(&others, name));
            continue;
        }
        TRY(say_runs(name, "", name, text));
    }
    if (count != 0)
        TRY(buffer_printf(text,
                          "also running: %s; a copy of the function that the optimiser put there "
                          "goes on as it was\n",
                          others.data));
    return NULL;
}

static struct error *change_process(const struct settings *settings, struct image *image,
                                    char **faults, bool value)
{
    _cleanup_free_ bool *enabled = calloc(image->candidates.count + 1, sizeof *enabled);
    _cleanup_free_ bool *now = NULL;
    _cleanup_(buffer_deinit) struct buffer text = {0};
    struct process_report report = {0};
    if (enabled == NULL)
        return error_no_memory();
    if (!value && !names_all(faults))
        return error_new("in a process, disable takes no faults: it disables all of them");
    if (value)
        TRY(choose(image, faults, value, enabled));
    TRY(process_enable((int)settings->process.value, image, enabled, value, &report));
    _cleanup_free_ bool *running = TAKE(report.running);
    TRY(image_enabled(image, &now));
    TRY(say_enabled(image, now, report.patches, &text));
    if (value && !image->plain && image->decide == MAP_WORLDS)
        TRY(say_running(image, enabled, running, &text));
    TRY(buffer_printf(&text, "%zu thread%s stood still for ", report.threads,
                      report.threads == 1 ? "" : "s"));
    TRY(text_put_duration(&text, report.stopped_ns));
    TRY(buffer_append(&text, "\n", 1));
    return output_print(&text);
}

static struct error *change(const struct settings *settings, char **operands, bool value)
{
    if (operands[0] == NULL || (value && operands[1] == NULL))
        return error_new(value
                             ? "which fault of which program? 'ordeal faults enable PROGRAM FAULT'"
                             : "of which program? 'ordeal faults disable PROGRAM [FAULT]...'");
    _cleanup_(image_close) struct image image = {0};
    _cleanup_(image_patches_deinit) struct image_patches patches = {0};
    _cleanup_(buffer_deinit) struct buffer text = {0};
    _cleanup_free_ bool *enabled = NULL, *now = NULL;
    struct plain_counts counts;
    TRY(plain_open(operands[0], &image, &counts));
    TRY(need_faults(&image));
    if (settings->process.given && settings->output != NULL)
        return error_new("--pid changes a process, --output a file; give one of them");
    if (settings->process.given)
        return change_process(settings, &image, operands + 1, value);
    TRY(image_enabled(&image, &enabled));
    if (!value && names_all(operands + 1))
        memset(enabled, false, image.candidates.count);
    else
        TRY(choose(&image, operands + 1, value, enabled));
    TRY(image_enable(&image, enabled, &patches));
    if (settings->output != NULL || patches.items.count != 0)
        TRY(image_write(&image, settings->output != NULL ? settings->output : operands[0]));
    TRY(image_enabled(&image, &now));
    TRY(say_enabled(&image, now, patches.items.count, &text));
    return output_print(&text);
}

// ---- run ----

// A library is not loaded yet when its program starts: the runtime waits for it.
static struct error *start_in(const char *binary, char **faults, char **command, int *ret_status)
{
    _cleanup_(ir_program_deinit) struct ir_program program = {0};
    struct plain_counts counts;
    TRY(open_program(binary, &program, &counts));
    size_t count = 0;
    while (faults[count] != NULL)
        count++;
    _cleanup_free_ size_t *candidates = calloc(count + 1, sizeof *candidates);
    if (candidates == NULL)
        return error_no_memory();
    for (size_t i = 0; i < count; i++)
        TRY(image_find(&program.image, faults[i], &candidates[i]));
    const struct ir_run run = {.command = command};
    return ir_run_faulty(&run, &program, candidates, count, ret_status);
}

static struct error *start(const struct settings *settings, char **operands, int *ret_status)
{
    char **command = take_command(operands);
    if (command == NULL)
        return error_new("nothing to run: 'ordeal faults run FAULT... -- COMMAND...'");
    if (operands[0] == NULL)
        return error_new("which fault? 'ordeal faults run FAULT... -- COMMAND...'; 'ordeal faults "
                         "%s' lists those there are",
                         settings->binary != NULL ? settings->binary : command[0]);
    if (settings->binary != NULL)
        return start_in(settings->binary, operands, command, ret_status);
    _cleanup_(elf_program_deinit) struct elf_program program = {0};
    _cleanup_(image_close) struct image image = {0};
    TRY(elf_find_program(command[0], &program));
    struct plain_counts counts;
    TRY(plain_open(program.path, &image, &counts));
    if (image.functions.count == 0)
        return error_new("%s has no faults inside; build it with 'ordeal cc', or say with --in "
                         "which library of it has",
                         image.path);
    _cleanup_free_ bool *enabled = calloc(image.candidates.count + 1, sizeof *enabled);
    if (enabled == NULL)
        return error_no_memory();
    TRY(choose(&image, operands, true, enabled));
    int status;
    TRY(process_run(command, &image, enabled, &status));
    *ret_status = child_exit_status(status);
    return NULL;
}

// ---- verify ----

static struct error *verify(char **operands, int *ret_status)
{
    if (operands[0] == NULL)
        return error_new("which program? 'ordeal faults verify PROGRAM'");
    for (size_t i = 0; operands[i] != NULL; i++) {
        _cleanup_(image_close) struct image image = {0};
        _cleanup_(verify_report_deinit) struct verify_report report = {0};
        _cleanup_(buffer_deinit) struct buffer text = {0};
        TRY(image_open(operands[i], &image));
        TRY(need_faults(&image));
        TRY(image_verify(&image, &report));
        if (report.problem_count != 0) {
            TRY(text_put_lines(&text, report.problems.data));
            *ret_status = 1;
        }
        TRY(buffer_printf(
            &text,
            "%s: %zu markers with %zu clones and %zu entries, %zu problems; %zu faults "
            "removed by the optimiser or linker",
            operands[i], report.markers, report.targets, report.entries, report.problem_count,
            report.eliminated));
        if (report.unchosen != 0)
            TRY(buffer_printf(&text, "; %zu not chosen when it was built", report.unchosen));
        if (report.idle != 0)
            TRY(buffer_printf(&text, "; %zu that would make no difference", report.idle));
        if (report.unreachable != 0)
            TRY(buffer_printf(&text, "; %zu places without unwind tables, not disassembled",
                              report.unreachable));
        TRY(buffer_append(&text, "\n", 1));
        TRY(output_print(&text));
    }
    return NULL;
}

static struct error *run(const void *data, char **operands, int *ret_status)
{
    const struct settings *settings = data;
    const char *word = operands[0];
    if (strcmp(word, "enable") == 0)
        return change(settings, operands + 1, true);
    if (strcmp(word, "disable") == 0)
        return change(settings, operands + 1, false);
    if (strcmp(word, "verify") == 0)
        return verify(operands + 1, ret_status);
    if (strcmp(word, "run") == 0)
        return start(settings, operands + 1, ret_status);
    return list(settings, strcmp(word, "list") == 0 ? operands + 1 : operands);
}

static const char *const words[] = {"list", "enable", "disable", "run", "verify", NULL};

const struct command cmd_faults = {
    .name = "faults",
    .summary = "List, enable and disable the software faults inside a program.",
    .operands = "[list|verify] PROGRAM...\n"
                "       ordeal faults [list] -x PROGRAM -- COMMAND...\n"
                "       ordeal faults [list] -c DIR PROGRAM\n"
                "       ordeal faults [OPTION]... enable PROGRAM FAULT...\n"
                "       ordeal faults [OPTION]... disable PROGRAM [FAULT...|all]\n"
                "       ordeal faults run [-i FILE] FAULT... -- COMMAND...",
    .details = "A FAULT is a number of the list, or TYPE@PLACE, where PLACE is a function,\n"
               "FILE:LINE, FILE:LINE:COLUMN or, in machine code, an address. Programs get faults\n"
               "inside by 'ordeal cc'; those of others are changes of their machine code.\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .settings_size = sizeof(struct settings),
    .least = 1,
    .most = UINT32_MAX,
    .keeps_separator = true,
    .words = words,
    .run = run,
};
