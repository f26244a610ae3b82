// SPDX-License-Identifier: GPL-3.0-or-later
// ordeal profile: what the functions of libraries return when they fail.
#include "cli/registry.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "elf/object.h"
#include "profile/batch.h"
#include "profile/system-calls.h"
#include "report/profile.h"
#include "report/text.h"
#include "scenario/tables.h"

#include <string.h>
#include <unistd.h>

struct settings {
    bool json, xml, all, no_cache;
    const char *functions, *exclude;
    struct option_number jobs;
};

#define FIELD(name) offsetof(struct settings, name)
static const struct option options[] = {
    {"functions", 'f', OPTION_TEXT, "GLOB", "only functions with such names", FIELD(functions)},
    {"all", 'a', OPTION_FLAG, NULL,
     "show everything: also results that are hardly errors, functions without any, old versions",
     FIELD(all)},
    {"exclude-errno", 0, OPTION_TEXT, "LIST", "leave out error numbers: ENOSYS,EINTR",
     FIELD(exclude)},
    {"jobs", 'j', OPTION_NUMBER, "N", "look at so many libraries at a time (1)", FIELD(jobs)},
    {"no-cache", 0, OPTION_FLAG, NULL, "work afresh, and keep nothing for the next time",
     FIELD(no_cache)},
    {"json", 0, OPTION_FLAG, NULL, "write the profile as JSON", FIELD(json)},
    {"xml", 0, OPTION_FLAG, NULL, "write the profile as the LFI article's XML", FIELD(xml)},
};

struct libraries {
    ARRAY(struct batch_item) items;
    ARRAY(struct profile) profiles; // of those that have one; they belong to the items
    ARRAY(char *) paths;
    struct profile_cache cache;
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
    profile_cache_close(&libraries->cache);
}

static struct error *find_file(const char *name, char **ret_path)
{
    if (strchr(name, '/') == NULL && access(name, F_OK) != 0)
        return elf_find_library(name, ret_path);
    *ret_path = strdup(name);
    return *ret_path != NULL ? NULL : error_no_memory();
}

static struct error *parse_numbers(const char *list, struct error_set *ret_numbers)
{
    for (const char *at = list; *at != '\0';) {
        size_t size = strcspn(at, ", ");
        const struct constant *constant = constant_find(at, size);
        if (size != 0 && (constant == NULL || constant->kind != CONSTANT_ERRNO))
            return error_new("--exclude-errno: '%.*s' is no error number; give names such as "
                             "ENOSYS, with commas between them",
                             (int)size, at);
        if (size != 0)
            error_set_add(ret_numbers, (unsigned)constant->value);
        at += size;
        at += strspn(at, ", ");
    }
    return NULL;
}

static struct error *add_library(struct libraries *libraries, const char *name)
{
    char **path = ARRAY_ADD(&libraries->paths);
    struct batch_item *item = path != NULL ? ARRAY_ADD(&libraries->items) : NULL;
    if (item == NULL)
        return error_no_memory();
    TRY(find_file(name, path));
    item->path = *path;
    return NULL;
}

static struct error *analyse(const struct settings *settings, struct libraries *libraries)
{
    struct batch batch = {.options = {.system_call = system_call_errors},
                          .jobs = settings->jobs.given ? (unsigned)settings->jobs.value : 1};
    if (!settings->no_cache) {
        TRY(profile_cache_open("built-in", &libraries->cache));
        batch.cache = &libraries->cache;
    }
    return profile_batch(&batch, libraries->items.items, libraries->items.count);
}

// What could not be read is said at once; the others go on.
static struct error *sort_out(const struct settings *settings, const struct error_set *excluded,
                              struct libraries *libraries, int *ret_status)
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
        if (settings->exclude != NULL)
            TRY(profile_exclude(&item->profile, excluded));
        struct profile *shown = ARRAY_ADD(&libraries->profiles);
        if (shown == NULL)
            return error_no_memory();
        *shown = item->profile;
    }
    return NULL;
}

static struct error *put_summary(const struct profile_counts *counts, uint64_t ns,
                                 struct buffer *text)
{
    TRY(buffer_printf(text, "%zu functions, %zu with errors, %zu unknown", counts->functions,
                      counts->failing, counts->unknown));
    if (counts->cut != 0)
        TRY(buffer_printf(text, ", %zu cut short", counts->cut));
    TRY(buffer_printf(text, ", "));
    TRY(text_put_duration(text, ns));
    return buffer_append(text, "\n", 1);
}

static struct error *print(const struct settings *settings, const struct libraries *libraries,
                           uint64_t start)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    const struct profile_view view = {.all = settings->all, .glob = settings->functions};
    const struct profile *profiles = libraries->profiles.items;
    size_t count = libraries->profiles.count;
    struct profile_counts counts = {0};
    if (settings->json)
        TRY(report_profiles_json(profiles, count, &view, &text));
    else if (settings->xml)
        TRY(report_profiles_xml(profiles, count, &view, &text));
    else {
        for (size_t i = 0; i < count; i++)
            TRY(report_profile_text(&profiles[i], &view, &counts, &text));
        TRY(put_summary(&counts, clock_ns() - start, &text));
    }
    return output_print(&text);
}

static struct error *run(const void *data, char **operands, int *ret_status)
{
    const struct settings *settings = data;
    struct error_set excluded = {0};
    uint64_t start = clock_ns();
    if (settings->json && settings->xml)
        return error_new("--json or --xml, not both");
    if (settings->exclude != NULL)
        TRY(parse_numbers(settings->exclude, &excluded));
    if (settings->jobs.given && (settings->jobs.value == 0 || settings->jobs.value > 64))
        return error_new("-j needs a number from 1 to 64");
    _cleanup_(libraries_deinit) struct libraries libraries = {0};
    for (size_t i = 0; operands[i] != NULL; i++)
        TRY(add_library(&libraries, operands[i]));
    TRY(analyse(settings, &libraries));
    TRY(sort_out(settings, &excluded, &libraries, ret_status));
    return print(settings, &libraries, start);
}

const struct command cmd_profile = {
    .name = "profile",
    .summary = "Say what the functions of libraries return when they fail.",
    .operands = "LIBRARY...",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .settings_size = sizeof(struct settings),
    .least = 1,
    .most = UINT32_MAX,
    .run = run,
};
