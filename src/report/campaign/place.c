// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the place of a finding in the project's source tree.
#include "report/campaign/place.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/frame-text.h"

#include <stdlib.h>
#include <string.h>

void campaign_place_deinit(struct campaign_place *place)
{
    free(place->name);
    free(place->function);
    *place = (struct campaign_place){0};
}

struct place_search {
    const struct project *project;
    const struct campaign_finding *finding;
    struct campaign_place place;
    bool seen; // the first injection
};

static struct error *try_file(struct place_search *search, const char *file, unsigned line,
                              const char *module)
{
    if (search->place.name != NULL)
        return NULL;
    search->place.line = line;
    return project_name_file(search->project, file, module, &search->place.name);
}

static struct error *copy_part(struct frame_part part, char **ret_text)
{
    *ret_text = strndup(part.text != NULL ? part.text : "", part.size);
    return *ret_text != NULL ? NULL : error_no_memory();
}

static struct error *try_stack(struct place_search *search, const char *stack)
{
    struct frame_text frame;
    while (stack != NULL && search->place.name == NULL && frame_text_next(&stack, &frame)) {
        _cleanup_free_ char *file = NULL, *module = NULL;
        TRY(copy_part(frame.file, &file));
        TRY(copy_part(frame.module, &module));
        TRY(try_file(search, file, frame.line, module));
    }
    return NULL;
}

static struct error *look_at_injection(void *data, const struct store_injection *row)
{
    struct place_search *search = data;
    if (search->seen)
        return NULL;
    search->seen = true;
    if (row->symbol != NULL && (search->place.function = strdup(row->symbol)) == NULL)
        return error_no_memory();
    TRY(try_file(search, search->finding->file, search->finding->line, row->module));
    return try_stack(search, row->stack);
}

struct error *campaign_place_find(const struct campaign_facts *facts, const struct project *project,
                                  const struct campaign_finding *finding,
                                  struct campaign_place *ret_place)
{
    struct place_search search = {.project = project, .finding = finding};
    struct error *error = NULL;
    if (finding->trial != 0)
        error = store_each_injection(facts->store, finding->trial, look_at_injection, &search);
    if (error == NULL && !search.seen)
        error = try_file(&search, finding->file, finding->line, NULL);
    if (error == NULL)
        error = try_stack(&search, finding->stack);
    if (error != NULL) {
        campaign_place_deinit(&search.place);
        return error;
    }
    *ret_place = search.place;
    return NULL;
}

struct error *campaign_program_name(const struct campaign_facts *facts,
                                    const struct project *project, char **ret_name)
{
    // "SIZE MTIME BUILD-ID PATH"
    const char *path = facts->campaign.program, *command = facts->campaign.command;
    for (int i = 0; i < 3 && path != NULL; i++)
        path = (path = strchr(path, ' ')) != NULL ? path + 1 : NULL;
    char *found = NULL;
    if (path != NULL)
        TRY(project_name_file(project, path, NULL, &found));
    if (found == NULL) {
        if (path == NULL || *path == '\0')
            path = command != NULL && *command != '\0' ? command : "program";
        const char *name = file_base_name(path);
        size_t size = path == command ? strcspn(name, " ") : strlen(name);
        found = size != 0 ? strndup(name, size) : strdup("program");
    }
    if (found == NULL)
        return error_no_memory();
    *ret_name = found;
    return NULL;
}

struct error *campaign_each_place(const struct campaign_facts *facts,
                                  struct error *(*each)(void *data,
                                                        const struct campaign_finding *finding,
                                                        const struct campaign_place *place),
                                  void *data)
{
    _cleanup_(project_deinit) struct project project = {0};
    TRY(project_find(facts->campaign.directory, &project));
    for (size_t i = 0; i < facts->findings.count; i++) {
        const struct campaign_finding *finding = &facts->findings.items[i];
        _cleanup_(campaign_place_deinit) struct campaign_place place = {0};
        TRY(campaign_place_find(facts, &project, finding, &place));
        if (place.name == NULL) {
            place.line = 0;
            TRY(campaign_program_name(facts, &project, &place.name));
        }
        TRY(each(data, finding, &place));
    }
    return NULL;
}
