// SPDX-License-Identifier: GPL-3.0-or-later
// The calls that reference runs made of the functions of interest: who called what from where, and
// how often. Runs are laid over each other.
#ifndef ORDEAL_CAMPAIGN_RECORDING_H
#define ORDEAL_CAMPAIGN_RECORDING_H

#include "base/array.h"
#include "base/error.h"
#include "campaign/witness.h"
#include "scenario/store.h"
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
    uint32_t process;  // as in process(n)
    char *program;
    bool only_program; // no other was seen in a process of that number
    bool again;        // a process of that number ran the program more than once
    char *function;
    char *library; // path of the file that defines it, or ""
    size_t site;   // index of sites
    uint64_t stack;
    uint64_t first, last; // occurrence numbers; `last` over all sites of the same function, process
                          // and program
    bool only_site;       // of these
};

struct recording {
    ARRAY(struct recorded_site) sites;
    ARRAY(struct recorded_call)
    calls;                         // after recording_settle(): by function, library, process,
                                   // program, first, site
    struct map site_map, call_map; // from hashes to indexes, while runs are added
    uint64_t lost;                 // calls that found no room, in any run
};

// Adds what one run recorded; names places while the private view is still there.
struct error *recording_add(struct recording *recording, const struct wire_view *view,
                            struct witness *witness);
// After the last run: sorts and completes.
struct error *recording_settle(struct recording *recording);
void recording_deinit(struct recording *recording);

// Whether two calls are of the same function by the same program and process.
bool recording_same_counter(const struct recorded_call *a, const struct recorded_call *b);

#endif
