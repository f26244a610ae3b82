// SPDX-License-Identifier: GPL-3.0-or-later
// A place where a program may destroy what it likes: a private view of the file system, a process
// tree that ends to the last grandchild, limits. One sandbox serves one job slot, one *life* after
// the other; a life is one trial: its steps run one after the other in the same private view.
#ifndef ORDEAL_SANDBOX_SANDBOX_H
#define ORDEAL_SANDBOX_SANDBOX_H

#include "base/array.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum sandbox_kind {
    SANDBOX_AUTO,    // the best of the others that works here
    SANDBOX_OVERLAY, // namespaces and overlays over every file system
    SANDBOX_COPY,    // a copy of the working directory; everything else is exposed
    SANDBOX_NONE,    // the real file system; only the process tree is ended
};

struct sandbox_limits { // 0: no limit of ours
    uint64_t cpu_s;
    uint64_t memory_bytes; // of all processes together where that can be enforced
    uint64_t file_bytes;   // of one file
    uint64_t processes;    // 0: a step that has thousands at a time is ended
    bool core;             // leave core files possible
};

struct sandbox_options {
    enum sandbox_kind kind;
    const char *directory; // working directory of the steps
    bool network;          // a private network with nothing but loopback
    struct sandbox_limits limits;
    size_t capture_limit; // bytes kept of each stream of each step; the rest is counted and hashed
};

struct sandbox;
// Warnings are sentences for the user (what could not be isolated, and why).
_must_check_ struct error *sandbox_new(const struct sandbox_options *options,
                                       struct sandbox **ret_sandbox);
void sandbox_free(struct sandbox *sandbox);
enum sandbox_kind sandbox_kind(const struct sandbox *sandbox); // what AUTO became
// Whether lives from the next one on have a network of their own; OVERLAY only.
void sandbox_set_network(struct sandbox *sandbox, bool network);
size_t sandbox_warning_count(const struct sandbox *sandbox);
const char *sandbox_warning(const struct sandbox *sandbox, size_t index);

struct sandbox_stream {
    struct buffer kept; // the beginning
    uint64_t size;      // of everything that was written
    uint64_t hash;      // likewise
};

enum sandbox_end { SANDBOX_SKIPPED, SANDBOX_EXIT, SANDBOX_SIGNAL, SANDBOX_TIMEOUT };
struct sandbox_result {
    enum sandbox_end end;
    int status;           // exit status or signal number
    int died;             // TIMEOUT: the signal that had killed the command itself by then, or 0
    size_t process_count; // TIMEOUT: it was ended for having so many processes at a time, or 0
    int orphan; // signal that killed a process whose parent was gone, if it means a defect; or 0
    uint64_t ns, cpu_ns;
    uint64_t peak_memory; // bytes, of the largest process
    struct sandbox_stream out, err;
};

// A command that waits at some moments while a copy of it goes on and ends (trial/forking.h). A
// copy has the command's output so far before its own, a time and overdue() as the command has. Who
// asks may be another process of the step: none is copied unless the command is the only one.
enum sandbox_branch { SANDBOX_BRANCH_NONE, SANDBOX_BRANCH_WANTED, SANDBOX_BRANCH_ENDED };
struct sandbox_branching {
    // Waits until there may be news, at most so long.
    void (*wait)(void *data, uint64_t ns);
    // What the command waits for. If a copy has ended, fills in how, and what it used. In *ret_ran
    // how long the command has run since the last copy; 0: not known.
    enum sandbox_branch (*news)(void *data, struct sandbox_result *result, uint64_t *ret_ran);
    // What the command had written has been read: the copy may begin.
    void (*begin)(void *data);
    // There is to be no copy.
    void (*deny)(void *data);
    // The result is complete, and the callee's. False: no more of this step, end it.
    bool (*end)(void *data, struct sandbox *sandbox, struct sandbox_result *result);
};

