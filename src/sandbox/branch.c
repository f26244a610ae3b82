// SPDX-License-Identifier: GPL-3.0-or-later
// Separates the output of a forked copy from that of the command, whose streams it shares.
#include "sandbox/branch.h"

#include "base/processes.h"

#include <signal.h>

void branch_begin(struct branch *branch, const struct capture captures[2], uint64_t now_ns)
{
    branch->active = true;
    branch->overdue = false;
    branch->start_ns = now_ns;
    for (int i = 0; i < 2; i++) {
        branch->marks[i].digest = captures[i].digest;
        branch->marks[i].stream = *captures[i].stream;
        branch->marks[i].stream.kept.data = NULL;
    }
}

static struct error *copy_stream(const struct sandbox_stream *stream, struct sandbox_stream *copy)
{
    *copy = (struct sandbox_stream){.size = stream->size, .hash = stream->hash};
    return buffer_append(&copy->kept, stream->kept.data, stream->kept.size);
}

struct error *branch_end(struct branch *branch, struct capture captures[2],
                         struct sandbox_result *result)
{
    branch->active = false;
    struct error *error = copy_stream(captures[0].stream, &result->out);
    if (error == NULL)
        error = copy_stream(captures[1].stream, &result->err);
    for (int i = 0; i < 2; i++) {
        struct sandbox_stream *stream = captures[i].stream;
        captures[i].digest = branch->marks[i].digest;
        stream->size = branch->marks[i].stream.size;
        stream->hash = branch->marks[i].stream.hash;
        stream->kept.size = branch->marks[i].stream.kept.size;
        if (stream->kept.data != NULL)
            stream->kept.data[stream->kept.size] = '\0';
    }
    return error;
}

struct error *branch_kill(pid_t command)
{
    pid_list children = {0};
    struct error *error = processes_children_of(command, &children);
    for (size_t i = 0; i < children.count; i++)
        kill(children.items[i], SIGKILL);
    ARRAY_DEINIT(&children);
    return error;
}
