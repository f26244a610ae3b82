// SPDX-License-Identifier: GPL-3.0-or-later
// Reads files of suppressions, line by line. Errors show the line.
#include "campaign/suppress.h"

#include "base/cleanup.h"
#include "store/verdict.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST (16u << 20)

static void suppression_deinit(struct suppression *suppression)
{
    free(suppression->name);
    free(suppression->verdict);
    free(suppression->call);
    free(suppression->error);
    for (size_t i = 0; i < suppression->frames.count; i++)
        free(suppression->frames.items[i].glob);
    ARRAY_DEINIT(&suppression->frames);
    *suppression = (struct suppression){0};
}

void suppressions_deinit(struct suppressions *suppressions)
{
    for (size_t i = 0; i < suppressions->items.count; i++)
        suppression_deinit(&suppressions->items.items[i]);
    ARRAY_DEINIT(&suppressions->items);
}

struct suppress_reader {
    const char *name, *text;
    size_t size, at; // at: the line after this one
    unsigned line;
    const char *word; // this line without the space around it
    size_t length;
};

#define FAIL(reader, ...)                                                                          \
    error_at((reader)->name, (reader)->text, (reader)->size,                                       \
             (unsigned long)((reader)->word - (reader)->text), 1, __VA_ARGS__)

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

// Goes to the next line that is neither empty nor a comment. False at the end.
static bool next_line(struct suppress_reader *reader)
{
    while (reader->at < reader->size) {
        const char *start = reader->text + reader->at,
                   *end = memchr(start, '\n', reader->size - reader->at);
        size_t length = end != NULL ? (size_t)(end - start) : reader->size - reader->at;
        reader->at += length + (end != NULL);
        reader->line++;
        while (length > 0 && is_space(*start)) {
            start++;
            length--;
        }
        while (length > 0 && is_space(start[length - 1]))
            length--;
        reader->word = start;
        reader->length = length;
        if (length != 0 && *start != '#')
            return true;
    }
    reader->word = reader->text + reader->size;
    reader->length = 0;
    return false;
}

static bool is_word(const struct suppress_reader *reader, const char *word)
{
    return reader->length == strlen(word) && memcmp(reader->word, word, reader->length) == 0;
}

// The value after "KEY:"; NULL if the line has another key.
static const char *value_of(const struct suppress_reader *reader, const char *key, size_t *ret_size)
{
    size_t size = strlen(key);
    if (reader->length <= size || memcmp(reader->word, key, size) != 0 || reader->word[size] != ':')
        return NULL;
    *ret_size = reader->length - size - 1;
    return reader->word + size + 1;
}

static struct error *keep(const struct suppress_reader *reader, const char *value, size_t size,
                          char **ret_text)
{
    if (size == 0)
        return FAIL(reader, "there is nothing after the colon");
    if (memchr(value, '\0', size) != NULL)
        return FAIL(reader, "a zero byte in a text file");
    if (*ret_text != NULL)
        return FAIL(reader, "this was said already");
    *ret_text = strndup(value, size);
    return *ret_text != NULL ? NULL : error_no_memory();
}

static bool is_verdict(const char *glob)
{
    for (size_t i = 0; i < VERDICTS; i++)
        if (fnmatch(glob, verdict_facts[i].name, 0) == 0)
            return true;
    return false;
}

#define HIGHEST_ERRNO 4095 // of Linux

static bool is_errno(const char *glob)
{
    for (int number = 1; number <= HIGHEST_ERRNO; number++) {
        const char *name = strerrorname_np(number);
        if (name != NULL && fnmatch(glob, name, 0) == 0)
            return true;
    }
    return false;
}

static struct error *check_facts(const struct suppress_reader *reader,
                                 const struct suppression *suppression)
{
    if (suppression->verdict != NULL && !is_verdict(suppression->verdict))
        return FAIL(reader, "there is no such verdict; there are crash, hang, silent, "
                            "wrong-output, unstable and deliberate");
    if (suppression->error != NULL && !is_errno(suppression->error))
        return FAIL(reader, "there is no such errno");
    return NULL;
}

