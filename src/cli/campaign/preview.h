// SPDX-License-Identifier: GPL-3.0-or-later
// ordeal campaign --dry-run: shows what a campaign would do.
#ifndef ORDEAL_CLI_CAMPAIGN_PREVIEW_H
#define ORDEAL_CLI_CAMPAIGN_PREVIEW_H

#include "base/error.h"
#include "definition/definition.h"

// Prints the definition, makes the reference runs, and prints how many candidates they show. Stores
// nothing.
_must_check_ struct error *campaign_preview(const struct definition *definition);

#endif
