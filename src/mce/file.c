// SPDX-License-Identifier: GPL-3.0-or-later
// The format is a stream of words: keywords, and what belongs to them. Line ends mean nothing, '#'
// begins a comment.
#include "mce/file.h"

#include "base/cleanup.h"
#include "mce/code.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MOST_ERRORS 1000000
#define MOST_OTHERS 100 // of one error

enum kind {
    START,     // CPU: a number, and the next error begins
    NUMBER,    // a number
    STATUS,    // names of bits and numbers, together
    GLOBAL,    // likewise
    ALONE,     // nothing
    OTHER,     // nothing; kept
    OTHER_ONE, // one word; kept
    OTHER_ALL, // all words up to the next keyword; kept
};

static const struct keyword {
    const char *name;
    enum kind kind;
} keywords[] = {
    {"CPU", START},         {"BANK", NUMBER},         {"STATUS", STATUS},
    {"MCGSTATUS", GLOBAL},  {"ADDR", NUMBER},         {"MISC", NUMBER},
    {"NOBROADCAST", ALONE}, {"TSC", OTHER_ONE},       {"TIME", OTHER_ONE},
    {"RIP", OTHER_ONE},     {"IP", OTHER_ONE},        {"SOCKETID", OTHER_ONE},
    {"APICID", OTHER_ONE},  {"PROCESSOR", OTHER_ONE}, {"RAISINGCPU", OTHER_ONE},
    {"MCGCAP", OTHER_ALL},  {"IN_PROC", OTHER},       {"IN_IRQ", OTHER},
    {"EXCP", OTHER},        {"POLL", OTHER},          {"HOLD", OTHER},
};
#define KEYWORDS (sizeof keywords / sizeof *keywords)

// Words that stand for several bits of the status.
static const struct {
    const char *name;
    uint64_t bits;
} kinds_of_error[] = {
    {"CORRECTED", MCE_EN},
    {"UNCORRECTED", MCE_EN | MCE_UC},
    {"FATAL", MCE_EN | MCE_UC | MCE_PCC},
    {"UCNA", MCE_EN | MCE_UC},
    {"SRAO", MCE_EN | MCE_UC | MCE_S},
    {"SRAR", MCE_EN | MCE_UC | MCE_S | MCE_AR},
};

struct reader {
    const char *name, *text;
    size_t size, at;
    size_t word, word_size; // where the current word stands; of size 0 at the end
};

static bool is_separator(char c)
{
    return isspace((unsigned char)c) || c == '|';
}

static void next_word(struct reader *reader)
{
    const char *text = reader->text;
    while (reader->at < reader->size &&
           (is_separator(text[reader->at]) || text[reader->at] == '#')) {
        if (text[reader->at] == '#')
            while (reader->at + 1 < reader->size && text[reader->at + 1] != '\n')
                reader->at++;
        reader->at++;
    }
    reader->word = reader->at;
    while (reader->at < reader->size && !is_separator(text[reader->at]) && text[reader->at] != '#')
        reader->at++;
    reader->word_size = reader->at - reader->word;
}

static const struct keyword *keyword_at(const struct reader *reader)
{
    for (size_t i = 0; i < KEYWORDS; i++)
        if (strlen(keywords[i].name) == reader->word_size &&
            strncasecmp(keywords[i].name, reader->text + reader->word, reader->word_size) == 0)
            return &keywords[i];
    return NULL;
}

static struct error *complain(const struct reader *reader, const char *what)
{
    return error_at(reader->name, reader->text, reader->size, reader->word, 1, "%s", what);
}

static bool is_number(const struct reader *reader, uint64_t *ret_number)
{
    char text[40];
    char *end;
    if (reader->word_size == 0 || reader->word_size >= sizeof text ||
        !isdigit((unsigned char)reader->text[reader->word]))
        return false;
    memcpy(text, reader->text + reader->word, reader->word_size);
    text[reader->word_size] = '\0';
    errno = 0;
    *ret_number = strtoull(text, &end, 0);
    return end == text + reader->word_size && errno == 0;
}

static struct error *take_number(struct reader *reader, const char *keyword, uint64_t most,
                                 uint64_t *ret_number)
{
    next_word(reader);
    if (!is_number(reader, ret_number) || *ret_number > most) {
        char what[80];
        snprintf(what, sizeof what, "%s takes a number up to %#llx", keyword,
                 (unsigned long long)most);
        return complain(reader, what);
    }
    next_word(reader);
    return NULL;
}

static uint64_t status_word(const struct reader *reader)
{
    const char *word = reader->text + reader->word;
    for (size_t i = 0; i < sizeof kinds_of_error / sizeof *kinds_of_error; i++)
        if (strlen(kinds_of_error[i].name) == reader->word_size &&
            strncasecmp(kinds_of_error[i].name, word, reader->word_size) == 0)
            return kinds_of_error[i].bits;
    return mce_status_bit(word, reader->word_size);
}

