// SPDX-License-Identifier: GPL-3.0-or-later
// Error objects: a fallible function returns NULL for success or an error the caller owns.
// The text is written for the person at the terminal: what was wrong, where, what to do.
#ifndef ORDEAL_BASE_ERROR_H
#define ORDEAL_BASE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>

struct error;

// Stands before every function that returns an error: the compiler warns if a caller drops it.
#define _must_check_ __attribute__((warn_unused_result))

// A new error; the message has no trailing newline. Never returns NULL: when memory is short it
// returns a shared static object that error_free() accepts.
__attribute__((format(printf, 1, 2))) _must_check_ struct error *error_new(const char *format, ...);
__attribute__((format(printf, 1, 0))) _must_check_ struct error *error_new_va(const char *format,
                                                                              va_list args);

// "TEXT: strerror(code)".
__attribute__((format(printf, 2, 3))) _must_check_ struct error *
error_from_errno(int code, const char *format, ...);

// The shared out-of-memory error.
_must_check_ struct error *error_no_memory(void);

// An error about a place in a text the user wrote:
//   NAME:LINE:COLUMN: MESSAGE
//     the line
//         ^
// `text` is the whole text and `offset` the byte the message is about; `first_line` is the number
// of text's first line in `name` (1 when text is the whole file).
__attribute__((format(printf, 6, 7))) _must_check_ struct error *
error_at(const char *name, const char *text, unsigned long text_size, unsigned long offset,
         unsigned first_line, const char *format, ...);

// "PREFIX: old message"; takes ownership of `inner`.
__attribute__((format(printf, 2, 3))) _must_check_ struct error *
error_prefix(struct error *inner, const char *format, ...);

const char *error_message(const struct error *error);
// Whether it is about the state of the machine and not about what was looked at: memory or
// descriptors were short, or a disk failed. The next try may succeed.
bool error_is_shortage(const struct error *error);
void error_free(struct error *error);

#endif
