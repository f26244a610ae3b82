// SPDX-License-Identifier: GPL-3.0-or-later
// Blocks of several processes are mixed. A process that calls exec begins a new program.
#include "interface/stream.h"

#include "base/cleanup.h"

struct started {
    uint32_t process, program;
};
// Which program each process runs now.
struct numbering {
    ARRAY(struct started) started;
    uint32_t count;
};

struct stream {
    struct trace_reader *reader;
    struct numbering numbering;
    uint32_t wanted;
    struct event_reader events;
    bool in_block;
    _Alignas(struct interface_block) char block[INTERFACE_BLOCK_SIZE];
};

static struct error *number_program(struct numbering *numbering,
                                    const struct interface_block *block, uint32_t *ret_program)
{
    struct started *started = NULL;
    for (size_t i = 0; i < numbering->started.count; i++)
        if (numbering->started.items[i].process == block->process)
            started = &numbering->started.items[i];
    bool begins = block->kind == INTERFACE_BLOCK_EVENTS && block->sequence == 0;
    if (started == NULL) {
        started = ARRAY_ADD(&numbering->started);
        if (started == NULL)
            return error_no_memory();
        started->process = block->process;
        begins = true;
    }
    if (begins)
        started->program = numbering->count++;
    *ret_program = started->program;
    return NULL;
}

static struct error *open_source(const struct trace_source *source,
                                 struct trace_reader **ret_reader)
{
    return source->path != NULL ? trace_reader_open(source->path, ret_reader)
           : source->content != NULL
               ? trace_reader_of_file(source->content, source->size, ret_reader)
               : trace_reader_of(source->blocks, source->size, ret_reader);
}

struct error *stream_open(const struct trace_source *source, uint32_t program,
                          struct stream **ret_stream)
{
    struct stream *stream = calloc(1, sizeof *stream);
    if (stream == NULL)
        return error_no_memory();
    stream->wanted = program;
    struct error *error = open_source(source, &stream->reader);
    if (error == NULL)
        *ret_stream = stream;
    else
        stream_close(stream);
    return error;
}

void stream_close(struct stream *stream)
{
    if (stream == NULL)
        return;
    trace_reader_close(stream->reader);
    ARRAY_DEINIT(&stream->numbering.started);
    free(stream);
}

struct error *stream_next(struct stream *stream, struct event *ret_event, bool *ret_more)
{
    for (;;) {
        const struct interface_block *block;
        uint32_t program = 0;
        if (stream->in_block && event_next(&stream->events, ret_event)) {
            *ret_more = true;
            return NULL;
        }
        if (stream->in_block && stream->events.cursor.failed)
            return error_new("%s has a damaged event", trace_reader_name(stream->reader));
        stream->in_block = false;
        TRY(trace_reader_next(stream->reader, &block));
        if (block == NULL) {
            *ret_more = false;
            return NULL;
        }
        TRY(number_program(&stream->numbering, block, &program));
        if (program != stream->wanted)
            continue;
        stream->events = event_reader_new(block);
        stream->in_block = true;
    }
}

static struct error *look_for_library(const struct interface_block *block, uint32_t program,
                                      struct program_list *list)
{
    struct event event;
    struct event_reader events = event_reader_new(block);
    if (list->programs.count > 0 && list->programs.items[list->programs.count - 1] == program)
        return NULL;
    while (event_next(&events, &event))
        if (event.kind == INTERFACE_MODULE && event.numbers[2] == INTERFACE_ROLE_LIBRARY) {
            uint32_t *added = ARRAY_ADD(&list->programs);
            if (added == NULL)
                return error_no_memory();
            *added = program;
            return NULL;
        }
    return NULL;
}

static struct error *find_programs(struct trace_reader *reader, struct numbering *numbering,
                                   struct program_list *list)
{
    for (;;) {
        const struct interface_block *block;
        uint32_t program = 0;
        TRY(trace_reader_next(reader, &block));
        if (block == NULL)
            return NULL;
        TRY(number_program(numbering, block, &program));
        if (block->kind == INTERFACE_BLOCK_NAMES)
            TRY(look_for_library(block, program, list));
    }
}

// Programs that run at the same time may be noted twice, and not in order.
static void sort_programs(struct program_list *list)
{
    uint32_t *items = list->programs.items;
    size_t kept = 0;
    for (size_t i = 0; i < list->programs.count; i++) {
        uint32_t program = items[i];
        size_t at = 0;
        while (at < kept && items[at] < program)
            at++;
        if (at < kept && items[at] == program)
            continue;
        for (size_t j = kept; j > at; j--)
            items[j] = items[j - 1];
        items[at] = program;
        kept++;
    }
    list->programs.count = kept;
}

struct error *programs_find(const struct trace_source *source, struct program_list *ret_list)
{
    struct trace_reader *reader;
    struct numbering numbering = {0};
    struct program_list list = {0};
    TRY(open_source(source, &reader));
    struct error *error = find_programs(reader, &numbering, &list);
    trace_reader_close(reader);
    ARRAY_DEINIT(&numbering.started);
    sort_programs(&list);
    if (error == NULL)
        *ret_list = list;
    else
        programs_deinit(&list);
    return error;
}

void programs_deinit(struct program_list *list)
{
    ARRAY_DEINIT(&list->programs);
}
