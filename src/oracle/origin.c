// SPDX-License-Identifier: GPL-3.0-or-later
// Names the place where a failure began. See origin.h.
#include "oracle/origin.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/quote.h"

#include <string.h>

#define LENGTH(table) (sizeof(table) / sizeof *(table))
#define NAME_MOST     300

static bool is_of_libc(const struct injection *injection)
{
    return injection->module != NULL &&
           frame_part_is_libc(frame_part(file_base_name(injection->module)));
}

size_t origin_first_outside(const char *stack)
{
    struct frame_text frame;
    for (size_t i = 0; frame_text_next(&stack, &frame); i++)
        if (!frame_part_is_libc(frame.module))
            return i;
    return 0;
}

size_t origin_first_caller(const char *stack)
{
    struct frame_text frame;
    size_t outside = origin_first_outside(stack);
    for (size_t i = outside; frame_text_at(stack, i, &frame); i++)
        if (!frame_part_is_libc(frame.module) && !frame_part_is_libstdcxx(frame.module))
            return i;
    return outside;
}

// The function of the C library that a frame called, by which the failed call was made, or the
// failed function.
static struct frame_part called_function(const struct injection *injection)
{
    size_t outside = origin_first_caller(injection->stack);
    struct frame_text inner;
    if (outside == 0)
        return frame_part(injection->function != NULL ? injection->function : "");
    return frame_text_at(injection->stack, outside - 1, &inner) ? inner.function
                                                                : (struct frame_part){0};
}

bool origin_frame(const struct injection *injection, struct frame_text *ret_frame)
{
    if (injection->stack == NULL)
        return false;
    return frame_text_at(injection->stack, origin_first_caller(injection->stack), ret_frame) &&
           ret_frame->whole.size != 0;
}

static bool same_part(struct frame_part a, struct frame_part b)
{
    return a.text != NULL && b.text != NULL && a.size == b.size &&
           memcmp(a.text, b.text, a.size) == 0;
}

// "1f00ba47" of "1f00ba47+0x2"
static struct frame_part hash_of(struct frame_part code)
{
    const char *plus = code.text != NULL ? memchr(code.text, '+', code.size) : NULL;
    return plus != NULL ? (struct frame_part){code.text, (size_t)(plus - code.text)}
                        : (struct frame_part){0};
}

bool origin_same_function(const struct frame_text *a, const struct frame_text *b)
{
    return same_part(a->module, b->module) &&
           (same_part(a->function, b->function) || same_part(hash_of(a->code), hash_of(b->code)));
}

// Whether a frame of the C library is in the function that the failed call was made by.
static bool calls_alike(const struct injection *injection, const struct frame_text *inner)
{
    struct frame_part failed = frame_part_plain(called_function(injection));
    return failed.text == NULL || same_part(failed, frame_part_plain(inner->function));
}

bool origin_is_own_crash(const struct injection *injection, const char *crash_stack)
{
    struct frame_text failed, crashed, first, inner = {0};
    if (!is_of_libc(injection) || !origin_frame(injection, &failed))
        return false;
    // A function without a line may make several calls.
    size_t outside = origin_first_outside(crash_stack);
    if (failed.function.text != NULL && failed.place.text == NULL &&
        (outside == 0 || !frame_text_at(crash_stack, outside - 1, &inner) ||
         !calls_alike(injection, &inner)))
        return false;
    return frame_text_at(crash_stack, 0, &first) && frame_part_is_libc(first.module) &&
           frame_text_at(crash_stack, outside, &crashed) && !frame_part_is_libc(crashed.module) &&
           same_part(failed.whole, crashed.whole);
}

static bool is_named(struct frame_part name, const char *const *names, size_t count)
{
    name = frame_part_plain(name);
    for (size_t i = 0; i < count; i++)
        if (frame_part_is(name, names[i]))
            return true;
    return false;
}

size_t origin_crash_frame(const char *stack)
{
    static const char *const ends[] = {
        "abort",
        "raise",
        "gsignal",
        "pthread_kill",
        "assert_fail",
        "assert",
        "libc_message",
        "assert_fail_base",
        "fortify_fail",
        "libc_fatal",
        "int_free",
        "pthread_kill_implementation",
        "int_malloc",
        "libc_free",
        "libc_malloc",
        "pthread_kill_internal",
        "free",
        "cfree",
        "malloc",
        "libc_realloc",
        "realloc",
        "calloc",
        "libc_calloc",
        "assert_perror_fail",
        "malloc_printerr",
        "stack_chk_fail",
        "chk_fail",
    };
    struct frame_text frame;
    size_t found = 0;
    for (size_t i = 0; frame_text_next(&stack, &frame) && frame_part_is_libc(frame.module); i++)
        if (is_named(frame.function, ends, LENGTH(ends)))
            found = i + 1;
    return found;
}

bool origin_is_heap_check(const char *stack)
{
    static const char *const checks[] = {"malloc_printerr"};
    struct frame_text frame;
    while (frame_text_next(&stack, &frame) && frame_part_is_libc(frame.module))
        if (is_named(frame.function, checks, LENGTH(checks)))
            return true;
    return false;
}

