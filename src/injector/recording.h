// SPDX-License-Identifier: GPL-3.0-or-later
// The recorded calls of reference runs: who called which function from where, and how often.
// recording_settle() merges the runs.
#ifndef ORDEAL_INJECTOR_RECORDING_H
#define ORDEAL_INJECTOR_RECORDING_H

#include "base/array.h"
#include "base/error.h"
#include "base/map.h"
#include "injector/journal-reader.h"
#include "wire/view.h"

#include <stdbool.h>
#include <stdint.h>

struct recorded_site { // where a call returns to
    char *module;      // path; "": not known
    uint64_t offset;
    char *file; // or NULL
    unsigned line;
};

// Of recorded_call.process: its number as in process(n).
#define RECORDED_NUMBER (1ull << 63)

struct recorded_call { // calls of one function from one place, by one program in one process
    uint64_t process;  // its ancestry, if that is known, or RECORDED_NUMBER and its number; 1: the
                       // command; 0: identified by its program
    uint32_t run;      // that recorded it
    char *program;
    bool only_program; // no other program ran in a process of that number
    bool again;        // a process of that number ran the program more than once
    char *function;
    char *library; // path of the file that defines it, or ""
    size_t site;   // index of sites
    uint64_t stack;
    uint64_t first; // occurrence number
    uint64_t count; // of calls, in all runs
    uint32_t kinds; // of descriptors, see trial/calls.h
    // Of writes below a stream: the last occurrence, the same in all runs, or 0; the descriptor.
    uint64_t latest;
    uint32_t descriptor;
    uint64_t stream; // a hash of where the stream of the calls was opened; 0: none, or not known
    // Set by recording_settle(), for all sites of the same function, process and program:
    uint64_t from, last; // the occurrences that every run had; from > last: none
    uint64_t uncertain;  // how many more only some runs had
    bool only_site;
    bool in_all_runs; // every run had a call from this site with this stack
};

struct recording {
    ARRAY(struct recorded_site) sites;
    ARRAY(struct recorded_call)
    calls;                         // after recording_settle(): by function, library, process,
                                   // program, first, site
    struct map site_map, call_map; // from hashes to indexes, while runs are added
    uint64_t lost;                 // calls that could not be recorded, in all runs
    uint32_t runs;
    bool settled;
};

// Adds the calls of one run. The sandbox must still exist, because places get their names now.
_must_check_ struct error *recording_add(struct recording *recording, const struct wire_view *view,
                                         struct journal_reader *reader);
// Called after the last run: merges the runs, sorts the calls and fills in the rest. If only one
// process of a run has a certain program, the process is identified by that program instead.
// `complete` is a settled recording of the same workload with more calls, or NULL. It also shows
// processes that make none of the calls recorded here.
_must_check_ struct error *recording_settle(struct recording *recording,
                                            const struct recording *complete);
void recording_deinit(struct recording *recording);
// Makes the index for recording_has_call(). Called after recording_settle().
_must_check_ struct error *recording_index(const struct recording *recording, struct map *index);
// Whether all runs of this recording made a call that another recording has: they had this
// occurrence, and a call from this site. False if the process is identified by its number in one
// recording and by its program in the other.
bool recording_has_call(const struct recording *recording, const struct map *index,
                        const struct recorded_call *call, const struct recorded_site *site);

// Whether two calls share a counter: same function and library, process and program.
bool recording_same_counter(const struct recorded_call *a, const struct recorded_call *b);

#endif
