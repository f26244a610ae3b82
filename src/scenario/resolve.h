// Answers, for one module file, where the scenario's queries and variables are in it.
#ifndef ORDEAL_SCENARIO_RESOLVE_H
#define ORDEAL_SCENARIO_RESOLVE_H

#include "scenario/scenario.h"

// Fills *ret_bytes with a struct wire_resolution and its arrays (wire/region.h).
// Locals, line tables and variables need DWARF (also from a separate debug file); functions need
// any symbol table. What is not in this module is simply absent from the answer.
struct error *resolve_module(const struct scenario *scenario, const char *path,
                             struct buffer *ret_bytes);

#endif