struct sandbox_step {
    char *const *command;     // ends with NULL; found in PATH of `environment`
    char *const *environment; // ends with NULL
    // Or, in the place of a command, a function of this very program: it runs inside, in a process
    // of its own with nothing open but the standard streams and its argument, a copy of `shared`.
    // What it returns is the exit status. Its command's first word stands for it in messages.
    int (*inside)(int shared);
    int shared;
    int input;   // a descriptor for stdin, -1: /dev/null; a function has none
    bool passed; // stdout and stderr are the next two: nothing is captured
    int output, errors;
    bool terminal;       // input is a terminal: it becomes the one of the command's session
    uint64_t timeout_ns; // 0: none. Measured until the command *and* what it started are done
                         // when `linger` is false
    bool linger;         // processes it leaves behind stay until the life ends (a server)
    // When *stop is above `stop_above` the step is ended as if its time were over; or NULL.
    const volatile int *stop;
    int stop_above;
    // All may be NULL. Called in the caller's process, in this order:
    // before it starts; false skips it.
    bool (*before)(void *data, struct sandbox *sandbox);
    // once it runs; `pid` as this process sees it. Returns when tick() is wanted (ns after the
    // start), UINT64_MAX = never. No tick() comes when the command is known to have ended, whatever
    // it left behind: its number may be another's.
    uint64_t (*started)(void *data, pid_t pid);
    uint64_t (*tick)(void *data, pid_t pid, uint64_t ns);
    // it ended a while ago, and what it started lives on; once, and only where `stop` is set.
    void (*lingering)(void *data);
    // every second, as long as the command itself runs (where `stop` is not set, only when there is
    // news of it anyway): whether it will never end by itself. If so, it is ended as if its time
    // were over.
    bool (*hopeless)(void *data, pid_t pid);
    // it is over its time; its processes still live (to look at their stacks).
    void (*overdue)(void *data, pid_t pid);
    // it ended; `result` is complete.
    void (*after)(void *data, struct sandbox *sandbox, const struct sandbox_result *result);
    const struct sandbox_branching *branching;
    void *data;
};

// One life: private view, steps in order, results[i] for steps[i]. `visible` are files of ours
// (absolute paths, ends with NULL, or NULL) that must be reachable inside under the same path,
// writable as they are, and not removable. When `look` is not NULL it is called when all steps are
// done and their processes are gone, with the private view still there. An error means that the
// life could not be led; every process of it is dead and nothing is left mounted in any case.
_must_check_ struct error *sandbox_run(struct sandbox *sandbox, const struct sandbox_step *steps,
                                       size_t count, const char *const *visible,
                                       struct error *(*look)(void *data, struct sandbox *sandbox),
                                       void *data, struct sandbox_result *results);
void sandbox_result_deinit(struct sandbox_result *result);

// During a life, also within callbacks: prefix for absolute paths of the inside ("" if the same).
const char *sandbox_root(const struct sandbox *sandbox);
// The working directory of the steps as they know it (COPY: the copy).
const char *sandbox_directory(const struct sandbox *sandbox);

// What the life has done with its private network, in `look`; nothing where it has none.
struct sandbox_traffic {
    bool inward;  // something was sent to itself
    bool outward; // to others, who could not be reached
    bool refused; // a connection to itself
    bool served;  // it answered itself: took a connection or a datagram
};
struct sandbox_traffic sandbox_traffic(const struct sandbox *sandbox);

// What the life changed in the file system below the directories that are compared (COPY and NONE:
// the working directory only). In `look`, before() and after().
enum sandbox_change_kind {
    SANDBOX_FILE,
    SANDBOX_DIRECTORY,
    SANDBOX_LINK,
    SANDBOX_OTHER,
    SANDBOX_DELETED
};
struct sandbox_change {
    const char *path; // absolute, as the inside sees it
    enum sandbox_change_kind kind;
    uint64_t size, hash; // of the content; of a link: its target
    uint32_t mode;
    const char *open; // path under which this process can read the content; NULL if none
};
// Sorted by path. Paths below a pattern of `ignored` (fnmatch, ends with NULL, may be NULL) are
// left out; so are private /tmp, /dev, /run directories of ours and Ordeal's own files.
_must_check_ struct error *
sandbox_each_change(struct sandbox *sandbox, const char *const *ignored,
                    struct error *(*change)(void *, const struct sandbox_change *), void *data);

#endif
