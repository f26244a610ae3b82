// SPDX-License-Identifier: GPL-3.0-or-later
// What descriptors of traced tasks are open on, in words that are the same in every run, and
// whether an unrelated process is at the other end.
#ifndef ORDEAL_OBSERVE_DESCRIPTORS_H
#define ORDEAL_OBSERVE_DESCRIPTORS_H

#include "base/array.h"
#include "observe/tracer.h"

#include <limits.h>

enum descriptor_kind {
    DESCRIPTOR_NONE,   // not open
    DESCRIPTOR_OWN,    // nothing that an unrelated process can reach
    DESCRIPTOR_FILE,   // also devices
    DESCRIPTOR_STREAM, // a pipe or socket to an unrelated process
};

struct descriptor {
    enum descriptor_kind kind;
    char text[PATH_MAX + 64]; // a path, "pipe 1", "tcp 127.0.0.1:80", ...
};

// Pipes and sockets that the command got from whoever started it, and where it was started.
struct surroundings {
    ARRAY(struct inherited {
        unsigned long inode;
        int descriptor;
    })
    inherited;
    char directory[PATH_MAX];
    // The last descriptor that was described, as long as its task stays stopped.
    struct descriptor_memo {
        bool valid;
        pid_t tid;
        int number;
        struct descriptor descriptor;
    } * memo;
};
// Looks at the command's first task before it has opened anything.
_must_check_ struct error *surroundings_look(const struct tracer_task *task,
                                             struct surroundings *ret_surroundings);
void surroundings_deinit(struct surroundings *surroundings);

// A task that was stopped goes on: what its descriptors were open on may change.
static inline void surroundings_forget(const struct surroundings *surroundings)
{
    if (surroundings->memo != NULL)
        surroundings->memo->valid = false;
}

void descriptor_describe(const struct surroundings *surroundings, const struct tracer_task *task,
                         int number, struct descriptor *ret_descriptor);

// The path that a call is about. `directory` is a descriptor or AT_FDCWD; `address` may be 0: then
// it is about the descriptor itself. Absolute, but relative to where the command was started if it
// is below. False: the path cannot be read.
bool path_of_argument(const struct surroundings *surroundings, const struct tracer_task *task,
                      int directory, uint64_t address, char *path, size_t size);

// Whether a file of this path is none that others read: most of /proc, and devices that swallow
// all.
bool path_is_own(const char *path);
// Whether it has other bytes each time it is read.
bool path_is_random(const char *path);

// Appends an address of a socket; ports that the kernel has chosen are left out.
_must_check_ struct error *address_put(const void *address, size_t size, struct buffer *text);

#endif
