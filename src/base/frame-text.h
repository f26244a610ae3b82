// SPDX-License-Identifier: GPL-3.0-or-later
// Stacks as text, as the store keeps them (docs/ordeal-store.5): one frame per line, innermost
// first. A frame is written with what is known about it:
//   FUNCTION at FILE:LINE (MODULE)
//   FUNCTION (MODULE)
//   MODULE+0xOFFSET {HASH+0xOFFSET}
//   MODULE+0xOFFSET
//   0xADDRESS
#ifndef ORDEAL_BASE_FRAME_TEXT_H
#define ORDEAL_BASE_FRAME_TEXT_H

#include "base/array.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct frame_part {   // points into the line, not ended by NUL
    const char *text; // NULL: not known
    size_t size;
};

static inline struct frame_part frame_part(const char *text)
{
    return (struct frame_part){text, strlen(text)};
}

struct frame_text {
    struct frame_part whole;
    struct frame_part function; // C++ names may have blanks and parentheses in them
    struct frame_part place;    // "FILE:LINE"
    struct frame_part file;     // of `place`
    unsigned line;
    struct frame_part module;
    uint64_t offset; // of a frame without a function: in the module; without a module, the address
    // Of a frame without a function: the code of the function and where in it, which stay the same
    // in another build: "1f00ba47+0x1c". Parsed: points into the line; to be printed: any text.
    struct frame_part code;
};

// Parses the frame at *stack and moves *stack to the next line; false at the end. The parts point
// into the text.
bool frame_text_next(const char **stack, struct frame_text *ret_frame);
// Parses the frame with that number, from 0; false if there are fewer.
bool frame_text_at(const char *stack, size_t number, struct frame_text *ret_frame);

// Appends a frame. It prints `file` and `line`, not `place`.
_must_check_ struct error *frame_text_put(struct buffer *text, const struct frame_text *frame);

bool frame_part_is(struct frame_part part, const char *text);
bool frame_part_begins(struct frame_part part, const char *text);
// The name of a symbol as it is shown. The faulty twin of a function that 'ordeal cc' makes
// ("main.ordeal") has the function's own name.
struct frame_part frame_part_symbol(const char *symbol);
// A function of the C library without what its inner names begin and end with: "regcomp" of
// "__GI___regcomp", "fopen" of "__fopen_internal".
struct frame_part frame_part_plain(struct frame_part function);
// Whether a module's file name is that of the C++ library, whose frames say as little.
bool frame_part_is_libstdcxx(struct frame_part module);
// Whether a module's file name is that of the C library or of a part of it, whose frames say
// little: abort() looks the same for everyone.
bool frame_part_is_libc(struct frame_part module);

#endif
