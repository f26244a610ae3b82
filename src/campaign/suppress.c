// SPDX-License-Identifier: GPL-3.0-or-later
// Matches findings of a store with suppressions, and writes suppressions for findings.
#include "campaign/suppress.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/frame-text.h"
#include "injector/injector.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_FRAMES 4 // of a generated block

// A glob may match a whole path or its last part.
static bool matches_path(const char *glob, const char *path)
{
    return fnmatch(glob, path, 0) == 0 || fnmatch(glob, file_base_name(path), 0) == 0;
}

// An unknown part is matched as "".
static bool matches_part(const char *glob, struct frame_part part, bool path)
{
    _cleanup_free_ char *text = strndup(part.text != NULL ? part.text : "", part.size);
    if (text == NULL)
        return false;
    return path ? matches_path(glob, text) : fnmatch(glob, text, 0) == 0;
}

// A frame without a module is its own object.
static struct frame_part object_of(const struct frame_text *frame)
{
    return frame->module.text != NULL ? frame->module : frame->whole;
}

static bool matches_frame(const struct suppress_frame *wanted, const struct frame_text *frame)
{
    switch (wanted->kind) {
    case SUPPRESS_FUNCTION:
        return matches_part(wanted->glob, frame->function, false);
    case SUPPRESS_OBJECT:
        return matches_part(wanted->glob, object_of(frame), true);
    case SUPPRESS_SOURCE:
        return matches_part(wanted->glob, frame->place, true);
    case SUPPRESS_CODE:
        return matches_part(wanted->glob, frame->code, false);
    case SUPPRESS_ANY_FRAMES:
        break;
    }
    return true;
}

static const char *next_frame(const char *stack)
{
    struct frame_text frame;
    frame_text_next(&stack, &frame);
    return stack;
}

// Frames after the last wanted one do not matter. So the frames after "..." can be matched at their
// first place in the stack, and an earlier "..." never needs another try.
static bool matches_stack(const struct suppress_frame *frames, size_t count, const char *stack)
{
    const char *from = NULL; // where the frames after the last "..." were tried
    size_t first = 0;        // the first of those frames
    for (size_t i = 0; i < count;) {
        struct frame_text frame;
        if (frames[i].kind == SUPPRESS_ANY_FRAMES) {
            first = ++i;
            from = stack;
        } else if (frame_text_at(stack, 0, &frame) && frame.whole.size != 0 &&
                   matches_frame(&frames[i], &frame)) {
            stack = next_frame(stack);
            i++;
        } else {
            if (from == NULL || *from == '\0')
                return false;
            stack = from = next_frame(from);
            i = first;
        }
    }
    return true;
}

bool suppression_matches(const struct suppression *suppression, const struct suppress_about *about)
{
    return fnmatch(suppression->verdict, about->verdict, 0) == 0 &&
           (suppression->call == NULL || fnmatch(suppression->call, about->call, 0) == 0) &&
           (suppression->error == NULL || fnmatch(suppression->error, about->error, 0) == 0) &&
           matches_stack(suppression->frames.items, suppression->frames.count, about->stack);
}

// ---- findings ----

struct finding_facts { // a finding and what its trial injected first
    int64_t id;
    enum verdict verdict;
    uint64_t trials;
    char *fault, *stack, *title;
    char call[128], error[32]; // of the fault
    bool hidden;
};
struct finding_list {
    struct store *store;
    const struct injector_stored *injector; // or NULL
    ARRAY(struct finding_facts) items;
};

static void finding_list_deinit(struct finding_list *list)
{
    for (size_t i = 0; i < list->items.count; i++) {
        free(list->items.items[i].fault);
        free(list->items.items[i].stack);
        free(list->items.items[i].title);
    }
    ARRAY_DEINIT(&list->items);
}

static void split_fault(const struct injector_stored *injector, struct finding_facts *facts)
{
    if (injector != NULL && injector->split != NULL)
        injector->split(facts->fault, facts->call, facts->error);
    else
        snprintf(facts->call, sizeof facts->call, "%.*s", (int)strcspn(facts->fault, " "),
                 facts->fault);
}

// Finds the campaign's injector, which knows how to split stored faults.
static struct error *find_injector(int64_t campaign, struct finding_list *list)
{
    _cleanup_(store_campaign_deinit) struct store_campaign row = {0};
    TRY(store_find_campaign(list->store, campaign, &row));
    list->injector = injector_stored(row.injector);
    return NULL;
}

static struct error *note_injection(void *data, const struct store_injection *row)
{
    struct finding_facts *facts = data;
    if (facts->fault != NULL)
        return NULL;
    facts->fault = strdup(row->fault);
    facts->stack = strdup(row->stack != NULL ? row->stack : "");
    return facts->fault != NULL && facts->stack != NULL ? NULL : error_no_memory();
}

