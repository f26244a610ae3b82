// SPDX-License-Identifier: GPL-3.0-or-later
// What the files of this room share: the sandbox, and the interface of the two backends, direct and
// overlay.
#ifndef ORDEAL_SANDBOX_INTERNAL_H
#define ORDEAL_SANDBOX_INTERNAL_H

#include "base/array.h"
#include "base/error.h"
#include "base/processes.h"
#include "sandbox/listing.h"
#include "sandbox/process-limit.h"
#include "sandbox/sandbox.h"
#include "sandbox/spawn.h"

struct progress { // of a step, as far as a backend knows
    bool command_gone;
    bool step_gone; // the command and everything it started
    int status;     // as of wait()
    int orphan;     // as in sandbox_result
    uint64_t cpu_ns, peak_memory;
};

struct backend {
    // A run begins and ends. end() kills what is left, and is called also after a failed begin().
    struct error *(*begin)(struct sandbox *sandbox, const struct sandbox_step *steps, size_t count,
                           const char *const *visible);
    void (*end)(struct sandbox *sandbox);
    // Starts the next step. *ret_pid as this process sees it.
    struct error *(*start)(struct sandbox *sandbox, struct spawn *spawn, bool linger,
                           pid_t *ret_pid);
    // A descriptor that becomes readable when there is news; negative: ask again soon.
    int (*descriptor)(struct sandbox *sandbox);
    // Updates the progress, without waiting.
    struct error *(*news)(struct sandbox *sandbox, struct progress *progress);
    // Kill the processes of the step, or of the run; return when they are gone.
    struct error *(*kill_step)(struct sandbox *sandbox, struct progress *progress);
    struct error *(*kill_all)(struct sandbox *sandbox);
    struct error *(*each_change)(struct sandbox *sandbox, const char *const *ignored,
                                 struct error *(*change)(void *, const struct sandbox_change *),
                                 void *data);
};

struct direct {      // the backend for COPY and NONE
    pid_list spared; // children that do not belong to the step
    size_t others;   // so many of them, the first, do not belong to the run either
    bool begun;      // `spared` is complete: other children may be killed
    int was_reaper;
    pid_t command;
    int handle; // pidfd of the command
    int keeper; // socket to the keeper of a step that may leave processes behind
    bool over;  // no process of the run is left
};

struct working_copy { // see working-copy.h
    char *place;      // our directory of copies, or NULL
    char *path; // the working directory's copy, or NULL. OVERLAY: it is bound over the original
    struct listing before; // of the working directory, before the run
    bool listed;
    struct listing after; // likewise, after the last run; may serve as the next `before`
    uint64_t after_ns;    // when that was taken; 0: there is none
};

struct overlay;
struct groups;

struct sandbox {
    pid_t owner; // a process forked from it owns nothing
    enum sandbox_kind kind;
    const struct backend *backend;
    char *directory; // absolute, without symbolic links
    bool network;
    struct sandbox_limits limits; // those that are set process by process
    struct process_limit process_limit;
    size_t capture_limit;
    bool attached;                // as in the options
    struct spawn_signals signals; // for the steps
    ARRAY(char *) warnings;
    bool in_use; // during a run
    char root[64];
    struct direct direct;
    struct working_copy copy;
    struct overlay *overlay;
    struct groups *groups; // control groups, or NULL
};

extern const struct backend direct_backend, overlay_backend;
extern const struct backend exposed_backend; // COPY, with a PID namespace

// Adds a warning for the user.
__attribute__((format(printf, 2, 3))) _must_check_ struct error *
sandbox_warn(struct sandbox *sandbox, const char *format, ...);

bool overlay_owns_users(const struct overlay *overlay); // it has a user namespace of its own
bool overlay_has_layers(const struct overlay *overlay); // the kernel allows overlays at all
// The kernel refuses an overlay over the working directory: it is read-only inside.
bool overlay_lacks_directory(const struct overlay *overlay);
// Makes sandbox->overlay and adds warnings. An error says why there can be none here. If there is a
// sandbox->copy, that is shown inside in place of the working directory.
_must_check_ struct error *overlay_new(struct sandbox *sandbox);
void overlay_free(struct overlay *overlay);
// As sandbox_usage().
_must_check_ struct error *overlay_usage(struct sandbox *sandbox, struct sandbox_usage *ret_usage);
void overlay_renew(struct overlay *overlay);  // the next run gets a new zygote
void overlay_disown(struct overlay *overlay); // its processes belong to another process

#endif
