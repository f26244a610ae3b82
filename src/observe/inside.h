// SPDX-License-Identifier: GPL-3.0-or-later
// Visible calls without stops: where a task makes the same call again and again, the call is
// replaced by a jump to code of ours, which is put into the process. It makes the call, and records
// it in memory that the tracer shares. What is not simple still stops. This is how traces become
// fast; without it they are the same.
//
// The tracer keeps the say: it takes the records at every stop of their task and at its end, and
// when a signal arrives it puts a task that is in our code back to where its own code would be.
#ifndef ORDEAL_OBSERVE_INSIDE_H
#define ORDEAL_OBSERVE_INSIDE_H

#include "base/array.h"
#include "observe/descriptors.h"
#include "observe/filter.h"
#include "observe/inside/layout.h"
#include "observe/tracer.h"

#define INSIDE_NEARS 4 // pages with stubs

// Of a recorder.
struct inside {
    char *memory; // INSIDE_SIZE bytes; NULL: everything stops
    int file;
    bool barred;        // from now on nobody gets a slot
    unsigned filters;   // of system calls that the command has had when it was started
    char namespace[64]; // of process numbers
    ARRAY(char *) texts;
};

// What has been replaced in an address space.
struct inside_site {
    uint64_t place;                    // behind the call
    unsigned stops;                    // that it has caused
    bool settled;                      // it is replaced, or cannot be
    uint64_t start;                    // of what is replaced
    unsigned size;                     // 0: it is not
    unsigned char original[8], put[8]; // instead of it
};
struct inside_range {
    uint64_t start, end;
};
struct inside_space {
    unsigned users;
    unsigned stops;
    bool mapped, settled; // settled: nothing more will be done
    struct {
        uint64_t address;
        unsigned used;
    } nears[INSIDE_NEARS];
    ARRAY(struct inside_site) sites;
    ARRAY(struct inside_range) code; // private, and not writable
};

// Of a task.
struct inside_task {
    struct inside_slot *slot; // or NULL
    struct inside_space *space;
};

// If the system does not allow it, everything stops.
void inside_open(struct inside *inside);
void inside_close(struct inside *inside);
// The command's first task, before it does anything.
void inside_look(struct inside *inside, const struct tracer_task *task);
extern const struct filter_code inside_code;

// `maker` may be NULL. Nothing fails: without memory everything stops.
void inside_start(struct inside *inside, const struct tracer_task *task,
                  const struct tracer_task *maker, const struct inside_task *maker_state,
                  struct inside_task *ret_state);
void inside_executes(struct inside_task *state);
void inside_end(struct inside_task *state);

struct inside_identity {
    pid_t pid, tid; // that the task sees; 0: not known
    uint64_t now_ns;
};
// The task has stopped at the beginning of a call. True: it will come again.
bool inside_offer(struct inside *inside, struct tracer_task *task, struct inside_task *state,
                  const struct tracer_call *call, const struct inside_identity *identity,
                  struct tracer_order *order);
// A signal arrives, and its handler may return to where the task is.
void inside_keep(const struct tracer_task *task, struct inside_task *state);
// The task has stopped at the call that is about a descriptor.
void inside_describe(struct inside *inside, const struct tracer_task *task,
                     struct inside_task *state, int number, const struct descriptor *descriptor);
// A name of a file may change.
void inside_forget(struct inside *inside);
// The task is about to have filters of its own.
void inside_bar(struct tracer_task *task, struct inside_task *state);
// What the task is about to do concerns all that its process has mapped. True: it will come again.
bool inside_withdraw(struct tracer_task *task, struct inside_task *state,
                     struct tracer_order *order);

// A visible call that was recorded.
struct inside_call {
    const char *descriptor; // as a trace shows it
    struct tracer_call call;
    const void *data;
    size_t size;
};
typedef struct error *inside_take(void *data, const struct inside_call *call);
// Passes on what was recorded since the last time.
_must_check_ struct error *inside_drain(const struct inside *inside, struct inside_task *state,
                                        inside_take *take, void *data);
// A signal arrives: the task leaves our code. If it was behind a visible call that is not recorded
// yet, that is passed on. A fault of ours is no signal of the program's.
_must_check_ struct error *inside_leave(const struct inside *inside, const struct tracer_task *task,
                                        struct inside_task *state, int *signal, inside_take *take,
                                        void *data);

// For this part of the room only. While all other threads of the process stand still.
bool inside_map(const struct inside *inside, struct tracer_task *task,
                struct tracer_injection *injection);
void inside_unmap(struct tracer_task *task, struct tracer_injection *injection);
// Whether no other thread is in our code, or on its way there.
bool inside_is_unused(const struct tracer_task *task, const struct inside_space *space);
bool inside_map_near(struct tracer_task *task, struct tracer_injection *injection,
                     struct inside_space *space, uint64_t place);
// Where the task shall go on; 0: nothing has been replaced.
uint64_t inside_replace(struct tracer_task *task, struct inside_space *space,
                        struct inside_site *site, int number);
bool inside_near(const struct inside_space *space, uint64_t place, size_t *ret_index);
void inside_restore(const struct tracer_task *task, struct inside_space *space);
// Whether a task that goes on here would be within what is replaced.
bool inside_is_behind_call(const struct tracer_task *task, uint64_t place);

#endif
