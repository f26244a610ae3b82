// SPDX-License-Identifier: GPL-3.0-or-later
// Recognizes a call site in another build: not by its address, but by the code around it.
#ifndef ORDEAL_CALLSITE_IDENTITY_H
#define ORDEAL_CALLSITE_IDENTITY_H

#include "callsite/site.h"

// A hash of the function's instructions without distances, of the names of its callees, and of the
// number of the site's call among its calls. Never 0.
uint64_t site_identity(const struct flow_image *image, const struct site *site);

#endif
