// SPDX-License-Identifier: GPL-3.0-or-later
// Adds up the coverage that a store holds, by module and by function, and writes it as JSON lines.
#include "report/campaign/coverage.h"

#include "base/file.h"
#include "report/campaign/json.h"

#include <stdlib.h>
#include <string.h>

void campaign_coverage_deinit(struct campaign_coverage *coverage)
{
    for (size_t i = 0; i < coverage->modules.count; i++)
        free(coverage->modules.items[i]);
    for (size_t i = 0; i < coverage->functions.count; i++)
        free(coverage->functions.items[i].name);
    for (size_t i = 0; i < coverage->missed.count; i++) {
        free(coverage->missed.items[i].function);
        free(coverage->missed.items[i].file);
    }
    ARRAY_DEINIT(&coverage->modules);
    ARRAY_DEINIT(&coverage->by_module);
    ARRAY_DEINIT(&coverage->functions);
    ARRAY_DEINIT(&coverage->missed);
    *coverage = (struct campaign_coverage){0};
}

double coverage_percent(uint64_t part, uint64_t all)
{
    return all != 0 ? 100.0 * (double)part / (double)all : 0;
}

static void count(struct coverage_count *count, uint32_t reached)
{
    count->blocks++;
    count->before += reached == STORE_BY_REFERENCE;
    count->added += reached == STORE_BY_TRIAL;
}

static struct error *add_module(struct campaign_coverage *coverage, const char *path)
{
    char *copy = strdup(path), **module = ARRAY_ADD(&coverage->modules);
    struct coverage_count *counts = ARRAY_ADD(&coverage->by_module);
    if (copy == NULL || module == NULL || counts == NULL) {
        coverage->modules.count -= module != NULL;
        free(copy);
        return error_no_memory();
    }
    *module = copy;
    *counts = (struct coverage_count){0};
    return NULL;
}

// Blocks come sorted by module and address, so those of a function are nearly adjacent.
static struct error *find_function(struct campaign_coverage *coverage, uint32_t module,
                                   const char *name, struct coverage_part **ret_part)
{
    for (size_t i = coverage->functions.count; i-- > 0;) {
        struct coverage_part *part = &coverage->functions.items[i];
        if (part->module != module)
            break;
        *ret_part = part;
        if (strcmp(part->name, name) == 0)
            return NULL;
    }
    char *copy = strdup(name);
    struct coverage_part *part = ARRAY_ADD(&coverage->functions);
    if (copy == NULL || part == NULL) {
        coverage->functions.count -= part != NULL;
        free(copy);
        return error_no_memory();
    }
    *part = (struct coverage_part){.name = copy, .module = module};
    *ret_part = part;
    return NULL;
}

static struct error *add_missed(struct campaign_coverage *coverage, uint32_t module,
                                const struct store_recovery *row)
{
    struct coverage_missed *missed = ARRAY_ADD(&coverage->missed);
    if (missed == NULL)
        return error_no_memory();
    *missed = (struct coverage_missed){
        .module = module,
        .address = row->address,
        .function = row->function != NULL ? strdup(row->function) : NULL,
        .file = row->file != NULL ? strdup(row->file) : NULL,
        .line = row->line,
    };
    bool failed = (row->function != NULL && missed->function == NULL) ||
                  (row->file != NULL && missed->file == NULL);
    return failed ? error_no_memory() : NULL;
}

static struct error *add_row(void *data, const struct store_recovery *row)
{
    struct campaign_coverage *coverage = data;
    struct coverage_part *function = NULL;
    if (coverage->modules.count == 0 ||
        strcmp(coverage->modules.items[coverage->modules.count - 1], row->module) != 0)
        TRY(add_module(coverage, row->module));
    uint32_t module = (uint32_t)coverage->modules.count - 1;
    TRY(find_function(coverage, module, row->function != NULL ? row->function : "", &function));
    count(&function->count, row->reached);
    count(&coverage->by_module.items[module], row->reached);
    count(&coverage->all, row->reached);
    return row->reached == STORE_NEVER ? add_missed(coverage, module, row) : NULL;
}

