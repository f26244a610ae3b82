// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the names and numbers of an enumeration's members.
#include "profile/header/declarations-internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct members {
    struct enumeration *enumeration;
    struct word name;   // of the member that is read
    int64_t next;       // its number, unless it has one of its own
    bool lost;          // the number is not known
    bool equals, minus; // what was read of a number
    bool number;
};

static void end_member(struct members *members)
{
    if (members->name.size != 0 && !members->lost)
        enumeration_add(members->enumeration, members->name.text, members->name.size,
                        members->next);
    members->enumeration->open |= members->name.size != 0 && members->lost;
    members->lost |= members->next == INT64_MAX; // there is none after it
    members->next += members->next != INT64_MAX;
    members->name.size = 0;
    members->equals = members->minus = members->number = false;
}

static void read_number(struct members *members, const struct word *word)
{
    char text[24] = "", *end = text;
    members->lost = true;
    if (members->number || word->size >= sizeof text || !isdigit((unsigned char)*word->text))
        return;
    memcpy(text, word->text, word->size);
    errno = 0;
    int64_t number = strtoll(text, &end, 0);
    end += strspn(end, "uUlL");
    members->number = true;
    if (*end != '\0' || errno != 0)
        return;
    members->next = members->minus ? -number : number;
    members->lost = false;
}

static void read_member(struct members *members, const struct token *token)
{
    if (token->word.size != 0 && members->name.size == 0)
        members->name = token->word;
    else if (token->word.size != 0 && members->equals)
        read_number(members, &token->word);
    else if (token_is_sign(token, '='))
        members->equals = members->lost = true;
    else if (token_is_sign(token, '-') && members->equals && !members->number)
        members->minus = true;
    else if (token_is_sign(token, ',') || token_is_sign(token, '}'))
        end_member(members);
    else if (!token_is_sign(token, '(') && !token_is_sign(token, ')'))
        members->lost = true; // what is calculated
}

void members_read(struct header_reader *reader, bool *ret_many, struct enumeration *ret_enumeration)
{
    unsigned parts = 0;
    bool begins = true, minus = false;
    struct members members = {.enumeration = ret_enumeration};
    for (size_t depth = 1; depth != 0;) {
        struct token token = token_next(reader);
        read_member(&members, &token);
        if (token.word.size != 0) {
            parts += begins;
            begins = false;
            continue;
        }
        if (token.sign == '\0')
            return;
        begins |= token.sign == ',';
        minus |= token.sign == '-';
        depth += token.sign == '{';
        depth -= token.sign == '}';
    }
    *ret_many = minus || parts > 2;
}
