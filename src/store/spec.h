// SPDX-License-Identifier: GPL-3.0-or-later
// Specs as they are stored: one fault, or several in one trial.
#ifndef ORDEAL_STORE_SPEC_H
#define ORDEAL_STORE_SPEC_H

#include <stddef.h>

// The separator between several rules in one spec: "RULE then RULE".
#define SPEC_THEN " then "
// The start of rule `index` (from 0) and its length; NULL if there are fewer. Points into `spec`.
const char *spec_part(const char *spec, size_t index, size_t *ret_size);

#endif
