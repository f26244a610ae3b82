// SPDX-License-Identifier: GPL-3.0-or-later
// What a guest writes to its console: whether it says that it is ready, or that it is in trouble.
// Keeps the last lines, however much is written.
#ifndef ORDEAL_GUEST_CONSOLE_H
#define ORDEAL_GUEST_CONSOLE_H

#include "base/array.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

#define CONSOLE_LINE  512 // bytes of a line that are kept
#define CONSOLE_LINES 40  // last lines that are kept
#define CONSOLE_STACK 32  // frames of the first trouble that are kept

enum console_trouble {
    CONSOLE_WELL,
    CONSOLE_OOPS,  // the kernel noticed a fault of its own and went on
    CONSOLE_PANIC, // it gave up
};

// What the kernel did about a machine-check error, as it says.
enum console_action {
    CONSOLE_NO_ACTION,
    CONSOLE_OFFLINE, // it uses the page of memory no more
    CONSOLE_KILL,    // it killed whoever used it
};

struct console {
    const char *ready; // the text that ends booting, or NULL
    bool is_ready;
    enum console_trouble trouble; // the worst so far
    char what[CONSOLE_LINE];      // the line that said so first
    enum console_action action;   // the most drastic so far
    char rule[CONSOLE_LINE];      // by which it panicked, "" if it did not say
    // Frames of the call trace of the first trouble, innermost first: "name+0x12/0x40".
    struct buffer stack;
    unsigned frames;
    bool in_stack, complete;
    char lines[CONSOLE_LINES][CONSOLE_LINE]; // a ring
    uint64_t line_count;                     // all that were written
    char line[CONSOLE_LINE];                 // the one that is being written
    size_t size;
};

_must_check_ struct error *console_take(struct console *console, const char *bytes, size_t size);
// Appends the last lines that are kept, at most `most`, each with its newline.
_must_check_ struct error *console_put_last(const struct console *console, size_t most,
                                            struct buffer *text);
void console_deinit(struct console *console);

#endif