bool origin_is_stream(const struct injection *injection)
{
    static const char *const functions[] = {
        "fputc",           "putc",          "putchar",          "fputs",          "puts",
        "fwrite",          "printf",        "fprintf",          "vprintf",        "vfprintf",
        "fputc_unlocked",  "putc_unlocked", "putchar_unlocked", "fputs_unlocked", "puts_unlocked",
        "fwrite_unlocked", "printf_chk",    "fprintf_chk",      "vprintf_chk",    "vfprintf_chk",
        "overflow",        "putw",          "fputwc",           "putwc",          "putwchar",
        "fputws",          "wprintf",       "fwprintf",         "IO_putc",
    };
    if (injection->stream != NULL || injection->standard_stream != 0)
        return true;
    if (injection->function == NULL)
        return false;
    const char *prefix = strchr(injection->function, '_'); // gpgrt_printf
    return is_named(frame_part(injection->function), functions, LENGTH(functions)) ||
           (prefix != NULL && prefix != injection->function &&
            is_named(frame_part(prefix), functions, LENGTH(functions))) ||
           (strcmp(injection->function, "write") == 0 && is_of_libc(injection));
}

bool origin_reads_stream(const char *function)
{
    static const char *const functions[] = {
        "getc",     "fgetc",   "getchar", "IO_getc",        "getc_unlocked",  "fgetc_unlocked",
        "uflow",    "fread",   "fgets",   "fread_unlocked", "fgets_unlocked", "getchar_unlocked",
        "getdelim", "getline", "fgetwc",  "getwc",          "fgetws",         "underflow",
    };
    return function != NULL && is_named(frame_part(function), functions, LENGTH(functions));
}

// Programs of one project have the same functions in them: their code is their name.
struct error *origin_put_code(struct buffer *text, const struct frame_text *frame)
{
    if (frame->function.text != NULL || frame->code.text == NULL)
        return quote_put(text, frame->whole.text, frame->whole.size, NAME_MOST);
    TRY(buffer_printf(text, "{"));
    TRY(quote_put(text, frame->code.text, frame->code.size, NAME_MOST));
    return buffer_printf(text, "}");
}

struct error *origin_put_function(struct buffer *text, const struct frame_text *frame)
{
    struct frame_part hash = hash_of(frame->code);
    if (frame->function.text != NULL)
        return quote_put(text, frame->function.text, frame->function.size, NAME_MOST);
    if (hash.text == NULL)
        return quote_put(text, frame->whole.text, frame->whole.size, NAME_MOST);
    return buffer_printf(text, "{%.*s}", (int)hash.size, hash.text);
}

static struct error *put_function(struct buffer *text, const struct injection *injection)
{
    return buffer_printf(text, "%s",
                         injection->function != NULL ? injection->function
                         : injection->fault != NULL  ? injection->fault
                                                     : "fault");
}

// Without a stack.
static struct error *put_call(struct buffer *text, const struct injection *injection)
{
    TRY(put_function(text, injection));
    if (injection->symbol != NULL)
        TRY(buffer_printf(text, " in %s", injection->symbol));
    if (injection->file != NULL)
        return buffer_printf(text, " at %s:%u", injection->file, injection->line);
    if (injection->module != NULL && injection->symbol != NULL)
        return buffer_printf(text, " of %s", injection->module);
    if (injection->module != NULL)
        return buffer_printf(text, " at %s+0x%llx", injection->module,
                             (unsigned long long)injection->offset);
    return NULL;
}

// A line or an address tells which call it is, so the function is left out: what the C library
// calls inside, and how the program calls it, are the same then. Otherwise it is named, if it is
// known: also where a hash stands for the code, since that leaves out whom it calls.
struct error *origin_put_frame(struct buffer *text, const struct injection *injection,
                               const struct frame_text *frame)
{
    struct frame_text first;
    bool failed = origin_frame(injection, &first) && first.whole.text == frame->whole.text;
    bool vague = frame->function.text != NULL || frame->code.text != NULL;
    if (failed && vague && frame->place.text == NULL) {
        struct frame_part called = frame_part_plain(called_function(injection));
        TRY(buffer_append(text, called.text != NULL ? called.text : "", called.size));
        TRY(buffer_append(text, " in ", called.size != 0 ? 4 : 0));
    }
    return origin_put_code(text, frame);
}

struct error *origin_put(struct buffer *text, const struct injection *injection)
{
    // Whichever call fills, flushes or closes a stream: what cannot be written is the same.
    if (injection->stream != NULL)
        return buffer_printf(text, "stream of %s", injection->stream);
    if (injection->standard_stream != 0)
        return buffer_printf(text, "stream %u of %s", injection->standard_stream,
                             injection->program != NULL ? injection->program : "?");
    struct frame_text frame;
    if (!origin_frame(injection, &frame) || frame.module.text == NULL)
        return put_call(text, injection);
    return origin_put_frame(text, injection, &frame);
}

#define NEAR_FRAMES 3

// The failed call's own function may be anywhere on the stack. A function that the failure was
// handed up to must be near: main() is on all stacks.
bool origin_of_crash(const struct injection *injection, const char *stack, size_t place,
                     struct frame_text *ret_frame, bool *ret_direct)
{
    size_t first = injection->stack != NULL ? origin_first_outside(injection->stack) : 0,
           number = 0;
    struct frame_text crashed, failed;
    for (; frame_text_next(&stack, &crashed); number++)
        for (size_t i = first; number >= place && frame_text_at(injection->stack, i, &failed);
             i++) {
            if (!origin_same_function(&crashed, &failed))
                continue;
            *ret_direct = i == first;
            *ret_frame = failed;
            if (*ret_direct)
                return true;
            if (number > place + NEAR_FRAMES)
                break;
            return !same_part(crashed.whole, failed.whole); // else both are inside one call
        }
    return false;
}
