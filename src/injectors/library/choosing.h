// SPDX-License-Identifier: GPL-3.0-or-later
// A choice in the making: what library-choice.c finds, library-order.c puts in order.
#ifndef ORDEAL_INJECTORS_LIBRARY_CHOOSING_H
#define ORDEAL_INJECTORS_LIBRARY_CHOOSING_H

#include "base/array.h"
#include "base/hash.h"
#include "injectors/library/analysis.h"
#include "injectors/library/choice.h"
#include "injectors/library/watch.h"

// In the order in which they are tried. What the C library itself calls comes late: mostly its own
// functions fail in consequence, and those were tried before.
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
struct chosen {
    const struct recording *recording;
    uint32_t call; // of the recording
    uint8_t stage; // enum stage
    uint8_t class; // likewise, of the site itself
    uint8_t round; // the first error of a function, the second, …
    uint8_t danger;
    uint8_t need;  // enum realism_need
    bool lasting;  // it fails again, too
    bool guessed;  // from the code of the function, which may mean something else by it
    uint8_t away;  // not part of what is being worked on
    uint16_t turn; // of its function: the first place that calls it, the second, …
    char action[56];
};

struct choosing {
    struct library_plan *plan;
    const struct recording *recording; // that is looked at now
    const struct choice_options *options;
    const struct kinds *kinds; // of descriptors
    bool has_home;             // some calls come from what is being worked on
    const struct analysis *analysis;
    struct map seen;              // sites and stacks with an action
    struct map handlers, sockets; // programs that have some
    struct map steady;            // calls of all runs, see recording_index()
    // Of second faults: the shots that were followed, and the places that reference runs call from.
    const struct choice_followed *followed;
    struct map known;
    ARRAY(struct chosen) items;
};

// All that was chosen as candidates, the most promising first.
_must_check_ struct error *choosing_emit(struct choosing *choosing, candidate_add *add, void *data);

#endif
