// SPDX-License-Identifier: GPL-3.0-or-later
// The cache in the region: what one process of a recorded workload has found out about code, for
// those that start later.
#ifndef ORDEAL_RUNTIME_CACHE_H
#define ORDEAL_RUNTIME_CACHE_H

#include "runtime/module.h"
#include "runtime/slots.h"
#include "runtime/unwind.h"

void cache_prepare(void);

// The file that is executed under a path that was asked for.
bool cache_program_find(struct module *program, const char *asked, char *path, size_t room);
void cache_program_put(struct module *program, const char *asked, const char *path);

// An import of interest, and the number of the symbol that it leads to, or 0.
struct import {
    uint32_t what, symbol;
};
// Whether the module's key also determines where its imports lead, and not only which there are.
bool cache_knows_targets(const struct module *module);
// NULL: not in the cache. Also tells when to look for their rules.
const struct import *cache_imports_find(struct module *module, uint32_t *ret_count,
                                        enum slot_rules *ret_rules);
void cache_imports_put(struct module *module, const struct import *imports, uint32_t count);

// Unwind rows.
bool cache_row_find(struct module *module, uint64_t pc, struct row *ret_row);
void cache_row_put(struct module *module, uint64_t pc, const struct row *row);

#endif
