// SPDX-License-Identifier: GPL-3.0-or-later
// ordeal profile: what the functions of libraries return when they fail.
#include "cli/registry.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "elf/object.h"
#include "profile/profile.h"
#include "profile/system-calls.h"
#include "report/profile.h"
#include "report/text.h"
#include "scenario/tables.h"

#include <string.h>
#include <unistd.h>

struct settings {
    bool json, xml, all;
    const char *functions, *exclude;
};

#define FIELD(name) offsetof(struct settings, name)
static const struct option options[] = {
    {"functions", 'f', OPTION_TEXT, "GLOB", "only functions with such names", FIELD(functions)},
    {"all", 'a', OPTION_FLAG, NULL,
     "show everything: also results that are hardly errors, functions without any, old versions",
     FIELD(all)},
    {"exclude-errno", 0, OPTION_TEXT, "LIST", "leave out error numbers: ENOSYS,EINTR",
     FIELD(exclude)},
    {"json", 0, OPTION_FLAG, NULL, "write the profile as JSON", FIELD(json)},
    {"xml", 0, OPTION_FLAG, NULL, "write the profile as the LFI article's XML", FIELD(xml)},
};

struct profiles {
    ARRAY(struct profile) items;
};

static void profiles_deinit(struct profiles *profiles)
{
    for (size_t i = 0; i < profiles->items.count; i++)
        profile_deinit(&profiles->items.items[i]);
    ARRAY_DEINIT(&profiles->items);
}

static void set_freep(struct profile_set **set)
{
    profile_set_free(*set);
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

static struct error *profile_one(struct profile_set *set, const char *name,
                                 struct profiles *profiles)
{
    _cleanup_free_ char *path = NULL;
    size_t module;
    TRY(find_file(name, &path));
    TRY(profile_set_add(set, path, &module));
    TRY(profile_set_analyse(set, module));
    struct profile *added = ARRAY_ADD(&profiles->items);
    return added == NULL ? error_no_memory() : profile_make(set, module, added);
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

static struct error *print(const struct settings *settings, const struct profiles *profiles,
                           uint64_t start)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    const struct profile_view view = {.all = settings->all, .glob = settings->functions};
    struct profile_counts counts = {0};
    if (settings->json)
        TRY(report_profiles_json(profiles->items.items, profiles->items.count, &view, &text));
    else if (settings->xml)
        TRY(report_profiles_xml(profiles->items.items, profiles->items.count, &view, &text));
    else {
        for (size_t i = 0; i < profiles->items.count; i++)
            TRY(report_profile_text(&profiles->items.items[i], &view, &counts, &text));
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
    const struct profile_options how = {.system_call = system_call_errors};
    _cleanup_(set_freep) struct profile_set *set = NULL;
    _cleanup_(profiles_deinit) struct profiles profiles = {0};
    TRY(profile_set_new(&how, &set));
    for (size_t i = 0; operands[i] != NULL; i++)
        TRY(profile_one(set, operands[i], &profiles));
    for (size_t i = 0; i < profiles.items.count && settings->exclude != NULL; i++)
        TRY(profile_exclude(&profiles.items.items[i], &excluded));
    return print(settings, &profiles, start);
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
