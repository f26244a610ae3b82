// SPDX-License-Identifier: GPL-3.0-or-later
// Scores as JSON of the mutation testing report schema, and as SARIF.
#include "cli/mutate/score-show.h"

#include "base/cleanup.h"
#include "report/json.h"
#include "report/project.h"
#include "report/sarif.h"

#include <stdlib.h>
#include <string.h>

// ---- Stryker ----

static const char *const statuses[SCORE_OUTCOMES] = {
    "Pending", "Killed", "Timeout", "Survived", "NoCoverage", "Ignored", "RuntimeError"};

static const char *status_of(const struct mutate_candidate *candidate, enum score_outcome outcome)
{
    return candidate->state == MUTATE_BROKEN ? "CompileError" : statuses[outcome];
}

static bool is_cxx(const char *file)
{
    const char *end = strrchr(file, '.');
    return end != NULL && strcmp(end, ".c") != 0 && strcmp(end, ".h") != 0;
}

static void add_position(struct json_builder *builder, json_t *location, const char *key,
                         unsigned line, unsigned column)
{
    json_t *position = json_add_object(builder, location, key);
    json_add_integer(builder, position, "line", line != 0 ? line : 1);
    json_add_integer(builder, position, "column", column != 0 ? column : 1);
}

static void add_mutant(struct json_builder *builder, json_t *mutants,
                       const struct mutate_candidate *candidate, const struct score *score,
                       size_t number)
{
    const struct model_type *type = &model_types[candidate->kind];
    json_t *mutant = json_add_object(builder, mutants, NULL);
    json_add_string(builder, mutant, "id", candidate->id);
    json_add_string(builder, mutant, "mutatorName", type->name);
    json_add_string(builder, mutant, "description", type->description);
    json_add_string(builder, mutant, "replacement", candidate->replacement);
    json_add_string(builder, mutant, "status", status_of(candidate, score->outcomes[number]));
    if (candidate->state != MUTATE_APPLICABLE)
        json_add_string(builder, mutant, "statusReason", mutate_state_word(candidate->state));
    if (score->ns[number] != 0)
        json_add_real(builder, mutant, "duration", (double)score->ns[number] / 1e6);
    json_t *location = json_add_object(builder, mutant, "location");
    bool ended = candidate->end_line != 0;
    add_position(builder, location, "start", candidate->line, candidate->column);
    add_position(builder, location, "end", ended ? candidate->end_line : candidate->line,
                 ended ? candidate->end_column : candidate->column + 1);
}

// The source that a mutant is shown in: of a program, the one that it was built from.
static const char *source_of(const struct mutate_set *set, size_t number)
{
    const struct mutate_candidate *candidate = &set->items.items[number];
    return set->level->compiled ? candidate->file : candidate->changed;
}

static struct error *add_file(struct json_builder *builder, json_t *files,
                              const struct mutate_set *set, const struct score *score, size_t first)
{
    const char *name = source_of(set, first);
    _cleanup_(buffer_deinit) struct buffer source = {0};
    struct error *error = buffer_read_regular(name, SIZE_MAX, &source);
    if (error != NULL && !set->level->compiled)
        return error;
    error_free(error); // the sources of a program may be elsewhere
    json_t *file = json_add_object(builder, files, name);
    json_add_string(builder, file, "language", is_cxx(name) ? "cpp" : "c");
    json_add_text(builder, file, "source", source.data != NULL ? source.data : "", source.size);
    json_t *mutants = json_add_array(builder, file, "mutants");
    for (size_t i = first; i < set->items.count; i++)
        if (score->outcomes[i] != SCORE_NONE && strcmp(source_of(set, i), name) == 0)
            add_mutant(builder, mutants, &set->items.items[i], score, i);
    return NULL;
}

struct error *score_put_stryker(const struct mutate_set *set, const struct score *score,
                                struct buffer *text)
{
    struct json_builder builder = {0};
    _cleanup_(json_release) json_t *root = json_object();
    _cleanup_(buffer_deinit) struct buffer whole = {0};
    if (root == NULL)
        return error_no_memory();
    json_add_string(&builder, root, "schemaVersion", "1.0");
    json_t *thresholds = json_add_object(&builder, root, "thresholds");
    json_add_integer(&builder, thresholds, "high", 80);
    json_add_integer(&builder, thresholds, "low", 60);
    json_t *framework = json_add_object(&builder, root, "framework");
    json_add_string(&builder, framework, "name", "Ordeal");
    json_add_string(&builder, framework, "version", ORDEAL_VERSION);
    json_t *files = json_add_object(&builder, root, "files");
    for (size_t i = 0; i < set->items.count; i++)
        if (score->outcomes[i] != SCORE_NONE && !builder.failed &&
            json_object_get(files, source_of(set, i)) == NULL)
            TRY(add_file(&builder, files, set, score, i));
    TRY(json_write(&builder, root, &whole));
    return buffer_append(text, whole.data, whole.size);
}

// ---- SARIF ----

#define RULE "survived-mutant"

static const struct sarif_rule rule = {
    RULE,
    "The tests pass although the code has a fault.",
    "With the fault that the result describes, in a copy of the program, all tests pass.",
    "Add a test that fails with this fault, or see whether the code is needed.",
    "warning",
    "3.0"};

static struct error *add_result(struct json_builder *builder, json_t *results,
                                const struct project *project,
                                const struct mutate_candidate *candidate)
{
    const struct model_type *type = &model_types[candidate->kind];
    _cleanup_(buffer_deinit) struct buffer message = {0};
    _cleanup_free_ char *name = NULL;
    json_t *result = json_add_object(builder, results, NULL);
    TRY(buffer_printf(&message, "The tests pass with this fault: %s (%s): %s.", type->description,
                      type->name, candidate->detail));
    json_add_string(builder, result, "ruleId", RULE);
    json_add_string(builder, result, "level", "warning");
    sarif_add_message(builder, result, "message", message.data);
    json_t *location = json_add_object(builder, json_add_array(builder, result, "locations"), NULL);
    TRY(project_name_file(project, candidate->file, NULL, &name));
    TRY(sarif_add_place(builder, location, name != NULL ? name : candidate->file, candidate->line));
    sarif_add_function(builder, location, candidate->function);
    json_add_string(builder, json_add_object(builder, result, "partialFingerprints"), "mutant/v1",
                    candidate->id);
    return NULL;
}

struct error *score_put_sarif(const struct mutate_set *set, const struct score *score,
                              struct buffer *text)
{
    struct json_builder builder = {0};
    _cleanup_(json_release) json_t *root = json_object();
    _cleanup_(project_deinit) struct project project = {0};
    _cleanup_(buffer_deinit) struct buffer whole = {0};
    if (root == NULL)
        return error_no_memory();
    TRY(project_find(NULL, &project));
    const struct sarif_run start = sarif_begin(&builder, root, ORDEAL_VERSION);
    sarif_add_rule(&builder, &start, &rule);
    json_t *results = json_add_array(&builder, start.run, "results");
    for (size_t i = 0; i < set->items.count; i++)
        if (score->outcomes[i] == SCORE_SURVIVED && !builder.failed)
            TRY(add_result(&builder, results, &project, &set->items.items[i]));
    TRY(json_write(&builder, root, &whole));
    return buffer_append(text, whole.data, whole.size);
}
