// SPDX-License-Identifier: GPL-3.0-or-later
// Faults that `ordeal cc` has put into programs and libraries, as a level of mutation: those of the
// model's types. They are enabled without another build.
#ifndef ORDEAL_MUTATE_IMAGE_LEVEL_H
#define ORDEAL_MUTATE_IMAGE_LEVEL_H

#include "mutate/level.h"

extern const struct mutate_level mutate_level_ir;
// The number that a candidate of this level has in the map of its file.
size_t mutate_ir_candidate(const struct mutate_set *set, size_t number);

#endif
