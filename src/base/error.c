// SPDX-License-Identifier: GPL-3.0-or-later
// Makes error objects, with one allocation each. The out-of-memory error is static, so that it
// never needs memory.
#include "base/error.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct error {
    char *message;
    int code; // as in errno; 0: none
};

static struct error no_memory = {.message = (char *)"out of memory", .code = ENOMEM};

struct error *error_no_memory(void)
{
    return &no_memory;
}

static struct error *error_take(char *message)
{
    if (message == NULL)
        return &no_memory;
    struct error *error = malloc(sizeof *error);
    if (error == NULL) {
        free(message);
        return &no_memory;
    }
    *error = (struct error){.message = message};
    return error;
}

// The shared error has its own code.
static struct error *with_code(struct error *error, int code)
{
    if (error != &no_memory)
        error->code = code;
    return error;
}

bool error_is_shortage(const struct error *error)
{
    static const int codes[] = {ENOMEM, EIO, EMFILE, ENFILE, EAGAIN, EINTR, ENOBUFS, ENOSPC};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (error->code == codes[i])
            return true;
    return false;
}

struct error *error_new_va(const char *format, va_list args)
{
    char *message;
    if (vasprintf(&message, format, args) < 0)
        return &no_memory;
    return error_take(message);
}

struct error *error_new(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct error *error = error_new_va(format, args);
    va_end(args);
    return error;
}

struct error *error_from_errno(int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct error *context = error_new_va(format, args);
    va_end(args);
    struct error *error = error_new("%s: %s", context->message, strerror(code));
    error_free(context);
    return with_code(error, code);
}

struct error *error_prefix(struct error *inner, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct error *prefix = error_new_va(format, args);
    va_end(args);
    struct error *error = error_new("%s: %s", prefix->message, inner->message);
    int code = inner->code;
    error_free(prefix);
    error_free(inner);
    return with_code(error, code);
}

// The line under the offending text: tabs are kept so that the caret lines up.
static char *caret_line(const char *line, size_t column)
{
    char *caret = malloc(column + 2);
    if (caret == NULL)
        return NULL;
    for (size_t i = 0; i < column; i++)
        caret[i] = line[i] == '\t' ? '\t' : ' ';
    caret[column] = '^';
    caret[column + 1] = '\0';
    return caret;
}

struct error *error_at(const char *name, const char *text, unsigned long text_size,
                       unsigned long offset, unsigned first_line, const char *format, ...)
{
    if (offset > text_size)
        offset = text_size;
    size_t start = 0;
    unsigned line = first_line;
    for (size_t i = 0; i < offset; i++)
        if (text[i] == '\n') {
            start = i + 1;
            line++;
        }
    size_t end = offset;
    while (end < text_size && text[end] != '\n' && text[end] != '\0')
        end++;
    // A line may be megabytes of binary data: show only the part around the caret.
    size_t shown = start;
    if (offset - start > 200)
        shown = offset - 80;
    if (end - shown > 240)
        end = shown + 240;
    va_list args;
    va_start(args, format);
    _cleanup_error_ struct error *what = error_new_va(format, args);
    va_end(args);
    _cleanup_free_ char *caret = caret_line(text + shown, offset - shown);
    return error_new("%s:%u:%zu: %s\n    %.*s\n    %s", name, line, offset - start + 1,
                     what->message, (int)(end - shown), text + shown, caret ? caret : "");
}

const char *error_message(const struct error *error)
{
    return error->message;
}

void error_free(struct error *error)
{
    if (error == NULL || error == &no_memory)
        return;
    free(error->message);
    free(error);
}
