// SPDX-License-Identifier: GPL-3.0-or-later
// The campaigns of a store, one line each, for `ordeal list campaigns`.
#ifndef ORDEAL_CLI_RUN_LIST_CAMPAIGNS_H
#define ORDEAL_CLI_RUN_LIST_CAMPAIGNS_H

#include "base/array.h"
#include "base/error.h"

#include <stdbool.h>

// Appends to `text`. `path` NULL: the store of the working directory.
_must_check_ struct error *list_campaigns(const char *path, bool json, struct buffer *text);

#endif
