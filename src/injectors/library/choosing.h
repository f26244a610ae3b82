// SPDX-License-Identifier: GPL-3.0-or-later
// The state of an automatic choice, shared by choice.c, which chooses faults, and order.c, which
// sorts them and makes candidates.
#ifndef ORDEAL_INJECTORS_LIBRARY_CHOOSING_H
#define ORDEAL_INJECTORS_LIBRARY_CHOOSING_H

#include "base/array.h"
#include "base/hash.h"
#include "injector/realism.h"
#include "injectors/library/analysis.h"
#include "injectors/library/choice.h"
#include "injectors/library/watch.h"

// In the order in which they are tried. Calls by the C library come late: they mostly make a
// function of the C library fail, and that was tried before.
enum stage {
    STAGE_UNCHECKED,
    STAGE_PARTLY,
    STAGE_UNKNOWN,
    STAGE_CHECKED,
    STAGE_SYSTEM,
    STAGE_GUESSED,
    STAGE_STACK,
    STAGE_SECOND
};
#define STREAM_ROUNDS 3 // faults of one stream
struct chosen {
    const struct recording *recording;
    uint32_t call; // of the recording
    uint8_t stage; // enum stage
    uint8_t class; // enum stage, by the class of the site alone
    uint8_t round; // 0: the first error of the function, 1: the second, …
    uint8_t danger;
    uint8_t need;            // enum realism_need
    bool conditional;        // the condition of the realism table must hold
    bool lasting;            // later calls fail, too
    bool guessed;            // from the function's code, where the result may mean something else
    bool forced;             // if so: as in struct callsite_code
    uint8_t outside_project; // the caller is not below the directory
    uint64_t occurrence;     // of a write below a stream; 0: it is not one
    uint16_t turn;           // 0: the first place that calls the function, 1: the second, …
    char action[REALISM_ACTION];
};

struct choosing {
    struct call_plan *plan;
    const struct recording *recording; // the one being looked at
    const struct choice_options *options;
    const struct descriptor_kinds *kinds; // of descriptors
    bool has_project;                     // some calls come from below the directory
    struct map project;                   // programs that make such calls
    const struct analysis *analysis;
    struct map seen;                   // sites and stacks that have an action
    struct map handlers, sockets;      // programs that have signal handlers, sockets
    struct map in_all_runs;            // calls that all runs made, see recording_index()
    struct map streams, short_streams; // that have faults; of these, that are written once
    // For second faults: the followed shots, and the places that reference runs call from.
    const struct choice_followed *followed;
    struct map reference_places;
    ARRAY(struct chosen) items;
};

// Sorts what was chosen and adds it as candidates, the most promising first.
_must_check_ struct error *choosing_emit(struct choosing *choosing, candidate_add *add, void *data);

// Whether the call is made by code outside of the project, if there is one; of streams, whether the
// program that writes is.
bool choosing_is_outside(const struct choosing *choosing, const struct recorded_call *call);

// ---- choice-streams.c ----

// Chooses the faults of a stream, from the writes below it.
_must_check_ struct error *choosing_put_stream_write(struct choosing *choosing,
                                                     const struct recorded_call *call);
// Whether calls into a stream's buffer fail by themselves: all errors are wanted, or functions that
// the user names.
bool choosing_calls_fail(const struct choosing *choosing);
// Whether this call, into a stream's buffer, gets the fault that stands for all such calls.
_must_check_ struct error *choosing_is_first_of_stream(struct choosing *choosing,
                                                       const struct recorded_call *call,
                                                       bool *ret_first);

#endif
