// SPDX-License-Identifier: GPL-3.0-or-later
// ordeal profile: shows what the functions of libraries return when they fail.
#include "cli/registry.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/suggestion.h"
#include "cli/analysis/error-list.h"
#include "cli/analysis/profile-kernel.h"
#include "cli/analysis/profile-program.h"
#include "elf/object.h"
#include "profile/batch.h"
#include "report/profile/profile.h"
#include "report/text.h"

#include <string.h>
#include <unistd.h>

struct settings {
    bool json, xml, all, no_cache, check_man;
    struct option_list functions, headers;
    const char *excluded, *program, *kernel;
    struct option_number threads;
};

#define FIELD(name) offsetof(struct settings, name)
static const struct option options[] = {
    {"of", 0, OPTION_FILE, "PROGRAM", "what this program imports, from wherever the loader gets it",
     FIELD(program)},
    {"functions", 'f', OPTION_LIST, "GLOB", "only functions with such names; may be given again",
     FIELD(functions)},
    {"all", 'a', OPTION_FLAG, NULL,
     "show everything: also results that are hardly errors, functions without any, old versions",
     FIELD(all)},
    {"exclude-errno", 0, OPTION_TEXT, "LIST", "leave out error numbers: ENOSYS,EINTR",
     FIELD(excluded)},
    {"kernel", 0, OPTION_FILE, "VMLINUX", "errors of system calls from this kernel's image",
     FIELD(kernel)},
    {"headers", 0, OPTION_FILE_LIST, "PATH",
     "take the types of results from this C header, or those below this directory; may be given "
     "again",
     FIELD(headers)},
    {"check-man", 0, OPTION_FLAG, NULL,
     "show where the errors found and those in manual pages differ", FIELD(check_man)},
    {"threads", 'j', OPTION_NUMBER, "N", "work with N threads; as many as processors without this",
     FIELD(threads)},
    {"no-cache", 0, OPTION_FLAG, NULL, "work afresh, and keep nothing for the next time",
     FIELD(no_cache)},
    {"json", 0, OPTION_FLAG, NULL, "write the profile as JSON", FIELD(json)},
    {"xml", 0, OPTION_FLAG, NULL, "write the profile as the LFI article's XML", FIELD(xml)},
};

struct libraries {
    ARRAY(struct batch_item) items;
    ARRAY(struct profile) profiles; // of the libraries that have one; they belong to the items
    ARRAY(char *) paths;
    struct program_imports imports; // for --of
};

static void libraries_deinit(struct libraries *libraries)
{
    for (size_t i = 0; i < libraries->items.count; i++)
        batch_item_deinit(&libraries->items.items[i]);
    for (size_t i = 0; i < libraries->paths.count; i++)
        free(libraries->paths.items[i]);
    ARRAY_DEINIT(&libraries->items);
    ARRAY_DEINIT(&libraries->profiles);
    ARRAY_DEINIT(&libraries->paths);
    program_imports_deinit(&libraries->imports);
}

// ---- choice of libraries ----

// Takes a path, or a name that programs give to the loader.
static struct error *find_file(const char *name, char **ret_path)
{
    if (*name == '\0')
        return error_new("the name of a library is empty");
    if (strchr(name, '/') == NULL && access(name, F_OK) != 0)
        return elf_find_library(name, ret_path);
    *ret_path = strdup(name);
    return *ret_path != NULL ? NULL : error_no_memory();
}

static struct error *add_item(struct libraries *libraries, const char *path)
{
    struct batch_item *item = ARRAY_ADD(&libraries->items);
    if (item == NULL)
        return error_no_memory();
    item->path = path;
    return NULL;
}

// If one of several libraries is missing, the others are still shown.
static struct error *find_library(const char *name, bool only, struct libraries *libraries,
                                  int *ret_status)
{
    char *path = NULL;
    struct error *error = find_file(name, &path);
    if (error != NULL && (only || error == error_no_memory()))
        return error;
    if (error != NULL) {
        fprintf(stderr, "ordeal: %s\n", error_message(error));
        error_free(error);
        *ret_status = EXIT_CANNOT_RUN;
        return NULL;
    }
    char **slot = ARRAY_ADD(&libraries->paths);
    if (slot == NULL) {
        free(path);
        return error_no_memory();
    }
    *slot = path;
    return add_item(libraries, path);
}

