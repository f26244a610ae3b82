// SPDX-License-Identifier: GPL-3.0-or-later
// The fault-free runs of a campaign: how they ended, how long they took, and which of their outputs
// are not the same every time.
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
    char *outcome;
    int status;
    ARRAY(int64_t) runs;
    struct arena paths;
    ARRAY(struct output_seen) outputs;
    struct map by_path; // outputs
};

static void reader_deinit(struct reader *reader)
{
    free(reader->outcome);
    arena_deinit(&reader->paths);
    ARRAY_DEINIT(&reader->outputs);
    map_deinit(&reader->by_path);
    ARRAY_DEINIT(&reader->runs);
}

static struct error *describe(const struct store_reference *row, char **ret_text)
{
    struct buffer text = {0};
    const char *outcome = row->outcome != NULL ? row->outcome : "?";
    const char *name = row->status > 0 ? sigabbrev_np(row->status) : NULL;
    struct error *error = NULL;
    if (strcmp(outcome, "exit") == 0)
        error = buffer_printf(&text, "exit status %d", row->status);
    else if (strcmp(outcome, "signal") == 0 && name != NULL)
        error = buffer_printf(&text, "SIG%s", name);
    else
        error = buffer_printf(&text, "%s %d", outcome, row->status);
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
    const char *outcome = row->outcome != NULL ? row->outcome : "?";
    if (references->count++ == 0) {
        reader->status = row->status;
        reader->outcome = strdup(outcome);
        return reader->outcome == NULL ? error_no_memory() : describe(row, &references->ending);
    }
    if (strcmp(reader->outcome, outcome) != 0 || reader->status != row->status)
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

// Whether the definition says what is compared: then an output may differ, and it does not matter.
static bool is_selective(const struct store_campaign *campaign)
{
    static const struct {
        const char *key, *usual;
    } keys[] = {{"filters", "[]"}, {"ignore", "[]"}, {"compare", "[stdout, files]"}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        size_t size = 0;
        const char *value =
            campaign_definition_value(campaign->definition, "oracle", keys[i].key, &size);
        if (value != NULL &&
            (size != strlen(keys[i].usual) || strncmp(value, keys[i].usual, size) != 0))
            return true;
    }
    return false;
}

// Whether the campaign, which applied the filters, warned of this output: "stdout: line 3 varies",
// "'/path' varies".
static bool is_warned_of(const struct store_campaign *campaign, const char *path)
{
    size_t size = strlen(path);
    if (*path == '<' && size > 2) {
        path++;
        size -= 2;
    }
    for (const char *line = campaign->warnings; line != NULL && *line != '\0';) {
        size_t length = strcspn(line, "\n");
        if (memmem(line, length, "more outputs vary between", 25) != NULL)
            return true;
        size_t quote = *line == '\'' || *line == '"';
        if (length > size + quote && strncmp(line + quote, path, size) == 0 &&
            strchr(" :'\"", line[quote + size]) != NULL)
            return true;
        line += length + (line[length] == '\n');
    }
    return false;
}

#define NAMED 5 // outputs that differ

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

static struct error *judge_outputs(struct reader *reader, const struct store_campaign *campaign)
{
    struct campaign_references *references = reader->references;
    bool selective = is_selective(campaign);
    references->outputs = reader->outputs.count;
    if (reader->outputs.count != 0)
        qsort(reader->outputs.items, reader->outputs.count, sizeof *reader->outputs.items,
              compare_paths);
    for (size_t i = 0; i < reader->outputs.count; i++) {
        const struct output_seen *seen = &reader->outputs.items[i];
        bool differs = seen->differs || seen->runs != references->count;
        if (differs && (!selective || is_warned_of(campaign, seen->path)))
            TRY(name_output(references, seen->path));
    }
    return NULL;
}

struct error *campaign_references_load(struct store *store, const struct store_campaign *campaign,
                                       struct campaign_references *references)
{
    _cleanup_(reader_deinit) struct reader reader = {.store = store, .references = references};
    TRY(store_each_reference(store, campaign->id, add_reference, &reader));
    for (size_t i = 0; i < reader.runs.count; i++)
        TRY(store_each_artifact(store, reader.runs.items[i], add_output, &reader));
    return judge_outputs(&reader, campaign);
}

void campaign_references_deinit(struct campaign_references *references)
{
    free(references->ending);
    for (size_t i = 0; i < references->differing.count; i++)
        free(references->differing.items[i]);
    ARRAY_DEINIT(&references->differing);
    *references = (struct campaign_references){0};
}
