// SPDX-License-Identifier: GPL-3.0-or-later
// A synthetic load: members, each of which does functions drawn in given proportions. A member may
// have several copies that do the same; then a voter compares their arrays after each function,
// ends a copy that differs, has died or hangs, and lets another one take its place.
#ifndef ORDEAL_STRESS_LOAD_H
#define ORDEAL_STRESS_LOAD_H

#include "stress/work.h"

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#define LOAD_MOST_MEMBERS 64
#define LOAD_MOST_COPIES  7

struct load_options {
    double mix[STRESS_AREAS]; // proportions; their sum is not 0
    unsigned members, copies;
    uint64_t functions;    // that each member does
    uint64_t function_ns;  // how long each of them takes, about
    unsigned intensity[2]; // percent, of the first function and of the last
    size_t megabytes;      // of memory of each copy
    double kept;           // share of the interdependence array that is not reset
    const char *directory; // for the files
    uint64_t seed;
    uint64_t units[STRESS_AREAS]; // of each function; 0: found out by trying
};

enum load_error { LOAD_DIFFERS, LOAD_DIED, LOAD_HUNG, LOAD_ERRORS };
extern const char *const load_error_names[LOAD_ERRORS];

// An error that the voter noticed.
struct load_noticed {
    uint64_t at_ns; // since the load began
    unsigned member, copy;
    enum load_error error;
};
#define LOAD_MOST_NOTICED 1024 // those after them are counted only

// What the load tells while it runs: in memory that the voter alone writes, and that no copy has.
struct load_status {
    _Atomic bool started, ended, failed; // failed: no majority of a member's copies was left
    _Atomic unsigned repairing;          // copies that are being replaced
    _Atomic uint64_t errors[LOAD_ERRORS], repaired;
    struct load_noticed noticed[LOAD_MOST_NOTICED]; // complete when the load has ended
    unsigned noticed_count;
    _Atomic uint64_t functions; // that have been done, of all members
    uint64_t started_ns, elapsed_ns;
    uint64_t units[STRESS_AREAS];
    uint64_t sum; // of all members' arrays, at the end
    char trouble[400];
    // Where each copy has its array and memory: the same in all of them.
    uint64_t array, memory, memory_size;
    _Atomic pid_t processes[LOAD_MOST_MEMBERS][LOAD_MOST_COPIES]; // 0: there is none now
    _Atomic int areas[LOAD_MOST_MEMBERS];                         // what the member does, or -1
};

struct load {
    struct load_status *status;
    pid_t process; // the voter's; 0 when it has ended
    int stop;
};
// Starts it: a process that votes, and the copies below it. None of them outlives load_end(), nor
// for long the process that has started them.
_must_check_ struct error *load_start(const struct load_options *options, struct load *ret_load);
bool load_has_ended(struct load *load);
// Why a load that has ended could not do its work; NULL if it could.
_must_check_ struct error *load_trouble(const struct load *load);
// Stops it if it still runs. Its status is gone then.
void load_end(struct load *load);

#endif
