// SPDX-License-Identifier: GPL-3.0-or-later
// Takes apart and describes faults that are actions of rules.
#include "injector/fault-text.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <string.h>

#define ERRNO_MOST 256 // above all that Linux has
#define NAME_MOST  80  // bytes of a name that a title shows

int fault_text_shown(size_t size)
{
    return size < NAME_MOST ? (int)size : NAME_MOST;
}

// " fails with ENOSPC", from "FUNCTION=RESULT/ENOSPC".
struct error *fault_text_put_result(const char *fault, struct buffer *text)
{
    size_t size = strcspn(fault, " \n");
    const char *equals = memchr(fault, '=', size), *slash = memchr(fault, '/', size);
    if (strncmp(equals, "=short", 6) == 0)
        return buffer_printf(text, " does only a part");
    if (slash != NULL && slash > equals)
        return buffer_printf(text, " fails with %.*s",
                             fault_text_shown((size_t)(fault + size - slash - 1)), slash + 1);
    return buffer_printf(text, " returns %.*s",
                         fault_text_shown((size_t)(fault + size - equals) - 1), equals + 1);
}

struct error *fault_text_put(const char *fault, struct buffer *text)
{
    const char *equals = memchr(fault, '=', strcspn(fault, " \n"));
    if (equals == NULL)
        return buffer_printf(text, "%.*s is injected", fault_text_shown(strlen(fault)), fault);
    TRY(buffer_printf(text, "%.*s", fault_text_shown((size_t)(equals - fault)), fault));
    return fault_text_put_result(fault, text);
}

// "read=-1/EIO": the function, and the errno or "".
void fault_text_split(const char *fault, char function[128], char error[32])
{
    size_t size = strcspn(fault, "= "), word = strcspn(fault, " \n");
    const char *slash = memchr(fault + size, '/', word - size);
    snprintf(function, 128, "%.*s", (int)size, fault);
    snprintf(error, 32, "%.*s", slash != NULL ? (int)strcspn(slash + 1, " ,") : 0,
             slash != NULL ? slash + 1 : "");
}

static int error_number(const char *name)
{
    for (int number = 1; number < ERRNO_MOST; number++) {
        const char *known = strerrorname_np(number);
        if (known != NULL && strcmp(known, name) == 0)
            return number;
    }
    return 0;
}

void fault_text_note_errors(struct observation *observation)
{
    for (size_t i = 0; i < observation->injections.count; i++) {
        struct injection *injection = &observation->injections.items[i];
        char function[128], error[32];
        if (injection->fault != NULL) {
            fault_text_split(injection->fault, function, error);
            injection->error = error_number(error);
        }
    }
}
