// SPDX-License-Identifier: GPL-3.0-or-later
// Distinguishes findings of one campaign that have the same title. A title names the place of the
// fault, which may be deep in a library. The callers differ, so their frame is appended.
#include "report/campaign/facts.h"

#include "base/cleanup.h"
#include "base/frame-text.h"

#include <stdlib.h>
#include <string.h>

// Findings that have the same title.
struct same_title {
    struct campaign_finding **findings;
    char **stacks; // of their first injections; "" if not known
    size_t count;
};

static struct error *keep_stack(void *data, const struct store_injection *row)
{
    char **stack = data;
    if (*stack == NULL && row->stack != NULL) {
        *stack = strdup(row->stack);
        return *stack == NULL ? error_no_memory() : NULL;
    }
    return NULL;
}

// Whether a frame is in a program, not in a library.
static bool is_own(const struct frame_text *frame)
{
    bool library =
        frame_part_begins(frame->module, "lib") || frame_part_begins(frame->module, "ld-");
    bool address = frame->function.text == NULL && frame->module.text == NULL;
    return !library && !address;
}

#define OWN SIZE_MAX // in place of a frame number: the innermost frame of the program

static bool find_frame(const char *stack, size_t number, struct frame_text *ret_frame)
{
    if (number != OWN)
        return frame_text_at(stack, number, ret_frame) && ret_frame->whole.size != 0;
    while (frame_text_next(&stack, ret_frame) && ret_frame->whole.size != 0)
        if (is_own(ret_frame))
            return true;
    return false;
}

static bool same(struct frame_part a, struct frame_part b)
{
    return a.size == b.size && memcmp(a.text, b.text, a.size) == 0;
}

// Whether all stacks have frame `number`, and all these frames differ.
static bool tells_apart(const struct same_title *same_title, size_t number)
{
    for (size_t i = 0; i < same_title->count; i++)
        for (size_t j = 0; j <= i; j++) {
            struct frame_text a, b;
            if (!find_frame(same_title->stacks[i], number, &a) ||
                !find_frame(same_title->stacks[j], number, &b) ||
                (i != j && same(a.whole, b.whole)))
                return false;
        }
    return true;
}

// Writes "FUNCTION at FILE:LINE" without directories, "FUNCTION in MODULE", or the frame as it is.
static struct error *put_frame(struct buffer *text, const struct frame_text *frame)
{
    struct frame_part function = frame->function, module = frame->module, place = frame->place;
    if (function.text == NULL || module.text == NULL)
        return buffer_append(text, frame->whole.text, frame->whole.size);
    TRY(buffer_append(text, function.text, function.size));
    if (place.text == NULL)
        return buffer_printf(text, " in %.*s", (int)module.size, module.text);
    const char *slash = memrchr(place.text, '/', place.size);
    const char *base = slash != NULL ? slash + 1 : place.text;
    return buffer_printf(text, " at %.*s", (int)(place.text + place.size - base), base);
}

static struct error *extend(struct campaign_finding *finding, const char *stack, size_t number,
                            bool found)
{
    _cleanup_(buffer_deinit) struct buffer title = {0};
    struct frame_text frame;
    TRY(buffer_printf(&title, "%s, ", finding->title));
    if (found && find_frame(stack, number, &frame)) {
        TRY(buffer_printf(&title, "%s ", number == 0 ? "in" : "called from"));
        TRY(put_frame(&title, &frame));
    } else {
        TRY(buffer_printf(&title, "as in trial %lld", (long long)finding->trial));
    }
    free(finding->title);
    finding->title = TAKE(title.data);
    return NULL;
}

#define MOST_SAME_TITLE 100 // each is compared with each, which is for few
#define MOST_FRAMES     20

static struct error *tell_apart(struct store *store, struct same_title *same_title)
{
    for (size_t i = 0; i < same_title->count; i++) {
        const struct campaign_finding *finding = same_title->findings[i];
        if (finding->trial != 0)
            TRY(store_each_injection(store, finding->trial, keep_stack, &same_title->stacks[i]));
        if (same_title->stacks[i] == NULL && (same_title->stacks[i] = strdup("")) == NULL)
            return error_no_memory();
    }
    size_t number = OWN;
    bool found = same_title->count <= MOST_SAME_TITLE && tells_apart(same_title, number);
    for (size_t i = 0; !found && same_title->count <= MOST_SAME_TITLE && i < MOST_FRAMES; i++) {
        number = i;
        found = tells_apart(same_title, i);
    }
    for (size_t i = 0; i < same_title->count; i++)
        TRY(extend(same_title->findings[i], same_title->stacks[i], number, found));
    return NULL;
}

static void same_title_deinit(struct same_title *same_title)
{
    for (size_t i = 0; same_title->stacks != NULL && i < same_title->count; i++)
        free(same_title->stacks[i]);
    free(same_title->stacks);
}

static int by_title(const void *left, const void *right)
{
    return strcmp((*(struct campaign_finding *const *)left)->title,
                  (*(struct campaign_finding *const *)right)->title);
}

struct error *campaign_titles_distinguish(struct campaign_facts *facts)
{
    size_t count = facts->findings.count;
    _cleanup_free_ struct campaign_finding **sorted = calloc(count + 1, sizeof *sorted);
    if (sorted == NULL)
        return error_no_memory();
    for (size_t i = 0; i < count; i++)
        sorted[i] = &facts->findings.items[i];
    qsort(sorted, count, sizeof *sorted, by_title);
    for (size_t start = 0, end; start < count; start = end) {
        for (end = start + 1; end < count && by_title(&sorted[start], &sorted[end]) == 0;)
            end++;
        if (end == start + 1)
            continue;
        _cleanup_(same_title_deinit) struct same_title same_title = {
            .findings = sorted + start,
            .count = end - start,
            .stacks = calloc(end - start, sizeof(char *)),
        };
        if (same_title.stacks == NULL)
            return error_no_memory();
        TRY(tell_apart(facts->store, &same_title));
    }
    return NULL;
}
