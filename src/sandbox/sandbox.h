// SPDX-License-Identifier: GPL-3.0-or-later
// A place where a program may destroy what it likes: a private view of the file system, a process
// tree that is killed to the last grandchild, limits. A sandbox serves one job slot, for one *run*
// after the other. A run is one shot: its steps run one after the other in the same private view.
#ifndef ORDEAL_SANDBOX_SANDBOX_H
#define ORDEAL_SANDBOX_SANDBOX_H

#include "base/array.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum sandbox_kind {
    SANDBOX_AUTO,    // OVERLAY; if need be, with a copy bound over the working directory
    SANDBOX_OVERLAY, // namespaces and overlays over every file system
    SANDBOX_COPY,    // a copy of the working directory, elsewhere; everything else is exposed
    SANDBOX_NONE,    // the real file system; only the process tree is ended
};
#define SANDBOX_KINDS "auto|overlay|copy|none" // their words, for base/choice.h
const char *sandbox_kind_word(enum sandbox_kind kind);

struct sandbox_limits { // 0: no limit
    uint64_t cpu_s;
    uint64_t memory_bytes; // of all processes together, where that can be enforced
    uint64_t file_bytes;   // of one file
    uint64_t processes;    // 0: a step with thousands of processes is ended
    bool core;             // allow core files
};

struct sandbox_options {
    enum sandbox_kind kind;
    const char *directory; // working directory of the steps
    bool network;          // a private network, with loopback only
    // The steps stay in this process's session and process group, with its terminal, and get the
    // signal mask, the ignored signals and the inheritable descriptors that it has when the sandbox
    // is made. Otherwise each has a session of its own and none of these.
    bool attached;
    struct sandbox_limits limits;
    size_t capture_limit; // bytes kept of each stream of each step; the rest is counted and hashed
};

struct sandbox;
// An error says why the sandbox cannot be had. sandbox_warning() gives sentences for the user: what
// could not be isolated, and why.
_must_check_ struct error *sandbox_new(const struct sandbox_options *options,
                                       struct sandbox **ret_sandbox);
void sandbox_free(struct sandbox *sandbox);
enum sandbox_kind sandbox_kind(const struct sandbox *sandbox); // what AUTO became
// From the next run on, whether runs have a network of their own; OVERLAY only.
void sandbox_set_network(struct sandbox *sandbox, bool network);
size_t sandbox_warning_count(const struct sandbox *sandbox);
const char *sandbox_warning(const struct sandbox *sandbox, size_t index);

struct sandbox_stream {
    struct buffer kept; // the beginning, up to capture_limit
    uint64_t size;      // of everything that was written
    uint64_t hash;      // of everything that was written
};

enum sandbox_end { SANDBOX_SKIPPED, SANDBOX_EXIT, SANDBOX_SIGNAL, SANDBOX_TIMEOUT };
struct sandbox_result {
    enum sandbox_end end;
    int status;           // exit status or signal number
    int died;             // TIMEOUT: the signal that killed the command itself before that, or 0
    int ended;            // TIMEOUT: as of wait(), how the command itself ended before that, or -1
    size_t process_count; // TIMEOUT: it was ended for having so many processes, or 0
    int orphan; // signal that killed a process whose parent was gone, if it means a defect; or 0
    uint64_t ns, cpu_ns;
    uint64_t peak_memory; // bytes, of the largest process
    struct sandbox_stream out, err;
};

// A command that waits at some points while a forked copy of it runs and ends (trial/forking.h). A
// copy's output begins with the command's so far. It has the same time limit and overdue() as the
// command. Another process of the step may ask for a copy, too: there is one only if the command is
// the only process.
enum sandbox_branch { SANDBOX_BRANCH_NONE, SANDBOX_BRANCH_WANTED, SANDBOX_BRANCH_ENDED };
struct sandbox_branching {
    // Waits until there may be news, at most `ns`.
    void (*wait)(void *data, uint64_t ns);
    // What the command waits for. If a copy has ended, fills in how it ended and what it used.
    // *ret_ran is how long the command has run since the last copy; 0: not known.
    enum sandbox_branch (*news)(void *data, struct sandbox_result *result, uint64_t *ret_ran);
    // Lets the copy begin: what the command wrote so far has been read.
    void (*begin)(void *data);
    // Refuses the copy.
    void (*deny)(void *data);
    // The copy's result is complete, and the callee's to free. False ends the step.
    bool (*end)(void *data, struct sandbox *sandbox, struct sandbox_result *result);
};

