// SPDX-License-Identifier: GPL-3.0-or-later
// The level of sources: candidates are places in files of C and C++.
#ifndef ORDEAL_MUTATE_SOURCE_LEVEL_H
#define ORDEAL_MUTATE_SOURCE_LEVEL_H

#include "mutate/level.h"

extern const struct mutate_level mutate_level_source;

#endif