static struct error *note_finding(void *data, const struct store_finding *row)
{
    struct finding_list *list = data;
    struct finding_facts *facts = ARRAY_ADD(&list->items);
    if (facts == NULL)
        return error_no_memory();
    *facts =
        (struct finding_facts){.id = row->id,
                               .verdict = row->verdict < VERDICTS ? row->verdict : VERDICT_INVALID,
                               .trials = row->trials,
                               .title = strdup(row->title),
                               .hidden = row->suppressed != NULL};
    if (facts->title == NULL)
        return error_no_memory();
    TRY(store_each_injection(list->store, row->trial, note_injection, facts));
    if (facts->fault != NULL)
        split_fault(list->injector, facts);
    return NULL;
}

static struct suppression *find_suppression(const struct suppressions *suppressions,
                                            const struct finding_facts *facts)
{
    const struct suppress_about about = {.verdict = verdict_facts[facts->verdict].name,
                                         .call = facts->call,
                                         .error = facts->error,
                                         .stack = facts->stack};
    for (size_t i = 0; facts->fault != NULL && i < suppressions->items.count; i++)
        if (suppression_matches(&suppressions->items.items[i], &about))
            return &suppressions->items.items[i];
    return NULL;
}

struct error *suppressions_match(const struct suppressions *suppressions, struct store *store,
                                 const struct store_finding *row, bool *ret_matches)
{
    _cleanup_(finding_list_deinit) struct finding_list list = {.store = store};
    TRY(find_injector(row->campaign, &list));
    TRY(note_finding(&list, row));
    *ret_matches = find_suppression(suppressions, &list.items.items[0]) != NULL;
    return NULL;
}

struct error *suppressions_apply(struct suppressions *suppressions, struct store *store,
                                 int64_t campaign)
{
    _cleanup_(finding_list_deinit) struct finding_list list = {.store = store};
    TRY(find_injector(campaign, &list));
    TRY(store_each_finding(store, campaign, note_finding, &list));
    for (size_t i = 0; i < list.items.count; i++) {
        const struct finding_facts *facts = &list.items.items[i];
        struct suppression *found = find_suppression(suppressions, facts);
        TRY(store_suppress_finding(store, facts->id, found != NULL ? found->name : NULL));
        if (found == NULL)
            continue;
        found->used++;
        found->trials += facts->trials;
    }
    return NULL;
}

// Escapes characters that are special in globs.
static struct error *put_literal(struct buffer *text, const char *word, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (strchr("*?[\\", word[i]) != NULL)
            TRY(buffer_append(text, "\\", 1));
        TRY(buffer_append(text, word[i] == '\n' ? "?" : &word[i], 1));
    }
    return NULL;
}

static struct error *put_frame(struct buffer *text, const struct frame_text *frame)
{
    bool named = frame->function.size != 0, coded = frame->code.size != 0;
    struct frame_part part = named ? frame->function : coded ? frame->code : object_of(frame);
    TRY(buffer_printf(text, "   %s:", named ? "fun" : coded ? "code" : "obj"));
    TRY(put_literal(text, part.text, part.size));
    return buffer_append(text, "\n", 1);
}

static struct error *put_body(struct buffer *text, const struct finding_facts *facts)
{
    TRY(buffer_printf(text, "   ordeal:%s\n   call:", verdict_facts[facts->verdict].name));
    TRY(put_literal(text, facts->call, strlen(facts->call)));
    if (facts->error[0] != '\0')
        TRY(buffer_printf(text, "\n   errno:%s", facts->error));
    TRY(buffer_append(text, "\n", 1));
    const char *stack = facts->stack;
    struct frame_text frame;
    for (unsigned i = 0; i < MOST_FRAMES && frame_text_next(&stack, &frame); i++)
        if (frame.whole.size != 0)
            TRY(put_frame(text, &frame));
    return buffer_printf(text, "}\n");
}

// Findings in the same functions have the same suppression. It is written once.
static struct error *put_block(struct buffer *text, const struct finding_facts *facts)
{
    _cleanup_(buffer_deinit) struct buffer body = {0};
    TRY(put_body(&body, facts));
    if (text->size != 0 && strstr(text->data, body.data) != NULL)
        return NULL;
    TRY(buffer_printf(text, "{\n   "));
    for (const char *c = facts->title; *c != '\0'; c++)
        TRY(buffer_append(text, *c == '\n' ? " " : c, 1));
    return buffer_printf(text, "\n%s", body.data);
}

struct error *suppressions_generate(struct store *store, int64_t campaign, struct buffer *text)
{
    _cleanup_(finding_list_deinit) struct finding_list list = {.store = store};
    TRY(find_injector(campaign, &list));
    TRY(store_each_finding(store, campaign, note_finding, &list));
    for (size_t i = 0; i < list.items.count; i++)
        if (!list.items.items[i].hidden && list.items.items[i].fault != NULL)
            TRY(put_block(text, &list.items.items[i]));
    return NULL;
}
