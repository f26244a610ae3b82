// SPDX-License-Identifier: GPL-3.0-or-later
// The calls that reference runs made of the functions of interest: who called what from where, and
// how often. Runs are laid over each other.
#ifndef ORDEAL_INJECTORS_LIBRARY_RECORDING_H
#define ORDEAL_INJECTORS_LIBRARY_RECORDING_H

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

struct recorded_call { // calls of one function from one place, by one program in one process
    uint32_t process;  // as in process(n); 0: go by the program
    uint32_t run;      // that recorded it
    char *program;
    bool only_program; // no other was seen in a process of that number
    bool again;        // a process of that number ran the program more than once
    char *function;
    char *library; // path of the file that defines it, or ""
    size_t site;   // index of sites
    uint64_t stack;
    uint64_t first; // occurrence number
    uint64_t count; // of calls, in all runs
    uint32_t kinds; // of descriptors, see trial/calls.h
    // After recording_settle(), over all sites of the same function, process and program:
    uint64_t from, last; // occurrences that every run had; from > last: none
    uint64_t uncertain;  // how many others some runs had
    bool only_site;
    bool everywhere; // every run had this very call
};

struct recording {
    ARRAY(struct recorded_site) sites;
    ARRAY(struct recorded_call)
    calls;                         // after recording_settle(): by function, library, process,
                                   // program, first, site
    struct map site_map, call_map; // from hashes to indexes, while runs are added
    uint64_t lost;                 // calls that found no room, in any run
    uint32_t runs;
    bool settled;
};

// Adds what one run recorded; names places while the private view is still there.
_must_check_ struct error *recording_add(struct recording *recording, const struct wire_view *view,
                                         struct journal_reader *reader);
// After the last run: lays runs over each other, sorts and completes. Processes other than the
// first get their numbers in the order in which they happen to start, so that in a pipeline a
// number means something else in every run; where only one process of a run has a program, its name
// is used. `complete`: one that is settled, of runs of the same workload that recorded more calls,
// or NULL: whoever makes none that are recorded here is there as well.
_must_check_ struct error *recording_settle(struct recording *recording,
                                            const struct recording *complete);
void recording_deinit(struct recording *recording);
// For recording_had(), after recording_settle().
_must_check_ struct error *recording_index(const struct recording *recording, struct map *index);
// Whether all runs made a call that another recording has: with that number, and some from there.
// Whoever goes by its number in one of them and by its program in the other is not known for sure.
bool recording_had(const struct recording *recording, const struct map *index,
                   const struct recorded_call *call, const struct recorded_site *site);

// Whether two calls are of the same function by the same program and process.
bool recording_same_counter(const struct recorded_call *a, const struct recorded_call *b);

#endif
