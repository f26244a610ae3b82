// SPDX-License-Identifier: GPL-3.0-or-later
// ordeal campaign --dry-run: prints the definition, makes the reference runs, and counts the
// candidates.
#include "cli/campaign/preview.h"

#include "base/cleanup.h"
#include "base/timeouts.h"
#include "campaign/selection.h"
#include "cli/command.h"
#include "engine/shooting.h"
#include "injector/injector.h"
#include "oracle/reference.h"
#include "report/text.h"
#include "store/remark.h"

#include <stdlib.h>
#include <string.h>

#define SHOWN_TYPES 20

struct collected {
    ARRAY(struct candidate) items;
};

static void collected_deinit(struct collected *collected)
{
    for (size_t i = 0; i < collected->items.count; i++)
        candidate_deinit(&collected->items.items[i]);
    ARRAY_DEINIT(&collected->items);
}

static struct error *collect(void *data, struct candidate *candidate)
{
    struct collected *collected = data;
    struct candidate *item = ARRAY_ADD(&collected->items);
    if (item == NULL)
        return error_no_memory();
    *item = *candidate;
    *candidate = (struct candidate){0};
    return NULL;
}

static struct error *run_references(const struct definition *definition, struct shooting *shooting,
                                    struct reference *reference)
{
    uint64_t floor_ns = definition->oracle.timeout_floor_ns * 10;
    uint64_t timeout_ns = floor_ns > PREVIEW_WAIT_NS ? floor_ns : PREVIEW_WAIT_NS;
    uint32_t inputs = inputs_count(&definition->inputs);
    for (uint32_t i = 0; i < definition->oracle.references * (inputs != 0 ? inputs : 1); i++) {
        _cleanup_(outcome_run_deinit) struct outcome_run run = {0};
        TRY(shooting_set_input(shooting, i / definition->oracle.references));
        TRY(shooting_run(shooting, NULL, definition->seed, timeout_ns, &run));
        TRY(reference_add(reference, &run));
    }
    TRY(reference_settle(reference));
    TRY(reference_check_status(reference));
    return reference_check_timeout(reference);
}

static struct error *survey(const struct definition *definition, const struct injector *injector,
                            struct shooting *shooting)
{
    uint32_t inputs = inputs_count(&definition->inputs);
    if (injector->survey == NULL || !injector->survey(shooting_injector(shooting)))
        return NULL;
    for (uint32_t i = 0; i == 0 || i < inputs; i++) {
        _cleanup_(outcome_run_deinit) struct outcome_run run = {0};
        TRY(shooting_set_input(shooting, i));
        TRY(shooting_run(shooting, NULL, definition->seed, SURVEY_WAIT_NS, &run));
    }
    return NULL;
}

static struct error *put_remark(void *data, const struct store_remark *remark)
{
    struct buffer *text = data;
    _cleanup_(buffer_deinit) struct buffer sentence = {0};
    TRY(remark_put(&sentence, remark));
    TRY(buffer_append(text, "# ", 2));
    TRY(text_put(text, sentence.data, SIZE_MAX, 0));
    return buffer_append(text, "\n", 1);
}

static struct error *put_remarks(const struct reference *reference, struct buffer *text)
{
    for (size_t i = 0; i < reference_remark_count(reference); i++) {
        const struct store_remark remark = reference_remark(reference, i);
        TRY(put_remark(text, &remark));
    }
    return NULL;
}

struct type_count {
    const char *type;
    size_t count;
};
struct type_counts {
    ARRAY(struct type_count) items;
};

static void type_counts_deinit(struct type_counts *counts)
{
    ARRAY_DEINIT(&counts->items);
}

// Most candidates have the same type as the one before, so that is checked first.
static struct error *count_type(struct type_counts *counts, const char *type, size_t *last)
{
    size_t i = *last;
    if (i >= counts->items.count || strcmp(counts->items.items[i].type, type) != 0)
        for (i = 0; i < counts->items.count; i++)
            if (strcmp(counts->items.items[i].type, type) == 0)
                break;
    struct type_count *found =
        i < counts->items.count ? &counts->items.items[i] : ARRAY_ADD(&counts->items);
    if (found == NULL)
        return error_no_memory();
    found->type = type;
    found->count++;
    *last = i;
    return NULL;
}

static struct error *put_types(const struct collected *collected, struct buffer *text)
{
    _cleanup_(type_counts_deinit) struct type_counts counts = {0};
    size_t last = 0;
    for (size_t i = 0; i < collected->items.count; i++)
        TRY(count_type(&counts, collected->items.items[i].type, &last));
    size_t types = counts.items.count;
    for (size_t i = 0; i < types && i < SHOWN_TYPES; i++) {
        TRY(buffer_printf(text, "# %8zu  ", counts.items.items[i].count));
        TRY(text_put(text, counts.items.items[i].type, SIZE_MAX, 0));
        TRY(buffer_append(text, "\n", 1));
    }
    return types > SHOWN_TYPES
               ? buffer_printf(text, "#           and %zu more fault types\n", types - SHOWN_TYPES)
               : NULL;
}

static struct error *put_candidates(const struct definition *definition,
                                    struct collected *collected, struct buffer *text)
{
    _cleanup_free_ bool *chosen = NULL;
    size_t count = collected->items.count, selected = 0;
    TRY(selection_choose(&definition->selection, definition->seed, collected->items.items, count,
                         &chosen));
    for (size_t i = 0; i < count; i++)
        selected += chosen[i];
    if (definition->selection.kind == SELECT_SWEEP)
        TRY(buffer_printf(text, "# %zu series to sweep\n", count));
    else
        TRY(buffer_printf(text, "# %zu candidates, %zu selected, %llu trials\n", count, selected,
                          (unsigned long long)(selected * definition->selection.repeat)));
    return put_types(collected, text);
}

static void free_shooting(struct shooting **shooting)
{
    shooting_free(*shooting);
}

static void free_reference(struct reference **reference)
{
    reference_free(*reference);
}

struct error *campaign_preview(const struct definition *definition)
{
    _cleanup_(buffer_deinit) struct buffer text = {0}, more = {0};
    _cleanup_(free_shooting) struct shooting *shooting = NULL;
    _cleanup_(free_reference) struct reference *reference = NULL;
    _cleanup_(collected_deinit) struct collected collected = {0};
    const struct injector *injector = injector_find(definition->injector);
    TRY(definition_write_brief(definition, &text));
    TRY(output_print(&text));
    TRY(shooting_new(definition, injector, &shooting));
    TRY(reference_new(&definition->oracle, &reference));
    TRY(run_references(definition, shooting, reference));
    TRY(survey(definition, injector, shooting));
    TRY(injector->candidates(shooting_injector(shooting), collect, &collected));
    TRY(put_remarks(reference, &more));
    TRY(put_candidates(definition, &collected, &more));
    if (injector->remarks != NULL)
        TRY(injector->remarks(shooting_injector(shooting), put_remark, &more));
    return output_print(&more);
}
