// SPDX-License-Identifier: GPL-3.0-or-later
// Parses and prints stack frames as text. Lines may come from anywhere: a line that is not in the
// format counts as a function without a module.
#include "base/frame-text.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

#define AT " at "

static struct frame_part between(const char *begin, const char *end)
{
    return (struct frame_part){begin, (size_t)(end - begin)};
}

// "FILE:LINE"
static void parse_place(struct frame_text *frame)
{
    const char *text = frame->place.text, *end = text + frame->place.size;
    const char *colon = memrchr(text, ':', frame->place.size);
    if (colon == NULL || colon == text || colon + 1 == end)
        return;
    uint64_t line = 0;
    for (const char *digit = colon + 1; digit < end; digit++) {
        if (*digit < '0' || *digit > '9' || line > UINT32_MAX)
            return;
        line = line * 10 + (uint64_t)(*digit - '0');
    }
    if (line == 0 || line > UINT32_MAX)
        return;
    frame->file = between(text, colon);
    frame->line = (unsigned)line;
}

static bool parse_named(struct frame_text *frame)
{
    const char *text = frame->whole.text, *end = text + frame->whole.size;
    const char *open = memrchr(text, '(', frame->whole.size);
    if (open == NULL || open == text || open[-1] != ' ' || end[-1] != ')')
        return false;
    frame->module = between(open + 1, end - 1);
    const char *at = memmem(text, (size_t)(open - text), AT, strlen(AT));
    frame->function = between(text, at != NULL ? at : open - 1);
    if (at != NULL && at + strlen(AT) < open) { // else "f at (x)", which has no place
        frame->place = between(at + strlen(AT), open - 1);
        parse_place(frame);
    }
    return true;
}

static bool parse_nameless(struct frame_text *frame)
{
    static const char digits[] = "0123456789abcdef";
    const char *text = frame->whole.text, *end = text + frame->whole.size;
    const char *brace = memrchr(text, '{', frame->whole.size);
    if (brace != NULL && brace > text + 1 && brace[-1] == ' ' && end[-1] == '}') {
        frame->code = between(brace + 1, end - 1);
        end = brace - 1;
    }
    const char *plus = memrchr(text, '+', (size_t)(end - text));
    const char *number = plus != NULL ? plus + 1 : text;
    if (end - number < 3 || strncmp(number, "0x", 2) != 0 ||
        number + 2 + strspn(number + 2, digits) != end) {
        frame->code = (struct frame_part){0};
        return false;
    }
    frame->offset = strtoull(number, NULL, 16);
    if (plus != NULL)
        frame->module = between(text, plus);
    return true;
}

bool frame_text_next(const char **stack, struct frame_text *ret_frame)
{
    const char *text = *stack;
    if (text == NULL || *text == '\0')
        return false;
    size_t size = strcspn(text, "\n");
    *stack = text + size + (text[size] == '\n');
    *ret_frame = (struct frame_text){.whole = {text, size}};
    if (size != 0 && !parse_named(ret_frame) && !parse_nameless(ret_frame))
        ret_frame->function = ret_frame->whole;
    return true;
}

bool frame_text_at(const char *stack, size_t number, struct frame_text *ret_frame)
{
    bool found = frame_text_next(&stack, ret_frame);
    while (found && number-- != 0)
        found = frame_text_next(&stack, ret_frame);
    return found;
}

static struct error *put_nameless(struct buffer *text, const struct frame_text *frame)
{
    TRY(buffer_printf(text, "%.*s+0x%llx", (int)frame->module.size, frame->module.text,
                      (unsigned long long)frame->offset));
    if (frame->code.text == NULL)
        return NULL;
    return buffer_printf(text, " {%.*s}", (int)frame->code.size, frame->code.text);
}

struct error *frame_text_put(struct buffer *text, const struct frame_text *frame)
{
    const struct frame_part *function = &frame->function, *module = &frame->module;
    unsigned long long offset = frame->offset;
    if (module->text == NULL)
        return buffer_printf(text, "0x%llx", offset);
    if (function->text == NULL)
        return put_nameless(text, frame);
    TRY(buffer_append(text, function->text, function->size));
    if (frame->file.text != NULL)
        TRY(buffer_printf(text, AT "%.*s:%u", (int)frame->file.size, frame->file.text,
                          frame->line));
    return buffer_printf(text, " (%.*s)", (int)module->size, module->text);
}

bool frame_part_is(struct frame_part part, const char *text)
{
    return part.text != NULL && part.size == strlen(text) &&
           memcmp(part.text, text, part.size) == 0;
}

bool frame_part_begins(struct frame_part part, const char *text)
{
    size_t size = strlen(text);
    return part.text != NULL && part.size >= size && memcmp(part.text, text, size) == 0;
}

struct frame_part frame_part_symbol(const char *symbol)
{
    static const char twin[] = ".ordeal";
    struct frame_part name = frame_part(symbol);
    size_t end = sizeof twin - 1;
    if (name.size > end && memcmp(symbol + name.size - end, twin, end) == 0)
        name.size -= end;
    return name;
}

struct frame_part frame_part_plain(struct frame_part name)
{
    static const char end[] = "_internal";
    for (size_t skip = 1; skip != 0; name.text += skip, name.size -= skip)
        skip = frame_part_begins(name, "_") ? 1 : frame_part_begins(name, "GI_") ? 3 : 0;
    size_t size = strlen(end);
    if (name.size > size && memcmp(name.text + name.size - size, end, size) == 0)
        name.size -= size;
    return name;
}

bool frame_part_is_libstdcxx(struct frame_part module)
{
    return frame_part_begins(module, "libstdc++.so") || frame_part_begins(module, "libc++.so") ||
           frame_part_begins(module, "libc++abi.so");
}

bool frame_part_is_libc(struct frame_part module)
{
    static const char *const names[] = {"libc.so", "ld-linux", "libpthread.so", "libm.so", "[vdso"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (frame_part_begins(module, names[i]))
            return true;
    return false;
}
