// SPDX-License-Identifier: GPL-3.0-or-later
// See reference-model.h: what a run reports that the reference does not, on stderr and elsewhere.
#include "base/cleanup.h"
#include "campaign/quote.h"
#include "campaign/reference-model.h"

#include <string.h>

#define ERRNO_MOST 256 // numbers below it

// A stream that is no text says something new if it is not the same.
struct error *reference_find_more(const struct reference *reference,
                                  const struct artifact *artifact, struct difference *difference)
{
    const struct reference_item *item = reference_find(reference, "<stderr>");
    _cleanup_(buffer_deinit) struct buffer line = {0}, quoted = {0};
    struct lines_text text;
    if (item == NULL || artifact == NULL || !item->stable)
        return NULL;
    if (artifact->size == item->artifact->size && artifact->hash == item->artifact->hash)
        return NULL;
    if (item->lines == NULL || !reference_text(artifact, &text)) {
        difference->err_more = item->same && artifact->size > item->artifact->size;
        return NULL;
    }
    TRY(lines_new(item->lines, reference->filters, &text, &difference->err_more, &line));
    // A blank line tells nobody anything.
    if (!difference->err_more || strspn(line.data != NULL ? line.data : "", " \t\r") == line.size)
        return NULL;
    TRY(quote_put_word(&quoted, line.data, line.size));
    difference->more = TAKE(quoted.data);
    return NULL;
}

// The words for the error of a fault "accept4=-1/EMFILE"; NULL if it has none.
static const char *words_for(const char *fault)
{
    size_t size = fault != NULL ? strcspn(fault, " \n") : 0;
    const char *slash = size != 0 ? memrchr(fault, '/', size) : NULL;
    if (slash == NULL)
        return NULL;
    size -= (size_t)(slash + 1 - fault);
    for (int number = 1; number < ERRNO_MOST; number++) {
        const char *name = strerrorname_np(number);
        if (name != NULL && strlen(name) == size && memcmp(name, slash + 1, size) == 0)
            return strerrordesc_np(number);
    }
    return NULL;
}

static const char *find_words(const struct artifact *artifact, const char *words)
{
    return artifact->content.size != 0
               ? memmem(artifact->content.data, artifact->content.size, words, strlen(words))
               : NULL;
}

// The line of `artifact` that speaks of an error that was injected, if the reference does not.
static const char *find_line(const struct reference_item *item, const struct artifact *artifact,
                             const struct observation *observation, size_t *ret_size)
{
    for (size_t i = 0; i < observation->injections.count; i++) {
        const char *words = words_for(observation->injections.items[i].fault);
        const char *found = words != NULL ? find_words(artifact, words) : NULL;
        if (found == NULL || (item != NULL && find_words(item->artifact, words) != NULL))
            continue;
        const char *start = artifact->content.data, *end = start + artifact->content.size;
        const char *before = memrchr(start, '\n', (size_t)(found - start));
        const char *after = memchr(found, '\n', (size_t)(end - found));
        start = before != NULL ? before + 1 : start;
        *ret_size = (size_t)((after != NULL ? after : end) - start);
        return start;
    }
    return NULL;
}

struct error *reference_find_report(const struct reference_item *item,
                                    const struct artifact *artifact,
                                    const struct observation *observation,
                                    struct difference *difference)
{
    size_t size;
    const char *line = find_line(item, artifact, observation, &size);
    if (line == NULL || difference->err_more)
        return NULL;
    _cleanup_(buffer_deinit) struct buffer quoted = {0}, name = {0};
    TRY(quote_put_word(&quoted, line, size));
    TRY(reference_put_name(&name, artifact->path));
    difference->err_more = true;
    difference->more = TAKE(quoted.data);
    difference->more_in = TAKE(name.data);
    return NULL;
}

struct error *reference_is_log(const struct reference *reference, const struct reference_item *item,
                               const struct artifact *artifact,
                               const struct observation *observation, struct difference *difference,
                               bool *ret_log)
{
    size_t size;
    struct lines_text text;
    *ret_log = false;
    if (strcmp(artifact->kind, "file") != 0 || !reference_text(artifact, &text) ||
        find_line(item, artifact, observation, &size) == NULL)
        return NULL;
    TRY(reference_find_report(item, artifact, observation, difference));
    *ret_log = item == NULL;
    if (item == NULL || item->lines == NULL)
        return NULL;
    return lines_all_there(item->lines, reference->filters, &text, ret_log);
}