static struct error *take_bits(struct reader *reader, bool global, uint64_t *bits)
{
    for (next_word(reader); reader->word_size != 0 && keyword_at(reader) == NULL;
         next_word(reader)) {
        uint64_t value;
        if (!is_number(reader, &value))
            value = global ? mce_global_bit(reader->text + reader->word, reader->word_size)
                           : status_word(reader);
        else if (value == 0)
            continue;
        if (value == 0)
            return complain(reader, global ? "expected a number, RIPV, EIPV or MCIP"
                                           : "expected a number, a bit of the status such as UC, "
                                             "or a kind of error such as SRAO");
        *bits |= value;
    }
    return NULL;
}

// Keeps a keyword and its words as they stand, with one blank between them.
static struct error *keep(struct reader *reader, enum kind kind, struct mce_error *error)
{
    _cleanup_(buffer_deinit) struct buffer kept = {0};
    if (error->others.count == MOST_OTHERS)
        return complain(reader, "too much that is not used");
    const char *keyword = keyword_at(reader)->name;
    TRY(buffer_printf(&kept, "%s", keyword));
    next_word(reader);
    for (size_t words = 0; kind != OTHER && reader->word_size != 0 && keyword_at(reader) == NULL &&
                           (kind == OTHER_ALL || words < 1);
         words++, next_word(reader)) {
        for (size_t i = 0; i < reader->word_size; i++)
            if (!isgraph((unsigned char)reader->text[reader->word + i]))
                return complain(reader, "expected a word of printable characters");
        TRY(buffer_printf(&kept, " %.*s", (int)reader->word_size, reader->text + reader->word));
    }
    return words_add(&error->others, kept.data, kept.size);
}

static struct error *take(struct reader *reader, const struct keyword *keyword,
                          struct mce_error *error)
{
    uint64_t number;
    switch (keyword->kind) {
    case START:
        TRY(take_number(reader, keyword->name, 65535, &number));
        error->processor = (unsigned)number;
        return NULL;
    case NUMBER:
        TRY(take_number(reader, keyword->name, *keyword->name == 'B' ? 255 : UINT64_MAX, &number));
        if (*keyword->name == 'B') {
            error->bank = (unsigned)number;
        } else if (*keyword->name == 'A') {
            error->address = number;
            error->status |= MCE_ADDRV;
        } else {
            error->misc = number;
            error->status |= MCE_MISCV;
        }
        return NULL;
    case STATUS:
        return take_bits(reader, false, &error->status);
    case GLOBAL:
        return take_bits(reader, true, &error->global);
    case ALONE:
        error->alone = true;
        next_word(reader);
        return NULL;
    default:
        return keep(reader, keyword->kind, error);
    }
}

struct error *mce_read(const char *name, const char *text, size_t size,
                       struct mce_errors *ret_errors)
{
    struct reader reader = {.name = name, .text = text, .size = size};
    struct mce_error *error = NULL;
    for (next_word(&reader); reader.word_size != 0;) {
        const struct keyword *keyword = keyword_at(&reader);
        if (keyword == NULL)
            return complain(&reader, "expected a keyword such as CPU, BANK, STATUS or ADDR");
        if (keyword->kind == START) {
            if (ret_errors->list.count == MOST_ERRORS)
                return complain(&reader, "more than a million errors");
            error = ARRAY_ADD(&ret_errors->list);
            if (error == NULL)
                return error_no_memory();
            error->status = MCE_VAL;
        }
        if (error == NULL)
            return complain(&reader, "an error begins with CPU and a number");
        TRY(take(&reader, keyword, error));
    }
    return NULL;
}

struct error *mce_write(const struct mce_error *error, struct buffer *text)
{
    TRY(buffer_printf(text, "# %s, ", mce_category_names[mce_category(error->status, true)]));
    TRY(mce_put_code((uint16_t)error->status, text));
    TRY(buffer_printf(text, "\nCPU %u BANK %u\nSTATUS %#018llx # ", error->processor, error->bank,
                      (unsigned long long)error->status));
    TRY(mce_put_status_bits(error->status, text));
    TRY(buffer_printf(text, "\n"));
    if (error->global != 0) {
        TRY(buffer_printf(text, "MCGSTATUS %#llx # ", (unsigned long long)error->global));
        TRY(mce_put_global_bits(error->global, text));
        TRY(buffer_printf(text, "\n"));
    }
    if ((error->status & MCE_ADDRV) != 0)
        TRY(buffer_printf(text, "ADDR %#llx\n", (unsigned long long)error->address));
    if ((error->status & MCE_MISCV) != 0)
        TRY(buffer_printf(text, "MISC %#llx\n", (unsigned long long)error->misc));
    for (size_t i = 0; i < error->others.count; i++)
        TRY(buffer_printf(text, "%s\n", error->others.items[i]));
    return error->alone ? buffer_printf(text, "NOBROADCAST\n") : NULL;
}
