// SPDX-License-Identifier: GPL-3.0-or-later
// Finds where a scenario's queries and variables are in one module file.
#ifndef ORDEAL_SCENARIO_RESOLVE_H
#define ORDEAL_SCENARIO_RESOLVE_H

#include "scenario/scenario.h"

// Fills *ret_bytes with a struct wire_resolution and its arrays (wire/region.h).
// Locals, line tables and variables need DWARF, perhaps in a separate debug file; functions need
// any symbol table. What is not in this module is not in the answer, and that is no error. Ranges
// come ordered by query and lo; those of one query neither overlap nor touch. Of one variable the
// locals' ranges do not overlap, and there is at most one static location. The module is known as
// `path`; `file` is where it can be read.
_must_check_ struct error *resolve_module(const struct scenario *scenario, const char *path,
                                          const char *file, struct buffer *ret_bytes);

// Why variable `index` of the scenario cannot be read in a module, as the end of a sentence
// ("it has no such member"); NULL in *ret_why if it can be, at least somewhere.
_must_check_ struct error *resolve_explain_variable(const struct scenario *scenario, size_t index,
                                                    const char *path, const char **ret_why);

#endif