static struct error *add_lines(void *data, const struct store_lines *row)
{
    struct campaign_coverage *coverage = data;
    coverage->files++;
    coverage->lines += row->lines;
    coverage->lines_before += row->before;
    coverage->lines_after += row->after;
    return NULL;
}

struct error *campaign_coverage_load(const struct campaign_facts *facts,
                                     struct campaign_coverage *ret_coverage)
{
    struct campaign_coverage coverage = {0};
    struct error *error = store_each_recovery(facts->store, facts->campaign.id, add_row, &coverage);
    if (error == NULL)
        error = store_each_lines(facts->store, facts->campaign.id, add_lines, &coverage);
    if (error != NULL)
        campaign_coverage_deinit(&coverage);
    else
        *ret_coverage = coverage;
    return error;
}

// ---- JSON ----

static void json_count(struct json_builder *builder, json_t *line,
                       const struct coverage_count *count)
{
    json_add_integer(builder, line, "blocks", count->blocks);
    json_add_integer(builder, line, "before", count->before);
    json_add_integer(builder, line, "added", count->added);
}

static struct error *json_part(const struct campaign_coverage *coverage, uint32_t module,
                               const char *function, const struct coverage_count *count,
                               struct report_sink *sink)
{
    struct json_builder builder;
    _cleanup_(json_release) json_t *line = campaign_json_start(&builder, "recovery");
    if (module < coverage->modules.count)
        json_add_string(&builder, line, "module", coverage->modules.items[module]);
    if (function != NULL && *function != '\0')
        json_add_string(&builder, line, "function", function);
    json_add_string(&builder, line, "of",
                    function != NULL                   ? "function"
                    : module < coverage->modules.count ? "module"
                                                       : "all");
    json_count(&builder, line, count);
    return campaign_json_end(&builder, line, sink);
}

static struct error *json_missed(const struct campaign_coverage *coverage,
                                 const struct coverage_missed *missed, struct report_sink *sink)
{
    struct json_builder builder;
    _cleanup_(json_release) json_t *line = campaign_json_start(&builder, "recovery-missed");
    json_add_string(&builder, line, "module", coverage->modules.items[missed->module]);
    json_add_format(&builder, line, "address", "0x%llx", (unsigned long long)missed->address);
    if (missed->function != NULL)
        json_add_string(&builder, line, "function", missed->function);
    if (missed->file != NULL) {
        json_add_string(&builder, line, "file", missed->file);
        json_add_integer(&builder, line, "line", missed->line);
    }
    return campaign_json_end(&builder, line, sink);
}

static struct error *json_lines(const struct campaign_coverage *coverage, struct report_sink *sink)
{
    struct json_builder builder;
    _cleanup_(json_release) json_t *line = campaign_json_start(&builder, "lines");
    json_add_integer(&builder, line, "files", coverage->files);
    json_add_integer(&builder, line, "lines", coverage->lines);
    json_add_integer(&builder, line, "before", coverage->lines_before);
    json_add_integer(&builder, line, "after", coverage->lines_after);
    return campaign_json_end(&builder, line, sink);
}

struct error *coverage_put_json(const struct campaign_facts *facts, struct report_sink *sink)
{
    _cleanup_(campaign_coverage_deinit) struct campaign_coverage coverage = {0};
    TRY(campaign_coverage_load(facts, &coverage));
    if (coverage.lines != 0)
        TRY(json_lines(&coverage, sink));
    if (coverage.all.blocks == 0)
        return NULL;
    TRY(json_part(&coverage, UINT32_MAX, NULL, &coverage.all, sink));
    for (uint32_t i = 0; i < coverage.modules.count; i++)
        TRY(json_part(&coverage, i, NULL, &coverage.by_module.items[i], sink));
    for (size_t i = 0; i < coverage.functions.count; i++)
        TRY(json_part(&coverage, coverage.functions.items[i].module,
                      coverage.functions.items[i].name, &coverage.functions.items[i].count, sink));
    for (size_t i = 0; i < coverage.missed.count; i++)
        TRY(json_missed(&coverage, &coverage.missed.items[i], sink));
    return NULL;
}
