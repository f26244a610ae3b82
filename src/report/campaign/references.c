// SPDX-License-Identifier: GPL-3.0-or-later
// The reference runs of a campaign: how they ended, how long they took, and which outputs differ
// between them.
#include "report/campaign/facts.h"

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/map.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct output_seen {
    const char *path;
    uint64_t hash, size, runs;
    bool differs;
};
struct reader {
    struct store *store;
    struct campaign_references *references;
    enum store_outcome outcome;
    int status;
    ARRAY(int64_t) runs;
    struct arena paths;
    ARRAY(struct output_seen) outputs;
    struct map by_path; // outputs
};

static void reader_deinit(struct reader *reader)
{
    arena_deinit(&reader->paths);
    ARRAY_DEINIT(&reader->outputs);
    map_deinit(&reader->by_path);
    ARRAY_DEINIT(&reader->runs);
}

static struct error *describe(const struct store_reference *row, char **ret_text)
{
    struct buffer text = {0};
    const char *name = row->status > 0 ? sigabbrev_np(row->status) : NULL;
    struct error *error = NULL;
    if (row->outcome == STORE_OUTCOME_EXIT)
        error = buffer_printf(&text, "exit status %d", row->status);
    else if (row->outcome == STORE_OUTCOME_SIGNAL && name != NULL)
        error = buffer_printf(&text, "SIG%s", name);
    else
        error = buffer_printf(&text, "%s %d", enum_name(&outcome_names, row->outcome), row->status);
    *ret_text = text.data;
    return error;
}

static struct error *add_reference(void *data, const struct store_reference *row)
{
    struct reader *reader = data;
    struct campaign_references *references = reader->references;
    stats_add(&references->seconds, row->seconds);
    int64_t *run = ARRAY_ADD(&reader->runs);
    if (run == NULL)
        return error_no_memory();
    *run = row->id;
    if (references->count++ == 0) {
        reader->status = row->status;
        reader->outcome = row->outcome;
        return describe(row, &references->ending);
    }
    if (reader->outcome != row->outcome || reader->status != row->status)
        references->endings_differ = true;
    return NULL;
}

struct sought {
    const struct reader *reader;
    const char *path;
};

static bool is_equal(const void *data, uint32_t index)
{
    const struct sought *sought = data;
    return strcmp(sought->reader->outputs.items[index].path, sought->path) == 0;
}

static struct error *add_output(void *data, const struct store_artifact *row)
{
    struct reader *reader = data;
    const struct sought sought = {reader, row->path != NULL ? row->path : ""};
    uint64_t hash = hash_text(sought.path);
    if (strcmp(sought.path, STORE_INTERFACE) == 0 || strcmp(sought.path, STORE_ACCESSES) == 0)
        return NULL; // kept of the first run only
    uint32_t found = map_find_equal(&reader->by_path, hash, is_equal, &sought);
    if (found != MAP_NONE) {
        struct output_seen *seen = &reader->outputs.items[found];
        seen->differs |= seen->hash != row->hash || seen->size != row->size;
        seen->runs++;
        return NULL;
    }
    const char *path = arena_copy(&reader->paths, sought.path, strlen(sought.path));
    struct output_seen *seen = path != NULL ? ARRAY_ADD(&reader->outputs) : NULL;
    if (seen == NULL)
        return error_no_memory();
    *seen = (struct output_seen){path, row->hash, row->size, 1, false};
    return map_put(&reader->by_path, hash, (uint32_t)(reader->outputs.count - 1));
}

// Whether a remark of the campaign says that this output varies. The campaign had applied the
// filters.
static bool is_remarked(const struct campaign_facts *facts, const char *path)
{
    for (size_t i = 0; i < facts->remarks.count; i++) {
        const struct campaign_remark *remark = &facts->remarks.items[i];
        if (remark->kind == REMARK_VARIES &&
            (remark->about == NULL || strcmp(remark->about, path) == 0))
            return true;
    }
    return false;
}

#define NAMED 5 // outputs named at most

static struct error *name_output(struct campaign_references *references, const char *path)
{
    if (++references->outputs_differ > NAMED)
        return NULL;
    char **slot = ARRAY_ADD(&references->differing);
    if (slot == NULL)
        return error_no_memory();
    *slot = strdup(path);
    return *slot == NULL ? error_no_memory() : NULL;
}

static int compare_paths(const void *left, const void *right)
{
    return strcmp(((const struct output_seen *)left)->path,
                  ((const struct output_seen *)right)->path);
}

static struct error *judge_outputs(struct reader *reader, const struct campaign_facts *facts)
{
    struct campaign_references *references = reader->references;
    references->outputs = reader->outputs.count;
    if (reader->outputs.count != 0)
        qsort(reader->outputs.items, reader->outputs.count, sizeof *reader->outputs.items,
              compare_paths);
    for (size_t i = 0; i < reader->outputs.count; i++) {
        const struct output_seen *seen = &reader->outputs.items[i];
        bool differs = seen->differs || seen->runs != references->count;
        // If the definition limits what is compared, an output may differ and not matter.
        if (differs && (!facts->campaign.filtered || is_remarked(facts, seen->path)))
            TRY(name_output(references, seen->path));
    }
    return NULL;
}

struct error *campaign_references_load(struct campaign_facts *facts)
{
    _cleanup_(reader_deinit) struct reader reader = {.store = facts->store,
                                                     .references = &facts->references};
    TRY(store_each_reference(facts->store, facts->campaign.id, add_reference, &reader));
    for (size_t i = 0; i < reader.runs.count; i++)
        TRY(store_each_artifact(facts->store, reader.runs.items[i], add_output, &reader));
    return judge_outputs(&reader, facts);
}

void campaign_references_deinit(struct campaign_references *references)
{
    free(references->ending);
    for (size_t i = 0; i < references->differing.count; i++)
        free(references->differing.items[i]);
    ARRAY_DEINIT(&references->differing);
    *references = (struct campaign_references){0};
}