static struct error *find_libraries(const struct settings *settings, char **operands,
                                    struct libraries *libraries, int *ret_status)
{
    if (settings->program != NULL && operands[0] != NULL)
        return error_new("--of finds the libraries itself; leave out '%s'", operands[0]);
    if (settings->program == NULL && operands[0] == NULL)
        return error_new("which library? Give a path or a name such as libc.so.6, or a program "
                         "with --of");
    for (size_t i = 0; operands[i] != NULL; i++)
        TRY(find_library(operands[i], operands[1] == NULL, libraries, ret_status));
    if (settings->program != NULL)
        TRY(program_imports_find(settings->program, &libraries->imports));
    for (size_t i = 0; i < libraries->imports.libraries.count; i++)
        TRY(add_item(libraries, libraries->imports.libraries.items[i]));
    return NULL;
}

// ---- analysis ----

static unsigned count_threads(const struct settings *settings)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t count = settings->threads.given ? settings->threads.value
                     : processors > 0        ? (uint64_t)processors
                                             : 1;
    return count > 64 ? 64 : count == 0 ? 1 : (unsigned)count;
}

static struct error *analyse(const struct settings *settings, struct libraries *libraries)
{
    _cleanup_(profile_cache_close) struct profile_cache cache = {0};
    _cleanup_(profile_kernel_close) struct profile_kernel kernel = {0};
    struct batch batch = {.jobs = count_threads(settings), .incomplete = &kernel.failed};
    _cleanup_(declarations_deinit) struct declarations declarations = {0};
    bool is_kernel = false;
    if (libraries->items.count == 1)
        TRY(profile_kernel_image(libraries->items.items[0].path, &libraries->items.items[0].profile,
                                 &is_kernel));
    if (is_kernel)
        return NULL;
    TRY(profile_kernel_open(settings->kernel, &kernel, &batch.options));
    for (size_t i = 0; i < settings->headers.entries.count; i++) {
        TRY(declarations_read(&declarations, settings->headers.entries.items[i].value));
        batch.options.declarations = &declarations;
    }
    if (!settings->no_cache && batch.options.declarations == NULL) {
        TRY(profile_cache_open(kernel.identity, &cache));
        batch.cache = &cache;
    }
    TRY(profile_batch(&batch, libraries->items.items, libraries->items.count));
    return TAKE(kernel.error);
}

// Reports what could not be read, and keeps the other profiles.
static struct error *keep_readable(const struct error_set *excluded, struct libraries *libraries,
                                   int *ret_status)
{
    for (size_t i = 0; i < libraries->items.count; i++) {
        struct batch_item *item = &libraries->items.items[i];
        if (item->error != NULL && libraries->items.count == 1)
            return TAKE(item->error);
        if (item->error != NULL) {
            fprintf(stderr, "ordeal: %s\n", error_message(item->error));
            *ret_status = EXIT_CANNOT_RUN;
            continue;
        }
        TRY(profile_exclude(&item->profile, excluded));
        struct profile *shown = ARRAY_ADD(&libraries->profiles);
        if (shown == NULL)
            return error_no_memory();
        *shown = item->profile;
    }
    return NULL;
}

// ---- output ----

static struct error *put_tables(const struct libraries *libraries, const struct profile_view *view,
                                uint64_t start_ns, struct buffer *text)
{
    struct profile_counts counts = {0};
    for (size_t i = 0; i < libraries->profiles.count; i++)
        TRY(report_profile_text(&libraries->profiles.items[i], view, &counts, text));
    for (size_t i = 0; i < libraries->imports.undefined.count; i++)
        TRY(buffer_printf(text, "%s  %s\n", i == 0 ? "defined by no library\n" : "",
                          libraries->imports.undefined.items[i]));
    TRY(buffer_printf(text, "%zu function%s, %zu with errors, %zu unknown", counts.functions,
                      counts.functions == 1 ? "" : "s", counts.failing, counts.unknown));
    if (counts.cut != 0)
        TRY(buffer_printf(text, ", %zu where there may be more", counts.cut));
    TRY(buffer_printf(text, ", "));
    TRY(text_put_duration(text, clock_ns() - start_ns));
    return buffer_append(text, "\n", 1);
}

