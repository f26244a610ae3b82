// SPDX-License-Identifier: GPL-3.0-or-later
// Descriptors around a call, as far as its function's code tells.
#ifndef ORDEAL_CALLSITE_DESCRIPTORS_H
#define ORDEAL_CALLSITE_DESCRIPTORS_H

#include "callsite/site.h"
#include "flow/image.h"

#include <stdbool.h>

// Whether every way to the call comes directly from a call of close(), or of a small function that
// calls it. Then a descriptor is free.
bool site_follows_close(const struct flow_image *image, const struct site *site);

#endif
