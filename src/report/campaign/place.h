// SPDX-License-Identifier: GPL-3.0-or-later
// Where in the project's source tree a finding is shown, for readers that know nothing but that
// tree.
#ifndef ORDEAL_REPORT_CAMPAIGN_PLACE_H
#define ORDEAL_REPORT_CAMPAIGN_PLACE_H

#include "report/campaign/facts.h"
#include "report/project.h"

struct campaign_place {
    char *name; // of the file, relative to the root of the project; NULL: nothing is in its tree
    unsigned line;
    char *function; // in which the fault was injected, or NULL
};
// The call that failed, if its source file is in the tree; otherwise the innermost frame that led
// to that call, otherwise the innermost frame of the crash or hang. Free it with
// campaign_place_deinit().
_must_check_ struct error *campaign_place_find(const struct campaign_facts *facts,
                                               const struct project *project,
                                               const struct campaign_finding *finding,
                                               struct campaign_place *ret_place);
void campaign_place_deinit(struct campaign_place *place);

// The program under test, relative to the root of the project, or its name alone: where a finding
// is shown that has no place in the tree. The caller frees it.
_must_check_ struct error *campaign_program_name(const struct campaign_facts *facts,
                                                 const struct project *project, char **ret_name);

// Calls `each` for every finding that is shown, in their order, with its place. It stops at the
// first error.
_must_check_ struct error *
campaign_each_place(const struct campaign_facts *facts,
                    struct error *(*each)(void *data, const struct campaign_finding *finding,
                                          const struct campaign_place *place),
                    void *data);

#endif
