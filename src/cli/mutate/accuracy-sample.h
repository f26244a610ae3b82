// SPDX-License-Identifier: GPL-3.0-or-later
// Samples of faults for a person to inspect (§3.3.2 of the thesis on accuracy): a file with one
// line for each, in which the person writes what is the matter with it. As long as the shares of
// the categories are not known well enough, the sample grows.
#ifndef ORDEAL_CLI_MUTATE_ACCURACY_SAMPLE_H
#define ORDEAL_CLI_MUTATE_ACCURACY_SAMPLE_H

#include "cli/mutate/accuracy-read.h"

// Writes the sample to `path`, with what was inspected in it so far, and appends what follows from
// that to `text`. *ret_complete: the shares are known well enough.
_must_check_ struct error *accuracy_sample(const char *path, uint64_t seed,
                                           const struct accuracy_list *reference,
                                           const struct accuracy_list *compared,
                                           const struct match_result *result, struct buffer *text,
                                           bool *ret_complete);

#endif