static struct error *add_frame(const struct suppress_reader *reader, enum suppress_kind kind,
                               const char *value, size_t size, struct suppression *suppression)
{
    struct suppress_frame *frame = ARRAY_ADD(&suppression->frames);
    if (frame == NULL)
        return error_no_memory();
    *frame = (struct suppress_frame){.kind = kind};
    return value != NULL ? keep(reader, value, size, &frame->glob) : NULL;
}

static struct error *read_line(const struct suppress_reader *reader,
                               struct suppression *suppression)
{
    static const struct {
        const char *key;
        enum suppress_kind kind;
    } frames[] = {{"fun", SUPPRESS_FUNCTION},
                  {"obj", SUPPRESS_OBJECT},
                  {"src", SUPPRESS_SOURCE},
                  {"code", SUPPRESS_CODE}};
    const struct {
        const char *key;
        char **place;
    } facts[] = {{"ordeal", &suppression->verdict},
                 {"call", &suppression->call},
                 {"errno", &suppression->error}};
    size_t size;
    const char *value;
    if (is_word(reader, "..."))
        return add_frame(reader, SUPPRESS_ANY_FRAMES, NULL, 0, suppression);
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++)
        if ((value = value_of(reader, frames[i].key, &size)) != NULL)
            return add_frame(reader, frames[i].kind, value, size, suppression);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if ((value = value_of(reader, facts[i].key, &size)) != NULL) {
            TRY(keep(reader, value, size, facts[i].place));
            return check_facts(reader, suppression);
        }
    return FAIL(reader, "a line of a suppression is ordeal:VERDICT, call:FUNCTION, errno:NAME, "
                        "fun:FUNCTION, code:HASH+OFFSET, obj:FILE, src:FILE:LINE or ...");
}

static struct error *read_block(struct suppress_reader *reader, struct suppression *suppression)
{
    struct suppress_reader start = *reader;
    suppression->line = reader->line;
    if (!next_line(reader) || is_word(reader, "}"))
        return FAIL(reader, "a suppression begins with a name");
    TRY(keep(reader, reader->word, reader->length, &suppression->name));
    while (next_line(reader)) {
        if (is_word(reader, "}"))
            return suppression->verdict != NULL
                       ? NULL
                       : FAIL(&start, "this suppression does not say which verdict it is about: "
                                      "ordeal:crash, ordeal:*");
        if (is_word(reader, "{"))
            return FAIL(reader, "a suppression within a suppression; is a } missing?");
        TRY(read_line(reader, suppression));
    }
    return FAIL(&start, "this suppression has no end: a line with a }");
}

struct error *suppressions_parse(struct suppressions *suppressions, const char *name,
                                 const char *text, size_t size)
{
    struct suppress_reader reader = {.name = name, .text = text, .size = size};
    while (next_line(&reader)) {
        if (!is_word(&reader, "{"))
            return FAIL(&reader, "a suppression begins with a line that is {");
        struct suppression *suppression = ARRAY_ADD(&suppressions->items);
        if (suppression == NULL)
            return error_no_memory();
        *suppression = (struct suppression){0};
        TRY(read_block(&reader, suppression));
    }
    return NULL;
}

struct error *suppressions_read(struct suppressions *suppressions, const char *path)
{
    _cleanup_fclose_ FILE *file = fopen(path, "re");
    _cleanup_(buffer_deinit) struct buffer text = {0};
    char piece[4096];
    if (file == NULL)
        return error_from_errno(errno, "cannot read %s", path);
    for (size_t got; (got = fread(piece, 1, sizeof piece, file)) > 0;) {
        TRY(buffer_append(&text, piece, got));
        if (text.size > LARGEST)
            return error_new("%s: too large for a file of suppressions", path);
    }
    if (ferror(file))
        return error_from_errno(errno, "cannot read %s", path);
    return suppressions_parse(suppressions, path, text.data != NULL ? text.data : "", text.size);
}
