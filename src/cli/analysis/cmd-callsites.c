// SPDX-License-Identifier: GPL-3.0-or-later
// ordeal callsites: shows where programs do not notice that library functions fail.
#include "cli/registry.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/suggestion.h"
#include "callsite/modules.h"
#include "cli/analysis/error-list.h"
#include "cli/analysis/profile-kernel.h"
#include "report/callsites/callsites.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct settings {
    struct option_list functions, classes;
    const char *excluded, *sarif, *scenario, *kernel;
    struct option_number threads;
    bool json, all, no_cache;
};

#define FIELD(name) offsetof(struct settings, name)
static const struct option options[] = {
    {"functions", 'f', OPTION_LIST, "GLOB", "only calls of these functions; may be given again",
     FIELD(functions)},
    {"class", 'c', OPTION_LIST, "CLASS",
     "only these calls: unchecked, partly, checked or unknown; may be given again", FIELD(classes)},
    {"all", 'a', OPTION_FLAG, NULL, "show every call in the table", FIELD(all)},
    {"json", 0, OPTION_FLAG, NULL, "print as JSON", FIELD(json)},
    {"sarif", 0, OPTION_FILE, "FILE", "write what is not checked as SARIF, too", FIELD(sarif)},
    {"scenario", 's', OPTION_FILE, "DIR",
     "write scenarios that make the calls of each class fail into a directory, too",
     FIELD(scenario)},
    {"kernel", 0, OPTION_FILE, "VMLINUX", "errors of system calls from this kernel's image",
     FIELD(kernel)},
    {"exclude-errno", 0, OPTION_TEXT, "LIST", "leave out error numbers: ENOSYS,EINTR",
     FIELD(excluded)},
    {"no-cache", 0, OPTION_FLAG, NULL, "work afresh, and keep nothing for the next time",
     FIELD(no_cache)},
    {"threads", 'j', OPTION_NUMBER, "N", "work with N threads; as many as processors without this",
     FIELD(threads)},
};

static struct error *parse_class(const char *text, struct callsites_options *chosen)
{
    struct suggestion meant = suggestion_start(text, strlen(text));
    for (int i = 0; i < CALLSITES_CLASSES; i++) {
        const char *name = site_class_name((enum site_class)i);
        if (strcmp(name, text) == 0) {
            chosen->classes[i] = true;
            return NULL;
        }
        suggestion_offer(&meant, name);
    }
    char storage[SUGGESTION_SIZE];
    return error_new("there is no class '%s'%s; --class takes unchecked, partly, checked or "
                     "unknown",
                     text, suggestion_text(&meant, storage));
}

// Writes DIR/CLASS.yaml or DIR/CLASS.xml.
static struct error *write_scenario(const char *directory, enum site_class class, const char *end,
                                    const struct buffer *content)
{
    _cleanup_(buffer_deinit) struct buffer path = {0};
    TRY(buffer_printf(&path, "%s/%s.%s", directory, site_class_name(class), end));
    _cleanup_(output_close) struct output output;
    TRY(output_open(path.data, STDOUT_FILENO, &output));
    return output_put(&output, content);
}

static struct error *write_scenarios(const struct callsites_report *report, const char *directory,
                                     struct buffer *said)
{
    if (mkdir(directory, 0777) < 0 && errno != EEXIST)
        return error_from_errno(errno, "cannot make the directory %s", directory);
    for (int i = SITE_UNCHECKED; i <= SITE_CHECKED; i++) {
        _cleanup_(buffer_deinit) struct buffer yaml = {0}, xml = {0};
        size_t rules = 0;
        TRY(callsites_yaml(report, (enum site_class)i, &yaml, &rules));
        TRY(callsites_xml(report, (enum site_class)i, &xml, &rules));
        if (rules == 0 && report->counts[i] != 0)
            TRY(buffer_printf(said, "no rules for %s calls: a scenario cannot describe them\n",
                              site_class_name((enum site_class)i)));
        if (rules == 0)
            continue;
        TRY(write_scenario(directory, (enum site_class)i, "yaml", &yaml));
        TRY(write_scenario(directory, (enum site_class)i, "xml", &xml));
        TRY(buffer_printf(said, "%s/%s.yaml, .xml: %zu rule%s\n", directory,
                          site_class_name((enum site_class)i), rules, rules == 1 ? "" : "s"));
    }
    return NULL;
}

