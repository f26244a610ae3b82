// SPDX-License-Identifier: GPL-3.0-or-later
// What has changed since a revision of the Git repository, as functions: git says which lines
// belong to functions that have changed.
#ifndef ORDEAL_CAMPAIGN_SINCE_REVISION_H
#define ORDEAL_CAMPAIGN_SINCE_REVISION_H

#include "injector/candidate.h"

#include <stddef.h>

// Clears `chosen` of candidates whose call is not in a changed function. *ret_sentence says how
// many are left; the caller frees it. An error if git fails, because it does not know the revision.
_must_check_ struct error *since_revision_choose(const char *directory, const char *revision,
                                                 const struct candidate *candidates, size_t count,
                                                 bool *chosen, char **ret_sentence);

#endif
