// SPDX-License-Identifier: GPL-3.0-or-later
// See campaign-preview.h.
#include "cli/campaign-preview.h"

#include "base/cleanup.h"
#include "campaign/injector.h"
#include "campaign/reference.h"
#include "campaign/selection.h"
#include "campaign/shooting.h"
#include "cli/command.h"
#include "report/text.h"

#include <stdlib.h>
#include <string.h>

#define SHOWN_TYPES          20
#define REFERENCE_TIMEOUT_NS 300000000000u

struct gathering {
    ARRAY(struct candidate) items;
};

static void gathering_deinit(struct gathering *gathering)
{
    for (size_t i = 0; i < gathering->items.count; i++)
        candidate_deinit(&gathering->items.items[i]);
    ARRAY_DEINIT(&gathering->items);
}

static struct error *gather(void *data, struct candidate *candidate)
{
    struct gathering *gathering = data;
    struct candidate *item = ARRAY_ADD(&gathering->items);
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
    uint64_t timeout_ns = floor_ns > REFERENCE_TIMEOUT_NS ? floor_ns : REFERENCE_TIMEOUT_NS;
    for (uint32_t i = 0; i < definition->oracle.references; i++) {
        _cleanup_(outcome_run_deinit) struct outcome_run run = {0};
        TRY(shooting_run(shooting, NULL, definition->seed, timeout_ns, &run));
        TRY(reference_add(reference, &run));
    }
    TRY(reference_settle(reference));
    TRY(reference_expected(reference));
    return reference_timely(reference);
}

static struct error *put_remark(void *data, const char *sentence)
{
    struct buffer *text = data;
    TRY(buffer_append(text, "# ", 2));
    TRY(text_put(text, sentence, SIZE_MAX, 0));
    return buffer_append(text, "\n", 1);
}

static struct error *put_warnings(const struct reference *reference, struct buffer *text)
{
    for (size_t i = 0; i < reference_warning_count(reference); i++)
        TRY(put_remark(text, reference_warning(reference, i)));
    return NULL;
}

// Candidates of one type come one after the other, as injectors give them.
static struct error *put_types(const struct gathering *gathering, struct buffer *text)
{
    size_t count = gathering->items.count, types = 0;
    const struct candidate *items = gathering->items.items;
    for (size_t start = 0, end; start < count; start = end, types++) {
        for (end = start + 1; end < count; end++)
            if (strcmp(items[start].type, items[end].type) != 0)
                break;
        if (types >= SHOWN_TYPES)
            continue;
        TRY(buffer_printf(text, "# %8zu  ", end - start));
        TRY(text_put(text, items[start].type, SIZE_MAX, 0));
        TRY(buffer_append(text, "\n", 1));
    }
    return types > SHOWN_TYPES
               ? buffer_printf(text, "#           and %zu more fault types\n", types - SHOWN_TYPES)
               : NULL;
}

static struct error *put_candidates(const struct definition *definition,
                                    struct gathering *gathering, struct buffer *text)
{
    _cleanup_free_ bool *chosen = NULL;
    size_t count = gathering->items.count, selected = 0;
    TRY(selection_choose(&definition->selection, definition->seed, gathering->items.items, count,
                         &chosen));
    for (size_t i = 0; i < count; i++)
        selected += chosen[i];
    if (definition->selection.kind == SELECT_SWEEP)
        TRY(buffer_printf(text, "# %zu series to sweep\n", count));
    else
        TRY(buffer_printf(text, "# %zu candidates, %zu selected, %llu trials\n", count, selected,
                          (unsigned long long)(selected * definition->selection.repeat)));
    return put_types(gathering, text);
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
    _cleanup_(gathering_deinit) struct gathering gathering = {0};
    const struct injector *injector = injector_find(definition->injector);
    TRY(definition_write_brief(definition, &text));
    TRY(output_print(&text));
    TRY(shooting_new(definition, injector, &shooting));
    TRY(reference_new(&definition->oracle, &reference));
    TRY(run_references(definition, shooting, reference));
    TRY(injector->candidates(shooting_injector(shooting), gather, &gathering));
    TRY(put_warnings(reference, &more));
    TRY(put_candidates(definition, &gathering, &more));
    if (injector->remarks != NULL)
        TRY(injector->remarks(shooting_injector(shooting), put_remark, &more));
    return output_print(&more);
}
