// SPDX-License-Identifier: GPL-3.0-or-later
// The fields of events are a table: how many numbers, and how many of the last ones are sizes of
// texts that follow.
#include "interface/event.h"

#include "base/cleanup.h"

struct shape {
    unsigned numbers, texts;
};
static const struct shape shapes[INTERFACE_EVENT_COUNT] = {
    [INTERFACE_MAP] = {7, 1},
    [INTERFACE_UNMAP] = {2, 0},
    [INTERFACE_STACK] = {2, 0},
    [INTERFACE_ALLOCATE] = {4, 0},
    [INTERFACE_FREE] = {1, 0},
    [INTERFACE_THREAD] = {1, 0},
    [INTERFACE_ENTER] = {3 + INTERFACE_ARGUMENTS, 0},
    [INTERFACE_RETURN] = {2, 0},
    [INTERFACE_ABANDON] = {0, 0},
    [INTERFACE_SUSPEND] = {1, 0},
    [INTERFACE_RESUME] = {0, 0},
    [INTERFACE_STORE] = {3, 1},
    [INTERFACE_END] = {1, 0},
    [INTERFACE_POINTER] = {2, 0},
    [INTERFACE_MODULE] = {4, 1},
    [INTERFACE_OBJECT] = {3, 1},
    [INTERFACE_PLACE] = {4, 2},
    [INTERFACE_FUNCTION] = {5, 1},
};

struct event_reader event_reader_new(const struct interface_block *block)
{
    return (struct event_reader){.cursor = {.data = (const unsigned char *)block + sizeof *block,
                                            .size = block->size - sizeof *block}};
}

static uint64_t distance(struct event_reader *reader, uint64_t *last)
{
    uint64_t number = cursor_uleb128(&reader->cursor);
    *last += (number >> 1) ^ -(number & 1);
    return *last;
}

uint64_t event_text_size(const struct event *event, unsigned index)
{
    const struct shape *shape = &shapes[event->kind];
    return event->numbers[shape->numbers - shape->texts + index];
}

bool event_next(struct event_reader *reader, struct event *ret_event)
{
    struct cursor *cursor = &reader->cursor;
    if (cursor->failed || cursor->at == cursor->size)
        return false;
    ret_event->kind = cursor_u8(cursor);
    if (ret_event->kind == 0 || ret_event->kind >= INTERFACE_EVENT_COUNT) {
        cursor->failed = true;
        return false;
    }
    const struct shape *shape = &shapes[ret_event->kind];
    for (unsigned i = 0; i < shape->numbers; i++) {
        uint64_t *last = i == 0 ? &reader->code : &reader->address;
        ret_event->numbers[i] = ret_event->kind == INTERFACE_STORE && i < 2
                                    ? distance(reader, last)
                                    : cursor_uleb128(cursor);
    }
    for (unsigned i = 0; i < shape->texts; i++)
        ret_event->texts[i] = cursor_bytes(cursor, event_text_size(ret_event, i));
    if (ret_event->kind == INTERFACE_STORE &&
        (ret_event->numbers[2] == 0 || ret_event->numbers[2] > INTERFACE_STORE_LIMIT))
        cursor->failed = true;
    if (ret_event->kind == INTERFACE_STACK) {
        if (ret_event->numbers[1] > INTERFACE_FRAME_LIMIT)
            cursor->failed = true;
        for (uint64_t i = 0; !cursor->failed && i < ret_event->numbers[1]; i++)
            ret_event->frames[i] = cursor_uleb128(cursor);
    }
    return !cursor->failed;
}

static struct error *append_number(struct buffer *buffer, uint64_t number)
{
    unsigned char bytes[10];
    size_t size = 0;
    do {
        bytes[size++] = (unsigned char)((number & 0x7f) | (number > 0x7f ? 0x80 : 0));
        number >>= 7;
    } while (number != 0);
    return buffer_append(buffer, bytes, size);
}

struct error *event_append(const struct event *event, struct buffer *buffer)
{
    const struct shape *shape = &shapes[event->kind];
    unsigned char kind = (unsigned char)event->kind;
    TRY(buffer_append(buffer, &kind, 1));
    for (unsigned i = 0; i < shape->numbers; i++)
        TRY(append_number(buffer, event->numbers[i]));
    for (unsigned i = 0; i < shape->texts; i++)
        TRY(buffer_append(buffer, event->texts[i], event_text_size(event, i)));
    return NULL;
}
