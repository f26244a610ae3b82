// SPDX-License-Identifier: GPL-3.0-or-later
// Leaves out of a cause what differs between builds.
#include "store/cause.h"

#include "base/cleanup.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

// The size of a word without a line, a column or an address at its end: "copy.c:12", "cp+0x1a".
static size_t without_number(const char *word, size_t size)
{
    for (;;) {
        size_t digits = size;
        while (digits > 0 && strchr("0123456789abcdef", word[digits - 1]) != NULL)
            digits--;
        size_t decimal = size;
        while (decimal > 0 && word[decimal - 1] >= '0' && word[decimal - 1] <= '9')
            decimal--;
        if (decimal < size && decimal > 1 && word[decimal - 1] == ':')
            size = decimal - 1;
        else if (digits < size && digits > 3 && memcmp(word + digits - 3, "+0x", 3) == 0)
            return digits - 3;
        else
            return size;
    }
}

struct error *cause_put_stable(struct buffer *text, const char *cause)
{
    while (*cause != '\0') {
        size_t size = strcspn(cause, " "), kept = without_number(cause, size);
        const char *slash = memrchr(cause, '/', kept);
        const char *start = slash != NULL ? slash + 1 : cause;
        TRY(buffer_append(text, start, (size_t)(cause + kept - start)));
        cause += size;
        size_t blanks = strspn(cause, " ");
        TRY(buffer_append(text, cause, blanks));
        cause += blanks;
    }
    return buffer_append(text, "", 0);
}

struct error *cause_fingerprint(const char *cause, char text[CAUSE_FINGERPRINT])
{
    _cleanup_(buffer_deinit) struct buffer stable = {0};
    TRY(cause_put_stable(&stable, cause));
    uint64_t hash = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < stable.size; i++)
        hash = (hash ^ (unsigned char)stable.data[i]) * 0x100000001b3ull;
    snprintf(text, CAUSE_FINGERPRINT, "%016llx", (unsigned long long)hash);
    return NULL;
}

struct error *cause_is_same(const char *left, const char *right, bool *ret_same)
{
    _cleanup_(buffer_deinit) struct buffer a = {0}, b = {0};
    TRY(cause_put_stable(&a, left));
    TRY(cause_put_stable(&b, right));
    *ret_same = a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
    return NULL;
}
