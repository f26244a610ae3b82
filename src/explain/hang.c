// SPDX-License-Identifier: GPL-3.0-or-later
// What a program that never ends waits for, read from its stack.
#include "explain/explain.h"

#include "base/frame-text.h"

#include <string.h>

// Functions that wait for something that others do. Their own waits (futex_wait, __lll_lock_wait)
// are further in.
static const char *const waiting[] = {
    "accept",
    "accept4",
    "clock_nanosleep",
    "connect",
    "epoll_wait",
    "fcntl",
    "flock",
    "lockf",
    "mq_receive",
    "msgrcv",
    "nanosleep",
    "pause",
    "poll",
    "ppoll",
    "pselect",
    "pthread_barrier_wait",
    "pthread_cond_timedwait",
    "pthread_cond_wait",
    "pthread_join",
    "pthread_mutex_lock",
    "pthread_rwlock_rdlock",
    "pthread_rwlock_wrlock",
    "read",
    "recv",
    "recvfrom",
    "recvmsg",
    "select",
    "sem_wait",
    "semop",
    "sigsuspend",
    "sigwait",
    "sleep",
    "usleep",
    "wait",
    "wait4",
    "waitid",
    "waitpid",
    "write",
};

bool explain_waits(const char *function, size_t size)
{
    for (size_t i = 0; i < sizeof waiting / sizeof *waiting; i++)
        if (strlen(waiting[i]) == size && memcmp(waiting[i], function, size) == 0)
            return true;
    return false;
}

// The C library calls many of them by other names: "__pthread_mutex_lock", "___pthread_join",
// "__GI___libc_read", "__lll_lock_wait".
static struct frame_part public_name(struct frame_part name)
{
    static const char *const prefixes[] = {"__GI_", "__libc_", "__new_"};
    for (bool cut = true; cut;) {
        cut = false;
        for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
            if (frame_part_begins(name, prefixes[i])) {
                name.text += strlen(prefixes[i]);
                name.size -= strlen(prefixes[i]);
                cut = true;
            }
    }
    while (name.size != 0 && *name.text == '_') {
        name.text++;
        name.size--;
    }
    const char *at = name.size != 0 ? memchr(name.text, '@', name.size) : NULL;
    if (at != NULL)
        name.size = (size_t)(at - name.text);
    return name;
}

static const char *copied(struct explanation *explanation, struct frame_part part)
{
    return part.text != NULL ? arena_copy(&explanation->arena, part.text, part.size) : NULL;
}

struct error *explain_hang(const char *stack, struct explanation *explanation)
{
    struct frame_part called = {0};
    struct frame_text frame = {0};
    bool found = false, inside = false;
    while (!found && stack != NULL && frame_text_next(&stack, &frame)) {
        struct frame_part name = public_name(frame.function);
        found = !frame_part_is_libc(frame.module);
        inside |= !found;
        if (!found && name.size != 0 && explain_waits(name.text, name.size))
            called = name;
    }
    if (!found)
        return NULL;
    if (inside && called.text == NULL)
        return NULL; // in the C library, nobody knows for what
    struct store_consequence *hang =
        explanation_add(explanation, called.text != NULL ? CONSEQUENCE_WAITS : CONSEQUENCE_BUSY);
    if (hang == NULL)
        return error_no_memory();
    hang->function = copied(explanation, called);
    hang->symbol = copied(explanation, frame.function);
    hang->file = copied(explanation, frame.file);
    hang->module = copied(explanation, frame.module);
    hang->line = frame.line;
    hang->offset = frame.offset;
    return NULL;
}
