// SPDX-License-Identifier: GPL-3.0-or-later
// What makes a call the same call in another build: not its address, but the code around it.
#ifndef ORDEAL_CALLSITE_IDENTITY_H
#define ORDEAL_CALLSITE_IDENTITY_H

#include "callsite/site.h"

// A hash of the function's instructions, without what only depends on where things lie, of whom it
// calls, and of which of these calls the site is. Never 0.
uint64_t site_identity(const struct flow_image *image, const struct site *site);

#endif