static struct error *put_agreement(const struct libraries *libraries,
                                   const struct profile_view *view, struct buffer *text)
{
    struct profile_agreement agreement = {0};
    for (size_t i = 0; i < libraries->profiles.count; i++)
        TRY(report_profile_man(&libraries->profiles.items[i], view, &agreement, text));
    return buffer_printf(
        text,
        "%zu function%s with a manual page, %zu agree%s with it; of the errors, %zu "
        "documented and found, %zu documented but not found, %zu found but not "
        "documented\n",
        agreement.functions, agreement.functions == 1 ? "" : "s", agreement.agreeing,
        agreement.agreeing == 1 ? "s" : "", agreement.both, agreement.missing, agreement.extra);
}

// A glob that matches nothing is more likely a mistake than a question.
static bool warn_unmatched(const struct settings *settings, const struct libraries *libraries,
                           struct profile_view view, const char *glob)
{
    struct suggestion meant = suggestion_start(glob, strlen(glob));
    bool there = false, shown = false;
    view.globs = &glob;
    view.glob_count = 1;
    for (size_t i = 0; i < libraries->profiles.count && !shown; i++) {
        const struct profile *profile = &libraries->profiles.items[i];
        for (size_t j = 0; j < profile->functions.count && !shown; j++) {
            const struct profile_function *function = &profile->functions.items[j];
            const char *name = profile_text(profile, function->name);
            shown = profile_shows(&view, profile, function);
            there |= profile_name_fits(glob, name);
            suggestion_offer(&meant, name);
        }
    }
    char storage[SUGGESTION_SIZE];
    if (!shown && settings->program != NULL)
        fprintf(stderr, "ordeal: %s imports no function '%s'\n", settings->program, glob);
    else if (!shown && there)
        fprintf(stderr, "ordeal: only old programs get '%s'; --all shows it\n", glob);
    else if (!shown)
        fprintf(stderr, "ordeal: there is no function '%s'%s\n", glob,
                suggestion_text(&meant, storage));
    return !shown;
}

static struct error *print(const struct settings *settings, const struct libraries *libraries,
                           uint64_t start_ns, int *ret_status)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    size_t globs = settings->functions.entries.count;
    _cleanup_free_ const char **functions = calloc(globs + 1, sizeof *functions);
    if (functions == NULL)
        return error_no_memory();
    for (size_t i = 0; i < globs; i++)
        functions[i] = settings->functions.entries.items[i].value;
    const struct profile_view view = {.all = settings->all,
                                      .globs = functions,
                                      .glob_count = globs,
                                      .wanted =
                                          settings->program != NULL ? program_imports_want : NULL,
                                      .data = &libraries->imports};
    for (size_t i = 0; i < globs && libraries->profiles.count != 0; i++)
        if (warn_unmatched(settings, libraries, view, functions[i]))
            *ret_status = EXIT_CANNOT_RUN;
    const struct profile *profiles = libraries->profiles.items;
    size_t count = libraries->profiles.count;
    if (settings->check_man)
        TRY(put_agreement(libraries, &view, &text));
    else if (settings->json)
        TRY(report_profiles_json(profiles, count, &view, &text));
    else if (settings->xml)
        TRY(report_profiles_xml(profiles, count, &view, &text));
    else
        TRY(put_tables(libraries, &view, start_ns, &text));
    return output_print(&text);
}

static struct error *run(const void *data, char **operands, int *ret_status)
{
    const struct settings *settings = data;
    struct error_set excluded = {0};
    uint64_t start_ns = clock_ns();
    if (settings->json + settings->xml + settings->check_man > 1)
        return error_new("only one of --json, --xml and --check-man");
    if (settings->excluded != NULL)
        TRY(error_list_parse(settings->excluded, &excluded));
    _cleanup_(libraries_deinit) struct libraries libraries = {0};
    TRY(find_libraries(settings, operands, &libraries, ret_status));
    TRY(analyse(settings, &libraries));
    TRY(keep_readable(&excluded, &libraries, ret_status));
    return print(settings, &libraries, start_ns, ret_status);
}

const struct command cmd_profile = {
    .name = "profile",
    .summary = "Say what the functions of libraries return when they fail.",
    .operands = "LIBRARY... | --of PROGRAM",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .settings_size = sizeof(struct settings),
    .most = UINT32_MAX,
    .run = run,
};
