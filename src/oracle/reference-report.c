// SPDX-License-Identifier: GPL-3.0-or-later
// Finds what a run reports that the reference does not: new lines on stderr, and the words for the
// injected error in other outputs. See reference-model.h.
#include "base/cleanup.h"
#include "base/quote.h"
#include "oracle/reference-model.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define WORDS_MOST    100         // bytes of the words for an error
#define SEARCHED_MOST (64u << 20) // bytes of a file that is searched

// A stream that is no text reports something new if it is longer than the reference's.
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
    // A blank line is not worth quoting.
    if (!difference->err_more || strspn(line.data != NULL ? line.data : "", " \t\r") == line.size)
        return NULL;
    TRY(quote_put_word(&quoted, line.data, line.size));
    difference->more = TAKE(quoted.data);
    return NULL;
}

static const char *find_words(const struct artifact *artifact, const char *words)
{
    return artifact->content.size != 0
               ? memmem(artifact->content.data, artifact->content.size, words, strlen(words))
               : NULL;
}

// Whether a file had these words before the runs. If it is very long or cannot be read, it may have
// had them: true.
static bool had_words(const char *path, const char *words)
{
    char chunk[WORDS_MOST + (16u << 10)];
    uint64_t size, at = 0;
    size_t kept = 0;
    if (!reference_was_there(path, &size))
        return false;
    _cleanup_close_ int file =
        open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
    if (file < 0 || size > SEARCHED_MOST || strlen(words) > WORDS_MOST)
        return true;
    for (ssize_t got; at < size; at += (uint64_t)got) {
        got = pread(file, chunk + kept, sizeof chunk - kept, (off_t)at);
        if (got < 0)
            return true;
        if (got == 0)
            break;
        size_t have = kept + (size_t)got;
        if (memmem(chunk, have, words, strlen(words)) != NULL)
            return true;
        kept = have < WORDS_MOST ? have : WORDS_MOST; // the words may continue in the next chunk
        memmove(chunk, chunk + have - kept, kept);
    }
    return false;
}

// Whether the words may come from something that is there without any fault, too.
static bool may_be_copied(const struct reference *reference, const char *path, const char *words)
{
    for (size_t i = 0; i < reference->runs.count; i++) {
        const struct reference_run *run = &reference->runs.items[i];
        for (size_t j = 0; j < run->artifacts.count; j++) {
            const struct artifact *artifact = &run->artifacts.items[j];
            bool unseen = artifact->content.size != artifact->size;
            bool again = i > 0 && reference_run_find(run - 1, artifact->path) != NULL;
            if ((unseen && strcmp(artifact->path, path) == 0) ||
                find_words(artifact, words) != NULL ||
                (artifact->path[0] != '<' && !again && had_words(artifact->path, words)))
                return true;
        }
    }
    return false;
}

// The line of `artifact` that has the words for an injected error, unless they may be copied; NULL
// if there is none.
static const char *find_words_line(const struct reference *reference,
                                   const struct artifact *artifact,
                                   const struct observation *observation, size_t *ret_size)
{
    const char *last = NULL; // most often all injections have the same words
    for (size_t i = 0; i < observation->injections.count; i++) {
        int error = observation->injections.items[i].error;
        const char *words = error != 0 ? strerrordesc_np(error) : NULL;
        const char *found = words != NULL && words != last ? find_words(artifact, words) : NULL;
        last = words;
        if (found == NULL || may_be_copied(reference, artifact->path, words))
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

// Finds the line of an output that reports the fault. It is empty if there is none.
static struct error *find_line(const struct reference *reference, const struct artifact *artifact,
                               const struct outcome_run *run, struct buffer *line,
                               struct told *ret_told)
{
    size_t size;
    const char *found = find_words_line(reference, artifact, &run->observation, &size);
    *ret_told = (struct told){.kind = found != NULL ? TOLD_ERROR : TOLD_NOTHING};
    if (found != NULL)
        return buffer_append(line, found, size);
    enum told_where where = artifact->path[0] != '<' ? TOLD_IN_FILE
                            : run->serves            ? TOLD_IN_LOAD
                                                     : TOLD_IN_OUTPUT;
    return reference_find_told(reference, artifact, where, line, ret_told);
}

static struct error *take_line(const struct artifact *artifact, const struct buffer *line,
                               struct told told, struct difference *difference)
{
    _cleanup_(buffer_deinit) struct buffer quoted = {0}, name = {0};
    if (difference->err_more || told.kind == TOLD_NOTHING)
        return NULL;
    TRY(quote_put_word(&quoted, line->data, line->size));
    TRY(reference_put_name(&name, artifact->path));
    difference->err_more = true;
    difference->refused = told.kind == TOLD_HTTP && artifact->path[0] == '<';
    difference->instead = told.instead && artifact->path[0] == '<';
    difference->more = TAKE(quoted.data);
    difference->more_in = TAKE(name.data);
    difference->in_file = artifact->path[0] != '<';
    return NULL;
}

struct error *reference_find_report(const struct reference *reference,
                                    const struct artifact *artifact, const struct outcome_run *run,
                                    struct difference *difference)
{
    _cleanup_(buffer_deinit) struct buffer line = {0};
    struct told told;
    const struct reference_item *item = reference_find(reference, artifact->path);
    if (difference->err_more || (item != NULL && artifact->size == item->artifact->size &&
                                 artifact->hash == item->artifact->hash))
        return NULL;
    TRY(find_line(reference, artifact, run, &line, &told));
    return take_line(artifact, &line, told, difference);
}

static size_t count_lines(const struct buffer *text)
{
    size_t count = 0;
    for (size_t i = 0; i < text->size; i++)
        count += text->data[i] == '\n';
    return count;
}

struct error *reference_is_log(const struct reference *reference, const struct reference_item *item,
                               const struct artifact *artifact, const struct outcome_run *run,
                               struct difference *difference, bool *ret_log)
{
    _cleanup_(buffer_deinit) struct buffer line = {0};
    struct lines_text text;
    struct told told;
    *ret_log = false;
    if (artifact->kind != ARTIFACT_FILE || !reference_text(artifact, &text))
        return NULL;
    TRY(find_line(reference, artifact, run, &line, &told));
    if (told.kind == TOLD_NOTHING)
        return NULL;
    TRY(take_line(artifact, &line, told, difference));
    *ret_log = item == NULL;
    if (item == NULL || item->lines == NULL)
        return NULL;
    // In a log of answers, the bad one stands where the good one would.
    if (told.kind == TOLD_HTTP) {
        *ret_log = count_lines(&artifact->content) >= count_lines(&item->artifact->content);
        return NULL;
    }
    return lines_all_there(item->lines, reference->filters, &text, ret_log);
}
