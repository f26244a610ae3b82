// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the names of an enumeration's members. If zero is named as the success, the others are
// codes of errors unless their names say something else. If no name is one of an error or of a
// success, the members are answers: kinds of things, states, steps of an iteration.
#include "profile/header/documented.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define FEWEST_MEMBERS 3 // two may be a yes and a no
#define NUMBERS        64

struct parts {
    bool wrong, fine, none;
    bool open, nothing; // the last word is such
};

static bool is(const char *word, size_t size, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(words[i]) == size && strncasecmp(words[i], word, size) == 0)
            return true;
    return false;
}
#define IS_ANY(word, size, words) is(word, size, words, sizeof(words) / sizeof *(words))

static void read_part(struct parts *parts, const char *word, size_t size)
{
    static const char *const wrong[] = {"err",     "error",  "errors",      "fail",     "failed",
                                        "failure", "bad",    "unsupported", "nomem",    "invalid",
                                        "illegal", "denied", "corrupt",     "corrupted"};
    static const char *const fine[] = {"ok",    "okay",     "success",  "successful",
                                       "noerr", "noerror",  "done",     "end",
                                       "more",  "continue", "finished", "eof"};
    static const char *const none[] = {"none", "no"};
    static const char *const nothing[] = {"none"};
    // What stands for nothing may be an answer, or say that there is none. That something is
    // complete may be well, or too late.
    static const char *const open[] = {"unknown",  "undefined", "unspecified", "none",
                                       "null",     "false",     "no",          "unset",
                                       "complete", "completed"};
    parts->wrong |= IS_ANY(word, size, wrong);
    parts->fine |= IS_ANY(word, size, fine);
    parts->none |= IS_ANY(word, size, none);
    parts->open = IS_ANY(word, size, open);
    parts->nothing = IS_ANY(word, size, nothing);
}

// Words are divided by underscores, or begin with a capital letter: X_NO_MEMORY, XNoMemory.
static struct parts parts_of(const char *name, size_t size)
{
    struct parts parts = {0};
    for (size_t start = 0; start < size;) {
        size_t end = start + 1;
        while (end < size && name[end] != '_' && name[start] != '_' &&
               !(isupper((unsigned char)name[end]) && islower((unsigned char)name[end - 1])))
            end++;
        if (name[start] != '_')
            read_part(&parts, name + start, end - start);
        start = end;
    }
    return parts;
}

static bool place_of(int64_t number, unsigned *ret_word, uint64_t *ret_bit)
{
    if (number < -NUMBERS || number >= NUMBERS)
        return false;
    *ret_word = number < 0;
    *ret_bit = (uint64_t)1 << (number < 0 ? -1 - number : number);
    return true;
}

void enumeration_add(struct enumeration *enumeration, const char *name, size_t size, int64_t number)
{
    unsigned word;
    uint64_t bit;
    struct parts parts = parts_of(name, size);
    if (place_of(number, &word, &bit))
        enumeration->members[word] |= bit;
    bool fine = parts.fine || (parts.wrong && (parts.nothing || (number == 0 && parts.none)));
    enumeration->count++;
    enumeration->errors |= parts.wrong && !fine;
    if (!place_of(number, &word, &bit))
        return;
    if (fine)
        enumeration->fine[word] |= bit;
    else if (parts.wrong)
        enumeration->wrong[word] |= bit;
    if (fine || parts.wrong || !parts.open) // else it says nothing
        enumeration->known[word] |= bit;
}

enum enumeration_meaning enumeration_tells(const struct enumeration *enumeration, int64_t number)
{
    unsigned word;
    uint64_t bit;
    if (enumeration->count < FEWEST_MEMBERS || !place_of(number, &word, &bit) ||
        (enumeration->known[word] & bit) == 0)
        return ENUMERATION_SILENT;
    if ((enumeration->fine[word] & bit) != 0)
        return ENUMERATION_ANSWER;
    bool codes = (enumeration->fine[0] & 1) != 0; // zero is the success
    if ((enumeration->wrong[word] & bit) != 0 || codes)
        return ENUMERATION_FAILURE;
    return enumeration->errors ? ENUMERATION_SILENT : ENUMERATION_ANSWER;
}

bool enumeration_lacks(const struct enumeration *enumeration, int64_t number)
{
    const uint64_t first = 1 << 1 | 1 << 2 | 1 << 3;
    unsigned word;
    uint64_t bit;
    return (enumeration->members[0] & first) == first && !enumeration->errors &&
           !enumeration->open && place_of(number, &word, &bit) &&
           (enumeration->members[word] & bit) == 0;
}
