// SPDX-License-Identifier: GPL-3.0-or-later
// Findings of one campaign whose titles are the same, told apart: a title names the place of the
// fault, which may be deep in a library, and what differs is who called it from where.
#include "report/campaign/facts.h"

#include "base/cleanup.h"
#include "base/file.h"

#include <stdlib.h>
#include <string.h>

// Findings with one title.
struct namesakes {
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

// The n-th frame; size 0: there is none.
static const char *frame_at(const char *stack, size_t number, size_t *ret_size)
{
    while (number-- != 0 && *stack != '\0') {
        stack += strcspn(stack, "\n");
        stack += *stack == '\n';
    }
    *ret_size = strcspn(stack, "\n");
    return stack;
}

// Frames are "FUNCTION at FILE:LINE (MODULE)", "FUNCTION (MODULE)", "MODULE+0xOFFSET" or
// "0xADDRESS". Whether one is of a program, not of a library.
static bool is_own(const char *frame, size_t size)
{
    const char *module = memrchr(frame, '(', size);
    module = module != NULL ? module + 1 : frame;
    return size != 0 && strncmp(module, "lib", 3) != 0 && strncmp(module, "ld-", 3) != 0 &&
           strncmp(module, "0x", 2) != 0;
}

static const char *own_frame(const char *stack, size_t *ret_size)
{
    for (size_t i = 0;; i++) {
        const char *frame = frame_at(stack, i, ret_size);
        if (*ret_size == 0 || is_own(frame, *ret_size))
            return frame;
    }
}

static bool same(const char *a, size_t a_size, const char *b, size_t b_size)
{
    return a_size == b_size && memcmp(a, b, a_size) == 0;
}

// Whether the frames that `number` stands for (SIZE_MAX: those of the program) are there, and are
// all different.
static bool tells_apart(const struct namesakes *namesakes, size_t number)
{
    for (size_t i = 0; i < namesakes->count; i++)
        for (size_t j = 0; j <= i; j++) {
            size_t a_size, b_size;
            const char *a = number == SIZE_MAX ? own_frame(namesakes->stacks[i], &a_size)
                                               : frame_at(namesakes->stacks[i], number, &a_size);
            const char *b = number == SIZE_MAX ? own_frame(namesakes->stacks[j], &b_size)
                                               : frame_at(namesakes->stacks[j], number, &b_size);
            if (a_size == 0 || (i != j && same(a, a_size, b, b_size)))
                return false;
        }
    return true;
}

// "FUNCTION at FILE:LINE" without directories, "FUNCTION in MODULE", or as it is.
static struct error *put_frame(struct buffer *text, const char *frame, size_t size)
{
    _cleanup_free_ char *own = strndup(frame, size);
    if (own == NULL)
        return error_no_memory();
    char *module = strrchr(own, '('), *at = strstr(own, " at ");
    if (module == NULL || module == own || own[size - 1] != ')')
        return buffer_printf(text, "%s", own);
    own[size - 1] = module[-1] = '\0';
    if (at == NULL || at >= module)
        return buffer_printf(text, "%s in %s", own, module + 1);
    *at = '\0';
    return buffer_printf(text, "%s at %s", own, file_base_name(at + 4));
}

static struct error *extend(struct campaign_finding *finding, const char *stack, size_t number,
                            bool found)
{
    _cleanup_(buffer_deinit) struct buffer title = {0};
    size_t size = 0;
    TRY(buffer_printf(&title, "%s, ", finding->title));
    if (found) {
        const char *frame =
            number == SIZE_MAX ? own_frame(stack, &size) : frame_at(stack, number, &size);
        TRY(buffer_printf(&title, "%s ", number == 0 ? "in" : "called from"));
        TRY(put_frame(&title, frame, size));
    } else {
        TRY(buffer_printf(&title, "as in trial %lld", (long long)finding->trial));
    }
    free(finding->title);
    finding->title = TAKE(title.data);
    return NULL;
}

#define MOST_NAMESAKES 100 // comparing each with each is for few
#define MOST_FRAMES    20

static struct error *tell_apart(struct store *store, struct namesakes *namesakes)
{
    for (size_t i = 0; i < namesakes->count; i++) {
        const struct campaign_finding *finding = namesakes->findings[i];
        if (finding->trial != 0)
            TRY(store_each_injection(store, finding->trial, keep_stack, &namesakes->stacks[i]));
        if (namesakes->stacks[i] == NULL && (namesakes->stacks[i] = strdup("")) == NULL)
            return error_no_memory();
    }
    size_t number = SIZE_MAX;
    bool found = namesakes->count <= MOST_NAMESAKES && tells_apart(namesakes, number);
    for (size_t i = 0; !found && namesakes->count <= MOST_NAMESAKES && i < MOST_FRAMES; i++) {
        number = i;
        found = tells_apart(namesakes, i);
    }
    for (size_t i = 0; i < namesakes->count; i++)
        TRY(extend(namesakes->findings[i], namesakes->stacks[i], number, found));
    return NULL;
}

static void namesakes_deinit(struct namesakes *namesakes)
{
    for (size_t i = 0; namesakes->stacks != NULL && i < namesakes->count; i++)
        free(namesakes->stacks[i]);
    free(namesakes->stacks);
}

static int by_title(const void *left, const void *right)
{
    return strcmp((*(struct campaign_finding *const *)left)->title,
                  (*(struct campaign_finding *const *)right)->title);
}

struct error *campaign_titles_tell_apart(struct campaign_facts *facts)
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
        _cleanup_(namesakes_deinit) struct namesakes namesakes = {
            .findings = sorted + start,
            .count = end - start,
            .stacks = calloc(end - start, sizeof(char *)),
        };
        if (namesakes.stacks == NULL)
            return error_no_memory();
        TRY(tell_apart(facts->store, &namesakes));
    }
    return NULL;
}
