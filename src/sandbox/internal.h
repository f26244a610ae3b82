// SPDX-License-Identifier: GPL-3.0-or-later
// What the files of this room share: the sandbox itself and the two ways to lead a life.
#ifndef ORDEAL_SANDBOX_INTERNAL_H
#define ORDEAL_SANDBOX_INTERNAL_H

#include "base/array.h"
#include "base/error.h"
#include "base/processes.h"
#include "sandbox/listing.h"
#include "sandbox/process-limit.h"
#include "sandbox/sandbox.h"
#include "sandbox/spawn.h"

struct progress { // of a step
    bool command_gone;
    bool step_gone; // and everything it started
    int status;     // as of wait()
    int orphan;     // as of sandbox_result
    uint64_t cpu_ns, peak_memory;
};

struct backend {
    // A life begins and ends. end() kills whatever is left.
    struct error *(*begin)(struct sandbox *sandbox, const struct sandbox_step *steps, size_t count,
                           const char *const *visible);
    void (*end)(struct sandbox *sandbox);
    // The next step. *ret_pid as this process sees it.
    struct error *(*start)(struct sandbox *sandbox, struct spawn *spawn, bool linger,
                           pid_t *ret_pid);
    // Becomes readable when there is news; negative: ask again soon.
    int (*descriptor)(struct sandbox *sandbox);
    // News, without waiting.
    struct error *(*news)(struct sandbox *sandbox, struct progress *progress);
    // Ends the step's processes, or all of them; returns when they are gone.
    struct error *(*kill_step)(struct sandbox *sandbox, struct progress *progress);
    struct error *(*kill_all)(struct sandbox *sandbox);
    struct error *(*each_change)(struct sandbox *sandbox, const char *const *ignored,
                                 struct error *(*change)(void *, const struct sandbox_change *),
                                 void *data);
};

struct direct {      // COPY and NONE
    pid_list spared; // children that do not belong to the step
    size_t others;   // the first so many of them not even to the life
    bool begun;      // it is known who they are: others may be killed
    int was_reaper;
    pid_t command;
    int handle;            // pidfd of the command
    int keeper;            // socket to the keeper of a step that may leave processes behind
    bool over;             // nobody of the life is left, and nobody was started since
    struct listing before; // of the working directory
    bool listed;
    struct listing after; // likewise, when the last life was over; may serve as the next `before`
    uint64_t after_ns;    // when that was; 0: there is none
    char *copies;         // our directory of copies, or NULL
    char *copy;           // the working directory's copy, or NULL
};

struct overlay;
struct groups;

struct sandbox {
    pid_t owner; // a forked copy in another process owns nothing
    enum sandbox_kind kind;
    const struct backend *backend;
    char *directory; // absolute, without links
    bool network;
    struct sandbox_limits limits; // what is left to be limited process by process
    struct process_limit process_limit;
    size_t capture_limit;
    uint64_t ignored; // signals that the owner ignored when it was made
    ARRAY(char *) warnings;
    bool in_use;
    char root[64];
    struct direct direct;
    struct overlay *overlay;
    struct groups *groups; // control groups, or NULL
};

extern const struct backend direct_backend, overlay_backend;

__attribute__((format(printf, 2, 3))) _must_check_ struct error *
sandbox_warn(struct sandbox *sandbox, const char *format, ...);

bool overlay_owns_users(const struct overlay *overlay); // it lives in a user namespace of its own
// Makes sandbox->overlay, adding warnings; an error says why it cannot be had here.
_must_check_ struct error *overlay_new(struct sandbox *sandbox);
void overlay_free(struct overlay *overlay);
void overlay_renew(struct overlay *overlay);  // the next life is born of a new zygote
void overlay_disown(struct overlay *overlay); // its processes are another process's

_must_check_ struct error *direct_open(struct sandbox *sandbox);
void direct_close(struct sandbox *sandbox);

#endif