struct sandbox_step {
    char *const *command;     // ends with NULL; found in PATH of `environment`
    char *const *environment; // ends with NULL
    // Instead of a command, a function of this program. It runs inside, in a process of its own
    // that has open only the standard streams and its argument, a copy of `shared`. It returns the
    // exit status. command[0] is its name in messages.
    int (*inside)(int shared);
    int shared;
    int input;   // a descriptor for stdin, -1: /dev/null; a function has none
    bool passed; // stdout and stderr are the next two, and are not captured
    int output, errors;
    bool fixed_addresses; // of the command and all it starts: the same in every run
    bool terminal;        // input is a terminal, which is to control the command's session
    uint64_t timeout_ns;  // 0: none. Without `linger`, until the command *and* all that it
                          // started have ended
    bool linger;          // processes that it leaves behind (a server) stay until the run ends
    // If not NULL: when *stop is above `stop_above`, the step is ended as if its time were over.
    const volatile int *stop;
    int stop_above;
    // Callbacks. All may be NULL. They are called in the caller's process, in this order. Before
    // the step starts; false skips it:
    bool (*before)(void *data, struct sandbox *sandbox);
    // When it runs; `pid` as this process sees it. They return when tick() is wanted next (ns after
    // the start); UINT64_MAX = never. tick() is not called once the command is known to have ended,
    // even if it left processes behind: its PID may be another's.
    uint64_t (*started)(void *data, pid_t pid);
    uint64_t (*tick)(void *data, pid_t pid, uint64_t ns);
    // Once, when it ended a while ago and what it started still runs. May be late if `stop` is not
    // set.
    void (*lingering)(void *data);
    // Every second while the command itself runs (if `stop` is not set, only when there is news of
    // it): whether it will never end by itself. If so, it is ended as if its time were over.
    bool (*hopeless)(void *data, pid_t pid);
    // When its time is over and its processes still live, to look at their stacks.
    void (*overdue)(void *data, pid_t pid);
    // When it has ended; `result` is complete.
    void (*after)(void *data, struct sandbox *sandbox, const struct sandbox_result *result);
    const struct sandbox_branching *branching;
    void *data;
};

// One run: makes the private view and runs the steps in order; results[i] is for steps[i], to be
// freed by the caller, also after an error. `visible` are files of ours (absolute paths, ends with
// NULL, or NULL) that must be there inside under the same path, as writable as they are (one that
// nobody may write to is read-only for root, too), and not removable. If `look` is not NULL, it is
// called when all steps are done and their processes are gone, while the private view is still
// there. An error means that the run failed. In any case all its processes are dead and nothing
// stays mounted.
_must_check_ struct error *sandbox_run(struct sandbox *sandbox, const struct sandbox_step *steps,
                                       size_t count, const char *const *visible,
                                       struct error *(*look)(void *data, struct sandbox *sandbox),
                                       void *data, struct sandbox_result *results);
void sandbox_result_deinit(struct sandbox_result *result);

// During a run, also within callbacks: the prefix for absolute paths of the inside ("" if they are
// the same).
const char *sandbox_root(const struct sandbox *sandbox);
// The working directory of the steps as they see it (COPY: the copy).
const char *sandbox_directory(const struct sandbox *sandbox);

// During a run: gives a file of the user another content inside, with the mode it has. `path` is
// the user's. An error if the run has no view of it that is private.
_must_check_ struct error *sandbox_put_file(const struct sandbox *sandbox, const char *path,
                                            const struct buffer *content);

// During a run: what is in its private view, or how much. If a step leaves both numbers and
// `shared` as they were, the next step begins as the first one did. OVERLAY only, without a working
// copy; an error otherwise. Messages in queues of POSIX are not seen.
struct sandbox_usage {
    uint64_t files, blocks;
    uint64_t shared; // objects of System V IPC
};
_must_check_ struct error *sandbox_usage(struct sandbox *sandbox, struct sandbox_usage *ret_usage);

// What the run has done with its private network. For `look`; nothing if it has none.
struct sandbox_traffic {
    bool inward;  // it sent something to itself
    bool outward; // it sent something to others, who could not be reached
    bool refused; // a connection to itself was refused
    bool served;  // it accepted a connection or received a datagram
};
struct sandbox_traffic sandbox_traffic(const struct sandbox *sandbox);

// What the run changed in the file system (COPY and NONE: in the working directory only). For
// `look`, before() and after().
enum sandbox_change_kind {
    SANDBOX_FILE,
    SANDBOX_DIRECTORY,
    SANDBOX_LINK,
    SANDBOX_OTHER,
    SANDBOX_DELETED
};
struct sandbox_change {
    const char *path; // absolute, as seen from inside
    enum sandbox_change_kind kind;
    uint64_t size, hash; // of the content, or of a link's target
    uint32_t mode;
    const char *open; // path by which this process can read the content, or NULL
};
// Calls `change` for each change, sorted by path; its error ends the list. Left out are paths that
// match a pattern of `ignored` (fnmatch, ends with NULL, may be NULL) or are below one, private
// directories such as /tmp, /dev and /run, and Ordeal's own files.
_must_check_ struct error *
sandbox_each_change(struct sandbox *sandbox, const char *const *ignored,
                    struct error *(*change)(void *, const struct sandbox_change *), void *data);

#endif