static struct error *write_outputs(const struct settings *settings,
                                   const struct callsites_report *report)
{
    _cleanup_(buffer_deinit) struct buffer text = {0}, sarif = {0}, said = {0};
    if (settings->sarif != NULL) {
        bool standard = strcmp(settings->sarif, "-") == 0;
        _cleanup_(output_close) struct output output;
        TRY(callsites_sarif(report, &sarif));
        TRY(output_open(standard ? NULL : settings->sarif, STDOUT_FILENO, &output));
        TRY(output_put(&output, &sarif));
        if (standard)
            return NULL;
    }
    if (settings->scenario != NULL)
        TRY(write_scenarios(report, settings->scenario, &said));
    // Whoever asks for certain calls wants to see all of them.
    enum callsites_shown shown = settings->all || settings->classes.entries.count != 0
                                     ? CALLSITES_ALL
                                 : settings->functions.entries.count != 0 ? CALLSITES_FAULTY
                                                                          : CALLSITES_BRIEF;
    TRY(settings->json ? callsites_json(report, &text) : callsites_text(report, shown, &text));
    if (!settings->json && said.size != 0)
        TRY(buffer_append(&text, said.data, said.size));
    return output_print(&text);
}

static struct error *report_modules(const struct settings *settings,
                                    struct callsite_modules *modules,
                                    const struct callsites_options *chosen)
{
    _cleanup_(callsites_report_deinit) struct callsites_report report;
    TRY(callsites_report_init(&report));
    for (size_t i = 0; i < modules->items.count; i++) {
        struct callsite_module *module = &modules->items.items[i];
        TRY(callsites_report_add(&report, module->path, module->image, &module->sites));
    }
    TRY(callsites_report_finish(&report, chosen, callsite_modules_error, modules));
    return write_outputs(settings, &report);
}

static unsigned count_threads(const struct settings *settings)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t count = settings->threads.given ? settings->threads.value
                     : processors > 0        ? (uint64_t)processors
                                             : 1;
    return count > 64 ? 64 : (unsigned)count;
}

// If one of several modules cannot be read, the others are still shown.
static struct error *add_modules(struct callsite_modules *modules, char **operands, int *ret_status)
{
    for (size_t i = 0; operands[i] != NULL; i++) {
        size_t before = modules->items.count;
        struct error *error = callsite_modules_add(modules, operands[i]);
        if (error == NULL)
            continue;
        if (operands[1] == NULL || error == error_no_memory() || modules->items.count != before)
            return error;
        fprintf(stderr, "ordeal: %s\n", error_message(error));
        error_free(error);
        *ret_status = EXIT_CANNOT_RUN;
    }
    return NULL;
}

static struct error *analyse(const struct settings *settings, char **operands,
                             const struct callsites_options *chosen,
                             const struct error_set *excluded, int *ret_status)
{
    _cleanup_(profile_cache_close) struct profile_cache cache = {0};
    _cleanup_(profile_kernel_close) struct profile_kernel kernel = {0};
    struct profile_options how = {0};
    TRY(profile_kernel_open(settings->kernel, &kernel, &how));
    _cleanup_(callsite_modules_deinit) struct callsite_modules modules = {.excluded = *excluded};
    if (!settings->no_cache) {
        TRY(profile_cache_open(kernel.identity, &cache));
        modules.cache = &cache;
    }
    TRY(profile_set_new(&how, &modules.set));
    TRY(add_modules(&modules, operands, ret_status));
    if (kernel.error != NULL)
        return TAKE(kernel.error);
    callsite_modules_keep(&modules);
    TRY(callsite_modules_find(&modules, count_threads(settings)));
    return report_modules(settings, &modules, chosen);
}

static struct error *run(const void *data, char **operands, int *ret_status)
{
    const struct settings *settings = data;
    struct callsites_options chosen = {0};
    struct error_set excluded = {0};
    if (settings->json && settings->sarif != NULL && strcmp(settings->sarif, "-") == 0)
        return error_new("only one report can go to the standard output");
    for (size_t i = 0; i < settings->classes.entries.count; i++)
        TRY(parse_class(settings->classes.entries.items[i].value, &chosen));
    if (settings->excluded != NULL)
        TRY(error_list_parse(settings->excluded, &excluded));
    size_t count = settings->functions.entries.count;
    _cleanup_free_ const char **functions = calloc(count != 0 ? count : 1, sizeof *functions);
    if (functions == NULL)
        return error_no_memory();
    for (size_t i = 0; i < count; i++)
        functions[i] = settings->functions.entries.items[i].value;
    chosen.functions = functions;
    chosen.function_count = count;
    *ret_status = 0;
    return analyse(settings, operands, &chosen, &excluded, ret_status);
}

const struct command cmd_callsites = {
    .name = "callsites",
    .summary = "Find the calls whose failures a program or a library does not check.",
    .operands = "PROGRAM...",
    .details = "Looks at the machine code only; debug information gives calls their lines in the "
               "source.\n"
               "\n"
               "  ordeal callsites /usr/bin/sed\n"
               "  ordeal callsites --functions 'mallo*' --class unchecked ./server ./plugin.so\n"
               "  ordeal callsites --scenario rules ./server\n"
               "  ordeal run --scenario rules/unchecked.yaml -- ./server\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .settings_size = sizeof(struct settings),
    .least = 1,
    .most = 100000,
    .run = run,
};
