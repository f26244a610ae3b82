// SPDX-License-Identifier: GPL-3.0-or-later
// Where the plan's queries are in the loaded modules, as the controller answered.
#ifndef ORDEAL_RUNTIME_QUERY_H
#define ORDEAL_RUNTIME_QUERY_H

#include "runtime/module.h"

void query_take(const struct module *module, const struct wire_resolution *answer);
bool query_matches(uint32_t query, uint64_t return_address);
// False: there are several ranges. A length of 0: there is none.
bool query_single_range(uint32_t query, uint64_t *ret_low, uint64_t *ret_length);
// The first address that matches, from number `from` on; they are `stride` words apart. `count`:
// none does.
uint32_t query_find(uint32_t query, const uint64_t *pcs, uint32_t stride, uint32_t from,
                    uint32_t count);

#endif
