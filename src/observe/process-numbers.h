// SPDX-License-Identifier: GPL-3.0-or-later
// Virtual process numbers: a traced task sees numbers that tell its ancestry in place of those that
// the kernel happened to give out, so they are the same in every run.
#ifndef ORDEAL_OBSERVE_PROCESS_NUMBERS_H
#define ORDEAL_OBSERVE_PROCESS_NUMBERS_H

#include "base/array.h"
#include "base/error.h"
#include "base/map.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

// Every virtual number has this bit, and no real one: the kernel's limit is 2^22. The two bits
// above it are left alone, because thread libraries keep flags there beside the number of a lock's
// owner.
#define PROCESS_NUMBER_BIT 0x20000000

struct process_numbers {
    pid_t starter, group, session; // of the command when it was started
    uint32_t *by_pid;              // virtual numbers by real ones; 0: none
    size_t room;
    struct map numbers; // to indexes of:
    ARRAY(struct process_number {
        uint32_t number;
        pid_t pid;
        const char *name;
        uint64_t waited_ns; // how long it had waited when it ended; 0: it lives
    })
    list;
};
void process_numbers_deinit(struct process_numbers *numbers);

// A task that has been started; `name` must live as long.
_must_check_ struct error *process_numbers_add(struct process_numbers *numbers, pid_t pid,
                                               const char *name);

// The number for a name, if nobody else has it.
uint32_t process_number_of_name(const char *name);

// What a traced task shall see for a real number, and the real number for what it gives; 0 and
// numbers of unrelated processes stay as they are. Groups, which are below 0, stay below 0.
pid_t process_numbers_shown(const struct process_numbers *numbers, pid_t pid);
pid_t process_numbers_real(const struct process_numbers *numbers, pid_t number);
// The same for groups and sessions: those that the command was born into have numbers of their own.
pid_t process_numbers_shown_group(const struct process_numbers *numbers, pid_t group);
pid_t process_numbers_shown_session(const struct process_numbers *numbers, pid_t session);
// For getppid(): whoever is not related is the starter or, for orphans, number 1.
pid_t process_numbers_shown_parent(const struct process_numbers *numbers, pid_t parent);

// For whoever learns that a process has ended: how long that one had waited.
void process_numbers_end(struct process_numbers *numbers, pid_t pid, uint64_t waited_ns);
uint64_t process_numbers_waited_ns(const struct process_numbers *numbers, pid_t pid);

// The name of the task with this virtual number, or NULL.
const char *process_numbers_name(const struct process_numbers *numbers, pid_t number);

#endif
