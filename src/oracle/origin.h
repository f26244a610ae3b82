// SPDX-License-Identifier: GPL-3.0-or-later
// Where a failure began, as its finding's cause names it: all trials that the same missing check
// explains must get the same text, and others another one.
#ifndef ORDEAL_ORACLE_ORIGIN_H
#define ORDEAL_ORACLE_ORIGIN_H

#include "base/array.h"
#include "base/error.h"
#include "base/frame-text.h"
#include "injector/observation.h"

#include <stdbool.h>

// The number of the innermost frame of a stack outside the C library; 0 if all are inside, as in a
// stack that could not be followed.
size_t origin_first_outside(const char *stack);
// Likewise outside the C++ library, too: who called it.
size_t origin_first_caller(const char *stack);

// The frame that the failed call belongs to. If the C library made the call, it is the frame that
// called the C library: a malloc() that fails inside strdup() is a strdup() that fails. False if
// the injection has no stack.
bool origin_frame(const struct injection *injection, struct frame_text *ret_frame);
// Whether two frames are in one function.
bool origin_same_function(const struct frame_text *a, const struct frame_text *b);
// Whether the C library crashed inside the very call that failed: both stacks come into it from the
// same place.
bool origin_is_own_crash(const struct injection *injection, const char *crash_stack);
// The number of the innermost frame of a crash that is no part of how the C library ends a process
// or checks its heap.
size_t origin_crash_frame(const char *stack);

// Whether the C library found its heap damaged. Where it did so is chance.
bool origin_is_heap_check(const char *stack);

// Appends "fill at in.c:7", "malloc in fill (x)", "{1f00ba47+0x2}", or as much of it as is
// known.
_must_check_ struct error *origin_put(struct buffer *text, const struct injection *injection);
_must_check_ struct error *origin_put_frame(struct buffer *text, const struct injection *injection,
                                            const struct frame_text *frame);
// Finds the call whose failure was passed on to a crash: the call in a function that is on both
// stacks, from frame `place` of the crash's on. `ret_direct`: it is the failed call itself. False
// if there is none, and the crash does not depend on where the failure began.
bool origin_of_crash(const struct injection *injection, const char *stack, size_t place,
                     struct frame_text *ret_frame, bool *ret_direct);
// Whether the call writes to a stream. A program needs one check for all of them, when it closes
// the stream.
bool origin_is_stream(const struct injection *injection);
// Whether the function reads from a stream. Its caller needs one check for all of them, when it
// meets the end.
bool origin_reads_stream(const char *function);
// Appends the place of a frame, the same for the same code in another program: "f at in.c:7 (x)",
// "{1f00ba47+0x2}".
_must_check_ struct error *origin_put_code(struct buffer *text, const struct frame_text *frame);
// Appends only the function: "f", "{1f00ba47}".
_must_check_ struct error *origin_put_function(struct buffer *text, const struct frame_text *frame);

#endif
