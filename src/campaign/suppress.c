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

// A path also answers to its last part.
static bool matches_path(const char *glob, const char *path)
{
    return fnmatch(glob, path, 0) == 0 || fnmatch(glob, file_base_name(path), 0) == 0;
}

// What is not known is "".
static bool matches_part(const char *glob, struct frame_part part, bool path)
{
    _cleanup_free_ char *text = strndup(part.text != NULL ? part.text : "", part.size);
    if (text == NULL)
        return false;
    return path ? matches_path(glob, text) : fnmatch(glob, text, 0) == 0;
}

// A frame of which nothing is known belongs to itself.
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

// Frames after the last one that is asked for do not matter, so that what follows "..." may be
// looked for where it comes first: nothing before that needs to be tried again.
static bool matches_stack(const struct suppress_frame *frames, size_t count, const char *stack)
{
    const char *from = NULL; // where what follows the last "..." was tried
    size_t first = 0;        // of the frames after it
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

struct known { // a finding and what its trial injected first
    int64_t id;
    enum verdict verdict;
    uint64_t trials;
    char *fault, *stack, *title;
    char call[128], error[32]; // of the fault
    bool hidden;
};
struct all {
    struct store *store;
    const struct injector_stored *injector; // or NULL
    ARRAY(struct known) items;
};

static void all_deinit(struct all *all)
{
    for (size_t i = 0; i < all->items.count; i++) {
        free(all->items.items[i].fault);
        free(all->items.items[i].stack);
        free(all->items.items[i].title);
    }
    ARRAY_DEINIT(&all->items);
}

static void split_fault(const struct injector_stored *injector, struct known *known)
{
    if (injector != NULL && injector->split != NULL)
        injector->split(known->fault, known->call, known->error);
    else
        snprintf(known->call, sizeof known->call, "%.*s", (int)strcspn(known->fault, " "),
                 known->fault);
}

// What the campaign's injector knows of stored texts.
static struct error *find_injector(int64_t campaign, struct all *all)
{
    _cleanup_(store_campaign_deinit) struct store_campaign row = {0};
    TRY(store_find_campaign(all->store, campaign, &row));
    all->injector = injector_stored(row.injector);
    return NULL;
}

static struct error *note_injection(void *data, const struct store_injection *row)
{
    struct known *known = data;
    if (known->fault != NULL)
        return NULL;
    known->fault = strdup(row->fault);
    known->stack = strdup(row->stack != NULL ? row->stack : "");
    return known->fault != NULL && known->stack != NULL ? NULL : error_no_memory();
}

static struct error *note_finding(void *data, const struct store_finding *row)
{
    struct all *all = data;
    struct known *known = ARRAY_ADD(&all->items);
    if (known == NULL)
        return error_no_memory();
    *known = (struct known){.id = row->id,
                            .verdict = row->verdict < VERDICTS ? row->verdict : VERDICT_INVALID,
                            .trials = row->trials,
                            .title = strdup(row->title),
                            .hidden = row->suppressed != NULL};
    if (known->title == NULL)
        return error_no_memory();
    TRY(store_each_injection(all->store, row->trial, note_injection, known));
    if (known->fault != NULL)
        split_fault(all->injector, known);
    return NULL;
}

static struct suppression *find_suppression(const struct suppressions *suppressions,
                                            const struct known *known)
{
    const struct suppress_about about = {.verdict = verdict_facts[known->verdict].name,
                                         .call = known->call,
                                         .error = known->error,
                                         .stack = known->stack};
    for (size_t i = 0; known->fault != NULL && i < suppressions->items.count; i++)
        if (suppression_matches(&suppressions->items.items[i], &about))
            return &suppressions->items.items[i];
    return NULL;
}

struct error *suppressions_mean(const struct suppressions *suppressions, struct store *store,
                                const struct store_finding *row, bool *ret_mean)
{
    _cleanup_(all_deinit) struct all all = {.store = store};
    TRY(find_injector(row->campaign, &all));
    TRY(note_finding(&all, row));
    *ret_mean = find_suppression(suppressions, &all.items.items[0]) != NULL;
    return NULL;
}

struct error *suppressions_apply(struct suppressions *suppressions, struct store *store,
                                 int64_t campaign, uint64_t ret_hidden[VERDICTS])
{
    _cleanup_(all_deinit) struct all all = {.store = store};
    TRY(find_injector(campaign, &all));
    TRY(store_each_finding(store, campaign, note_finding, &all));
    memset(ret_hidden, 0, VERDICTS * sizeof *ret_hidden);
    for (size_t i = 0; i < all.items.count; i++) {
        const struct known *known = &all.items.items[i];
        struct suppression *found = find_suppression(suppressions, known);
        TRY(store_suppress_finding(store, known->id, found != NULL ? found->name : NULL));
        if (found == NULL)
            continue;
        found->used++;
        found->trials += known->trials;
        ret_hidden[known->verdict] += known->trials;
    }
    return NULL;
}

struct error *suppressions_hidden(struct store *store, int64_t campaign,
                                  uint64_t ret_hidden[VERDICTS])
{
    _cleanup_(all_deinit) struct all all = {.store = store};
    TRY(find_injector(campaign, &all));
    TRY(store_each_finding(store, campaign, note_finding, &all));
    memset(ret_hidden, 0, VERDICTS * sizeof *ret_hidden);
    for (size_t i = 0; i < all.items.count; i++)
        if (all.items.items[i].hidden)
            ret_hidden[all.items.items[i].verdict] += all.items.items[i].trials;
    return NULL;
}

// Globs' own characters stand for themselves.
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
    bool named = frame->function.size != 0;
    struct frame_part part = named ? frame->function : object_of(frame);
    TRY(buffer_printf(text, "   %s:", named ? "fun" : "obj"));
    TRY(put_literal(text, part.text, part.size));
    return buffer_append(text, "\n", 1);
}

static struct error *put_body(struct buffer *text, const struct known *known)
{
    TRY(buffer_printf(text, "   ordeal:%s\n   call:", verdict_facts[known->verdict].name));
    TRY(put_literal(text, known->call, strlen(known->call)));
    if (known->error[0] != '\0')
        TRY(buffer_printf(text, "\n   errno:%s", known->error));
    TRY(buffer_append(text, "\n", 1));
    const char *stack = known->stack;
    struct frame_text frame;
    for (unsigned i = 0; i < MOST_FRAMES && frame_text_next(&stack, &frame); i++)
        if (frame.whole.size != 0)
            TRY(put_frame(text, &frame));
    return buffer_printf(text, "}\n");
}

// Findings in the same functions would have the same suppression: once is enough.
static struct error *put_block(struct buffer *text, const struct known *known)
{
    _cleanup_(buffer_deinit) struct buffer body = {0};
    TRY(put_body(&body, known));
    if (text->size != 0 && strstr(text->data, body.data) != NULL)
        return NULL;
    TRY(buffer_printf(text, "{\n   "));
    for (const char *c = known->title; *c != '\0'; c++)
        TRY(buffer_append(text, *c == '\n' ? " " : c, 1));
    return buffer_printf(text, "\n%s", body.data);
}

struct error *suppressions_generate(struct store *store, int64_t campaign, struct buffer *text)
{
    _cleanup_(all_deinit) struct all all = {.store = store};
    TRY(find_injector(campaign, &all));
    TRY(store_each_finding(store, campaign, note_finding, &all));
    for (size_t i = 0; i < all.items.count; i++)
        if (!all.items.items[i].hidden && all.items.items[i].fault != NULL)
            TRY(put_block(text, &all.items.items[i]));
    return NULL;
}
