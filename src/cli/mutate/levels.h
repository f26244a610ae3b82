// SPDX-License-Identifier: GPL-3.0-or-later
// The levels that `ordeal mutate` knows.
#ifndef ORDEAL_CLI_MUTATE_LEVELS_H
#define ORDEAL_CLI_MUTATE_LEVELS_H

#include "mutate/level.h"

// The level of a name; NULL: the source level. An error lists the names.
_must_check_ struct error *level_find(const char *name, const struct mutate_level **ret_level);

#endif
